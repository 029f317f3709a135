"""What a second reader of the same letter changes in the review: doubt it takes away, and values it reads elsewhere.

Nothing is removed by it (decisions, "review").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clinical.contract import ReviewNote
from clinical.grounding.policy import field_of
from clinical.grounding.validator import values_of

LISTS: Final = ("diagnosen", "medikation", "eingriffe", "procedere")
_NAMES: Final[Mapping[str, str]] = {
    "diagnosen": "den Diagnosen", "medikation": "der Medikation", "eingriffe": "den Eingriffen",
    "procedere": "dem weiteren Vorgehen", "fragestellung": "der Fragestellung",
    "patient": "der Patientin oder dem Patienten",
    "absender": "dem Absender", "empfaenger": "dem Empfänger", "dokument": "dem Dokument",
    "versicherung": "der Versicherung",
}  # fmt: skip
_LEAST: Final = 3
"""Characters of a value from which on it is looked for in other fields."""


def looked_at_again(
    notes: Sequence[ReviewNote], data: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[ReviewNote, ...]:
    """The notes without those on values that the second reader has in the same field, and with one for each value that
    it reads otherwise or in another field."""
    mine, theirs = dict(values_of(data)), dict(values_of(other))
    kept = [note for note in notes if not _agrees(note.path, mine, theirs)]
    named = {note.path for note in kept}
    told = [*_otherwise(mine, theirs), *_elsewhere(mine, theirs)]
    more = {path: reason for path, reason in reversed(told) if path not in named}
    return (*kept, *(ReviewNote(path=path, reason=more[path]) for path, _ in mine.items() if path in more))


def _agrees(path: str, mine: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    value = _plain(mine.get(path, ""))
    same = (one for at, one in theirs.items() if field_of(at) == field_of(path))
    return bool(value) and any(not _differ(value, _plain(one)) for one in same)


def _otherwise(mine: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Single values for which the second reader states another one; entries of lists have no place of their own."""
    for path, value in mine.items():
        if field_of(path) == path and path in theirs and _differ(_plain(value), _plain(theirs[path])):
            yield path, f"Der eingebaute Leser liest hier «{theirs[path]}»."


def _elsewhere(mine: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Values that the second reader has in another field of the same sort, and not in this one."""
    for path, value in mine.items():
        plain = _plain(value)
        if len(plain) < _LEAST or _agrees(path, mine, theirs):
            continue
        sort = _sort(path)
        found = (
            at
            for at, one in theirs.items()
            if _sort(at) == sort and field_of(at) != field_of(path) and _plain(one) == plain
        )
        if (at := next(found, None)) is not None:
            yield path, f"Der eingebaute Leser liest diesen Wert bei {_NAMES[re.split(r'[.[]', at)[0]]}."


def _sort(path: str) -> str:
    """What could be taken for each other: days, names, places, numbers, entries of lists."""
    outer, inner = re.split(r"[.[]", path)[0], path.rpartition(".")[2]
    if inner.endswith("datum"):
        return "day"
    if inner in ("nachname", "name", "institution") and outer != "versicherung":
        return "name"
    if inner in ("versichertennummer", "fallnummer"):
        return "number"
    return "entry" if outer in (*LISTS, "fragestellung") else inner


def _differ(one: str, other: str) -> bool:
    """Neither is a part of the other."""
    return one not in other and other not in one


def _plain(value: str) -> str:
    return " ".join(re.findall(r"\w+", value.casefold()))
