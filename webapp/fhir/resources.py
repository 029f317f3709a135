"""Rows become FHIR resources: plain dicts in the shape of the contract, serialised once by orjson.

No model library on this path: validating and dumping a page of 50 with one costs about a hundred times as much, and
rewrites the timestamps. The tests validate every shape made here with three independent FHIR 4.0.1 models instead.
"""

import re
from binascii import b2a_base64
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson

from webapp.fhir import dates, details
from webapp.fhir.details import Resource
from webapp.fhir.models import Status
from webapp.fhir.searching.wanted import KEYSET, AnswerOptions, ResultPage

COMPLETE_UNTIL = "urn:befund:complete-until"
SUBSETTED = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}
_KEPT = frozenset({"resourceType", "id", "meta", "contained"})  # in any part: nothing refers to what is not there
_PLAIN = re.compile(r"[A-Za-z0-9_.-]*")  # most; `quote` comes to the same and takes five times as long
_MANDATORY = frozenset({"status", "content", "subject"})  # kept by any `_elements`


class DocumentRow(NamedTuple):
    """A resource as the search reads it: ids as canonical text, `stored_at` in microseconds since 1970 UTC."""

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


def of_row(row: tuple[Any, ...]) -> Resource:
    """The resource of a row in the order of `DocumentRow`, without a download URL. What is kept as FHIR JSON has that
    in `details`, its type in `content_type`, and no file."""
    return _stored(*row) if row[8] is None else document(row, "")


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
                }
            }
        ],
    }
    if url:
        resource["content"][0]["attachment"]["url"] = url
    if patient is not None:
        resource["subject"] = {"reference": "Patient/" + patient}
    elif value is not None:
        identifier = {"system": system, "value": value} if system else {"value": value}
        resource["subject"] = {"reference": f"{system}|{value}" if system else value, "identifier": identifier}
    return details.merged(resource, orjson.loads(more)) if more else resource


def _stored(ident: str, patient: str, *row: Any) -> Resource:
    """The resource as it was imported or posted, under our id, an imaging study referring to our patient. It is
    stored anew with every change: its storage time tells versions apart."""
    kind, kept, stored_at = row[3], orjson.loads(row[-2]), row[-1]
    meta = {"versionId": str(stored_at), "lastUpdated": dates.to_text(stored_at)}
    ours: Resource = {"meta": (kept.get("meta") or {}) | meta}
    if kind == "ImagingStudy":
        ours["subject"] = {"reference": f"Patient/{patient}"}
    whole: Resource = {"resourceType": kind, "id": ident} | kept | ours
    return whole


def bundle(
    base: str, path: str, answer: AnswerOptions, page: ResultPage, included: Iterable[Resource] = ()
) -> Resource:  # fmt: skip
    """A searchset of the page's resources and what is included. `base` is the organization's FHIR base URL, `path` the
    searched resource or operation below it."""
    result: Resource = {
        "resourceType": "Bundle",
        "type": "searchset",
        "total": page.total,
        "link": list(_links(f"{base}/{path}", answer, page)),
    }
    if page.complete is not None:
        mark = {"url": COMPLETE_UNTIL, "valueInstant": dates.to_text(page.complete)}
        result["meta"] = {"extension": [mark]}
    if page.rows:
        found = _entries(base, _parts(page.rows, answer), "match")
        result["entry"] = found + _entries(base, included, "include")
    return result


def history(base: str, path: str, answer: AnswerOptions, page: ResultPage) -> Resource:
    """A Bundle of versions (FHIR R4, section 3.1.0.12): entries as `version` makes them, paged like a searchset."""
    found = bundle(base, path, answer, replace(page, rows=[]))
    return found | {"type": "history"} | ({"entry": page.rows} if page.rows else {})


def version(base: str, row: tuple[Any, ...], make: Callable[[Any], Resource]) -> Resource:
    """An entry of a history: the document as that version left it, what was done, and when.

    `row` is as `Histories.changes` gives it, its `DocumentRow` for `make`. Of a document that is there no more only
    that is told, whatever the version.
    """
    deleted, ident, kept, *columns, at = row
    gone, number = bool(deleted) or columns[0] is None, columns[10]
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
        if "id" in resource
        else {"resource": resource, "search": {"mode": "outcome"}}
        for resource in resources
    ]


def _parts(resources: list[Resource], answer: AnswerOptions) -> list[Resource]:
    """The resources as far as `_summary` (FHIR R4, section 3.1.1.5.8: `true` the elements marked so, `text` the
    narrative and what is mandatory, `data` everything but the narrative) and `_elements` want them; tagged as
    incomplete."""
    if not answer.summary and answer.elements is None:
        return resources
    return [
        {name: value for name, value in resource.items() if _is_wanted(resource["resourceType"], name, answer)}
        | {"meta": resource["meta"] | {"tag": [*resource["meta"].get("tag", []), SUBSETTED]}}
        for resource in resources
    ]


def _is_wanted(kind: str, name: str, answer: AnswerOptions) -> bool:
    element = name.removeprefix("_")  # `_description` holds the extensions of `description`
    if element in _KEPT:
        return True
    if answer.elements is not None and element not in answer.elements and element not in _MANDATORY:
        return False
    if answer.summary == "data":
        return name != "text"
    if not answer.summary:
        return True
    always, marked = _elements_of(kind)
    return element in marked if answer.summary == "true" else name == "text" or name in always


@cache
def _elements_of(kind: str) -> tuple[frozenset[str], frozenset[str]]:
    """The mandatory elements of a type, and those that are marked as its summary."""
    from fhir.resources.R4B import get_fhir_model_class  # slow to import: 1 s

    model: Any = get_fhir_model_class(kind)
    fields = ((field.alias or name, field) for name, field in model.model_fields.items())
    always = (name for name, field in fields
              if field.is_required() or (field.json_schema_extra or {}).get("element_required"))  # fmt: skip
    return frozenset(always), frozenset(model.summary_elements_sequence())


def outcome(code: str, text: str, *expressions: str, severity: str = "error") -> Resource:
    """OperationOutcome with one issue; `code` from the FHIR issue-type value set, `text` for people (German)."""
    issue: Resource = {"severity": severity, "code": code, "details": {"text": text}, "diagnostics": text}
    if expressions:
        issue["expression"] = list(expressions)
    return {"resourceType": "OperationOutcome", "issue": [issue]}


def _links(url: str, answer: AnswerOptions, page: ResultPage) -> Iterable[Resource]:
    paging = answer.paging
    kept = [pair for pair in answer.applied if pair[0] not in ("_count", "_offset", "_cursor")]
    kept.append(("_count", str(paging.count)))
    yield _link("self", url, answer.applied)
    if page.next is not None:
        cursor = [("_cursor", str(page.next))] if answer.order in KEYSET else []
        yield _link("next", url, [*kept, ("_offset", str(page.next.offset)), *cursor])
    if paging.offset > 0:
        yield _link("previous", url, [*kept, ("_offset", str(max(0, paging.offset - paging.count)))])


def _link(relation: str, url: str, pairs: Iterable[tuple[str, str]]) -> Resource:
    """Characters that a browser or a client would misread (`+`, `&`, `|`, ...) are escaped."""
    query = "&".join([f"{_escaped(name, '$')}={_escaped(value, ':/,@!*')}" for name, value in pairs])
    return {"relation": relation, "url": f"{url}?{query}" if query else url}


def _escaped(text: str, safe: str) -> str:
    return text if _PLAIN.fullmatch(text) else quote(text, safe=safe)
