"""Writing over FHIR, for service accounts whose scopes allow it (`system/<type>.c`).

    POST DocumentReference/$generate-metadata    a FHIR document, and its Composition says what it is
    POST DocumentReference     with the file inline (`attachment.data`) or posted before (`attachment.url` Binary/<id>)
    POST Binary                a file as it is, or a FHIR Binary; waits a day for its document
    POST Patient
    POST <base>                a transaction Bundle of these, all or nothing (after IHE MHD, ITI-65), or a batch

Create is conditional with `If-None-Exist: identifier=system|value`: what is there already is answered with 200, and
shown to whom may read it. With an `Idempotency-Key` a document that is posted again is answered as the first time.
"""

import io
import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import psycopg
from flask import Blueprint, Response, request
from sqlalchemy import select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from webapp.audit import short_ip
from webapp.extensions import db
from webapp.fhir import answers, store
from webapp.fhir.access import authorize, bearer, log_access, require
from webapp.fhir.answers import FhirError, answer, versioned
from webapp.fhir.files import clean_content_type
from webapp.fhir.models import Document
from webapp.fhir.received import RESOURCE_TYPES, sent, sent_resource
from webapp.fhir.routes import maker, negotiate
from webapp.fhir.searching.wanted import UUID
from webapp.fhir.service import fhir_base, service
from webapp.fhir.writing import batch, changing, generating, given, storing
from webapp.fhir.writing.storing import Result, SentDocument, SentPatient
from webapp.fhir.writing.transaction import Transaction
from webapp.storage import FileMissing, Stored

writing = Blueprint("fhir_writing", __name__, url_prefix="/<organization>/fhir/r4")
answers.init_blueprint(writing)
writing.before_request(negotiate)

LARGEST_FILE = 512 * 1024 * 1024  # as on the page for uploads
_REFUSED = (DataError, IntegrityError, psycopg.DataError, psycopg.IntegrityError)


@writing.post("/DocumentReference")
def create_document(organization: str) -> Response:
    """Store a document."""
    organization_id, condition = _writer(organization), storing.condition_of(request.headers.get("If-None-Exist", ""))
    key = storing.key_of(request.headers.get("Idempotency-Key", ""), bearer().account)
    result = _new_document(organization_id, sent_resource(request, "DocumentReference"), condition or key, key)
    return _created(organization_id, result, again=key is not None and condition is None)


def _new_document(
    organization_id: uuid.UUID, resource: dict[str, Any], condition: storing.Condition | None = None,
    key: storing.Condition | None = None, **chosen: Any,
) -> Result:  # fmt: skip
    """Store a document unless the condition finds one; `key`: it is found by that afterwards; `chosen`: the id that the
    program has chosen. Raises FhirError."""
    said, attachment, data = given.posted_document(resource)
    said = replace(said, words=(*said.words, ("identifier", "|".join(key)))) if key else said
    new = SentDocument(said, store.NO_FILE, condition=condition, **chosen)
    if data is None:
        return _store_waiting(organization_id, new, attachment)

    def write(file: Stored) -> Result:
        posted = replace(new, file=file, sender=_sender())
        done = cast(Result, service().together.do(organization_id, posted, partial(_store_together, organization_id)))
        if key and condition == key and not done.created:
            digest = db.session.scalar(select(Document.sha256).where(Document.id == done.id))
            if digest != file.digest:
                raise FhirError(422, "Dieser Schlüssel kam schon mit einer anderen Datei.", "Idempotency-Key")
        return done

    # The file is synced before the organization's lock is taken.
    return store.put_and_store(partial(_inline, attachment, data), write)


def _store_waiting(organization_id: uuid.UUID, new: SentDocument, attachment: dict[str, Any]) -> Result:
    """One document in a transaction of its own, whose attachment leads to a waiting file."""
    with db.write() as session:
        file, content_type = _waiting(session, organization_id, attachment)
        (result,) = storing.put_documents(
            session, organization_id, [replace(new, file=file, content_type=content_type)], service().files
        )
        storing.note(session, [result], *_sender())
    return result


def _store_together(organization_id: uuid.UUID, posted: Sequence[SentDocument]) -> list[Result | Exception]:
    """One transaction for all; where a row of one is refused by the database, one for each."""
    try:
        with db.write() as session:
            return storing.put_posted(session, organization_id, posted, service().files)
    except _REFUSED as error:  # a statement was, so that nothing is committed
        if len(posted) == 1:
            return [FhirError(409, storing.ID_TAKEN, "id") if posted[0].chosen else error]
        return [result for one in posted for result in _store_together(organization_id, [one])]


