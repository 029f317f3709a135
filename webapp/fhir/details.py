"""What a document says of itself beside the fields of the contract: kind, author, encounter, identifiers, description.

`Details` is that part of a FHIR R4 DocumentReference, kept as JSON and answered as it stands: `masterIdentifier`,
`identifier`, `docStatus`, `type`, `category`, `author`, `description`, `securityLabel`, `context` (without the subject)
and `content[0]` with the `attachment`'s `creation` and `language` and the `format`. Guides: ISiK Dokumentenaustausch,
profile ISiKDokumentenMetadaten, and IHE MHD, profile Comprehensive DocumentReference (`docs/documents.md`).
"""

from typing import Any

Details = dict[str, Any]
CARRIED = (
    "masterIdentifier", "identifier", "docStatus", "type", "category", "author", "description", "securityLabel",
    "context",
)  # fmt: skip
"""Elements that are taken over whole. What FHIR has beside them is the service's own, or is not kept."""
OF_ATTACHMENT = ("creation", "language")
OF_CONTEXT = ("encounter", "event", "period", "facilityType", "practiceSetting")
LARGEST = 16_384  # bytes of JSON: some kB are usual, and every search reads them


def picked(resource: dict[str, Any]) -> Details:
    """The details of a valid FHIR DocumentReference; empty where it has none."""
    details = {name: resource[name] for name in CARRIED if resource.get(name)}
    context = {name: value for name, value in details.pop("context", {}).items() if name in OF_CONTEXT}
    content = (resource.get("content") or [{}])[0]
    attachment = {name: value for name, value in content.get("attachment", {}).items() if name in OF_ATTACHMENT}
    kept = ({"attachment": attachment} if attachment else {}) | (
        {"format": content["format"]} if content.get("format") else {}
    )
    return details | ({"context": context} if context else {}) | ({"content": [kept]} if kept else {})


def merged(resource: dict[str, Any], details: Details) -> dict[str, Any]:
    """A DocumentReference of the contract with its details."""
    own, (more,) = resource["content"][0], details.get("content", [{}])
    attachment = own["attachment"] | more.get("attachment", {})
    return details | resource | {"content": [more | own | {"attachment": attachment}]}
