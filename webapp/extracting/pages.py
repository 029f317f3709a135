"""The page "Auslesen" of a stored document: the workbench's page for letters with its file, the codes of its diagnoses,
and both as a FHIR document to download, or to keep beside the letter when somebody presses for it."""

import uuid
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import orjson
from flask import Blueprint, Flask, Response, abort, jsonify, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_login import current_user
from pydantic import BaseModel, Field, ValidationError
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as AnyResponse

from clinical.contract import TEXT_MAX, Arztbrief, DocumentType, PlacedEvidence, ReviewNote, Zuweisung, values_of
from clinical.fhir import MEDIA_TYPE
from webapp import audit, guards
from webapp.config import settings
from webapp.extensions import csrf
from webapp.extracting import bundles, keeping
from webapp.extracting.asking import PAGE_S, Asking, NotRead, place
from webapp.extracting.bundles import LetterReading, SourceDocument
from webapp.extracting.codes import FoundCode
from webapp.extracting.routes import READ, extracting, marked, now, readable, source_of
from webapp.fhir.answers import FhirError
from webapp.fhir.pages import my_organization
from webapp.fhir.resources import DocumentRow
from webapp.workbench.catalog import open_book
from webapp.workbench.extraction import shown
from webapp.workbench.failures import failure_words
from webapp.workbench.words import MARKERS, spoken

extracted = Blueprint("extracted", __name__, url_prefix="/documents/<uuid:organization_id>/<uuid:document>/extract")
extracted.before_request(guards.signed_in)
MOST_DIAGNOSES, MOST_CODES = 200, 400
WORDS = {
    "codes": _l("Kodes"),
    "coding": _l("Die Diagnosen werden kodiert."),
    "no_codes": _l("Für diese Diagnosen war kein Kode sicher genug."),
    "confidence": MARKERS["confidence"],
    "as_fhir": _l("Als FHIR speichern"),
    "keep": _l("Ergebnis ablegen"),
    "kept_beside": _l("Abgelegt, als eigenes Dokument neben dem Brief."),
    "open_kept": _l("Zum Ergebnis"),
}
Strings = dict[str, Any]
Body = TypeVar("Body", bound=BaseModel)


class AskedDiagnoses(BaseModel):
    """Diagnoses to code, an empty one in the place of each that was removed."""

    diagnoses: Annotated[list[Annotated[str, Field(max_length=TEXT_MAX)]], Field(max_length=MOST_DIAGNOSES)]


class CheckedLetter(BaseModel):
    """The page's contents of a letter: the fields as they were `read` and as they are now (`data`, entries that were
    emptied being null), where they stand, and the codes that go along."""

    document_type: DocumentType
    data: Strings
    read: Strings
    evidence: tuple[PlacedEvidence, ...]
    review: tuple[ReviewNote, ...]
    text: Annotated[str, Field(max_length=TEXT_MAX)]
    model: Annotated[str, Field(max_length=200)]
    codes: Annotated[tuple[FoundCode, ...], Field(max_length=MOST_CODES)]


def init_app(app: Flask) -> None:
    """Register page and operation, this one as the FHIR routes are: a bearer token is no cookie."""
    csrf.exempt(extracting)
    app.register_blueprint(extracting)
    app.register_blueprint(extracted)
    app.jinja_env.globals["types_read"] = READ


@extracted.get("/")
def page(organization_id: uuid.UUID, document: uuid.UUID) -> str:
    """The page; it loads the file itself, which is then written down as read."""
    row = _mine(organization_id, document)
    mine: dict[str, Any] = {"organization_id": organization_id, "document": document}
    given = shown()
    stored = {
        "name": row.title, "file": url_for("documents.file", **mine, preview=1),
        **{name: url_for(f"extracted.{name}", **mine) for name in ("codes", "fhir", "keep")},
    }  # fmt: skip
    given |= {"stored": stored, "words": given["words"] | spoken(WORDS)}
    return render_template("workbench/stored.html", given=given, row=row, organization_id=organization_id)


