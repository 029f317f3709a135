"""`POST DocumentReference/<id>/$extract`: a stored document's fields and codes as a FHIR document, for programs.

    document_type   arztbrief (as it is without) or zuweisung
    coded           true, as it is without: the diagnoses are coded
    store           false, as it is without; true keeps the result as a document that transforms this one

Reading is the text API's; this process only waits for it, on one of the places of the workbench, by a deadline.
"""

import time
import uuid
from typing import Any, Final, cast, get_args

from flask import Blueprint, Response, request
from sqlalchemy.orm import Session

from clinical.contract import DocumentType
from webapp.audit import short_ip
from webapp.config import settings
from webapp.extracting import asking, bundles, keeping
from webapp.extracting.asking import Asking, NotRead, place
from webapp.extracting.bundles import LetterReading, SourceDocument
from webapp.extracting.codes import FoundCode, Resource
from webapp.fhir import answers, dates
from webapp.fhir.access import authorize, bearer, log_access, parse_id, require
from webapp.fhir.answers import FhirError, answer, error_answer
from webapp.fhir.files import LOST, UNKNOWN_TYPE, current
from webapp.fhir.received import Pairs, sent
from webapp.fhir.resources import DocumentRow
from webapp.fhir.service import fhir_base, service
from webapp.fhir.writing import storing
from webapp.storage import FileMissing
from webapp.workbench.catalog import MARKS, open_book

extracting = Blueprint("fhir_extracting", __name__, url_prefix="/<organization>/fhir/r4")
answers.init_blueprint(extracting)
extracting.before_request(answers.negotiate)

DOCUMENT = "DocumentReference"
LARGEST: Final = 20 * 1024 * 1024  # bytes that the text API takes
READ: Final = (
    "application/pdf", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "text/plain",
    "image/png", "image/jpeg", "image/tiff", UNKNOWN_TYPE,
)  # fmt: skip
"""Types that may be read: what an unknown one is, its bytes tell the text API."""
_TYPES = get_args(DocumentType)
PARAMETERS: Final = {"document_type": "arztbrief", "coded": "true", "store": "false"}
"""Of a call, with their values where it gives none."""
_SAID = {
    "busy": "Gerade wird zu viel gleichzeitig gelesen.",
    "file": "Die Text-API kann diese Datei nicht lesen.",
    "key": "Die Text-API nimmt den Schlüssel dieses Servers nicht an.",
    "quota": "Das Kontingent der Text-API ist erreicht.",
    "model": "Das Sprachmodell gab keine verwertbare Antwort.",
    "not_ready": "Die Text-API ist noch nicht bereit, oder es ist kein Sprachmodell eingerichtet.",
    "slow": "Die Text-API hat nicht rechtzeitig geantwortet.",
}
_DOWN = "Die Text-API antwortet nicht."


@extracting.post("/DocumentReference/<fhir_id:ident>/$extract", provide_automatic_options=False)
def extract(organization: str, ident: str) -> Response:
    """The fields and codes of a document; kept with `store`, which is then answered with its place."""
    organization_id = authorize(organization)
    given = sent(request)
    answers.negotiate(next((value for name, value in given if name == "_format"), None))
    document_type, coded, stored = _wanted(given)
    if stored:
        if bearer().rights is None:
            raise FhirError(403, "Schreiben dürfen nur Dienstkonten.")
        require([(DOCUMENT, "c")])
    row = readable(organization_id, parse_id(ident))
    source = source_of(organization_id, row)
    identifier = keeping.made_of(source, document_type, coded=coded)
    log_access("extract", organization_id, uuid.UUID(row.id))
    if stored and (document := keeping.there(organization_id, identifier)):
        return _kept(organization_id, document, created=False)
    try:
        with place(bearer().account or bearer().user_id):
            reading = _read(row, document_type, coded=coded)
    except NotRead as error:
        return _refused(error)
    bundle = bundles.document(source, reading, identifier, now())
    if not stored:
        return answer(bundle)

    def note(session: Session, result: storing.Result) -> None:
        storing.note(session, [result], bearer().account, short_ip(request.remote_addr))

    result = keeping.keep(organization_id, source, bundle, note)
    return _kept(organization_id, result.id, created=result.created)


