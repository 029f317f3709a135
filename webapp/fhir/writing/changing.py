"""Programs change what is there: PUT and PATCH make a new version, DELETE leaves a tombstone.

    PUT    DocumentReference/<id>, Patient/<id>     scope `.u`; of an unknown id with `.c` and the organization's leave
    PATCH  the same                                 JSON Patch (RFC 6902), or FHIRPath Patch
    PUT    DocumentReference?identifier=, Patient?..  the one that has it, or a new one; PATCH and DELETE: the one
    POST   DocumentReference/<id>/$update-metadata  `docStatus` alone (ISiK)
    DELETE DocumentReference/<id>                   scope `.d` and the organization's leave: row, file and versions go

`If-Match` names the version that was read; where another is there by now, nothing is done (412). The file of a document
never changes: pollers find documents by their storage time, which stays, so another file is another document.
"""

import base64
import uuid
from collections.abc import Callable, Mapping

import jsonpatch
import orjson
from flask import Response, request
from jsonpointer import JsonPointerException
from sqlalchemy.orm import Session

from clinical.fhir import PATCH_TYPE, XML_TYPE, format_of
from webapp import audit
from webapp.extensions import db
from webapp.fhir import clock, dates, linking, resources, store
from webapp.fhir.access import bearer, parse_id, require
from webapp.fhir.answers import FhirError
from webapp.fhir.details import POSTED, Resource, values_at
from webapp.fhir.models import Document, Patient, Status
from webapp.fhir.received import RESOURCE_TYPES, Pairs, check_size, resource_of
from webapp.fhir.service import service
from webapp.fhir.writing import given, pathpatch, purging, storing
from webapp.fhir.writing.given import DOCUMENT
from webapp.fhir.writing.storing import Result
from webapp.models import Organization

MOST_STEPS, LARGEST_PATCHED = 100, 256 * 1024  # operations of a patch, and bytes of what it makes of a resource
DOC_STATUS = ("preliminary", "final", "amended", Status.ENTERED_IN_ERROR.value)
_Store = Callable[..., Result]
_CHANGED = "Diese Ressource hat inzwischen eine andere Version. Bitte neu lesen."


def put(
    organization_id: uuid.UUID, kind: str, ident: str, resource: Resource, *, read: str = "", new: _Store | None = None
) -> Result:  # fmt: skip
    """Update the resource of that id, or store it under that id (`new`). `read`: the version that was patched. Raises
    FhirError."""
    key = parse_id(ident)
    if key is None or resource.get("id") != ident:
        raise FhirError(400, "Erwartet wird die Id der URL, hier eine UUID.", f"{kind}.id")
    if any(code == resources.SUBSETTED["code"] for code in values_at(resource, "meta.tag.code")):
        raise FhirError(422, "Das ist nur ein Teil der Ressource (SUBSETTED).", f"{kind}.meta.tag")
    if new is not None and service().stored[kind].one(organization_id, key) is None:
        _require_new(organization_id, kind)
        return new(organization_id, resource, id=key, chosen=True)
    return (_document if kind == DOCUMENT else _patient)(organization_id, key, resource, read)


def found(organization_id: uuid.UUID, kind: str, resource: Resource) -> tuple[str | None, storing.Condition]:
    """The id of the one resource that has the identifier of the query, else that of the resource sent, if any; and what
    was asked for. Raises FhirError 400 and 412."""
    condition = storing.condition_of(request.query_string.decode("utf-8", "replace"), "Identifier")
    if condition is None:
        raise FhirError(400, "Erwartet wird eine Id, oder identifier=system|value.", kind)
    if kind == DOCUMENT:
        ids = storing.documents_with(db.session, organization_id, [storing.word_of(*condition)])
        there = [one for some in ids.values() for one in some]
    else:
        owners = linking.owners_of(db.session, organization_id, [condition])
        there = [owner for pair, owner in owners.items() if pair == condition or not condition[0]]
    if len(set(there)) > 1:
        raise FhirError(412, "Mehrere Ressourcen haben diese Kennung.")
    sent = resource.get("id")
    if there and sent not in (None, str(there[0])):
        raise FhirError(400, "Diese Kennung hat eine Ressource mit anderer Id.", f"{kind}.id")
    return str(there[0]) if there else sent, condition


