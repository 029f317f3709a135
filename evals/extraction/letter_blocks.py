"""How a letter names its patient, in eight forms, and how it writes a date, in five."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Protocol

from evals.extraction.letter_words import MONTHS


class LetterContext(Protocol):
    """What a patient block needs to know of the letter it stands in."""

    last: str
    first: str
    sex: str
    random: random.Random

    def wrap(self, text: str) -> str:
        """The text as the letter wraps its lines."""
        ...


def _said(writer: LetterContext) -> str:
    return "Frau" if writer.sex == "w" else "Herr"


def _sentence(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    start = f"Betrifft {_said(w)}{'n' if w.sex == 'm' else ''} {w.first} {w.last}, geb. {born}"
    address = "".join(f", wohnhaft {value}" for label, value in more if label == "Adresse")
    rest = " ".join(f"{label}: {value}." for label, value in more if label != "Adresse")
    return w.wrap(f"{start}{address}. {rest}".strip())


def _form(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rows = [("Name", w.last), ("Vorname", w.first), ("Geburtsdatum", born), ("Geschlecht", _sex_word(w)), *more]
    return "\n".join(f"{label}: {value}" for label, value in rows)


def _table(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rows = [("Patient", f"{w.last} {w.first}"), ("Geburtsdatum", born), ("Geschlecht", _sex_word(w)), *more]
    return "\n".join(f"{label}\t{value}" for label, value in rows)


def _pipes(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rows = [("Nachname", w.last), ("Vorname", w.first), ("Geb.-Datum", born), ("Geschlecht", _sex_word(w)), *more]
    return "\n".join(f"| {label} | {value} |" for label, value in rows)


def _line(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rest = "\n".join(f"{label}: {value}" for label, value in more)
    return f"{_said(w)} {w.first} {w.last} * {born}\n{rest}".strip()


def _register(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rest = "\n".join(f"{label}: {value}" for label, value in more)
    return f"Patient: {w.last}, {w.first}, {w.sex}, geb. {born}\n{rest}".strip()


def _subject(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rest = "; ".join(f"{label} {value}" for label, value in more)
    who = "Patientin" if w.sex == "w" else "Ihr Patient"
    return f"Betreff: {who} {w.first} {w.last}, geboren am {born}\n{rest}".strip()


def _cells(w: LetterContext, born: str, more: list[tuple[str, str]]) -> str:
    rows = [("Name, Vorname", f"{w.last}, {w.first}"), ("Geburtsdatum", born), ("Geschlecht", _sex_word(w)), *more]
    return "\n".join(f"{label}:\n{value}" for label, value in rows)


def _sex_word(w: LetterContext) -> str:
    return w.random.choice({"w": ("w", "weiblich"), "m": ("m", "männlich")}[w.sex])


PATIENTS: dict[str, Callable[[LetterContext, str, list[tuple[str, str]]], str]] = {
    "sentence": _sentence, "form": _form, "table": _table, "pipes": _pipes,
    "line": _line, "register": _register, "subject": _subject, "cells": _cells,
}  # fmt: skip


def dotted(day: date) -> str:
    return f"{day:%d.%m.%Y}"


def short(day: date) -> str:
    return f"{day.day}.{day.month}.{day.year}"


def named(day: date) -> str:
    return f"{day.day}. {MONTHS[day.month - 1]} {day.year}"


def iso(day: date) -> str:
    return day.isoformat()


def two_digits(day: date) -> str:
    return f"{day:%d.%m.%y}"


DATE_FORMS = (dotted, short, named, iso, two_digits)