def readable(organization_id: uuid.UUID, key: uuid.UUID | None) -> DocumentRow:
    """The document, if it is one that can be read. Raises FhirError 404, 413 and 415."""
    row = current(organization_id, key)
    if row.content_type not in READ:
        raise FhirError(415, f"Gefunden: {row.content_type}. Gelesen werden: {', '.join(READ[:-1])}.")
    if row.size > LARGEST:
        raise FhirError(413, f"Die Datei hat {row.size} Bytes; gelesen werden höchstens {LARGEST}.")
    return row


def source_of(organization_id: uuid.UUID, row: DocumentRow) -> SourceDocument:
    """The document as its result refers to it; where nobody is named, the subject says so."""
    base = fhir_base(organization_id)
    subject: Resource = {"display": "nicht angegeben"}
    if row.patient_id:
        subject = {"reference": f"{base}/Patient/{row.patient_id}", "type": "Patient"}
    elif row.external_value:
        system: dict[str, Any] = {"system": row.external_system} if row.external_system else {}
        subject = {"type": "Patient", "identifier": {**system, "value": row.external_value}}
    return SourceDocument(base, row.id, row.version, row.title, subject)


def _read(row: DocumentRow, document_type: DocumentType, *, coded: bool) -> LetterReading:
    """The text API's reading of the file. Raises NotRead, and FhirError where the file is lost."""
    try:
        data = b"".join(service().files.read(row.sha256))
    except FileMissing:
        raise FhirError(500, LOST) from None
    calls = Asking(asking.DEADLINE_S)
    told = calls.letter(document_type, data)
    diagnoses = told["data"].get("diagnosen") or []
    codes = marked(calls.codes(diagnoses)) if coded else None
    book = open_book(settings().catalog)
    return LetterReading(
        document_type, told["data"], told.get("evidence") or (), told.get("review") or (),
        told.get("text") or "", str(told["model"]), codes, book.version if book else None,
    )  # fmt: skip


def marked(codes: list[FoundCode]) -> list[FoundCode]:
    """The codes with dagger, asterisk or exclamation mark, as the classification has them."""
    book = open_book(settings().catalog)
    known = [book.find(one.code) if book else None for one in codes]
    pairs = zip(codes, known, strict=True)
    return [one.model_copy(update={"mark": MARKS[listed.kind]}) if listed else one for one, listed in pairs]


def now() -> str:
    """This instant, as the API writes it."""
    return dates.to_text(time.time_ns() // 1_000)


def _wanted(given: Pairs) -> tuple[DocumentType, bool, bool]:
    """The `document_type`, `coded` and `store` of a call. Raises FhirError 400 that names the one that is not
    understood."""
    wanted = dict(PARAMETERS)
    for name, value in given:
        if name == "_format":
            continue
        said = value if name == "document_type" else value.lower()
        if name not in wanted or said not in (_TYPES if name == "document_type" else ("true", "false")):
            expected = f"document_type ({', '.join(_TYPES)}), coded und store (true oder false)"
            raise FhirError(400, f"Erwartet werden {expected}.", name[:50])
        wanted[name] = said
    return cast(DocumentType, wanted["document_type"]), wanted["coded"] == "true", wanted["store"] == "true"


def _kept(organization_id: uuid.UUID, document: uuid.UUID, *, created: bool) -> Response:
    """The Bundle that is kept, with the address it has from now on."""
    base = fhir_base(organization_id)
    if not created:
        log_access("binary", organization_id, document)
    link = [{"relation": "self", "url": f"{base}/Binary/{document}"}]
    response = answer(keeping.kept(organization_id, document) | {"link": link}, 201 if created else 200)
    response.headers["Location"] = f"{base}/{DOCUMENT}/{document}"
    return response


def _refused(error: NotRead) -> Response:
    response = error_answer(error.status, error.said if error.kind == "file" and error.said
                            else _SAID.get(error.kind, _DOWN))  # fmt: skip
    if error.wait:
        response.headers["Retry-After"] = str(error.wait)
    return response
