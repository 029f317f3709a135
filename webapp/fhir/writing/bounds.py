"""Bounds of a patient: identifiers, names, words of a name, bytes.

Each identifier and each word is a row of an index, written while others wait for the organization's lock; nobody has as
many as these. The import and programs that write share the bounds.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import orjson

from webapp.fhir.details import Resource
from webapp.fhir.models import SYSTEM_LENGTH, VALUE_LENGTH

MOST_IDENTIFIERS, MOST_NAMES, MOST_WORDS, LONGEST_WORD = 100, 20, 40, 1_000
LARGEST_PATIENT = 131_072  # bytes of JSON: a photo of a pass fits


class Beyond(NamedTuple):
    """An element that is beyond a bound, as FHIRPath below the resource ("" is all of it): how much it has, and how
    much is kept."""

    element: str
    found: int
    most: int
    unit: Literal["items", "characters", "bytes"]


def beyond(patient: Resource) -> Beyond | None:
    """The first element of a Patient that is more than can be kept. Lists are looked at by their length first."""
    return next((size for size in _sizes(patient) if size.found > size.most), None)


def _sizes(patient: Resource) -> Iterator[Beyond]:
    identifiers, names = _listed(patient, "identifier"), _listed(patient, "name")
    yield Beyond("identifier", len(identifiers), MOST_IDENTIFIERS, "items")
    yield Beyond("name", len(names), MOST_NAMES, "items")
    for number, identifier in enumerate(identifiers):
        for element, most in (("system", SYSTEM_LENGTH), ("value", VALUE_LENGTH)):
            yield Beyond(f"identifier[{number}].{element}", _length(identifier, element), most, "characters")
    for number, name in enumerate(names):
        words = {element: _listed(name, element) for element in ("given", "prefix", "suffix")}
        most_of = max(words, key=lambda element: len(words[element]))
        yield Beyond(f"name[{number}].{most_of}", sum(map(len, words.values())), MOST_WORDS, "items")
        lengths = {element: max(map(_characters, parts), default=0) for element, parts in words.items()}
        for element, longest in (lengths | {of: _length(name, of) for of in ("family", "text")}).items():
            yield Beyond(f"name[{number}].{element}", longest, LONGEST_WORD, "characters")
    yield Beyond("", len(orjson.dumps(patient)), LARGEST_PATIENT, "bytes")


def _listed(of: Any, element: str) -> list[Any]:
    value = of.get(element) if isinstance(of, dict) else None
    return value if isinstance(value, list) else []


def _length(of: Any, element: str) -> int:
    return _characters(of.get(element)) if isinstance(of, dict) else 0


def _characters(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0
