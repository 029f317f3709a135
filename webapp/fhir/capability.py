"""The CapabilityStatement: what every FHIR client asks for first."""

from webapp.fhir.resources import Resource

_DATE = {"name": "date", "type": "date", "documentation": "Zeitpunkt der Speicherung; Präfixe eq, ge, gt, le, lt"}
_PAGING = [
    {"name": "_count", "type": "number", "documentation": "1 bis 200, sonst 50"},
    {"name": "_offset", "type": "number", "documentation": "Einträge, die übersprungen werden"},
]
_ID = {"name": "_id", "type": "token", "documentation": "Eine Id oder mehrere, durch Komma getrennt"}
_SUBJECT = {"name": "subject", "type": "reference", "documentation": "Wie patient"}
_VERSIONED = ["read", "vread", "search-type", "history-instance", "history-type"]
_HANDLING = (
    "Was eine Suche nicht versteht, wird Dienstkonten mit 400 abgelehnt und für Personen weggelassen "
    "(Befund-Ignored); Prefer: handling=strict oder lenient entscheidet für einen Aufruf."
)
_CARRIED = {
    "identifier": ("token", "Auch masterIdentifier"), "type": ("token", "Zum Beispiel KDL oder LOINC"),
    "category": ("token", "code oder system|code"), "author": ("reference", "Auch author:identifier"),
    "encounter": ("reference", "Auch encounter:identifier"), "creation": ("date", "Wann der Anhang entstand"),
    "security-label": ("token", "Des Dokuments (securityLabel) oder der Ressource (meta.security)"),
}  # fmt: skip


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
                "documentation": _HANDLING,
                "security": _security(base),
                "resource": [_document_reference(), _patient(), _binary(), _imaging_study()],
                "interaction": [{"code": "transaction"}],
            }
        ],
    }


def _security(base: str) -> Resource:
    """Where tokens come from: people make theirs, programs get theirs by SMART Backend Services."""
    uris = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"
    kinds = "http://terminology.hl7.org/CodeSystem/restful-security-service"
    token = {"url": "token", "valueUri": f"{base.removesuffix('/fhir/r4')}/oauth2/token"}
    return {
        "extension": [{"url": uris, "extension": [token]}],
        "service": [{"coding": [{"system": kinds, "code": "SMART-on-FHIR"}]}],
        "description": "Authorization: Bearer <ACCESS_TOKEN>, von Personen oder Dienstkonten",
    }


def _document_reference() -> Resource:
    searches = [
        _DATE,
        {"name": "_lastUpdated", "type": "date", "documentation": "Wie date"},
        {"name": "patient", "type": "reference", "documentation": "Patient-Id oder externe Kennung"},
        {"name": "status", "type": "token", "documentation": "current, superseded oder entered-in-error"},
        {"name": "contenttype", "type": "token", "documentation": "MIME-Typ, genau und klein geschrieben"},
    ]
    searches += [_ID, _SUBJECT]
    searches += [{"name": name, "type": kind, "documentation": said} for name, (kind, said) in _CARRIED.items()]
    resource = _resource("DocumentReference", ["create", *_VERSIONED], searches + _PAGING)
    return resource | {"searchInclude": ["DocumentReference:patient", "DocumentReference:subject"]}


def _patient() -> Resource:
    searches = [{"name": "identifier", "type": "token", "documentation": "system|value"}, _ID]
    names = {"name": "Namen", "family": "Nachname", "given": "Vorname"}
    begins = "{} beginnt so, ohne Rücksicht auf Groß- und Kleinschreibung und Akzente; :exact genau so"
    searches += [{"name": name, "type": "string", "documentation": begins.format(of)} for name, of in names.items()]
    searches += [{"name": "birthdate", "type": "date"}, {"name": "gender", "type": "token"}, *_PAGING]
    definition = "http://hl7.org/fhir/OperationDefinition/Patient-everything"
    operations = [{"name": "everything", "definition": definition}]
    return _resource("Patient", ["create", "read", "search-type"], searches) | {"operation": operations}


def _binary() -> Resource:
    return _resource("Binary", ["create", "read"], [])


def _imaging_study() -> Resource:
    patient = {"name": "patient", "type": "reference", "documentation": "Patient-Id oder Kennung"}
    identifier = {"name": "identifier", "type": "token", "documentation": "system|value"}
    return _resource("ImagingStudy", ["read", "search-type"], [patient, _SUBJECT, identifier, _ID, *_PAGING])


def _resource(kind: str, interactions: list[str], searches: list[dict[str, str]]) -> Resource:
    resource: Resource = {"type": kind, "interaction": [{"code": code} for code in interactions]}
    if kind != "Binary":
        resource |= {"versioning": "versioned", "readHistory": "vread" in interactions, "conditionalRead": "not-match"}
    return resource | ({"searchParam": searches} if searches else {})
