"""Explicit words for values of fixed lists that mean something else, made from parts: whose, when, which stay, names
and opening hours, boxes that are not ticked, conditions and refusals.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from evals.letters.generator import Letter

KEYWORDS = {
    "patient.geschlecht": {"m": r"männl|\bm\b|\bherrn?\b|\bpatient(en)?\b", "w": r"weibl|\bw\b|\bfrau\b|patientin"},
    "versicherung.klasse": {
        "allgemein": r"allgemein\b|allgemeine\b",
        "halbprivat": "halbprivat",
        "privat": r"\bprivat",
    },
    "aufenthalt.art": {"stationaer": r"\bstat|hospital", "ambulant": r"\bambulan|sprechst"},
    "dringlichkeit": {"notfall": "notfall", "dringlich": r"\bdringlich\w*(?!keit)\b", "elektiv": r"\belektiv"},
    "kostengutsprache": {"liegt_vor": r"liegt vor|erteilt", "beantragt": "beantragt", "wird_eingeholt": "eingeholt"},
}


class Said(NamedTuple):
    """Phrasings of a value: of a subject in the present, of a subject in the past, as a noun phrase, on a form."""

    present: str
    past: str
    noun: str
    option: str


WAYS: Mapping[tuple[str, str], Said] = {
    ("versicherung.klasse", "privat"): Said(
        "ist privat versichert", "war privat versichert", "die Privatabteilung", "privat"),
    ("versicherung.klasse", "halbprivat"): Said(
        "ist halbprivat versichert", "war halbprivat versichert", "die Halbprivatabteilung", "halbprivat"),
    ("versicherung.klasse", "allgemein"): Said(
        "ist allgemein versichert", "war allgemein versichert", "die allgemeine Abteilung", "allgemein"),
    ("aufenthalt.art", "stationaer"): Said(
        "ist in stationärer Behandlung", "war in stationärer Behandlung", "stationäre Behandlung", "stationär"),
    ("aufenthalt.art", "ambulant"): Said(
        "ist in ambulanter Behandlung", "war in ambulanter Behandlung", "ambulante Behandlung", "ambulant"),
    ("dringlichkeit", "notfall"): Said(
        "kommt als Notfall", "kam als Notfall", "notfallmässige Vorstellung", "Notfall"),
    ("dringlichkeit", "dringlich"): Said(
        "wird dringlich operiert", "wurde dringlich operiert", "dringliche Operation", "dringlich"),
    ("dringlichkeit", "elektiv"): Said(
        "wird elektiv operiert", "wurde elektiv operiert", "elektive Operation", "elektiv"),
    ("kostengutsprache", "liegt_vor"): Said(
        "hat eine Kostengutsprache, sie liegt vor", "hatte eine erteilte Kostengutsprache",
        "Kostengutsprache liegt vor", "liegt vor"),
    ("kostengutsprache", "beantragt"): Said(
        "hat die Kostengutsprache beantragt", "hatte die Kostengutsprache beantragt",
        "Kostengutsprache beantragt", "beantragt"),
    ("kostengutsprache", "wird_eingeholt"): Said(
        "wartet, die Kostengutsprache wird eingeholt", "hatte damals die Kostengutsprache eingeholt",
        "Kostengutsprache wird eingeholt", "wird eingeholt"),
}  # fmt: skip
_OTHERS = ("Der Bruder", "Die Schwester", "Der Ehemann", "Ihre Tochter", "Der Zimmernachbar", "Seine Frau",
           "Die Mutter", "Der Lebenspartner", "Ein Nachbar", "Der Schwiegervater")  # fmt: skip
_TIMES = ("Im Jahr {year}", "Vor {n} Jahren", "Damals", "Früher", "Im September {year}", "Letztes Jahr", "Im Vorjahr",
          "Vor {n} Monaten", "Am 12.03.{year}")  # fmt: skip
_FIELDS = {"versicherung.klasse": "Versicherungsklasse", "aufenthalt.art": "Aufnahmeart",
           "dringlichkeit": "Dringlichkeit", "kostengutsprache": "Kostengutsprache"}  # fmt: skip


def _whose(chance: random.Random, field: str, said: Said) -> str:
    who = chance.choice(_OTHERS)
    return chance.choice(
        (
            f"{who} {said.present}.", f"{who} {said.past}.", f"{who} ist uns bekannt. {_er(who)} {said.present}.",
            f"{who}, auch bei Ihnen in Behandlung, {said.present}.", f"{who} (72) {said.present} und hilft viel.",
        )
    )  # fmt: skip


def _er(who: str) -> str:
    return "Sie" if who.endswith(("Schwester", "Tochter", "Frau", "Mutter")) else "Er"


def _when(chance: random.Random, field: str, said: Said) -> str:
    when = chance.choice(_TIMES).format(year=chance.randrange(2009, 2016), n=chance.randrange(2, 9))
    verb, rest = said.past.split(" ", 1)
    return f"{when} {verb} sie {rest}."


def _which(chance: random.Random, field: str, said: Said) -> str:
    if field == "kostengutsprache":
        return chance.choice(("Für das anschliessende Hospiz: {}.", "Für das Pflegeheim: {}.")).format(said.noun)
    return chance.choice(
        (
            "Anschliessend {}.", "Danach {}.", "Anschliessend ist {} vorgesehen.", "Später allenfalls {}.",
            "Eine frühere {} blieb ohne Erfolg.", "Die bisherige {} half nicht.", "St. n. {} 2011.",
        )
    ).format(re.sub(r"^(?:die|der) ", "", said.noun))  # fmt: skip


def _name(chance: random.Random, field: str, said: Said) -> str:
    option = said.option.capitalize()
    return chance.choice(
        (
            f"{option}- und Wirbelsäulensprechstunde, Haus 3", f"Zentrum für {said.option}e Chirurgie",
            f"Besuchszeiten {said.noun} 10-20 Uhr", f"{option}- und Schmerzzentrum Seeblick",
            f"Öffnungszeiten, {said.noun}: Mo-Fr 8 bis 17 Uhr",
        )
    )  # fmt: skip


def _box(chance: random.Random, field: str, said: Said) -> str:
    label, option = _FIELDS[field], said.option
    return chance.choice(
        (
            f"{label}: [ ] {option} [x] unbekannt", f"{label}: [x] unbekannt [ ] {option}",
            f"{label}\t☐ {option}\t☒ keine Angabe", f"{label}: {option} [ ] unbekannt [x]",
            f"{label}: ~~{option}~~ offen", f"{label}: ( ) {option} (x) offen",
            f"| {option} | unbekannt |\n|  | x |", f"{label} {option}: [ ] ja [x] nein",
            f"{label}:\n[ ] {option}\n[x] unbekannt",
        )
    )  # fmt: skip


def _refused(chance: random.Random, field: str, said: Said) -> str:
    noun = re.sub(r"^(?:die|der) ", "", said.noun)
    return chance.choice(
        (
            f"Falls nötig {noun}.", f"Bei Verschlechterung {noun}.", f"Keine {noun}.", f"{noun}: nein",
            f"{noun.capitalize()} wurde abgelehnt.", f"Ob {noun}, ist offen.", f"{noun}? Bitte klären.",
            f"Bei Bedarf {noun}.", f"Sobald {noun}, melden wir uns.",
        )
    )  # fmt: skip


Trap = Callable[[random.Random, str, Said], str]
TRAPS: Mapping[str, Trap] = {
    "list value of another person": _whose,
    "list value of another time": _when,
    "list value of another stay": _which,
    "list value in a name or in hours": _name,
    "list value in an empty box": _box,
    "list value refused or conditional": _refused,
}


def trap(make: Trap) -> Callable[[random.Random, Letter, Letter], tuple[str, str, str] | None]:
    """The maker of one class of negatives: a sentence put into a letter that says nothing of the list."""

    def maker(chance: random.Random, letter: Letter, other: Letter) -> tuple[str, str, str] | None:
        (field, value), said = chance.choice(tuple(WAYS.items()))
        return (
            (field, value, with_sentence(letter.text, make(chance, field, said))) if _is_silent(letter, field) else None
        )

    return maker


def stated(letter: Letter, path: str) -> str | None:
    """The true value at a path; None where the letter has none."""
    outer, _, inner = path.partition(".")
    value = letter.truth.get(outer)
    return value.get(inner) if isinstance(value, dict) else value


def _is_silent(letter: Letter, field: str) -> bool:
    if stated(letter, field) or field in letter.undecided:
        return False
    text = re.sub("Privatklinik|Dringlichkeit", "", letter.text)
    return not any(re.search(pattern, text, re.IGNORECASE) for pattern in KEYWORDS[field].values())


def with_sentence(text: str, sentence: str) -> str:
    """The sentence as a paragraph of its own before the last one."""
    head, _, foot = text.rpartition("\n\n")
    return f"{head}\n\n{sentence}\n\n{foot}"
