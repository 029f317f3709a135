"""The columns of the ranking model are what plain loops say, each by its name, and no two of them can be exchanged."""

import ast
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from clinical.reading.index import SearchIndex
from clinical.search import features
from clinical.search.features import COLUMNS, RELATIVE, Candidates
from clinical.search.native.compiled import OfCodes
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
def index(starter_artifact: Path) -> SearchIndex:
    return SearchIndex.load(starter_artifact)


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
            rows = columns if number < len(COLUMNS) else distances
            expected = [rows[code][name] for code in some.codes.tolist()]
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


# --- mutants: the module with two of its columns exchanged ------------------------------------------------------------


class Exchanged(ast.NodeTransformer):
    """Two names exchanged in one place: the keys of the columns, or what is taken of a comparison or of a code."""

    def __init__(self, one: str, other: str) -> None:
        self.names, self.done = {one: other, other: one}, 0

    def visit_Dict(self, node: ast.Dict) -> ast.Dict:
        for key in node.keys:
            if isinstance(key, ast.Constant) and key.value in self.names:
                key.value = self.names[key.value]
                self.done += 1
        self.generic_visit(node)
        return node


class ExchangedFields(Exchanged):
    """Two fields of `OfCodes` exchanged in the `number`-th column that is made of either."""

    def __init__(self, one: str, other: str, number: int) -> None:
        super().__init__(one, other)
        self.number = number

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name == "_compared":
            self.generic_visit(node)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.Dict:
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        if node.attr in self.names and isinstance(node.value, ast.Name) and node.value.id == "found":
            if self.done == self.number:
                node.attr = self.names[node.attr]
            self.done += 1
        return node


def mutant(change: Exchanged) -> Find:
    """`candidates` of the changed module."""
    tree = change.visit(ast.parse(Path(features.__file__).read_text("utf-8")))
    module = ModuleType(features.__name__)
    exec(compile(ast.fix_missing_locations(tree), features.__file__, "exec"), module.__dict__)
    find: Find = module.candidates
    return find


def neighbours() -> Iterator[tuple[str, str]]:
    """All pairs of columns that stand side by side; those of the codes alone come as one block (see below)."""
    made = [name for name in COLUMNS if name not in TRAITS]
    return pairwise(made)


@pytest.mark.parametrize(("one", "other"), neighbours())
def test_two_columns_exchanged_do_not_pass(index, plain, one: str, other: str) -> None:
    change = Exchanged(one, other)
    wrong = differences(index, plain, mutant(change))
    assert change.done == 2, "both names are keys of the columns"
    assert {one, other} <= set(wrong)


@pytest.mark.parametrize(("one", "other"), pairwise(OfCodes._fields))
def test_two_fields_of_a_comparison_exchanged_in_any_column_do_not_pass(index, plain, one: str, other: str) -> None:
    number = 0
    while True:
        change = ExchangedFields(one, other, number)
        find = mutant(change)
        if change.done <= number:
            break
        assert differences(index, plain, find), f"use {number} of {one} or {other}"
        number += 1
    assert number >= 2


@pytest.mark.parametrize(("one", "other"), pairwise(TRAITS))
def test_two_traits_of_the_codes_exchanged_do_not_pass(index, plain, one: str, other: str) -> None:
    swapped = index.traits._replace(**{one: getattr(index.traits, other), other: getattr(index.traits, one)})
    (queries,) = read_queries(TEXTS[2:3], index.encoder, index.wordings)
    some = features.candidates(queries, index.wordings, swapped)
    columns, _ = plain[TEXTS[2]]
    for name in (one, other):
        expected = [columns[code][name] for code in some.codes.tolist()]
        assert not np.allclose(some.column(name), expected, atol=2e-4)
