"""The public benchmark: made by its program to the byte, its table reproduced, and nothing of other people's texts."""

import json
import re
from pathlib import Path

import pytest

from clinical.errors import SourceError
from clinical.text import folded_words
from evals.benchmark import measure, texts
from evals.benchmark.systems import BEFUND, systems

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = json.loads(measure.BASELINES.read_text("utf-8"))
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
        for key, value in own.items():
            published = PUBLISHED["systems"][name]["lists"][key]
            assert published is value is None or published[1] <= value[0] <= published[2], (name, key)
            assert name == BEFUND or value is None or list(value) == published
    assert PUBLISHED["texts"]["sha256"] == json.loads(texts.CARD.read_text("utf-8"))["sha256"]


def test_the_page_shows_the_published_table():
    page = (ROOT / "docs" / "benchmark.md").read_text("utf-8")
    assert measure.table(PUBLISHED) in page
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
    (tmp_path / "mine.jsonl").write_text('{"id": "a", "codes": []}\n{"id": "b", "codes": ["I10.9-"]}\n')
    assert measure.main(["--answers", str(tmp_path / "mine.jsonl")]) == 2
    assert "mine.jsonl, line 2: the malformed code 'I10.9-'" in capsys.readouterr().err


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
