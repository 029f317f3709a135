"""Bounds of a patient: identifiers, names, words of a name, bytes.

Each identifier and each word is a row of an index, written while others wait for the organization's lock; nobody has as
many as these. The import and programs that write share the bounds.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, Literal, NamedTuple

import orjson

from webapp.fhir.models import SYSTEM_LENGTH, VALUE_LENGTH

MOST_IDENTIFIERS, MOST_NAMES, MOST_WORDS, LONGEST_WORD = 100, 20, 40, 1_000
LARGEST_PATIENT = 131_072  # bytes of JSON: a photo of a pass fits
Resource = dict[str, Any]


class Beyond(NamedTuple):
    """An element that is beyond a bound, as FHIRPath below the resource ("" is all of it): how much it has, and how
    much is kept."""

    element: str
    found: int
    most: int
    unit: Literal["items", "characters", "bytes"]


def beyond(patient: Resource) -> Beyond | None:
    """The first element of a Patient that is more than can be kept. Lists are looked at by their length first."""
    sizes = chain(_lists(patient), _identifiers(patient), _names(patient), _whole(patient))
    return next((size for size in sizes if size.found > size.most), None)


def _lists(patient: Resource) -> Iterator[Beyond]:
    yield Beyond("identifier", len(_listed(patient, "identifier")), MOST_IDENTIFIERS, "items")
    yield Beyond("name", len(_listed(patient, "name")), MOST_NAMES, "items")


def _identifiers(patient: Resource) -> Iterator[Beyond]:
    for number, identifier in enumerate(_listed(patient, "identifier")):
        for element, most in (("system", SYSTEM_LENGTH), ("value", VALUE_LENGTH)):
            yield Beyond(f"identifier[{number}].{element}", _length(identifier, element), most, "characters")


def _names(patient: Resource) -> Iterator[Beyond]:
    for number, name in enumerate(_listed(patient, "name")):
        words = {element: _listed(name, element) for element in ("given", "prefix", "suffix")}
        most = max(words, key=lambda element: len(words[element]))
        yield Beyond(f"name[{number}].{most}", sum(map(len, words.values())), MOST_WORDS, "items")
        for element, parts in words.items():
            longest = max((len(part) for part in parts if isinstance(part, str)), default=0)
            yield Beyond(f"name[{number}].{element}", longest, LONGEST_WORD, "characters")
        for element in ("family", "text"):
            yield Beyond(f"name[{number}].{element}", _length(name, element), LONGEST_WORD, "characters")


def _whole(patient: Resource) -> Iterator[Beyond]:
    yield Beyond("", len(orjson.dumps(patient)), LARGEST_PATIENT, "bytes")


def _listed(of: Any, element: str) -> list[Any]:
    value = of.get(element) if isinstance(of, dict) else None
    return value if isinstance(value, list) else []


def _length(of: Any, element: str) -> int:
    value = of.get(element) if isinstance(of, dict) else None
    return len(value) if isinstance(value, str) else 0
