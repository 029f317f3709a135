"""Values in the wrong field: answers with two true values exchanged; what `review` says of these and true ones."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from clinical.contract import Arztbrief, Zuweisung
from clinical.letters import field_of, ground, reviewed

PAIRS: Final = (
    ("patient.nachname", "absender.name"), ("patient.nachname", "empfaenger.name"),
    ("absender.name", "empfaenger.name"),
    ("dokument.datum", "patient.geburtsdatum"), ("dokument.datum", "eingriffe.datum"),
    ("patient.geburtsdatum", "eingriffe.datum"),
    ("patient.ort", "absender.ort"), ("patient.strasse", "absender.strasse"), ("patient.plz", "absender.plz"),
    ("patient.strasse", "empfaenger.strasse"), ("absender.strasse", "empfaenger.strasse"),
    ("absender.institution", "empfaenger.institution"), ("absender.abteilung", "empfaenger.abteilung"),
    ("absender.telefon", "empfaenger.telefon"), ("patient.versichertennummer", "patient.fallnummer"),
    ("versicherung.name", "absender.institution"), ("diagnosen", "medikation"), ("diagnosen", "procedere"),
    ("diagnosen", "eingriffe.bezeichnung"), ("medikation", "procedere"), ("fragestellung", "diagnosen"),
    ("fragestellung", "medikation"), ("eingriffe.bezeichnung", "medikation"),
)  # fmt: skip
"""Fields whose values could be taken for each other."""


class AnsweredLetter(NamedTuple):
    """A letter with a true answer."""

    text: str
    document: type[Zuweisung] | type[Arztbrief]
    truth: Mapping[str, Any]


def _get(data: Mapping[str, Any], field: str) -> str | None:
    outer, _, inner = field.partition(".")
    value = data.get(outer)
    if isinstance(value, (list, tuple)):
        first = value[0] if value else None
        return first.get(inner) if isinstance(first, Mapping) else first
    return value.get(inner) if isinstance(value, Mapping) else value


def _put(data: dict[str, Any], field: str, value: str) -> None:
    outer, _, inner = field.partition(".")
    if isinstance(data[outer], list):
        if isinstance(data[outer][0], dict):
            data[outer][0][inner] = value
        else:
            data[outer][0] = value
    elif inner:
        data[outer][inner] = value
    else:
        data[outer] = value


def swapped(answered: AnsweredLetter) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Every answer in which one pair of values is exchanged: the pair, and the answer."""
    for one, other in PAIRS:
        first, second = _get(answered.truth, one), _get(answered.truth, other)
        if first and second and first.casefold() not in second.casefold() and second.casefold() not in first.casefold():
            data = copy.deepcopy({key: list(v) if isinstance(v, tuple) else v for key, v in answered.truth.items()})
            _put(data, one, second)
            _put(data, other, first)
            yield (one, other), data


def _first(field: str) -> str:
    outer, _, inner = field.partition(".")
    if outer in ("diagnosen", "medikation", "procedere", "eingriffe"):
        return f"{outer}[0].{inner}" if inner else f"{outer}[0]"
    return field


def measured(letters: Iterable[AnsweredLetter], swaps: int = 4, seed: int = 0) -> dict[str, Any]:
    """Of exchanged values that remain, how many are named; of true ones, how many are; both also by field."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    named, kept, alarms, true = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for one in letters:
        honest = reviewed(ground(one.truth, one.text, one.document), one.text, one.document)
        true.update(field_of(evidence.path) for evidence in honest.evidence)
        alarms.update(field_of(note.path) for note in honest.review)
        made = list(swapped(one))
        for pair, data in chance.sample(made, min(swaps, len(made))):
            lied = reviewed(ground(data, one.text, one.document), one.text, one.document)
            stands = {evidence.path for evidence in lied.evidence}
            noted = {note.path for note in lied.review}
            for field in pair:
                kept[field] += _first(field) in stands
                named[field] += _first(field) in noted
    return {
        "wrong": kept.total(), "named": named.total(), "true": true.total(), "false_alarms": alarms.total(),
        "by_field": {field: {"wrong": kept[field], "named": named[field], "true": true[field], "alarms": alarms[field]}
                     for field in sorted({*kept, *alarms})},
    }  # fmt: skip
