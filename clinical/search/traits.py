"""Traits of a code that hold before any query: columns of the ranking model that belong to the code alone."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from clinical.icd import Catalog, adds_unspecified, category, is_other
from clinical.search.encoder import Vectors
from clinical.search.runs import Ints
from clinical.search.terms import Wordings

KINDS: Final = {"plain": 0.0, "dagger": 0.0, "asterisk": 1.0, "exclamation": 2.0}
"""Primary codes, asterisk codes and codes of the exclamation mark as a number."""


class CodeTraits(NamedTuple):
    """One value for each code of the catalog, by its number: float32 columns, and numbers of what it belongs to."""

    terminal: Vectors  # (codes,) 1 where it is coded with, 0 where it is divided further
    level: Vectors  # depth in the hierarchy
    kind: Vectors  # see KINDS
    wordings: Vectors  # ln(1 + its wordings)
    unspecified: Vectors  # 1 where its title says "nicht näher bezeichnet"
    other: Vectors  # 1 where its title says "sonstige" or "andere"
    category: Ints  # number of its three-character category
    categories: int  # how many there are
    parent: Ints  # number of its parent; of itself where it has none
    parents: int


TRAITS: Final = ("terminal", "level", "kind", "wordings", "unspecified", "other")
"""The fields of `CodeTraits` that are columns of the ranking model."""


def traits_of(catalog: Catalog, wordings: Wordings) -> CodeTraits:
    """The traits of every code of the catalog."""

    def column(values: list[float]) -> Vectors:
        return np.array(values, dtype=np.float32)

    counts = np.zeros(len(catalog), dtype=np.float32)
    counts[wordings.codes] = wordings.ends - wordings.starts
    categories: dict[str, int] = {}
    parents: dict[str, int] = {}
    numbers = np.array([categories.setdefault(category(code.code), len(categories)) for code in catalog.codes])
    parent = np.array([parents.setdefault(code.parent or code.code, len(parents)) for code in catalog.codes])
    return CodeTraits(
        terminal=column([code.terminal for code in catalog.codes]),
        level=column([code.level for code in catalog.codes]),
        kind=column([KINDS[code.kind] for code in catalog.codes]),
        wordings=np.log1p(counts),
        unspecified=column([adds_unspecified(code.title) for code in catalog.codes]),
        other=column([is_other(code.title) for code in catalog.codes]),
        category=numbers,
        categories=len(categories),
        parent=parent,
        parents=len(parents),
    )
