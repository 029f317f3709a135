"""The public benchmark: made by its program to the byte, its table reproduced, and nothing of other people's texts."""

import json
import re
from pathlib import Path

import pytest

from clinical.errors import SourceError
from clinical.text import folded_words
from evals.benchmark import leaderboard, measure, texts
from evals.benchmark.submission import SubmissionFault, faults_of
from evals.benchmark.systems import BEFUND, systems

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = leaderboard.read()
RUN = 6
"""Words in a row that two texts share only where one was taken from the other; medical phrases are shorter."""


def test_the_texts_are_made_again_to_the_byte(tmp_path):
    texts.write(tmp_path)
    for path in (texts.TEXTS, texts.CARD):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert path.stat().st_size + texts.TEXTS.stat().st_size < 200_000


def test_every_right_code_is_in_the_starter_catalog_and_no_text_in_its_index(index):
    known = {index.wordings.text(number) for number in range(len(index.wordings))}
    for one in texts.read():
        assert one.text not in known
        assert all(index.catalog.get(code).terminal for each in (*one.right, *one.absent) for code in each)
    assert {one.task for one in texts.read()} == set(texts.TASKS)


def test_a_changed_file_is_refused(tmp_path):
    texts.write(tmp_path)
    (tmp_path / texts.TEXTS.name).write_text("{}\n")
    with pytest.raises(SourceError, match="is not the file of its card"):
        texts.read(tmp_path / texts.TEXTS.name)


def test_the_published_table_comes_out_again(index):
    """The lists: the baseline to the digit; Befund, which changes with each rule, within what is published of it."""
    some = [one for one in texts.read() if one.task == "lists"]
    made = systems(index)
    found = {
        name: measure.figures(some, list(made[name]([one.text for one in some])))["lists"]
        for name in (BEFUND, "BM25, words")
    }
    for name, own in found.items():
        rows = PUBLISHED[(PUBLISHED.system == name) & (PUBLISHED.task == "lists")].set_index("measure")
        assert set(rows.index) == {key for key, value in own.items() if value is not None}
        for key, row in rows.iterrows():
            assert row.low <= own[key][0] <= row.high, (name, key)
            assert name == BEFUND or own[key] == tuple(row[["value", "low", "high"]])
    assert len(PUBLISHED.system.unique()) >= 8
    card = json.loads(texts.CARD.read_text("utf-8"))
    assert set(PUBLISHED.texts) == {f"{card['version']}-{card['sha256'][:12]}"}


def test_the_page_shows_the_published_table():
    page = (ROOT / "docs" / "benchmark.md").read_text("utf-8")
    assert leaderboard.table(PUBLISHED) in page
    assert "python -m evals benchmark" in page


def test_a_system_of_ones_own_is_scored_by_its_answers(tmp_path, capsys):
    perfect = [{"id": one.id, "codes": [each[0] for each in one.right]} for one in texts.read()]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, perfect)))
    assert measure.main(["--answers", str(tmp_path / "mine.jsonl"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["systems"]["mine"]
    assert all(found[task][name][0] == 1 for task in texts.TASKS for name in ("top_1", "recall_10", "precision"))
    assert found["claims"]["denied"][0] == 0
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, perfect[1:])))
    assert measure.main(["--answers", str(tmp_path / "mine.jsonl")]) == 2
    assert "no answer to 1 texts, the first everyday-001" in capsys.readouterr().err


def test_a_malformed_code_among_the_answers_is_named_by_its_line(tmp_path, capsys):
    (tmp_path / "mine.jsonl").write_text('{"id": "lists-001", "codes": []}\n{"id": "lists-002", "codes": ["I10.9-"]}\n')
    assert measure.main(["--answers", str(tmp_path / "mine.jsonl")]) == 2
    assert "mine.jsonl, line 2: the malformed code 'I10.9-'" in capsys.readouterr().err


def test_every_fault_of_a_submission_is_named_with_what_to_do(tmp_path, capsys):
    lines = [
        "{",
        '{"codes": []}',
        '{"id": "lists-001", "codes": "I10.90"}',
        '{"id": "lists-002", "codes": ["I10.9-", "i1090"]}',
        '{"id": "lists-002", "codes": []}',
        '{"id": "lists-999", "codes": []}',
        '{"id": "lists-003", "codes": ["R05", "R05"]}',
        json.dumps({"id": "lists-004", "codes": [f"E11.{n}" for n in range(10, 21)]}),
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    faults = faults_of(tmp_path / "mine.jsonl", texts.read())
    assert [one.line for one in faults] == [1, 2, 3, 4, 4, 5, 6, 7, 8, None]
    assert [one.fatal for one in faults] == [True] * 7 + [False, False, True]
    said = [str(one) for one in faults]
    for words, one in zip(
        ("is no JSON", "has no id", "no list of strings", "'I10.9-'", "'i1090'; write I10.90", "after line 4",
         "no text is called", "R05 twice", "the first 10 count", "no answer to 567 texts"), said, strict=True,
    ):  # fmt: skip
        assert words in one
    assert measure.main(["--check", str(tmp_path / "mine.jsonl")]) == 1
    assert "8 faults" in capsys.readouterr().out
    answers = [json.dumps({"id": one.id, "codes": []}) for one in texts.read()]
    (tmp_path / "mine.jsonl").write_text("\n".join(answers))
    assert measure.main(["--check", str(tmp_path / "mine.jsonl")]) == 0
    assert "this can be scored" in capsys.readouterr().out


def test_a_trial_asks_six_texts_of_every_task():
    some = measure.tried(texts.read())
    assert len(some) == measure.TRIED
    assert {one.task for one in some} == set(texts.TASKS)


def test_every_system_answers_and_a_second_run_replaces_its_rows(starter_artifact, tmp_path):
    result = measure.measured(starter_artifact, measure.tried(texts.read()))
    rows = leaderboard.rows_of(result, "2026-01-01")
    assert set(rows.system) == set(result["systems"])
    other = rows.assign(value=0.0, system=rows.system.replace(BEFUND, "of somebody else"))
    both = leaderboard.joined(other, rows)
    assert len(both) == len(rows) + (other.system == "of somebody else").sum()
    assert (both[both.system != "of somebody else"].date == "2026-01-01").all()
    assert both.system.iloc[0] == rows.system.iloc[0]
    assert leaderboard.joined(other.assign(texts="0-older"), rows).equals(rows)
    (tmp_path / "page.md").write_text(f"a\n{leaderboard.BEGIN}\nold\n{leaderboard.END}\nb\n")
    leaderboard.publish(both, tmp_path / "all.csv", tmp_path / "page.md")
    assert leaderboard.read(tmp_path / "all.csv").equals(both)
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("a\n")
    assert page.endswith("b\n")
    assert "| of somebody else | lists |" in page
    assert "old\n" not in page


def test_a_fault_says_whether_it_keeps_from_scoring():
    assert str(SubmissionFault(3, "found", "do", fatal=False)) == "note: line 3: found; do"


def test_nothing_of_it_is_from_the_texts_for_looking_and_measuring(shared_data):
    theirs = {
        run
        for path in (shared_data / "eval-dev").rglob("*")
        if path.suffix in (".tsv", ".jsonl", ".txt")
        for run in _runs(path.read_text("utf-8", "replace"))
    }
    assert len(theirs) > 10_000
    assert not theirs & {run for one in texts.read() for run in _runs(one.text)}


def _runs(text):
    own = folded_words(re.sub(r"\\[nrt]", " ", text))
    return {tuple(own[at : at + RUN]) for at in range(len(own) - RUN + 1)}
