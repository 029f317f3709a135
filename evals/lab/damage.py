"""A source as it may arrive broken: copies in memory with one damage each, for notebook 02 and for tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from catalog_build.checks import check, counts
from catalog_build.official import Source
from catalog_build.synonyms import all_texts
from clinical.errors import CheckFailed
from clinical.icd import Catalog, Code, category


def broken_copies(source: Source) -> dict[str, tuple[str, Source]]:
    """Kind of damage -> (what was done, the broken copy)."""
    codes = list(source.catalog)
    parent = next(code for code in codes if not code.terminal and source.catalog.children(code.code))
    leaf = next(code for code in codes if code.terminal and code.parent is not None)
    synonym = source.synonyms[0]
    absent = next(name for code in codes if (name := f"{category(code.code)}.99") not in source.catalog)
    return {
        "parent lost": (
            f"the row of {parent.code} is missing",
            _with_codes(source, [code for code in codes if code.code != parent.code]),
        ),
        "code twice": (f"{leaf.code} comes twice", _with_codes(source, [*codes, replace(leaf, title="Doppelt")])),
        "title lost": (f"{leaf.code} has no title", _changed(source, leaf, replace(leaf, title=""))),
        "columns shifted": (f"{leaf.code} is written {leaf.code}-", _changed(source, leaf, _renamed(leaf))),
        "terminal mark lost": (
            f"{leaf.code} is marked as not terminal",
            _changed(source, leaf, replace(leaf, terminal=False)),
        ),
        "no use allowed": (
            f"{leaf.code} is terminal, but for neither §295 nor §301",
            _changed(source, leaf, replace(leaf, use_295="V", use_301="V")),
        ),
        "synonym of another year": (
            f"{synonym.text!r} is coded with {absent}, which does not exist",
            replace(source, synonyms=(replace(synonym, code=absent), *source.synonyms[1:])),
        ),
        "file cut off": (
            "the last tenth of the synonyms is missing",
            replace(source, synonyms=source.synonyms[: len(source.synonyms) * 9 // 10]),
        ),
        "one synonym lost": ("a single synonym is missing", replace(source, synonyms=source.synonyms[1:])),
    }


def codes_lost(source: Source, part: float, seed: int) -> Source:
    """Without a random part (0 to 1) of the rows of the code table, at least one."""
    gone = set(_drawn(len(source.catalog), part, seed))
    return _with_codes(source, [code for number, code in enumerate(source.catalog) if number not in gone])


def synonyms_lost(source: Source, part: float, seed: int) -> Source:
    """Without a random part (0 to 1) of the synonyms, at least one."""
    gone = set(_drawn(len(source.synonyms), part, seed))
    kept = tuple(synonym for number, synonym in enumerate(source.synonyms) if number not in gone)
    return replace(source, synonyms=kept)


LOSSES: Final[dict[str, Callable[[Source, float, int], Source]]] = {
    "codes lost": codes_lost,
    "synonyms lost": synonyms_lost,
}


def stops(broken: Source, before: Source) -> bool:
    """Return True when the checks stop a build of `broken` after one of `before`."""
    try:
        check(broken, all_texts(broken), previous=counts(before), engine="plain")
    except CheckFailed:
        return True
    return False


def _drawn(size: int, part: float, seed: int) -> list[int]:
    return random.Random(seed).sample(range(size), max(1, round(part * size)))  # noqa: S311 - reproducible, no secret


def _with_codes(source: Source, codes: Iterable[Code]) -> Source:
    catalog = source.catalog
    return replace(source, catalog=Catalog(catalog.version, codes, catalog.chapters, catalog.blocks))


def _changed(source: Source, old: Code, new: Code) -> Source:
    return _with_codes(source, [new if code is old else code for code in source.catalog])


def _renamed(code: Code) -> Code:
    return replace(code, code=f"{code.code}-")
