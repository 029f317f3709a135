"""From a code of one year to its codes in another: by the official transition table where the catalog has it, else by
comparison of the two catalogs.

Equivalence is as in FHIR R4: of the target against the source. A code that was divided has narrower targets; one that
was joined with others, or that is only there as part of a wider code, has a wider one.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal, NamedTuple

from clinical.icd.catalog import Catalog, Code

Equivalence = Literal["equivalent", "wider", "narrower", "inexact", "unmatched"]

SAME: Final = "Kode und Titel sind gleich geblieben"
RENAMED: Final = "der Kode ist geblieben, sein Titel ist ein anderer"
DIVIDED: Final = "der Kode ist aufgeteilt worden"
JOINED: Final = "mehrere Kodes sind zusammengelegt worden"
GONE: Final = "der Kode ist gestrichen; das Nächste darüber"
NOWHERE: Final = "der Kode ist gestrichen, nichts entspricht ihm"
MOVED: Final = "überführt nach der amtlichen Überleitungstabelle"
REPLACED: Final = "mehrere Kodes treten an seine Stelle"


class Transition(NamedTuple):
    """A code of the other year that a code becomes (None: nothing), how it compares, and why, in German."""

    code: Code | None
    equivalence: Equivalence
    reason: str


def transitions(code: str, source: Catalog, target: Catalog) -> tuple[Transition, ...]:
    """All targets of a code of `source` in `target`; empty where `source` has no such code."""
    own = source.get(code)
    if own is None:
        return ()
    listed = _listed(own, source, target)
    return listed or tuple(_compared(own, target))


def _listed(own: Code, source: Catalog, target: Catalog) -> tuple[Transition, ...]:
    """By the official table between the two years, forwards or backwards; empty where it does not name the code."""
    if target.before == source.version:
        pairs = target.moves
    elif source.before == target.version:
        pairs = tuple((new, old) for old, new in source.moves)
    else:
        return ()
    targets = [new for old, new in pairs if old == own.code]
    sources = Counter(new for _, new in pairs)
    found = [known for new in targets if (known := target.get(new)) is not None]
    if targets and not found:
        return (Transition(None, "unmatched", NOWHERE),)
    joined = [sources[each.code] > 1 or (each.code != own.code and _was_used(source, each.code)) for each in found]
    return tuple(
        Transition(each, _relation(len(found) > 1, wide), REPLACED if len(found) > 1 else JOINED if wide else MOVED)
        for each, wide in zip(found, joined, strict=True)
    )


def _was_used(source: Catalog, code: str) -> bool:
    known = source.get(code)
    return known is not None and known.terminal


def _relation(divided: bool, joined: bool) -> Equivalence:
    if divided:
        return "inexact" if joined else "narrower"
    return "wider" if joined else "equivalent"


def _compared(own: Code, target: Catalog) -> list[Transition]:
    """By what the two catalogs have."""
    there = target.get(own.code)
    if there is None:
        near = target.nearest_existing(own.code)
        return [Transition(near, "wider", GONE) if near else Transition(None, "unmatched", NOWHERE)]
    if own.terminal and not there.terminal:
        return [Transition(each, "narrower", DIVIDED) for each in target.leaves(own.code)]
    return [Transition(there, "equivalent", SAME if own.title == there.title else RENAMED)]