@writing.post("/Patient")
def create_patient(organization: str) -> Response:
    """Store a patient; documents that wait for one of the identifiers are linked."""
    organization_id = _writer(organization)
    condition = storing.condition_of(request.headers.get("If-None-Exist", ""))
    return _created(organization_id, _new_patient(organization_id, sent_resource(request, "Patient"), condition))


def _new_patient(
    organization_id: uuid.UUID, resource: dict[str, Any], condition: storing.Condition | None = None, **chosen: Any
) -> Result:  # fmt: skip
    with db.write() as session:
        new = SentPatient(given.patient(resource), condition, **chosen)
        (result,) = storing.put_patients(session, organization_id, [new])
        storing.note(session, [result], *_sender())
    return result


_NEW = {given.DOCUMENT: _new_document, "Patient": _new_patient}


@writing.put("/<any(DocumentReference, Patient):kind>", defaults={"ident": ""})
@writing.put("/<any(DocumentReference, Patient):kind>/<fhir_id:ident>")
def update(organization: str, kind: str, ident: str) -> Response:
    """Update a resource, or store it under that id; without one update the one resource that has the identifier of the
    query, or store it where none has (FHIR R4, http, section 3.1.0.4.3)."""
    organization_id, resource = _writer(organization), sent_resource(request, kind)
    if not ident:
        found, condition = changing.found(organization_id, kind, resource)
        if found is None:
            require([(kind, "c")])
            result = _NEW[kind](organization_id, resource, condition)
            if result.created:
                return _created(organization_id, result)
            found = str(result.id)  # somebody else stored it meanwhile
        ident = resource["id"] = found
    return _created(organization_id, changing.put(organization_id, kind, ident, resource, new=_NEW[kind]))


@writing.patch("/<any(DocumentReference, Patient):kind>", defaults={"ident": ""})
@writing.patch("/<any(DocumentReference, Patient):kind>/<fhir_id:ident>")
def patch(organization: str, kind: str, ident: str) -> Response:
    """Update a part of a resource."""
    organization_id = _writer(organization)
    return _created(organization_id, changing.patched(organization_id, kind, ident or _found(organization_id, kind)))


@writing.post("/DocumentReference/$generate-metadata")
def generate_metadata(organization: str) -> Response:
    """Store a FHIR document with the DocumentReference that its Composition gives (IHE MHD, ITI-106)."""
    organization_id = _writer(organization)
    key = storing.key_of(request.headers.get("Idempotency-Key", ""), bearer().account)
    result = _new_document(organization_id, generating.generated(sent_resource(request, "Parameters")), key, key)
    made = {"name": "DocumentReference", "valueReference": {"reference": f"{result.kind}/{result.id}"}}
    return answer({"resourceType": "Parameters", "parameter": [made]})


@writing.post("/DocumentReference/<fhir_id:ident>/$update-metadata")
def update_metadata(organization: str, ident: str) -> Response:
    """Update the status of a document's content (ISiK Dokumentenaustausch)."""
    organization_id = _writer(organization)
    return _created(organization_id, changing.metadata_updated(organization_id, ident, sent(request)))


@writing.delete("/DocumentReference", defaults={"ident": ""})
@writing.delete("/DocumentReference/<fhir_id:ident>")
def delete(organization: str, ident: str) -> Response:
    """Delete a document."""
    organization_id = _writer(organization)
    return changing.remove(organization_id, ident or _found(organization_id, given.DOCUMENT))


def _found(organization_id: uuid.UUID, kind: str) -> str:
    """The id of the one resource that has the identifier of the query (FHIR R4, http, sections 3.1.0.6.2 and
    3.1.0.7.1). Raises FhirError 400, 404 and 412."""
    ident, _ = changing.found(organization_id, kind, {})
    if ident is None:
        raise FhirError(404)
    return ident


