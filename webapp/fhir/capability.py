"""The CapabilityStatement: what every FHIR client asks for first."""

from webapp.fhir.resources import Resource

_DATE = {"name": "date", "type": "date", "documentation": "Zeitpunkt der Speicherung; Präfixe eq, ge, gt, le, lt"}
_PAGING = [
    {"name": "_count", "type": "number", "documentation": "1 bis 200, sonst 50"},
    {"name": "_offset", "type": "number", "documentation": "Einträge, die übersprungen werden"},
]


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
        "format": ["application/fhir+json", "json"],
        "rest": [
            {
                "mode": "server",
                "security": {"description": "Authorization: Bearer <ACCESS_TOKEN>, je Person ausgestellt"},
                "resource": [_document_reference(), _patient(), _binary(), _imaging_study()],
            }
        ],
    }


def _document_reference() -> Resource:
    searches = [
        _DATE,
        {"name": "_lastUpdated", "type": "date", "documentation": "Wie date"},
        {"name": "patient", "type": "reference", "documentation": "Patient-Id oder externe Kennung"},
        {"name": "status", "type": "token", "documentation": "current oder entered-in-error"},
        {"name": "contenttype", "type": "token", "documentation": "MIME-Typ, genau und klein geschrieben"},
    ]
    return _resource("DocumentReference", ["read", "search-type"], searches + _PAGING)


def _patient() -> Resource:
    searches = [{"name": "identifier", "type": "token", "documentation": "system|value"}, *_PAGING]
    definition = "http://hl7.org/fhir/OperationDefinition/Patient-everything"
    operations = [{"name": "everything", "definition": definition}]
    return _resource("Patient", ["read", "search-type"], searches) | {"operation": operations}


def _binary() -> Resource:
    return _resource("Binary", ["read"], [])


def _imaging_study() -> Resource:
    return {"type": "ImagingStudy", "documentation": "Nur über Patient/$everything"}


def _resource(kind: str, interactions: list[str], searches: list[dict[str, str]]) -> Resource:
    resource: Resource = {"type": kind, "interaction": [{"code": code} for code in interactions]}
    return resource | ({"searchParam": searches} if searches else {})
