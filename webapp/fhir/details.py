"""Details of a document beside the fields of the contract: kind, author, encounter, identifiers, narrative.

`Details` is a FHIR R4 DocumentReference without what is the service's own, kept as JSON and answered as it stands. What
is kept is named by what is taken out, so that no element is lost because nobody thought of it. Where the service
answers with a value of its own in the place of a posted one, that one is kept as an extension (`posted`). Guides: ISiK
Dokumentenaustausch, profile ISiKDokumentenMetadaten, and IHE MHD, profile Comprehensive DocumentReference
(`docs/documents.md`).
"""

from typing import Any

Resource = dict[str, Any]
Details = Resource
LARGEST = 16_384  # bytes of JSON: some kB are usual, and every search reads them
POSTED = "urn:befund:posted-"
_OWN = frozenset({"resourceType", "id", "status", "date"})
_OF_META = frozenset({"versionId", "_versionId", "lastUpdated", "_lastUpdated"})
_OF_SUBJECT = frozenset({"reference"})
_OF_ATTACHMENT = frozenset({"contentType", "title", "size", "hash", "url", "data"})
_KINDS = {"date": "valueInstant", "hash": "valueBase64Binary", "url": "valueUrl"}


def picked(resource: dict[str, Any]) -> Details:
    """The details of a valid FHIR DocumentReference; empty where it has none."""
    content = (resource.get("content") or [{}])[0]
    attachment = _without(_OF_ATTACHMENT, content.get("attachment") or {})
    kept = _without(_OWN, resource) | {
        "meta": _without(_OF_META, resource.get("meta") or {}),
        "subject": _without(_OF_SUBJECT, resource.get("subject") or {}),
        "content": [content | {"attachment": attachment}],
    }
    details: Details = without_nothing(kept)
    return details


def kept_resource(resource: dict[str, Any]) -> dict[str, Any]:
    """A resource that is kept whole, without its type, its id and what is the service's own of `meta`."""
    kept = {name: value for name, value in resource.items() if name not in ("resourceType", "id")}
    whole: dict[str, Any] = without_nothing(kept | {"meta": _without(_OF_META, resource.get("meta") or {})})
    return whole


def posted(element: str, value: str) -> dict[str, Any]:
    """The extension that keeps a posted value."""
    return {"url": POSTED + element, _KINDS.get(element, "valueString"): value}


def merged(resource: dict[str, Any], details: Details) -> dict[str, Any]:
    """A DocumentReference of the contract with its details."""
    own, (more,) = resource["content"][0], details.get("content", [{}])
    attachment = more.get("attachment", {}) | own["attachment"]
    whole = details | resource | {"content": [more | own | {"attachment": attachment}]}
    if "meta" in details:
        whole["meta"] = details["meta"] | resource["meta"]
    if "subject" in details:
        whole["subject"] = resource.get("subject", {}) | details["subject"]
    return whole


def objects(value: Any) -> list[Resource]:
    """The objects of a list; what is no list has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def values_at(resource: Any, path: str) -> list[Any]:
    """All values of an element, through the lists on the way to it; what has another shape has none."""
    found = [resource]
    for step in path.split("."):
        nexts = (item.get(step) for item in found if isinstance(item, dict))
        found = [one for item in nexts for one in (item if isinstance(item, list) else [item]) if one is not None]
    return found


def without_nothing(value: Any) -> Any:
    """The same without members that are null or empty, which FHIR's JSON does not have; the nulls of a list stay, for
    they keep its place beside its extensions (FHIR R4, section 2.6.2.3)."""
    if isinstance(value, dict):
        members = {name: without_nothing(item) for name, item in value.items()}
        return {name: item for name, item in members.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [item for item in map(without_nothing, value) if item not in ("", [], {})]
    return value


def _without(names: frozenset[str], value: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}
