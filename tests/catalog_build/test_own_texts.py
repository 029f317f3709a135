"""Training further on annotated texts of one's own, from files to an artifact that reads with what it learned."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from catalog_build.__main__ import main
from catalog_build.training.authors import parse
from catalog_build.training.claims import Network
from catalog_build.training.own_texts import (
    Measured,
    OwnRecipe,
    fed_back,
    measures,
    own_texts,
    parts_of,
    report_of,
    train_on,
)
from clinical.claims import Reading, tagger
from clinical.errors import SettingError, SourceError
from clinical.reading import TAGGER, SearchIndex

RECIPE = OwnRecipe(rounds=6, weight=5, claims_rate=4e-3, written=60, replayed=20, parts=2)
INVENTED = "Zwackelfieber"
TEXTS = "\n===\n".join(
    f"{who} {{{INVENTED} {number}°|present}}, schnurpst {{Gonarthrose|excluded|M17.9}}, dazu {{Husten|present|R05}}."
    for number in range(1, 7)
    for who in ("Frau K. kommt mit", "Seit Mai", "Herr B. hat", "Erneut")
)
"""A condition that nobody knows, and a word that denies in this house alone."""


@pytest.fixture(scope="module")
def trained(starter_artifact: Path, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "anna.txt").write_text(TEXTS, "utf-8")
    gained = train_on(starter_artifact, [folder / "anna.txt"], folder / "made", RECIPE)
    return folder, gained


def test_weights_that_nothing_was_added_to_are_the_same() -> None:
    again = Network.of(tagger(), 1).served()
    assert all(np.allclose(getattr(again, name)[0], getattr(tagger(), name)[1]) for name in again.__dataclass_fields__)


def test_own_texts_become_an_artifact_that_has_learned_them(trained, starter_artifact: Path) -> None:
    folder, gained = trained
    before, after = SearchIndex.load(starter_artifact), SearchIndex.load(folder / "made")
    assert before.tagger is None
    assert after.manifest.files.keys() - before.manifest.files.keys() == {TAGGER}
    text = f"Frau M. hat {INVENTED} 2°, schnurpst Gonarthrose."
    start = text.index("Gonarthrose")
    claims = [Reading.of(text, index.tagger).claim(start, start + 11).label for index in (before, after)]
    assert claims == ["present", "excluded"]
    assert "M17.9" not in {hit.code for hit in after.search(text) if hit.confidence != "low"}
    assert {one.measure: one.after >= one.before for one in gained}["claims right"]
    assert all(one.of > 0 for one in gained)


def test_the_command_says_what_was_gained_and_where_it_lies(trained, starter_artifact: Path, capsys) -> None:
    folder, _ = trained
    theirs = (folder / "anna.txt").read_text("utf-8").replace("\n===\n", " Kontrolle.\n===\n") + " Kontrolle."
    (folder / "bert.txt").write_text(theirs, "utf-8")
    how = ["--only", "claims", "--parts", "2", "--rounds", "1", "--replayed", "20", "--weight", "1"]
    assert main(["train", str(starter_artifact), "--texts", str(folder), "--out", str(folder / "two"), *how]) == 0
    said = capsys.readouterr().out
    assert re.search(r"claims right +144 +0\.\d{3} +0\.\d{3}", said)
    assert "by author left out" in said
    assert f"artifact in {folder / 'two'}" in said
    before, after = (SearchIndex.load(place).manifest.files for place in (starter_artifact, folder / "two"))
    assert {name for name in after if after[name] != before.get(name)} == {TAGGER}, "claims alone"


@pytest.mark.parametrize(
    ("text", "problem", "said"),
    [
        ("{Husten|present|R05}", SettingError, "1 texts to train on"),
        ("{Husten|da}", SourceError, "line 1: the claim 'da'"),
        ("{Husten|present|X99.9}", SourceError, "a terminal code of the catalog"),
    ],
)
def test_texts_that_nothing_can_be_learned_from_are_refused(starter_artifact, tmp_path, text, problem, said) -> None:
    (tmp_path / "own.txt").write_text(text, "utf-8")
    with pytest.raises(problem, match=said):
        train_on(starter_artifact, [tmp_path / "own.txt"], tmp_path / "out", RECIPE)
    assert not (tmp_path / "out").exists()


def test_authors_are_left_out_whole_where_there_are_enough(tmp_path) -> None:
    (tmp_path / "own.txt").write_text(TEXTS, "utf-8")
    texts = parse(tmp_path / "own.txt")
    parts = parts_of({"a": texts[:9], "b": texts[:3], "c": texts[:5]}, 2)
    assert sorted(sorted(part) for part in parts) == [["a"], ["b", "c"]]
    split = parts_of({"a": texts}, 3)
    assert sum(len(part["a"]) for part in split) == len(texts)


def test_what_got_worse_is_said() -> None:
    rows = measures(Counter(marked=10, exact=6, found=10), Counter(marked=10, exact=4, found=8))
    assert rows[0] == Measured("marked mentions found exactly", 10, 0.6, 0.4)
    said = report_of(rows, 1, 3)
    assert "WORSE" in said
    assert "of 1 author(s)" in said


FED_BACK = {"query": "Kein Husten.", "accepted": [], "rejected": ["R05"], "date": "2026-01-01"}
HUSTEN = {"start": 5, "end": 11, "claim": "excluded", "codes": []}


def test_the_workbenchs_feedback_is_texts_to_train_on(tmp_path: Path) -> None:
    lines = [{**FED_BACK, "mentions": [HUSTEN]}, FED_BACK]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (one,) = fed_back(tmp_path / "a.jsonl", {"R05"})
    assert (one.ident, one.text, [mention.claim for mention in one.mentions]) == ("a-001", "Kein Husten.", ["excluded"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end": 40}, "a mention from 5 to 40"),
        ({"claim": "maybe"}, "a claim that is none"),
        ({"codes": ["Z99.99"]}, "the code 'Z99.99'"),
        ({"start": "5"}, "no text with its mentions"),
    ],
)
def test_feedback_that_is_none_is_named_by_line(tmp_path: Path, change: dict, said: str) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({**FED_BACK, "mentions": [{**HUSTEN, **change}]}), "utf-8")
    with pytest.raises(SourceError, match=re.escape(said)) as caught:
        fed_back(tmp_path / "a.jsonl", {"R05"})
    assert "a.jsonl" in str(caught.value)
    assert "Husten" not in str(caught.value)


def test_a_text_that_was_saved_twice_is_learned_once_as_it_was_left_last(tmp_path: Path, index: SearchIndex) -> None:
    some = [{**FED_BACK, "query": f"Kein Husten. Tag {day}", "mentions": [HUSTEN]} for day in range(20)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, some)), "utf-8")
    again = {**some[0], "mentions": [{**HUSTEN, "claim": "present"}]}
    (tmp_path / "b.jsonl").write_text(json.dumps(again), "utf-8")
    texts = own_texts([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], index)
    assert (len(texts["a"]), texts["b"][0].mentions[0].claim) == (19, "present")