@writing.post("/Binary")
def create_binary(organization: str) -> Response:
    """Keep a file for the document that will refer to it: posted as it is (streamed), or as a FHIR Binary."""
    organization_id = _writer(organization)
    if request.mimetype in RESOURCE_TYPES:  # of plain XML nobody knows whether it is the file itself
        resource = sent_resource(request, "Binary")
        content_type = clean_content_type(str(resource.get("contentType", "")))
        file = service().files.put(io.BytesIO(given.decoded(resource.get("data", ""), "Binary.data")))
    else:
        request.max_content_length = LARGEST_FILE
        content_type, file = clean_content_type(request.mimetype), service().files.put(request.stream)
    try:
        with db.write() as session:
            key = storing.put_waiting(session, organization_id, file, content_type, service().files)
    except FileMissing:  # what was streamed cannot be put again from here
        raise FhirError(503, "Die Datei wurde zugleich gelöscht. Bitte noch einmal senden.") from None
    return Response(status=201, headers={"Location": f"{fhir_base(organization_id)}/Binary/{key}"})


@writing.post("/")
@writing.post("", strict_slashes=False)
def transact(organization: str) -> Response:
    """A transaction: all of it is stored, or nothing; or a batch, each of whose calls stands for itself."""
    organization_id, bundle = authorize(organization), sent_resource(request, "Bundle")
    if bundle.get("type") == "batch":
        return answer(batch.answered(bundle, f"/{organization}/fhir/r4"))
    _writer(organization)
    work = Transaction(bundle)
    require((kind, "c") for kind in work.kinds)
    files = service().files

    def put() -> dict[str, Stored]:
        return {name: files.put(io.BytesIO(body)) for name, (body, _) in work.files.items()}

    def write(puts: dict[str, Stored]) -> dict[int, Result]:
        documents = work.documents(puts)
        with db.write() as session:
            results = work.store(session, organization_id, documents, files)
            storing.note(session, results.values(), *_sender())
        return results

    return answer(work.answer(fhir_base(organization_id), store.put_and_store(put, write)))


def _writer(organization: str) -> uuid.UUID:
    """The organization, once the caller is a program that may create what it posts. Raises FhirError."""
    organization_id = authorize(organization)
    if bearer().rights is None:
        raise FhirError(403, "Schreiben dürfen nur Dienstkonten.")
    return organization_id


def _sender() -> tuple[str, str]:
    """The account that calls, and its network, for the trace."""
    return bearer().account, short_ip(request.remote_addr)


def _inline(attachment: dict[str, Any], data: bytes) -> Stored:
    file = service().files.put(io.BytesIO(data))
    given.check_file(attachment, file.digest, given.sha1_of(data), file.size)
    return file


def _waiting(session: Session, organization_id: uuid.UUID, attachment: dict[str, Any]) -> tuple[Stored, str]:
    """The file that was posted before, and the type it came with. Raises FhirError."""
    key = str(attachment.get("url", "")).rpartition("Binary/")[2]
    waiting = storing.take_waiting(session, organization_id, uuid.UUID(key)) if UUID.fullmatch(key) else None
    if waiting is None:
        raise FhirError(
            422, "Erwartet wird die Datei in data oder ein zuvor gesendetes Binary/<id> in url.",
            "DocumentReference.content[0].attachment",
        )  # fmt: skip
    given.check_file(attachment, waiting.sha256, b"", waiting.size)
    return Stored(waiting.sha256, waiting.size), waiting.content_type


def _created(organization_id: uuid.UUID, result: Result, *, again: bool = False) -> Response:
    """201, or 200 for what was there (201 where the same call comes `again`); the resource unless
    `Prefer: return=minimal`. What was there is handed out as a read would: to whom may read it, and written down."""
    headers = {"Location": f"{fhir_base(organization_id)}/{result.kind}/{result.id}"}
    status = 201 if result.created or again else 200
    if not result.created and bearer().lacks([(result.kind, "r")]):
        return Response(status=status, headers=headers)
    minimal = "return=minimal" in request.headers.get("Prefer", "")
    if minimal and result.created:  # what it is need not be read
        version = "1" if result.kind == "DocumentReference" else str(result.stored_at)
        return versioned(Response(status=status, headers=headers), version, result.stored_at)
    if not result.created and not minimal:
        log_access("metadata", organization_id, result.id, result.kind)
    found = service().stored[result.kind].read(organization_id, result.id)
    if found is None:  # deleted meanwhile
        return Response(status=status, headers=headers)
    resource = maker(organization_id)(found[0])
    response = Response(status=status) if minimal else answer(resource, status)
    response.headers.update(headers)
    return versioned(response, resource["meta"]["versionId"], found[1])
