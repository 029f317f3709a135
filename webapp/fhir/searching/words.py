"""Search parameters for words of patients and imaging studies: names, birth dates, gender, identifiers."""

import re

from webapp.fhir.searching.taken import Reader, Taken, listed
from webapp.fhir.searching.wanted import Term
from webapp.fhir.terms import LAST, folded

GENDER_SYSTEM = "http://hl7.org/fhir/administrative-gender"
_BIRTH = re.compile(r"(eq|ge|gt|le|lt)?([0-9]{4}(?:-[0-9]{2}){0,2})")


def beginning(kind: str) -> Reader:
    """A name begins so, whatever its case and accents (FHIR R4, section 3.1.1.4.8)."""
    return lambda taken, value: _take(
        taken, value, kind, [(folded(part), folded(part) + LAST) for part in listed(value)]
    )


def exactly(kind: str) -> Reader:
    """A word is exactly this."""
    return lambda taken, value: _take(taken, value, kind, [_only(part) for part in listed(value)])


def birth_date(taken: Taken, value: str) -> str | None:
    """A birth date in the period that the value states, or on that side of it."""
    found = [_BIRTH.fullmatch(part) for part in listed(value)]
    known = [(match[1] or "eq", match[2]) for match in found if match]
    return _take(taken, value, "birthdate", [_side(prefix, date) for prefix, date in known])


def _side(prefix: str, date: str) -> tuple[str, str]:
    first, end = date, date + LAST  # what begins with the date lies in its period
    bounds = {"eq": (first, end), "ge": (first, LAST), "gt": (end, LAST), "le": ("", end), "lt": ("", first)}
    return bounds[prefix]


def gender(taken: Taken, value: str) -> str | None:
    """A code, with or without its system."""
    codes = [part.removeprefix(f"{GENDER_SYSTEM}|") for part in listed(value)]
    return _take(taken, value, "gender", [_only(code) for code in codes])


study_identifier = exactly("study")
"""`value` or `system|value`: both are among the words of a study."""


def _only(word: str) -> tuple[str, str]:
    return word, word + "\x01"  # no word holds a control character, so nothing lies between


def _take(taken: Taken, value: str, kind: str, ranges: list[tuple[str, str]]) -> str | None:
    return value if ranges and taken.carry(Term(kind, _disjoint(ranges))) else None


def _disjoint(ranges: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The same words in ranges that do not meet, so that no word is looked at twice however long a list is."""
    apart: list[tuple[str, str]] = []
    for first, end in sorted(ranges):
        if apart and first <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], end)
        else:
            apart.append((first, end))
    return tuple(apart)