@extracted.post("/codes/")
def codes(organization_id: uuid.UUID, document: uuid.UUID) -> AnyResponse:
    """The codes of the diagnoses as the page shows them now."""
    _mine(organization_id, document)
    asked = _posted(AskedDiagnoses)
    try:
        with place(str(current_user.id)):
            found = marked(Asking(PAGE_S).codes(asked.diagnoses))
    except NotRead as error:
        return jsonify({**failure_words()[error.kind], "retry_after": error.wait})
    return _private(jsonify({"type": "codes", "codes": [one.model_dump() for one in found]}))


@extracted.post("/fhir/")
def fhir(organization_id: uuid.UUID, document: uuid.UUID) -> Response:
    """The page's contents as a FHIR document."""
    bundle, _source = _bundle(organization_id, document)
    return _private(Response(orjson.dumps(bundle), content_type=MEDIA_TYPE))


@extracted.post("/keep/")
def keep(organization_id: uuid.UUID, document: uuid.UUID) -> Response:
    """Keep what the page shows as a document of its own; the same is kept once."""
    bundle, source = _bundle(organization_id, document)
    identifier = bundle["entry"][0]["resource"]["identifier"]["value"]

    def note(session: Session, result: Any) -> None:
        audit.record(session, "uploaded", user=current_user, detail=f"{result.kind}/{result.id}")

    try:
        there = keeping.there(organization_id, identifier)
        ident = there or keeping.keep(organization_id, source, bundle, note).id
    except FhirError as error:
        answer = jsonify(
            {"type": "failure", "kind": "kept", "part": _("Dokumente"), "message": error.text, "remedy": ""}
        )
        answer.status_code = 200
        return _private(answer)
    url = url_for("documents.one_document", organization_id=organization_id, document=ident)
    return _private(jsonify({"type": "kept", "url": url}))


def _bundle(organization_id: uuid.UUID, document: uuid.UUID) -> tuple[dict[str, Any], SourceDocument]:
    row = _mine(organization_id, document)
    source, reading = source_of(organization_id, row), _reading(_posted(CheckedLetter))
    return bundles.document(source, reading, keeping.checked(source, reading), now()), source


def _reading(checked: CheckedLetter) -> LetterReading:
    """The reading as a person hands it out: what they changed has no evidence, and a code the catalog does not have is
    refused."""
    model = Zuweisung if checked.document_type == "zuweisung" else Arztbrief
    data = {name: value for name, value in checked.data.items() if name in model.model_fields}
    try:
        model.model_validate(_without_null(data))
    except ValidationError:
        abort(422)
    before = dict(values_of(checked.read))
    same = {path for path, value in values_of(data) if before.get(path) == value}
    book = open_book(settings().catalog)
    if book and any(book.find(one.code) is None for one in checked.codes):
        abort(422)
    return LetterReading(
        checked.document_type, data, [one.model_dump() for one in checked.evidence if one.path in same],
        [one.model_dump() for one in checked.review if one.path in same], checked.text, checked.model,
        marked([one.model_copy(update={"chosen": True}) for one in checked.codes]), book.version if book else None,
        current_user.name,
    )  # fmt: skip


def _without_null(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: [one for one in value if one is not None] if isinstance(value, list) else value
            for name, value in data.items()}  # fmt: skip


def _posted(model: type[Body]) -> Body:
    """The JSON of the request. 422 for what has another form."""
    try:
        return model.model_validate(request.get_json(silent=True))
    except ValidationError:
        abort(422)


def _mine(organization_id: uuid.UUID, document: uuid.UUID) -> DocumentRow:
    """The document, if it can be read; 404 for those who do not belong to its organization."""
    my_organization(organization_id)
    try:
        return readable(organization_id, document)
    except FhirError as error:
        abort(error.status)


def _private(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response
