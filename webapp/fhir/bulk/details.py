"""The optional fields of a manifest's line, in words or as FHIR, made into the elements of a DocumentReference."""

from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from webapp.fhir.bulk.lines import BadLine, problems_of
from webapp.fhir.details import LARGEST, Details, picked

SYSTEMS = {"kdl": "http://dvmd.de/fhir/CodeSystem/kdl", "loinc": "http://loinc.org"}
"""Short names for the systems of document types: Klinische Dokumentenklassen-Liste (DVMD) and LOINC."""
_URI = "urn:ietf:rfc:3986"
Words = str | dict[str, Any]
Resource = dict[str, Any]


class DetailsLine(BaseModel):
    """Fields of a line beside the contract's fields: words, or the FHIR element as an object."""

    model_config = ConfigDict(extra="forbid")

    type: Words | None = None
    category: Words | list[Words] | None = None
    author: Words | list[Words] | None = None
    encounter: Words | list[Words] | None = None
    masterIdentifier: Words | None = None  # noqa: N815 - the names of FHIR
    identifier: Words | list[Words] | None = None
    description: str | None = None
    creation: str | None = None
    language: str | None = None
    docStatus: Literal["preliminary", "final", "amended", "entered-in-error"] | None = None  # noqa: N815
    securityLabel: Words | list[Words] | None = None  # noqa: N815
    format: Words | None = None
    facilityType: Words | None = None  # noqa: N815
    practiceSetting: Words | None = None  # noqa: N815
    event: Words | list[Words] | None = None
    period: Words | None = None
    related: Words | list[Words] | None = None
    authenticator: Words | None = None
    custodian: Words | None = None
    contained: list[dict[str, Any]] | None = None


def details_of(line: DetailsLine) -> Details | None:
    """The details a line gives, once fhir.resources (R4B) finds them valid. Raises BadLine."""
    if not line.model_fields_set & DetailsLine.model_fields.keys():
        return None
    given = _without_nothing(_elements(line))
    if not given:
        return None
    _validate(given)
    written = orjson.dumps(given)
    if len(written) > LARGEST or b"\\u0000" in written:
        raise BadLine("the details are too long or hold U+0000", f"at most {LARGEST} bytes of JSON")
    return picked(given)


def _elements(line: DetailsLine) -> Resource:
    context = {
        "encounter": [_encounter(item) for item in _listed(line.encounter)],
        "facilityType": _concept(line.facilityType),
        "practiceSetting": _concept(line.practiceSetting),
        "event": [_concept(item) for item in _listed(line.event)],
        "period": _period(line.period),
        "related": [_encounter(item) for item in _listed(line.related)],
    }
    attachment = {"creation": line.creation, "language": line.language}
    return {
        "masterIdentifier": _identifier(line.masterIdentifier),
        "identifier": [_identifier(item) for item in _listed(line.identifier)],
        "docStatus": line.docStatus,
        "type": _concept(line.type),
        "category": [_concept(item) for item in _listed(line.category)],
        "author": [_author(item) for item in _listed(line.author)],
        "authenticator": None if line.authenticator is None else _author(line.authenticator),
        "custodian": None if line.custodian is None else _author(line.custodian),
        "contained": line.contained,
        "description": line.description,
        "securityLabel": [_concept(item) for item in _listed(line.securityLabel)],
        "context": context,
        "content": [{"attachment": attachment, "format": _coding(line.format)}],
    }


def _validate(given: Resource) -> None:
    from fhir.resources.R4B.documentreference import DocumentReference  # slow to import: 1 s

    own: Resource = {"attachment": {}}
    content = [own | item for item in given.get("content", [{}])]
    try:
        DocumentReference.model_validate(given | {"status": "current", "content": content})
    except ValidationError as error:
        raise BadLine(problems_of(error), "elements of a FHIR R4 DocumentReference") from None
    except (TypeError, AttributeError, LookupError, ValueError):  # over an unknown type of what is contained
        raise BadLine("the details are no FHIR", "elements of a FHIR R4 DocumentReference") from None


def _coding(words: Words | None) -> Resource | None:
    """`system|code`, `system|code|display`, or a code alone; `kdl` and `loinc` for their systems."""
    if not isinstance(words, str):
        return words
    system, bar, rest = words.partition("|")
    code, _, display = (rest if bar else words).partition("|")
    return {"system": SYSTEMS.get(system.lower(), system) if bar else None, "code": code, "display": display}


def _concept(words: Words | None) -> Resource | None:
    return {"coding": [_coding(words)]} if isinstance(words, str) else words


def _identifier(words: Words | None) -> Resource | None:
    """`system|value`, or `value` alone; an OID or UUID as a URN is of the system of URIs."""
    if not isinstance(words, str):
        return words
    system, bar, value = words.partition("|")
    if bar:
        return {"system": system, "value": value}
    return {"system": _URI if words.startswith(("urn:oid:", "urn:uuid:")) else None, "value": words}


def _author(words: Words) -> Resource:
    """A reference, or the name of whoever wrote it."""
    if not isinstance(words, str):
        return words
    return {"reference" if _is_reference(words) else "display": words}


def _period(words: Words | None) -> Resource | None:
    """`start/end` as FHIR dateTimes, either of which may be missing."""
    if not isinstance(words, str):
        return words
    start, _, end = words.partition("/")
    return {"start": start, "end": end}


def _encounter(words: Words) -> Resource:
    """A reference, or the identifier of the case (`system|value`, `value`)."""
    if not isinstance(words, str):
        return words
    return {"reference": words} if _is_reference(words) and "|" not in words else {"identifier": _identifier(words)}


def _is_reference(text: str) -> bool:
    kind, slash, ident = text.partition("/")
    local = bool(slash) and kind.isalpha() and kind[:1].isupper() and bool(ident) and " " not in text
    return local or text.startswith(("http://", "https://", "urn:uuid:", "#"))


def _listed(value: Words | list[Words] | None) -> list[Words]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _without_nothing(value: Any) -> Any:
    """The same without what is None or empty; FHIR has no empty elements."""
    if isinstance(value, dict):
        kept = {name: _without_nothing(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [item for item in map(_without_nothing, value) if item not in (None, "", [], {})]
    return value
