"""The optional fields of a manifest's line, in words or as FHIR, made into the elements of a DocumentReference."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict

from webapp.fhir.bulk.lines import BadLine, require_valid
from webapp.fhir.details import LARGEST, Details, Resource, picked, without_nothing

SYSTEMS = {"kdl": "http://dvmd.de/fhir/CodeSystem/kdl", "loinc": "http://loinc.org"}
"""Short names for the systems of document types: Klinische Dokumentenklassen-Liste (DVMD) and LOINC."""
_URI = "urn:ietf:rfc:3986"


class ResourceElement(NamedTuple):
    """The element that a field becomes, and how it is made of words; an object is taken as it is."""

    path: str
    of_words: Callable[[str], Any]


def _coding(words: str) -> Resource:
    """`system|code`, `system|code|display`, or a code alone; `kdl` and `loinc` for their systems."""
    system, bar, rest = words.partition("|")
    code, _, display = (rest if bar else words).partition("|")
    return {"system": SYSTEMS.get(system.lower(), system) if bar else None, "code": code, "display": display}


def _concept(words: str) -> Resource:
    return {"coding": [_coding(words)]}


def _identifier(words: str) -> Resource:
    """`system|value`, or `value` alone; an OID or UUID as a URN is of the system of URIs."""
    system, bar, value = words.partition("|")
    if bar:
        return {"system": system, "value": value}
    return {"system": _URI, "value": words} if words.startswith("urn:") else {"value": words}


def _author(words: str) -> Resource:
    """A reference, or the name of whoever wrote it."""
    return {"reference" if _is_reference(words) else "display": words}


def _period(words: str) -> Resource:
    """`start/end` as FHIR dateTimes, either of which may be missing."""
    start, _, end = words.partition("/")
    return {"start": start, "end": end}


def _encounter(words: str) -> Resource:
    """A reference, or the identifier of the case (`system|value`, `value`)."""
    return {"reference": words} if _is_reference(words) and "|" not in words else {"identifier": _identifier(words)}


def _is_reference(text: str) -> bool:
    kind, slash, ident = text.partition("/")
    local = bool(slash) and kind.isalpha() and kind[:1].isupper() and bool(ident) and " " not in text
    return local or text.startswith(("http://", "https://", "urn:uuid:", "#"))


One = str | Resource | None
Many = str | Resource | list[str | Resource] | None
DocStatus = Literal["preliminary", "final", "amended", "entered-in-error"]


class DetailsLine(BaseModel):
    """Fields of a line beside the contract's fields, each with its element: words, or the FHIR element as an object."""

    model_config = ConfigDict(extra="forbid", cache_strings="keys")

    type: Annotated[One, ResourceElement("type", _concept)] = None
    category: Annotated[Many, ResourceElement("category", _concept)] = None
    author: Annotated[Many, ResourceElement("author", _author)] = None
    encounter: Annotated[Many, ResourceElement("context.encounter", _encounter)] = None
    masterIdentifier: Annotated[One, ResourceElement("masterIdentifier", _identifier)] = None  # noqa: N815 - FHIR's names
    identifier: Annotated[Many, ResourceElement("identifier", _identifier)] = None
    description: Annotated[str | None, ResourceElement("description", str)] = None
    creation: Annotated[str | None, ResourceElement("content.attachment.creation", str)] = None
    language: Annotated[str | None, ResourceElement("content.attachment.language", str)] = None
    docStatus: Annotated[DocStatus | None, ResourceElement("docStatus", str)] = None  # noqa: N815
    securityLabel: Annotated[Many, ResourceElement("securityLabel", _concept)] = None  # noqa: N815
    format: Annotated[One, ResourceElement("content.format", _coding)] = None
    facilityType: Annotated[One, ResourceElement("context.facilityType", _concept)] = None  # noqa: N815
    practiceSetting: Annotated[One, ResourceElement("context.practiceSetting", _concept)] = None  # noqa: N815
    event: Annotated[Many, ResourceElement("context.event", _concept)] = None
    period: Annotated[One, ResourceElement("context.period", _period)] = None
    related: Annotated[Many, ResourceElement("context.related", _encounter)] = None
    authenticator: Annotated[One, ResourceElement("authenticator", _author)] = None
    custodian: Annotated[One, ResourceElement("custodian", _author)] = None
    contained: Annotated[list[Resource] | None, ResourceElement("contained", str)] = None


def details_of(line: DetailsLine) -> Details | None:
    """The details a line gives, once fhir.resources (R4B) finds them valid. Raises BadLine."""
    given: Resource = without_nothing(_elements(line))
    if not given:
        return None
    content = [{"attachment": {}} | item for item in given.get("content", [{}])]
    whole = given | {"status": "current", "content": content}
    require_valid(whole, "DocumentReference", "the details are", "elements of a FHIR R4 DocumentReference")
    written = orjson.dumps(given)
    if len(written) > LARGEST or b"\\u0000" in written:
        raise BadLine("the details are too long or hold U+0000", f"at most {LARGEST} bytes of JSON")
    return picked(given)


def _elements(line: DetailsLine) -> Resource:
    made: Resource = {"context": {}, "content": [{"attachment": {}}]}
    for name, field in DetailsLine.model_fields.items():
        value, (element,) = getattr(line, name), field.metadata
        many = field.annotation in (Many, list[Resource] | None)
        items = [element.of_words(item) if isinstance(item, str) else item
                 for item in (value if isinstance(value, list) else [value]) if item is not None]  # fmt: skip
        *way, last = element.path.split(".")
        place: Any = made
        for step in way:
            place = place[step][0] if isinstance(place[step], list) else place[step]
        if items:
            place[last] = items if many else items[0]
    return made
