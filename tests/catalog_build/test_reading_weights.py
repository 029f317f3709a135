"""What the second stage of calibration learns from: what counts as right of a generated text, and what nobody knows."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch (extra 'train') is not installed")

from catalog_build.official.source import read_source
from catalog_build.own_synonyms import STARTER
from catalog_build.synonyms import all_texts
from catalog_build.training.begun import begun_queries
from catalog_build.training.confidence import TextJudge, begun_examples
from catalog_build.training.reading import train_reading
from catalog_build.training.texts import NOT_CODED, WrittenMention
from clinical.errors import SettingError
from clinical.reading import COLUMNS, SearchIndex


@pytest.fixture(scope="module")
def judge(starter_artifact) -> TextJudge:
    return TextJudge(SearchIndex.load(starter_artifact), {"I10.90|I10.00": {"I10.90", "I10.00"}})


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


def test_begun_words_are_judged_by_the_wording_that_was_meant(starter_artifact):
    index = SearchIndex.load(starter_artifact)
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


def test_reading_is_trained_with_an_artifact_that_holds_a_fold_out(starter_artifact):
    source = read_source(STARTER)
    with pytest.raises(SettingError, match="holds no fold out"):
        train_reading(source, all_texts(source), starter_artifact)
