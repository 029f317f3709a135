"""Statements of the server on itself and on what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bentos.terminology.inputs import Inputs
from bentos.terminology.issues import not_found
from bentos.terminology.systems import ALL_CODES, NAMES, PROPERTIES, SYSTEM, Systems, Year
from bentos.terminology.valuesets import implicit_value_set
from clinical import __version__

NAME: Final = "icd-10-gm"
PUBLISHER: Final = "Bundesinstitut für Arzneimittel und Medizinprodukte (BfArM)"
OPERATIONS: Final = {
    "CodeSystem": ("lookup", "validate-code", "subsumes"),
    "ValueSet": ("expand", "validate-code"),
    "ConceptMap": ("translate",),
}
_DEFINED: Final = "http://hl7.org/fhir/OperationDefinition"
_SEARCHED: Final = {"url": "uri", "version": "token", "_id": "token"}
PARAMETERS: Final = (
    "url", "valueSet", "valueSetVersion", "filter", "offset", "count", "activeOnly", "includeDesignations",
    "includeDefinition", "property", "tx-resource", "system-version", "check-system-version", "force-system-version",
)  # fmt: skip
"""Of $expand."""


def statement(systems: Systems) -> dict[str, Any]:
    """The CapabilityStatement."""
    resources = [
        {
            "type": kind,
            "interaction": [{"code": "read"}, {"code": "search-type"}],
            "searchParam": [{"name": name, "type": of} for name, of in _SEARCHED.items()],
            "operation": [{"name": name, "definition": f"{_DEFINED}/{kind}-{name}"} for name in names],
        }
        for kind, names in OPERATIONS.items()
    ]
    return {
        "resourceType": "CapabilityStatement",
        **_head(systems),
        "instantiates": ["http://hl7.org/fhir/CapabilityStatement/terminology-server"],
        "fhirVersion": "4.0.1",
        "format": ["application/fhir+json", "application/fhir+xml"],
        "rest": [
            {
                "mode": "server",
                "security": {"description": "Authorization: Bearer <API_KEY>, wie für die übrigen Wege der Text-API"},
                "resource": resources,
            }
        ],
    }


def capabilities(systems: Systems) -> dict[str, Any]:
    """The TerminologyCapabilities."""
    versions = [
        {
            "code": version,
            "isDefault": version == systems.newest.version,
            "compositional": False,
            "language": ["de"],
            "property": ["concept", "display", *PROPERTIES],
        }
        for version in systems.years
    ]
    return {
        "resourceType": "TerminologyCapabilities",
        **_head(systems),
        "codeSystem": [{"uri": SYSTEM, "version": versions, "subsumption": True}],
        "expansion": {
            "hierarchical": False,
            "paging": True,
            "incomplete": False,
            "parameter": [{"name": name} for name in PARAMETERS],
        },
        "codeSearch": "all",
        "validateCode": {"translations": False},
        "translation": {"needsMap": True},
    }


def _head(systems: Systems) -> dict[str, Any]:
    named = {"name": "BefundTerminology", "title": "ICD-10-GM-Terminologie", "status": "active"}
    years = {"description": f"ICD-10-GM {', '.join(systems.years)}"}
    software = {"name": "Befund", "version": __version__}
    head = {**named, "date": systems.since, "version": __version__}
    return {**head, "kind": "instance", "software": software, "implementation": years}


def code_systems(systems: Systems) -> list[dict[str, Any]]:
    """A CodeSystem for each year, the newest first; their codes are asked for by operations."""
    return [_code_system(year) for year in reversed(systems.years.values())]


def _code_system(year: Year) -> dict[str, Any]:
    return {
        "resourceType": "CodeSystem",
        "id": f"{NAME}-{year.version}",
        "url": SYSTEM,
        "version": year.version,
        "name": "ICD10GM",
        "title": f"ICD-10-GM Version {year.version}",
        "status": "active",
        "publisher": PUBLISHER,
        "copyright": "Herausgegeben vom BfArM im Auftrag des Bundesministeriums für Gesundheit (BMG); "
        "© Weltgesundheitsorganisation (WHO) 1992",
        "caseSensitive": False,
        "valueSet": ALL_CODES[0],
        "hierarchyMeaning": "is-a",
        "compositional": False,
        "versionNeeded": True,
        "content": "not-present",
        "count": len(year.catalog),
        "property": [
            {"code": name, "description": about.about, "type": about.kind} for name, about in PROPERTIES.items()
        ],
    }


def value_sets(systems: Systems) -> list[dict[str, Any]]:
    """The value set of all codes, for each year."""
    found = []
    for version in reversed(systems.years):
        made = implicit_value_set(ALL_CODES[0], version)
        assert made is not None  # noqa: S101 - the name is known
        found.append({**made, "id": f"{NAME}-{version}"})
    return found


def searched(resources: Sequence[dict[str, Any]], given: Inputs, base: str) -> dict[str, Any]:
    """A searchset of the resources that a search by `url`, `version` or `_id` means."""
    url, version, ident = given.text("url"), given.text("version"), given.text("_id")
    url = SYSTEM if url in NAMES else ALL_CODES[0] if url in ALL_CODES else url
    found = [
        each
        for each in resources
        if url in (None, each["url"]) and version in (None, each["version"]) and ident in (None, each["id"])
    ]
    if not found and url is not None and (implicit := implicit_value_set(url, version or "")):
        found = [{**implicit, "id": "implicit"}] if resources and resources[0]["resourceType"] == "ValueSet" else []
    entries = [
        {"fullUrl": f"{base}/{each['resourceType']}/{each['id']}", "resource": each, "search": {"mode": "match"}}
        for each in found
    ]
    return {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": len(found),
        **({"entry": entries} if entries else {}),
    }


def read(resources: Sequence[dict[str, Any]], ident: str) -> dict[str, Any]:
    """The resource of an id. Raises OperationRefused where there is none."""
    for each in resources:
        if each["id"] == ident:
            return each
    raise not_found("There is no resource of this id")
