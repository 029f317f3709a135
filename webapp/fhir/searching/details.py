"""Search parameters for what documents carry beside the contract's fields: kind, author, encounter, identifier."""

import re

from webapp.fhir import dates
from webapp.fhir.searching.taken import Reader, Taken, listed
from webapp.fhir.searching.wanted import Carried
from webapp.fhir.terms import instant_term, short

_ABSOLUTE = re.compile(r"https?://[^?#|\s]+/([A-Z][A-Za-z]+/[A-Za-z0-9.\-]{1,64})")


def token(kind: str) -> Reader:
    """`code`, `system|code`, `|code`, `system|`, any of a comma list (FHIR R4, section 3.1.1.4.10)."""
    return lambda taken, value: _take(taken, value, kind, [value, *listed(value)])


def reference(kind: str) -> Reader:
    """An id, `Type/id`, or an absolute URL: as it was given, or the local one with that id (section 3.1.1.4.12)."""
    return lambda taken, value: _take(taken, value, kind, [form for part in listed(value) for form in _forms(part)])


def creation(taken: Taken, value: str) -> str | None:
    """When the document was written; a less precise time counts from the beginning of its period."""
    window = dates.parse(value)
    if window is None:
        return None
    bounds = [None if bound is None else instant_term(bound) for bound in (window.start, window.end)]
    return value if taken.carry(Carried("creation", (), *bounds)) else None


def _forms(text: str) -> list[str]:
    absolute = _ABSOLUTE.fullmatch(text)
    return [text, absolute[1]] if absolute else [text]


def _take(taken: Taken, value: str, kind: str, words: list[str]) -> str | None:
    found = tuple(dict.fromkeys(short(word) for word in words if word))
    return value if found and taken.carry(Carried(kind, found)) else None
