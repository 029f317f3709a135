"""Values in the wrong field: answers with two true values exchanged; what `review` says of these and true ones."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from clinical.letters import DOCUMENTS, ground, reviewed
from evals.letters.fields import Asked
from evals.measures.intervals import share
from evals.measures.results import Row, row

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


def swapped(truth: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Every answer in which one pair of values of a true one is exchanged: the pair, and the answer."""
    for one, other in PAIRS:
        first, second = _get(truth, one), _get(truth, other)
        if first and second and first.casefold() not in second.casefold() and second.casefold() not in first.casefold():
            data = copy.deepcopy({key: list(v) if isinstance(v, tuple) else v for key, v in truth.items()})
            _put(data, one, second)
            _put(data, other, first)
            yield (one, other), data


def _first(field: str) -> str:
    outer, _, inner = field.partition(".")
    if outer in ("diagnosen", "medikation", "procedere", "eingriffe"):
        return f"{outer}[0].{inner}" if inner else f"{outer}[0]"
    return field


def rows_of(letters: Iterable[Asked], swaps: int = 4, seed: int = 0) -> list[Row]:
    """Of exchanged values that remain, how many are named; of true ones, how many are."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    named = kept = alarms = true = 0
    for one in letters:
        text, document = one.request.text, DOCUMENTS[one.request.document_type]
        honest = reviewed(ground(one.data, text, document), text, document)
        true += len(honest.evidence)
        alarms += len(honest.review)
        made = list(swapped(one.data))
        for pair, data in chance.sample(made, min(swaps, len(made))):
            lied = reviewed(ground(data, text, document), text, document)
            stands, noted = ({each.path for each in some} for some in (lied.evidence, lied.review))
            kept += sum(_first(field) in stands for field in pair)
            named += sum(_first(field) in noted for field in pair)
    found = row("exchanged_named", "as served", kept, share(named, kept))
    return found + row("true_named", "as served", true, share(alarms, true))
