"""The columns of the ranking model are what plain loops say, each by its name, and no two of them can be exchanged."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from clinical.reading.index import SearchIndex
from clinical.search import features
from clinical.search.features import COLUMNS, RELATIVE, Candidates
from clinical.search.retrieval import read_queries
from clinical.search.traits import TRAITS
from tests.clinical.search.plain_columns import DISTANCES, plain_columns

TEXTS = (
    "akute Bronchitis mit Fieber",
    "Bluthochdruck",
    "Diabetes mellitus Typ 2 mit Nierenkomplikation, nicht näher bezeichnet",
    "Alter Myokardinfarkt",
    "Gastritis qqqq",
)
Find = Callable[..., Candidates]
Plain = tuple[dict[int, dict[str, float]], dict[int, dict[str, float]]]


@pytest.fixture(scope="module")
def plain(index: SearchIndex) -> dict[str, Plain]:
    return {text: plain_columns(index, text) for text in TEXTS}


def differences(index: SearchIndex, plain: dict[str, Plain], find: Find, texts: tuple[str, ...] = TEXTS) -> list[str]:
    """The columns that are not, for every candidate of every text, what plain loops say."""
    wrong = []
    for text in texts:
        (queries,) = read_queries([text], index.encoder, index.wordings)
        some = find(queries, index.wordings, index.traits)
        columns, distances = plain[text]
        if some.codes.tolist() != sorted(columns):
            return ["codes"]
        for number, name in enumerate((*COLUMNS, *RELATIVE)):
            of_codes = columns if number < len(COLUMNS) else distances
            expected = [of_codes[code][name] for code in some.codes.tolist()]
            if not np.allclose(some.columns[:, number], expected, rtol=2e-4, atol=2e-4):
                wrong.append(name)
    return wrong


def test_every_column_is_what_plain_loops_say(index: SearchIndex, plain: dict[str, Plain]) -> None:
    assert RELATIVE == DISTANCES
    assert all(row.keys() == set(COLUMNS) for row, _ in plain.values() for row in row.values())
    assert differences(index, plain, features.candidates) == []


def test_a_column_is_read_by_its_name(index: SearchIndex, plain: dict[str, Plain]) -> None:
    (queries,) = read_queries(TEXTS[:1], index.encoder, index.wordings)
    some = features.candidates(queries, index.wordings, index.traits)
    columns, distances = plain[TEXTS[0]]
    for name in COLUMNS:
        np.testing.assert_allclose(some.column(name), [columns[c][name] for c in some.codes.tolist()], atol=2e-4)
    for name in RELATIVE:
        np.testing.assert_allclose(some.relative(name), [distances[c][name] for c in some.codes.tolist()], atol=2e-4)


# --- mutants: two of the columns exchanged ----------------------------------------------------------------------------


def exchanged(one: str, other: str) -> Find:
    """`candidates` with two of its columns exchanged."""
    places = [COLUMNS.index(one), COLUMNS.index(other)]

    def find(*asked: Any) -> Candidates:
        some = features.candidates(*asked)
        columns = some.columns.copy()
        columns[:, places] = columns[:, places[::-1]]
        return some._replace(columns=columns)

    return find


@pytest.mark.parametrize(("one", "other"), pairwise(name for name in COLUMNS if name not in TRAITS))
def test_two_columns_exchanged_do_not_pass(index: SearchIndex, plain: dict[str, Plain], one: str, other: str) -> None:
    assert {one, other} <= set(differences(index, plain, exchanged(one, other)))


@pytest.mark.parametrize(("one", "other"), pairwise(TRAITS))
def test_two_traits_of_the_codes_exchanged_do_not_pass(
    index: SearchIndex, plain: dict[str, Plain], one: str, other: str
) -> None:
    swapped = index.traits._replace(**{one: getattr(index.traits, other), other: getattr(index.traits, one)})
    (queries,) = read_queries(TEXTS[2:3], index.encoder, index.wordings)
    some = features.candidates(queries, index.wordings, swapped)
    columns, _ = plain[TEXTS[2]]
    for name in (one, other):
        expected = [columns[code][name] for code in some.codes.tolist()]
        assert not np.allclose(some.column(name), expected, atol=2e-4)
