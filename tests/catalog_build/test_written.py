"""The inputs that the second stage of calibration learns from: rightly coded, and none that is measured on."""

import re
from pathlib import Path

import numpy as np

from catalog_build.training.authors import FOLDER, authors, parse, read
from catalog_build.training.confidence import written_examples
from catalog_build.training.written import as_input, written_inputs
from clinical.reading import COLUMNS
from evals.reading.inputs import read_inputs
from tests.catalog_build.runs import measured_with, runs

DATA = Path(__file__).resolve().parents[2] / "evals" / "data"
KEPT = read_inputs(DATA / "written.jsonl")
SHARED = 7
"""Words in a row that two people rarely write alike."""


def test_every_code_can_be_coded_and_every_statement_stands_in_its_text(terminal):
    for row in KEPT:
        for said in (*row["codes"], *row.get("absent", ())):
            assert said["text"] in row["text"], row["id"]
            assert {*said["codes"], *said.get("also", ())} <= terminal, row["id"]


def test_what_is_denied_is_not_right_elsewhere():
    for row in KEPT:
        right = {code for said in row["codes"] for code in (*said["codes"], *said.get("also", ()))}
        assert not right & {code for absent in row.get("absent", ()) for code in absent["codes"]}, row["id"]


def test_ids_name_the_set_and_the_number():
    ids = [row["id"] for row in KEPT]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]\d-\d{3}", one) for one in ids)


def test_the_inputs_are_the_texts_of_the_authors_who_gave_codes():
    coded = {author.ident for author in authors() if author.split == "train" and author.coded != "no"}
    assert {one.source for one in written_inputs()} == {one for one in coded if (FOLDER / f"{one}.txt").is_file()}
    assert len(coded) >= 60


def test_what_an_author_left_uncoded_is_neither_right_nor_wrong(tmp_path: Path):
    marked = (
        "{Husten|present|R05}, kein {Fieber|excluded|R50.9}, {Rötung|present}, Angst vor {Krebs|hypothetical|C80.9}"
    )
    (tmp_path / "a02.txt").write_text(marked, "utf-8")
    (text,) = parse(tmp_path / "a02.txt")
    some, complete = (as_input(text, "a02", whole) for whole in (False, True))
    assert (some.right, some.open) == ({"R05"}, ((21, 27),))
    assert (complete.right, complete.open) == ({"R05"}, ())


def test_what_is_kept_apart_is_in_no_set_that_is_learnt_from():
    learnt = {run for texts in read("train").values() for one in texts for run in runs(one.text, SHARED)}
    learnt = {run for run in learnt if not any(word.startswith("geehrte") for word in run)}  # everybody greets alike
    assert [row["id"] for row in KEPT if learnt & runs(row["text"], SHARED)] == []


def test_nothing_is_taken_from_the_inputs_of_others(shared_data: Path):
    theirs = {run for text in measured_with(shared_data) for run in runs(text, SHARED)}
    assert [row["id"] for row in KEPT if theirs & runs(row["text"], SHARED)] == []


def test_an_example_is_right_where_the_input_states_its_code(index):
    some = written_inputs()[:60]
    found = written_examples(index, some)
    assert found.rows.shape == (len(found.right), len(COLUMNS))
    assert 0.5 < found.right.mean() < 1
    assert set(np.unique(found.part)) == {0}
    assert not found.rows[:, COLUMNS.index("plain")].any()
