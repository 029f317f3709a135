"""Rows become FHIR resources: plain dicts in the shape of the contract, serialised once by orjson.

No model library on this path: validating and dumping a page of 50 with one costs about a hundred times as much, and
rewrites the timestamps. The tests validate every shape made here with three independent FHIR 4.0.1 models instead.
"""

from binascii import b2a_base64
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from webapp.fhir import dates, details
from webapp.fhir.models import Status
from webapp.fhir.searching.params import query
from webapp.fhir.searching.wanted import KEYSET, AnswerOptions, Cursor

Resource = dict[str, Any]
COMPLETE_UNTIL = "urn:befund:complete-until"
SUBSETTED = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}
_MANDATORY = frozenset({"resourceType", "id", "meta", "status", "content", "subject"})  # kept by any `_elements`
_REFERRED = "contained"  # stays in every part of a resource, so that nothing in it refers to what is not there
_ALWAYS = {"DocumentReference": frozenset({"status", "content"}), "Patient": frozenset[str](),
           "ImagingStudy": frozenset({"status", "subject"})}  # fmt: skip
_SUMMARY = {
    "DocumentReference": frozenset({
        "status", "date", "content", "subject", "masterIdentifier", "identifier", "docStatus", "type", "category",
        "author", "relatesTo", "description", "securityLabel", "context",
    }),
    "Patient": frozenset({
        "identifier", "active", "name", "telecom", "gender", "birthDate", "deceasedBoolean", "deceasedDateTime",
        "address", "managingOrganization", "link",
    }),
    "ImagingStudy": frozenset({
        "identifier", "status", "modality", "subject", "encounter", "started", "basedOn", "referrer", "interpreter",
        "endpoint", "numberOfSeries", "numberOfInstances", "procedureReference", "procedureCode", "location",
        "reasonCode", "reasonReference", "note", "description", "series",
    }),
}  # fmt: skip


class DocumentRow(NamedTuple):
    """A document as the search reads it: ids as canonical text, `stored_at` in microseconds since 1970 UTC."""

    id: str
    patient_id: str | None
    external_system: str | None
    external_value: str | None
    entered_in_error: bool
    content_type: str
    title: str
    size: int
    sha256: bytes
    superseded: bool
    version: int
    details: str | None
    stored_at: int

    @property
    def status(self) -> Status:
        """The FHIR status."""
        return Status.of(self.entered_in_error, self.superseded)


class StoredRow(NamedTuple):
    """A Patient or ImagingStudy: the stored FHIR JSON as text and what the service knows about it."""

    id: str
    patient_id: str
    resource: Resource
    stored_at: int


class Page(NamedTuple):
    """A page: all matches counted, the resources on it, and the cursor of its last one while there are more."""

    total: int
    resources: list[Resource]
    next: Cursor | None
    included: tuple[Resource, ...] = ()
    complete: int | None = None


def document(row: tuple[Any, ...], url: str) -> Resource:
    """DocumentReference of a row in the order of `DocumentRow`, with its download URL, unless that is empty."""
    ident, patient, system, value, in_error, content_type, title, size, digest, replaced, version, more, stored_at = row
    stored = dates.to_text(stored_at)
    resource: Resource = {
        "resourceType": "DocumentReference",
        "id": ident,
        "meta": {"versionId": str(version), "lastUpdated": stored},
        "status": "entered-in-error" if in_error else "superseded" if replaced else "current",
        "date": stored,
        "content": [
            {
                "attachment": {
                    "contentType": content_type,
                    "title": title,
                    "size": size,
                    "hash": b2a_base64(digest, newline=False).decode(),
                    **({"url": url} if url else {}),
                }
            }
        ],
    }
    if patient is not None:
        resource["subject"] = {"reference": "Patient/" + patient}
    elif value is not None:
        identifier = {"system": system, "value": value} if system else {"value": value}
        resource["subject"] = {"reference": f"{system}|{value}" if system else value, "identifier": identifier}
    return details.merged(resource, orjson.loads(more)) if more else resource


def patient(row: StoredRow) -> Resource:
    """Patient: what was imported, under our id."""
    return {"resourceType": "Patient", "id": row.id} | row.resource | {"meta": _meta(row)}


def imaging_study(row: StoredRow) -> Resource:
    """ImagingStudy: what was imported, under our id, referring to our patient."""
    ours = {"meta": _meta(row), "subject": {"reference": f"Patient/{row.patient_id}"}}
    return {"resourceType": "ImagingStudy", "id": row.id} | row.resource | ours


def bundle(base: str, path: str, answer: AnswerOptions, page: Page) -> Resource:
    """A searchset. `base` is the organization's FHIR base URL, `path` the searched resource or operation below it."""
    result: Resource = {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": page.total,
        "link": list(_links(f"{base}/{path}", answer, page)),
    }
    if page.complete is not None:
        mark = {"url": COMPLETE_UNTIL, "valueInstant": dates.to_text(page.complete)}
        result["meta"] = {"extension": [mark]}
    if page.resources and not answer.count_only:
        found, more = summarised(page.resources, answer.summary), list(page.included)
        result["entry"] = _entries(base, narrowed(found, answer.elements), "match") + _entries(base, more, "include")
    return result