def metadata_updated(organization_id: uuid.UUID, ident: str, sent: Pairs) -> Result:
    """Set `docStatus` as ISiK's $update-metadata does; a document that is entered in error shows it in `status` too.
    Raises FhirError 400 and 404."""
    require([(DOCUMENT, "r")])
    if [name for name, _ in sent] != ["docStatus"] or sent[0][1] not in DOC_STATUS:
        raise FhirError(400, f"Erwartet wird docStatus: {', '.join(DOC_STATUS)}.", "docStatus")
    before = _now(organization_id, DOCUMENT, ident)
    after = before | {"docStatus": sent[0][1]}
    after |= {"status": sent[0][1]} if sent[0][1] == Status.ENTERED_IN_ERROR else {}
    return put(organization_id, DOCUMENT, ident, after, read=before["meta"]["versionId"])


def patched(organization_id: uuid.UUID, kind: str, ident: str) -> Result:
    """Apply a JSON Patch, or as Parameters a FHIRPath Patch, to the resource as it is read. Raises FhirError 400, 404,
    413, 415 and 422."""
    require([(kind, "r")])  # a patch tests what is there
    is_json, is_xml = request.mimetype == PATCH_TYPE, format_of(request.mimetype) == XML_TYPE
    if not is_json and request.mimetype not in RESOURCE_TYPES:
        raise FhirError(415, f"Erwartet wird {PATCH_TYPE}, oder eine Ressource Parameters (FHIRPath Patch).")
    body = request.get_data(cache=False)
    check_size(body, xml=is_xml)
    before = _now(organization_id, kind, ident)
    try:
        asked = orjson.loads(body) if is_json else resource_of(body, "Parameters", xml=is_xml).get("parameter")
        if not isinstance(asked, list) or len(asked) > MOST_STEPS:
            raise FhirError(400, f"Erwartet werden höchstens {MOST_STEPS} Schritte.")
        after = before
        for one in asked:  # one by one: copies of copies grow without a bound
            after = jsonpatch.JsonPatch([one] if is_json else pathpatch.steps(one, after)).apply(after)
            if not isinstance(after, dict) or len(orjson.dumps(after)) > LARGEST_PATCHED:
                raise FhirError(422, f"Erwartet wird eine Ressource von höchstens {LARGEST_PATCHED} Bytes.")
    except jsonpatch.JsonPatchTestFailed:
        raise FhirError(422, "Eine Probe (test) des Patches trifft nicht zu.") from None
    except (jsonpatch.JsonPatchException, JsonPointerException, ValueError, TypeError, LookupError, AttributeError):
        raise FhirError(400, "Dieser Patch lässt sich auf die Ressource nicht anwenden.") from None
    return put(organization_id, kind, ident, after, read=before["meta"]["versionId"])


def remove(organization_id: uuid.UUID, ident: str) -> Response:
    """Delete a document; once more is as good. Raises FhirError 403, 404 and 412."""
    key = parse_id(ident)
    if key is None:
        raise FhirError(404)
    with db.write() as session:
        _require_leave(session, organization_id, "client_deletes")
        document = _locked(session, organization_id, key)
        if document is None:
            tombstone = session.get(purging.PurgedDocument, key)
            if tombstone is None or tombstone.organization_id != organization_id:
                raise FhirError(404)
            return Response(status=204)
        _check_version(str(document.version), "")
        gone = purging.purge(session, key, f"DELETE by {bearer().account}")
    if gone:
        purging.remove_unused(service().files, gone)
    return Response(status=204)


def _document(organization_id: uuid.UUID, key: uuid.UUID, resource: Resource, read: str) -> Result:
    data = given.taken_data(resource)
    resource = given.checked(resource, DOCUMENT)
    with db.write() as session:
        document = _locked(session, organization_id, key)
        if document is None:
            raise FhirError(404)  # deleted meanwhile
        _check_version(str(document.version), read)
        _revise(session, document, resource, data)
        audit.record(session, "updated", detail=f"{DOCUMENT}/{key} by {bearer().account}")
    return Result(DOCUMENT, key, created=False)


def _revise(session: Session, document: Document, resource: Resource, data: bytes | None) -> None:
    """The new version of a document that is locked. Raises FhirError 422."""
    said = _without_ours(document, resource, data)
    new = given.document(said, superseded=document.superseded)
    organization = document.organization_id
    said_of = storing.stated(new, {})
    subject = storing.subject_of(new, said_of, linking.Subjects(session, organization, [said_of]))
    if subject.patient is not None and subject.patient == document.patient_id:
        subject = linking.Subject(document.patient_id, document.external_system, document.external_value)
    targets = storing.Targets(session, organization, {document.id: new}, {})
    for ident in targets.replaced_by(document.id, new, subject.patient):
        if not targets.standing[ident].superseded:
            raise FhirError(422, "Ein Dokument ersetzt ein anderes, wenn es gespeichert wird (POST).",
                            f"{DOCUMENT}.relatesTo")  # fmt: skip
    store.revise(
        session, document,
        store.NewDocument(store.NO_FILE, new.title if said["content"][0]["attachment"].get("title") else document.title,
                          new.content_type or document.content_type, *subject, status=new.status,
                          details=new.details or None, words=new.words),
    )  # fmt: skip


