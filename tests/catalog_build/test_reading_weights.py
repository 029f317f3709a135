"""The second stage of calibration learns from generated texts: some codes count as right, of others nobody knows."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch (extra 'train') is not installed")

from catalog_build.training.authors import read, written_inputs
from catalog_build.training.confidence import FoundMentions, TextJudge, begun_examples, joined
from catalog_build.training.reading import HALVES, _half, material, train_reading
from catalog_build.training.texts import NOT_CODED, WrittenMention, begun_queries
from clinical.errors import SettingError
from clinical.reading import COLUMNS, CONFIDENCE
from clinical.search import Manifest


@pytest.fixture(scope="module")
def judge(index) -> TextJudge:
    return TextJudge(index, {"I10.90|I10.00": {"I10.90", "I10.00"}})


def said(claim: str, code: str = "I10.90") -> WrittenMention:
    return WrittenMention(0, 5, code, claim)


def row(**columns: float) -> np.ndarray:
    found = np.zeros(len(COLUMNS), dtype=np.float32)
    for name, value in columns.items():
        found[COLUMNS.index(name)] = value
    return found


@pytest.mark.parametrize(
    ("mention", "code", "columns", "expected"),
    [
        (said("present"), "I10.90", {}, True),
        (said("present"), "J45.99", {}, False),
        (said("suspected"), "I10.90", {"suspected": 1}, True),
        (said("present", "I10.90|I10.00"), "I10.00", {}, True),
        (None, "I10.90", {}, False),
        (said("excluded"), "I10.90", {}, False),
        (said("present"), "Z86.7", {"history": 1}, None),
        (said("history"), "I10.90", {"history": 1}, False),
        (said("present", NOT_CODED), "R05", {"explained": 1}, False),
        (said("present", NOT_CODED), "R05", {}, None),
    ],
)
def test_what_is_right_and_what_nobody_knows(judge, mention, code, columns, expected):
    assert judge.is_right(mention, code, row(**columns)) is expected


def test_begun_words_are_judged_by_the_wording_that_was_meant(index):
    names = [
        (index.wordings.text(n), index.catalog.codes[index.wordings.tables.code[n]].code) for n in range(0, 900, 9)
    ]
    found = begun_examples(index, names, {code: {code} for _, code in names}, seed=1)
    assert found.rows[:, COLUMNS.index("begun")].all()
    assert 0 < found.right.sum() < len(found.right)
    wrong = begun_examples(index, names, {code: set() for _, code in names}, seed=1)
    assert not wrong.right.any()


def test_a_begun_query_is_the_beginning_of_its_wording():
    written = begun_queries([("Chronische Gastritis", "a"), ("Typ 2", "b"), ("Fieber [R50]", "c")], seed=0)
    assert [meant for _, meant in written] == ["a", "a", "b"]
    whole, begun = written[0][0], written[1][0]
    assert whole == "Chronische Gastritis"
    assert whole.startswith(begun)
    assert len("Chronische Gas") <= len(begun) < len(whole)


def test_no_half_is_read_by_networks_that_have_learned_from_it(index):
    halves = [_half(number) for number in range(HALVES)]
    assert frozenset.union(*halves) == set(read("train"))
    assert not frozenset.intersection(*halves)
    learned = [material(index, half) for half in halves]
    assert sum(len(one.texts) for one in learned) == len(material(index).texts)
    assert all(one not in learned[1].texts for one in learned[0].texts)
    asked = [{one.text for one in written_inputs() if one.source in half} for half in halves]
    assert not asked[1] & {one.text for one in learned[0].texts}


def test_what_was_found_by_each_half_is_left_out_apart():
    one, other = (
        FoundMentions(np.full((2, len(COLUMNS)), n, dtype=np.float32), np.array([True, False]), np.array([n, n]), part)
        for n, part in enumerate((np.array([0, 1]), np.array([0, 0])))
    )
    both = joined([one, other])
    assert both.part.tolist() == [0, 1, 2, 2]
    assert both.rows[:, 0].tolist() == [0, 0, 1, 1]


def test_an_artifact_without_a_second_stage_is_refused(starter_artifact, tmp_path):
    bare = Path(shutil.copytree(starter_artifact, tmp_path / "bare"))
    manifest = Manifest.load(bare)
    files = {name: digest for name, digest in manifest.files.items() if name != CONFIDENCE}
    replace(manifest, files=files).save(bare)
    with pytest.raises(SettingError, match="no second stage to be fitted anew"):
        train_reading(bare)
