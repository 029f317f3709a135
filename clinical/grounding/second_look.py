"""What a second reader of the same letter changes in the review: doubt it takes away, and values it reads elsewhere.

Nothing is removed by it (decisions, "review").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clinical.contract import ReviewNote
from clinical.grounding.policy import field_of

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
    mine, theirs = dict(placed(data)), dict(placed(other))
    kept = [note for note in notes if not _agrees(note.path, mine, theirs)]
    named = {note.path for note in kept}
    told = [*disagreements(data, other), *_elsewhere(mine, theirs)]
    more = {path: reason for path, reason in reversed(told) if path not in named}
    return (*kept, *(ReviewNote(path=path, reason=more[path]) for path, _ in mine.items() if path in more))


def placed(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(path, value) of every stated value of an answer, entries of lists with their number."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", one) for inner, one in value.items() if isinstance(one, str))
        elif isinstance(value, str):
            yield key, value
        elif isinstance(value, Sequence):
            for n, entry in enumerate(value):
                if isinstance(entry, Mapping):
                    yield from ((f"{key}[{n}].{inner}", one) for inner, one in entry.items() if isinstance(one, str))
                elif isinstance(entry, str):
                    yield f"{key}[{n}]", entry


def _agrees(path: str, mine: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    value = _plain(mine.get(path, ""))
    field = field_of(path)
    same = (one for at, one in theirs.items() if (field_of(at) == field if field != path else at == path))
    return bool(value) and any(not _differ(value, _plain(one)) for one in same)


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


def disagreements(data: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(path, German reason) where a second reader of the same letter states another single value."""
    for key, value in data.items():
        theirs = other.get(key)
        if isinstance(value, Mapping) and isinstance(theirs, Mapping):
            yield from disagreements(value, theirs, f"{prefix}{key}.")
        elif isinstance(value, str) and isinstance(theirs, str) and _differ(_plain(value), _plain(theirs)):
            yield f"{prefix}{key}", f"Der eingebaute Leser liest hier «{theirs}»."


def _differ(one: str, other: str) -> bool:
    """Neither is a part of the other."""
    return one not in other and other not in one


def _plain(value: str) -> str:
    return " ".join(re.findall(r"\w+", value.casefold()))