def _without_ours(document: Document, resource: Resource, data: bytes | None) -> Resource:
    """The resource without what a read adds of our own, and what it must not change. Raises FhirError 422."""
    attachment = dict(given.attachment_of(resource))
    if data is not None:
        given.check_same(data, document.sha256)
    url = attachment.pop("url", None)
    if url is not None and data is None and str(document.id) not in url:
        raise FhirError(422, "Eine andere Datei ist ein anderes Dokument (POST mit relatesTo).",
                        f"{DOCUMENT}.content[0].attachment.url")  # fmt: skip
    given.check_file(attachment, document.sha256, b"", document.size)
    shown = {"title": document.title, "contentType": document.content_type,
             "hash": base64.b64encode(document.sha256).decode()}  # fmt: skip
    window = dates.parse_bound(resource.get("date") or "")
    ours = window is not None and document.stored_at in window
    said = _renewed(resource, {"date": resource["date"] if ours else ""})
    said["content"] = [resource["content"][0] | {"attachment": _renewed(attachment, shown)}]
    if ours:
        del said["date"]
    tag, subject = document.external_value, dict(said.get("subject") or {})
    if tag is not None and subject.get("reference") in (tag, f"{document.external_system}|{tag}"):
        del subject["reference"]
        said["subject"] = subject
    return said


def _renewed(element: Resource, shown: Mapping[str, str]) -> Resource:
    """Without the extensions that keep what was posted before of elements that are not sent as they are shown."""
    anew = {POSTED + name for name, value in shown.items() if element.get(name) not in (None, value)}
    rest = [one for one in element.get("extension", []) if one.get("url") not in anew]
    return {name: one for name, one in element.items() if name != "extension"} | ({"extension": rest} if rest else {})


def _patient(organization_id: uuid.UUID, key: uuid.UUID, resource: Resource, read: str) -> Result:
    new = given.patient(resource)
    with db.write() as session:
        clock.lock(session, organization_id)
        row = session.get_one(Patient, key)  # nobody deletes patients
        _check_version(str(row.stored_at), read)
        pairs = new.identifiers
        taken = linking.owners_of(session, organization_id, pairs)
        storing.refuse_taken(new, {pair: owner for pair, owner in taken.items() if owner != key})
        store.renew(session, row, new.resource, pairs)
        linking.link_waiting(session, organization_id, pairs)
        audit.record(session, "updated", detail=f"Patient/{key} by {bearer().account}")
        return Result("Patient", key, created=False, stored_at=row.stored_at)


def _locked(session: Session, organization_id: uuid.UUID, key: uuid.UUID) -> Document | None:
    """The organization's document of that id, which nobody else changes meanwhile."""
    clock.lock(session, organization_id)
    document = session.get(Document, key)
    return document if document is not None and document.organization_id == organization_id else None


def _check_version(version: str, read: str) -> None:
    """Raise FhirError 412 where the caller, or a patch, means another version than the one that is there."""
    if request.if_none_match.star_tag or (request.if_match and not request.if_match.contains_weak(version)):
        raise FhirError(412, _CHANGED)
    if read not in ("", version):
        raise FhirError(409, _CHANGED)


def _require_new(organization_id: uuid.UUID, kind: str) -> None:
    """Raise FhirError unless the program may store under an id of its choice, and means no version that is there."""
    if request.if_match:
        raise FhirError(412, "Eine Ressource dieser Id gibt es nicht.")
    require([(kind, "c")])
    _require_leave(db.session, organization_id, "client_ids")


def _require_leave(session: Session, organization_id: uuid.UUID, leave: str) -> None:
    if not getattr(session.get_one(Organization, organization_id), leave):
        told = {"client_ids": "Ids zu vergeben", "client_deletes": "Dokumente zu löschen"}[leave]
        raise FhirError(403, f"Diese Organisation erlaubt Programmen nicht, {told}.")


def _now(organization_id: uuid.UUID, kind: str, ident: str) -> Resource:
    """The resource as it is read, without a link to its file. Raises FhirError 404."""
    key = parse_id(ident)
    row = service().stored[kind].one(organization_id, key) if key else None
    if row is None:
        raise FhirError(404)
    return resources.of_row(row)
