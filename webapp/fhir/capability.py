"""The CapabilityStatement, what every FHIR client asks for first, and the definition of the operation of our own."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import orjson

from clinical.fhir import MEDIA_TYPE, PATCH_TYPE, XML_TYPE
from webapp.fhir.details import Resource
from webapp.fhir.parameters import DATE, DOCUMENT, INCLUSIONS, PATIENT, PREFIXES, STUDY, Parameter

_VERSIONED = ["update", "patch", "delete", "read", "vread", "search-type", "history-instance", "history-type"]
EXTRACT = "OperationDefinition/extract"
_OPERATIONS = {
    "DocumentReference": {
        "extract": f"{{base}}/{EXTRACT}",
        "docref": "http://hl7.org/fhir/uv/ipa/OperationDefinition/docref",
        "generate-metadata": "https://profiles.ihe.net/ITI/MHD/OperationDefinition/generate-metadata",
        "update-metadata": "https://gematik.de/fhir/isik/OperationDefinition/UpdateMetadata",
    },
    "Patient": {"everything": "http://hl7.org/fhir/OperationDefinition/Patient-everything"},
}
_HANDLING = (
    "Was eine Suche nicht versteht, wird Dienstkonten mit 400 abgelehnt und für Personen weggelassen "
    "(Befund-Ignored); Prefer: handling=strict oder lenient entscheidet für einen Aufruf."
)


def capability_statement(base: str) -> Resource:
    """For the organization whose FHIR base URL is `base`."""
    return {
        "resourceType": "CapabilityStatement",
        "status": "active",
        "date": "2026-11-01",
        "kind": "instance",
        "software": {"name": "Befund"},
        "implementation": {"description": "Befund Dokumentenabruf", "url": base},
        "fhirVersion": "4.0.1",
        "format": [MEDIA_TYPE, "json", XML_TYPE, "xml"],
        "patchFormat": [PATCH_TYPE, MEDIA_TYPE, XML_TYPE],
        "rest": [
            {
                "mode": "server",
                "documentation": _HANDLING,
                "security": _security(base),
                "resource": [
                    _resource("DocumentReference", ["create", *_VERSIONED], DOCUMENT, base),
                    _resource("Patient", ["create", "update", "patch", "read", "search-type"], PATIENT, base),
                    _resource("Binary", ["create", "read"], (), base),
                    _resource("ImagingStudy", ["read", "search-type"], STUDY, base),
                ],
                "interaction": [{"code": "transaction"}, {"code": "batch"}, {"code": "history-system"}],
            }
        ],
    }  # fmt: skip


def extract_definition(base: str) -> Resource:
    """Describe `$extract` to clients of the organization whose FHIR base URL is `base`."""
    return _written() | {"url": f"{base}/{EXTRACT}"}


@cache
def _written() -> Resource:
    definition: Resource = orjson.loads(Path(__file__).with_name("extract.json").read_bytes())
    return definition


def _security(base: str) -> Resource:
    """Origin of tokens: people make theirs, programs get theirs by SMART Backend Services."""
    uris = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"
    kinds = "http://terminology.hl7.org/CodeSystem/restful-security-service"
    token = {"url": "token", "valueUri": f"{base.removesuffix('/fhir/r4')}/oauth2/token"}
    return {
        "extension": [{"url": uris, "extension": [token]}],
        "service": [{"coding": [{"system": kinds, "code": "SMART-on-FHIR"}]}],
        "description": "Authorization: Bearer <ACCESS_TOKEN>, von Personen oder Dienstkonten",
    }


def _resource(kind: str, interactions: list[str], searches: Iterable[Parameter], base: str) -> Resource:
    resource: Resource = {"type": kind, "interaction": [{"code": code} for code in interactions]}
    if kind != "Binary":
        resource |= {
            "versioning": "versioned",
            "readHistory": "vread" in interactions,
            "conditionalRead": "full-support",
        }
        resource |= dict.fromkeys(("conditionalCreate", "conditionalUpdate"), "create" in interactions)
        resource["conditionalDelete"] = "single" if "delete" in interactions else "not-supported"
    for way, told in (("_include", "searchInclude"), ("_revinclude", "searchRevInclude")):
        resource[told] = [one.name for one in INCLUSIONS if (one.way, one.searched) == (way, kind)]
    resource["searchParam"] = [_search(parameter) for parameter in searches]
    resource["operation"] = [
        {"name": name, "definition": url.format(base=base)} for name, url in _OPERATIONS.get(kind, {}).items()
    ]
    return {name: value for name, value in resource.items() if value != []}


def _search(parameter: Parameter) -> Resource:
    said = "; ".join(filter(None, (parameter.told, ", ".join((*parameter.modifiers, *parameter.chains)))))
    if parameter.type == DATE and parameter.paths:
        said += f"; Präfixe {', '.join(PREFIXES)}"
    return {"name": parameter.name, "type": parameter.type} | ({"documentation": said} if said else {})
