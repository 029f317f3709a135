"""`$generate-metadata` (IHE MHD, ITI-106): a FHIR document is stored with the DocumentReference its Composition gives.

The mapping is that of ISiK Dokumentenaustausch (Composition -> DocumentReference) and, for what it leaves out, of FHIR
R4. What a document refers to inside itself means nothing outside of it: patient, encounter and what is replaced are
named by their identifiers, and authors are contained.
"""

import base64
from typing import Any

import orjson

from clinical.fhir import MEDIA_TYPE
from webapp.fhir.answers import FhirError
from webapp.fhir.details import Resource, objects

COPIED = {
    "type": "type", "category": "category", "status": "docStatus", "title": "description", "custodian": "custodian",
    "author": "author",
}  # fmt: skip
"""Elements of the Composition, and what they are called in the DocumentReference."""
_PREFERRED = {"Patient": "MR", "Encounter": "VN"}  # types of identifiers (HL7 v2, table 0203)
_CONFIDENTIALITY = "http://terminology.hl7.org/CodeSystem/v3-Confidentiality"
_FORMAT = {
    "system": "http://ihe.net/fhir/ihe.formatcode.fhir/CodeSystem/formatcode",
    "code": "urn:ihe:iti:xds:2017:mimeTypeSufficient",
}


def generated(parameters: Resource) -> Resource:
    """The DocumentReference, its file inline, of the document among the parameters. Raises FhirError 422."""
    try:
        return _generated(parameters)
    except (TypeError, AttributeError, LookupError):  # over a value of another type than FHIR has there
        raise FhirError(422, "Das ist kein Dokument in FHIR R4.", "Parameters.parameter") from None


def _generated(parameters: Resource) -> Resource:
    sent = [one.get("resource") for one in objects(parameters.get("parameter")) if one.get("name") == "document"]
    bundle = sent[0] if len(sent) == 1 and isinstance(sent[0], dict) else {}
    inside = [one["resource"] for one in objects(bundle.get("entry")) if isinstance(one.get("resource"), dict)]
    composition = inside[0] if inside else {}
    if (bundle.get("type"), composition.get("resourceType")) != ("document", "Composition"):
        raise FhirError(422, "Erwartet wird ein FHIR-Dokument: Bundle mit type document und einer Composition.",
                        "Parameters.parameter")  # fmt: skip
    data = orjson.dumps(bundle)  # before references in it are led elsewhere
    names = {one.get("fullUrl"): one["resource"] for one in objects(bundle["entry"]) if "resource" in one}
    names |= {f"{one.get('resourceType')}/{one.get('id')}": one for one in inside}
    made: Resource = {"resourceType": "DocumentReference", "status": "current"}
    made |= {name: composition[element] for element, name in COPIED.items() if element in composition}
    contained = _contain(made, names)
    attachment = {
        "contentType": MEDIA_TYPE, "title": composition.get("title"), "creation": composition.get("date"),
        "language": composition.get("language", "de"), "data": base64.b64encode(data).decode(),
    }  # fmt: skip
    event = (objects(composition.get("event")) or [{}])[0]
    level = composition.get("confidentiality")
    return made | {
        "masterIdentifier": bundle.get("identifier"), "identifier": _listed(composition.get("identifier")),
        "subject": _named(composition.get("subject"), names), "contained": contained,
        "securityLabel": [{"coding": [{"system": _CONFIDENTIALITY, "code": level}]}] if level else [],
        "relatesTo": [_related(one, names) for one in objects(composition.get("relatesTo"))],
        "context": {"encounter": _listed(_named(composition.get("encounter"), names)),
                    "event": event.get("code"), "period": event.get("period")},
        "content": [{"attachment": attachment, "format": _FORMAT}],
    }  # fmt: skip


def _contain(made: Resource, names: dict[Any, Resource]) -> list[Resource]:
    """Let authors and custodian of the document lead to copies of what they are inside of it."""
    copies: list[Resource] = []
    for element in ("author", "custodian"):
        for one in objects(made.get(element)) or objects([made.get(element)]):
            if found := names.get(one.get("reference")):
                copies.append({name: value for name, value in found.items() if name not in ("meta", "text")})
                copies[-1]["id"] = f"{element}-{len(copies)}"
                one["reference"] = f"#{copies[-1]['id']}"
    return copies


def _named(reference: Any, names: dict[Any, Resource]) -> Any:
    """The identifier of what a reference leads to inside the document; any other reference as it stands."""
    found = names.get(reference.get("reference")) if isinstance(reference, dict) else None
    if found is None:
        return reference
    listed = objects(_listed(found.get("identifier")))
    kind = _PREFERRED.get(str(found.get("resourceType")))
    preferred = [one for one in listed if any(coding.get("code") == kind for coding in
                 objects((one.get("type") or {}).get("coding")))]  # fmt: skip
    return {"identifier": (preferred or listed)[0]} if listed else None


def _related(related: Resource, names: dict[Any, Resource]) -> Resource:
    target = related.get("targetReference")
    named = {"identifier": related.get("targetIdentifier")} if target is None else _named(target, names)
    return {"code": related.get("code"), "target": named}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
