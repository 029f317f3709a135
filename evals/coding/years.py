"""Effect of a new catalog year on the search: the same wordings under its codes, and how far answers move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from catalog_build.official import Source, Synonym
from catalog_build.synonyms import NEVER_HELD_OUT
from clinical.icd import Catalog, Code
from clinical.reading import SearchIndex
from evals.coding.heldout import reindexed

Move = Literal["same", "renumbered", "moved", "lost", "gained"]

MOVES: Final[dict[Move, str]] = {
    "same": "the first code is the same",
    "renumbered": "another first code, and the one before is no longer to be used",
    "moved": "another first code, though the one before is still there",
    "lost": "no code any more",
    "gained": "a code where there was none",
}


class Moved(NamedTuple):
    """One query in two years; `kept`: share of the first ten codes of the year before that are still among ten."""

    query: str
    before: str
    after: str
    move: Move
    kept: float


def texts_in(texts: Sequence[Synonym], catalog: Catalog) -> list[Synonym]:
    """The titles of a catalog, and of the synonyms and notes of another year those whose codes it still has."""
    kept = [
        Synonym(code.title, code.code, source="title")
        for code in catalog
        if not code.title.startswith("Nicht belegte Schlüsselnummer")
    ]
    for text in texts:
        code = catalog.get(text.code)
        if text.source != "title" and code is not None and (code.terminal or text.source in NEVER_HELD_OUT):
            kept.append(text)
    return kept


def index_of(source: Source, texts: Sequence[Synonym], like: SearchIndex) -> SearchIndex:
    """The catalog of another year with the wordings that live in it, searched with the weights of `like`."""
    return reindexed(like, source, texts_in(texts, source.catalog), source.catalog, like.encoder)


def moves(before: SearchIndex, after: SearchIndex, queries: Sequence[str], limit: int = 10) -> list[Moved]:
    """Every query in both years."""
    answers = zip(before.search_many(queries, limit), after.search_many(queries, limit), strict=True)
    return [
        _moved(query, [hit.code for hit in old], [hit.code for hit in new], after.catalog)
        for query, (old, new) in zip(queries, answers, strict=True)
    ]


def _moved(query: str, old: list[str], new: list[str], catalog: Catalog) -> Moved:
    kept = len(set(old) & set(new)) / len(old) if old else 1.0
    first, now = (codes[0] if codes else "" for codes in (old, new))
    if first == now:
        return Moved(query, first, now, "same", kept)
    if not first or not now:
        return Moved(query, first, now, "gained" if now else "lost", kept)
    code = catalog.get(first)
    gone = code is None or not code.terminal
    return Moved(query, first, now, "renumbered" if gone else "moved", kept)


def made_up_next_year(source: Source, every: int = 50) -> Source:
    """A next year for trying things out: of the terminal codes with a dot every `every`-th is changed in turn.

    One is split in two, the next one taken out, the next one renamed. No real year; the real ones are BfArM's.
    """
    catalog = source.catalog
    plain = [code for code in catalog if code.terminal and code.level == 4 and code.kind == "plain"]
    chosen = [code for code in plain if catalog.siblings(code.code)][::every]  # an only child leaves no empty parent
    kinds = {code.code: number % 3 for number, code in enumerate(chosen)}
    codes = [new for code in catalog for new in _next(code, kinds.get(code.code))]
    following = Catalog(str(source.year + 1), codes, catalog.chapters, catalog.blocks)
    return replace(source, year=source.year + 1, catalog=following)


def _next(code: Code, kind: int | None) -> list[Code]:
    if kind is None:
        return [code]
    if kind == 0:
        below = [
            replace(code, code=f"{code.code}{digit}", title=f"{code.title}, {said}", parent=code.code, level=5)
            for digit, said in ((0, "einseitig"), (1, "beidseitig"))
        ]
        return [replace(code, terminal=False), *below]
    return [] if kind == 1 else [replace(code, title=f"{code.title} (neue Bezeichnung)")]