def history(base: str, path: str, answer: AnswerOptions, page: Page) -> Resource:
    """A Bundle of versions (FHIR R4, section 3.1.0.12): entries as `version` makes them, paged like a searchset."""
    found = bundle(base, path, answer, page._replace(resources=[]))
    return found | {"type": "history"} | ({"entry": page.resources} if page.resources else {})


def version(base: str, row: tuple[Any, ...], make: Callable[[Any], Resource]) -> Resource:
    """An entry of a history: the document as that version left it, what was done, and when.

    `row` is instant, number, version, deleted, id, what was said otherwise, then the columns of a `DocumentRow` for
    `make`. Of a document that is there no more only that is told, whatever the version.
    """
    at, _, number, deleted, ident, kept, *columns = row
    gone = bool(deleted) or columns[0] is None
    method, status = ("DELETE", "204") if gone else ("POST", "201") if number == 1 else ("PUT", "200")
    url = "DocumentReference" if method == "POST" else f"DocumentReference/{ident}"
    done = {"status": status, "etag": etag(str(number)), "lastModified": dates.to_text(at)}
    entry: Resource = {"fullUrl": f"{base}/DocumentReference/{ident}"}
    if not gone:
        said = orjson.loads(kept) if kept else {}
        entry["resource"] = make(DocumentRow._make(columns)._replace(**said))
    return entry | {"request": {"method": method, "url": url}, "response": done}


def etag(version: str) -> str:
    """The ETag of a version (FHIR R4, section 3.1.0.1.3)."""
    return f'W/"{version}"'


def _entries(base: str, resources: Iterable[Resource], mode: str) -> list[Resource]:
    search = {"mode": mode}
    return [
        {"fullUrl": f"{base}/{resource['resourceType']}/{resource['id']}", "resource": resource, "search": search}
        for resource in resources
    ]


def summarised(resources: list[Resource], summary: str) -> list[Resource]:
    """`_summary` (FHIR R4, section 3.1.1.5.8): `true` the elements marked so, `text` the narrative and what is
    mandatory, `data` everything but the narrative; tagged as incomplete."""
    if not summary:
        return resources
    return [
        {name: value for name, value in resource.items() if _in_summary(resource["resourceType"], name, summary)}
        | {"meta": _subsetted(resource["meta"])}
        for resource in resources
    ]


def _in_summary(kind: str, name: str, summary: str) -> bool:
    if summary == "data":
        return name != "text"
    if name in ("resourceType", "id", "meta", _REFERRED):
        return True
    if summary == "text":
        return name == "text" or name in _ALWAYS[kind]
    return _named(name) in _SUMMARY[kind]


def narrowed(resources: list[Resource], elements: frozenset[str] | None) -> Iterable[Resource]:
    """`_elements`: the named and the mandatory top-level elements, tagged as incomplete."""
    if elements is None:
        return resources
    kept = elements | _MANDATORY | {_REFERRED}
    return [
        {name: value for name, value in resource.items() if _named(name) in kept}
        | {"meta": _subsetted(resource["meta"])}
        for resource in resources
    ]


def _named(name: str) -> str:
    """The element that a member of the JSON belongs to: `_description` holds the extensions of `description`."""
    return name.removeprefix("_")


def _subsetted(meta: Resource) -> Resource:
    return meta | {"tag": [*meta.get("tag", []), SUBSETTED]}


def outcome(code: str, text: str, *expressions: str) -> Resource:
    """OperationOutcome with one error; `code` from the FHIR issue-type value set, `text` for people (German)."""
    issue: Resource = {"severity": "error", "code": code, "details": {"text": text}, "diagnostics": text}
    if expressions:
        issue["expression"] = list(expressions)
    return {"resourceType": "OperationOutcome", "issue": [issue]}


def to_bytes(resource: Resource) -> bytes:
    """UTF-8 JSON."""
    return orjson.dumps(resource)


def _meta(row: StoredRow) -> Resource:
    """`meta` of a resource that is kept as it came: stored anew with every change, its storage time tells versions
    apart."""
    ours = {"versionId": str(row.stored_at), "lastUpdated": dates.to_text(row.stored_at)}
    meta: Resource = row.resource.get("meta") or {}
    return meta | ours


def _links(url: str, answer: AnswerOptions, page: Page) -> Iterable[Resource]:
    paging = answer.paging
    kept = [pair for pair in answer.applied if pair[0] not in ("_count", "_offset", "_cursor")]
    kept.append(("_count", str(paging.count)))
    link: Callable[[str, list[tuple[str, str]]], Resource] = lambda relation, pairs: {  # noqa: E731
        "relation": relation,
        "url": f"{url}?{query(pairs)}" if pairs else url,
    }
    yield link("self", list(answer.applied))
    if page.next is not None and not answer.count_only:
        cursor = [("_cursor", str(page.next))] if answer.order in KEYSET else []
        yield link("next", [*kept, ("_offset", str(page.next.offset)), *cursor])
    if paging.offset > 0:
        yield link("previous", [*kept, ("_offset", str(max(0, paging.offset - paging.count)))])
