"""The lab as a notebook uses it: each call gives a table, and the documented cells run as they stand."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from clinical.errors import SettingError, SourceError
from clinical.reading import SearchIndex
from evals import lab
from evals.measures.paired import pairs_of
from evals.measures.results import read_result
from evals.report.compare import comparison, shown

ROOT = Path(__file__).resolve().parents[2]
EVERYDAY = ROOT / "evals" / "data" / "everyday.tsv"
MISSED = pd.DataFrame(
    [
        ("Bluthochdruck", "I10.90"),  # right
        ("Kein Bluthochdruck. Gonarthrose links", "I10.90"),
        ("Bluthochdruck", "I10.91"),
        ("Bluthochdruck", "E11"),
        ("<script>Gonarthrose</script> links", "I10.90"),
    ],
    columns=["query", "codes"],
)


@pytest.fixture(scope="module")
def evaluation(index: SearchIndex) -> lab.Evaluation:
    return lab.evaluate(EVERYDAY, index)


def test_the_documented_cells_lead_from_an_own_file_to_its_errors(
    starter_artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = (ROOT / "docs" / "lab.md").read_text("utf-8").split("## From a notebook")[1].split("\n## ")[0]
    cells = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert 0 < len(cells) <= 3
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEFUND_CATALOG", str(starter_artifact))
    monkeypatch.delenv("BEFUND_NOTEBOOK_CATALOG", raising=False)
    MISSED.to_csv("mine.tsv", sep="\t", index=False)
    namespace: dict[str, object] = {}
    for cell in cells[:2]:
        exec(cell, namespace)
    assert len(namespace["misses"]) == 4, "two cells to the table of errors"
    exec(cells[2], namespace)
    assert "Kein" in Path("errors.html").read_text("utf-8")


def test_every_text_is_in_the_table_with_its_own_index_whatever_it_holds(index: SearchIndex) -> None:
    texts = ["Gonarthrose links", None, " ", "E11.90", float("nan"), "x" * 2001, "\ud800", "V. a. Asthma, J18.9"]
    found = lab.search(pd.Series(texts, index=list("abcdefgh"), dtype=object), index, limit=3)
    assert list(found.columns[:10]) == [
        "text", "rank", "code", "title", "confidence", "probability", "wording", "span", "claim", "side",
    ]  # fmt: skip
    assert list(dict.fromkeys(found.index)) == list("abcdefgh")
    status = found.status.groupby(level=0).first().to_dict()
    assert [status[name] for name in "bcefg"] == ["missing", "empty", "missing", "too-long", "bad-utf-8"]
    knee = found.loc["a"].iloc[0]
    assert (knee.code, knee["rank"], knee.side, knee.claim) == ("M17.9", 1, "L", "present")
    assert knee.text[slice(*knee.span)] == "Gonarthrose links"
    assert found.loc["d", "code"] == "E11.90"
    assert "J18.9" in set(found.loc[["h"], "code"])
    assert lab.first("V. a. Asthma bronchiale", index).claim[0] == "suspected"


@pytest.mark.parametrize("nothing", [None, [], (), pd.Series(dtype=object)])
def test_no_texts_are_an_empty_table_of_the_same_columns(index: SearchIndex, nothing) -> None:
    found = lab.search(nothing, index)
    assert found.empty
    assert list(found.columns) == list(lab.search("Asthma", index).columns)


def test_any_iterable_will_do_and_what_is_no_text_is_said(index: SearchIndex) -> None:
    one = lab.search("Asthma bronchiale", index)
    assert one.equals(lab.search((text for text in ["Asthma bronchiale"]), index))
    with pytest.raises(TypeError, match="int"):
        lab.search([7], index)


def test_an_evaluation_is_that_of_the_command_and_is_saved_without_texts(
    evaluation: lab.Evaluation, index: SearchIndex, tmp_path: Path
) -> None:
    typos = lab.evaluate(EVERYDAY, index, variant="typo")
    files = [tmp_path / "one.json", tmp_path / "other.json"]
    for each, file in zip((evaluation, typos), files, strict=True):
        each.save(file)
    results = [read_result(file) for file in files]
    assert all("text" not in result.queries.columns for result in results)
    assert tuple(evaluation.figures.loc["top_1"]) == results[0].figure("top_1")
    assert evaluation.table.equals(results[0].rows)
    by_command = comparison(*results, pairs_of(*results))
    compared = lab.compare(evaluation, typos)
    assert compared.equals(lab.compare(*files))
    assert list(compared.p) == [change["p"] for part in ("changes", "labels") for change in by_command[part]]
    flipped = lab.flips(evaluation, typos)
    assert flipped.flip.value_counts().reindex(["won", "lost"], fill_value=0).tolist() == [
        compared.loc["top_1", "won"], compared.loc["top_1", "lost"],
    ]  # fmt: skip
    with pytest.raises(SourceError, match="the same queries"):
        lab.compare(evaluation, lab.evaluate(MISSED.head(2), index))


def test_a_table_that_is_no_data_set_is_refused_with_its_row(index: SearchIndex) -> None:
    with pytest.raises(SourceError, match="query and codes"):
        lab.evaluate(pd.DataFrame({"words": ["Asthma"]}), index)
    with pytest.raises(SourceError, match="2"):
        lab.evaluate(pd.DataFrame({"text": ["Asthma", None], "codes": ["J45.99", "J45.99"]}), index)
    with pytest.raises(SourceError, match="line 2: the malformed code 'J4'"):
        lab.evaluate(pd.DataFrame({"text": ["Asthma", "Asthma"], "codes": ["J45.99", "J4"]}), index)


def test_a_file_that_is_no_data_set_is_refused_with_what_to_do(index: SearchIndex, tmp_path: Path) -> None:
    (tmp_path / "comma.csv").write_text("query;codes\nAsthma;J45.99\n")
    with pytest.raises(SourceError, match=r"line 1: the columns query;codes; .*\(tabs between"):
        lab.evaluate(tmp_path / "comma.csv", index)
    with pytest.raises(SourceError, match=r"cannot be read: No such file .* check the path"):
        lab.errors(tmp_path / "none.tsv", index)


def test_a_miss_has_its_cause_and_the_table_can_be_cut_by_class(index: SearchIndex) -> None:
    misses = lab.errors(MISSED, index)
    causes = {(row.text, row.right[0]): row.cause for row in misses.itertuples()}
    assert ("Bluthochdruck", "I10.90") not in causes
    assert causes["Kein Bluthochdruck. Gonarthrose links", "I10.90"] == "claim"
    assert causes["Bluthochdruck", "I10.91"] == "sibling"
    assert causes["Bluthochdruck", "E11"] == "unknown code"
    assert set(misses.cause) <= set(lab.CAUSES)
    assert misses.probability.dropna().is_monotonic_decreasing
    for within, count in (("E11", 1), ("I10-I15", 4), ("09", 4), ("Q", 0)):
        assert len(lab.errors(MISSED, index, within=within)) == count, within


def test_all_misses_are_there_and_a_different_target_fails_visibly(evaluation: lab.Evaluation) -> None:
    misses = lab.errors(evaluation)
    wrong = sum(outcome.rank != 1 for outcome in evaluation.outcomes)
    assert len(misses) == wrong > 20
    assert (misses["rank"].dropna() > 1).all()
    assert misses.cause.nunique() >= 4


def test_the_page_of_errors_draws_mentions_and_holds_no_markup_of_a_text(index: SearchIndex, tmp_path: Path) -> None:
    misses = lab.errors(MISSED, index)
    page = lab.browser(misses[misses.found.notna()], tmp_path / "errors.html").read_text("utf-8")
    assert page.count("<script>") == page.count("</script>") == 1, "its own"
    assert "&lt;" in page
    assert re.search(r'<mark class="present"[^>]*>Bluthochdruck<small>I10\.90</small></mark>', page)
    excluded = lab.browser(misses[misses.cause == "claim"], tmp_path / "claims.html").read_text("utf-8")
    assert re.search(r'<mark class="excluded"[^>]*>Bluthochdruck</mark>', excluded)
    assert excluded.count("<article") == 1


STATED = [
    {
        "id": f"{author}-1",
        "class": "list",
        "text": "<i>Diagnosen</i>:\nGonarthrose links\nkein Asthma\nHypertonie",
        "codes": [
            {"codes": ["M17.9"], "text": "Gonarthrose links"},
            {"codes": ["I10.91"], "text": "Hypertonie"},
        ],
        "absent": [{"codes": ["J45.99"], "text": "Asthma"}],
    }
    for author in "ab"
]


def test_texts_with_statements_are_measured_listed_and_drawn(index: SearchIndex, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, STATED)), "utf-8")
    done = lab.evaluate(tmp_path / "mine.jsonl", index)
    for same in (STATED, pd.DataFrame(STATED)):
        assert lab.evaluate(same, index).figures.equals(done.figures)
    assert tuple(done.figures.loc["stated_shown", ["n", "value"]]) == (4, 0.5)
    misses = lab.errors(done)
    assert misses.error.value_counts().to_dict() == {"missed": 2, "wrong": 2}
    assert set(misses.cause) == {"sibling"}
    assert set(misses.cause) <= set(lab.CAUSES)
    assert [misses.text[0][slice(*misses.span[0])], misses.words[0], misses.author[0]] == [
        "Hypertonie",
        "Hypertonie",
        "a",
    ]
    assert len(lab.errors(done, within="M17")) == 0
    page = lab.browser(misses, tmp_path / "errors.html").read_text("utf-8")
    assert page.count("<article") == 4
    assert "2 missed statements" in page
    assert "&lt;i&gt;Diagnosen" in page.replace("</mark>", ""), "no markup of a text"
    with pytest.raises(SettingError, match="variant 'typo'"):
        lab.evaluate(STATED, index, variant="typo")


def test_texts_with_statements_are_compared_by_their_statements(index: SearchIndex, tmp_path: Path) -> None:
    done = lab.evaluate(STATED, index)
    queries = done.result.queries.copy()
    queries["hit"] = [[True, True], [False, False]]
    queries["wrong"] = [[], ["R51"]]
    queries["found"], queries["right"] = [2, 0], [2, 1]
    other = replace(done, result=replace(done.result, queries=queries))
    files = [tmp_path / "one.json", tmp_path / "other.json"]
    for each, file in zip((done, other), files, strict=True):
        each.save(file)
    assert all("text" not in read_result(file).queries.columns for file in files)
    compared = lab.compare(done, other)
    assert compared.equals(lab.compare(*files))
    assert compared.loc["stated_shown", ["won", "lost"]].tolist() == [1, 1]
    flipped = lab.flips(done, other)
    assert flipped.groupby(["measure", "flip"]).size().to_dict() == {
        ("stated_shown", "won"): 1, ("stated_shown", "lost"): 1, ("shown_right", "won"): 2, ("shown_right", "lost"): 1,
    }  # fmt: skip
    assert flipped.text[0] == STATED[0]["text"]
    said = shown(comparison(*map(read_result, files), pairs_of(*map(read_result, files))), 5)
    assert "stated_shown won: 1" in said


def test_the_estimator_is_swept_as_any_other(evaluation: lab.Evaluation, index: SearchIndex, starter_artifact) -> None:
    examples = [outcome.example for outcome in evaluation.outcomes]
    found = lab.first([example.query for example in examples], index)
    right = [",".join(sorted(example.codes)) for example in examples]
    methods = {"method": ["isotonic", "sigmoid", "as-is"], "high_precision": [0.85, 0.95]}
    sweep = GridSearchCV(lab.CalibratedSearch(str(starter_artifact)), methods, cv=3).fit(found, right)
    best = sweep.best_estimator_
    chances = sweep.predict_proba(["Bluthochdruck", None])
    assert chances.shape == (2, 2)
    assert np.allclose(chances.sum(axis=1), 1)
    assert chances[1].tolist() == [1.0, 0.0]
    assert sweep.predict(["Bluthochdruck", None]).tolist() == ["I10.90", None]
    shipped = clone(best).set_params(method="as-is").fit(found, right)
    fitted = clone(best).set_params(method="isotonic").fit(found, right)
    assert fitted.score(found, right) > shipped.score(found, right), "fitted on these very texts"
    shown = fitted.levels(found) == "high"
    hits = np.array([str(code) in codes for code, codes in zip(found.code, right, strict=True)])
    assert shown.any()
    assert hits[shown].mean() >= fitted.high_precision
    with pytest.raises(SettingError, match="isotonic"):
        lab.CalibratedSearch(method="magic").fit(found, right)
