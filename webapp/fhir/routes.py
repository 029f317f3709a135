"""The FHIR endpoints that read: metadata, search, read, `_history`, `$everything`.

Each: authorize, read the parameters, one statement, rows to resources, bytes.
"""

import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, unquote_plus

import orjson
from flask import Blueprint, Response, current_app, request
from werkzeug.exceptions import HTTPException

from webapp.fhir import answers, dates, resources
from webapp.fhir.access import authorize, bearer, log_access, parse_id
from webapp.fhir.answers import FhirError, answer, tagged
from webapp.fhir.capability import capability_statement
from webapp.fhir.searching import params
from webapp.fhir.searching.patients import Resources, stored_row
from webapp.fhir.searching.search import ResultPage
from webapp.fhir.service import fhir_base, public_base, service
from webapp.urls import LIFETIME

fhir = Blueprint("fhir", __name__, url_prefix="/<organization>/fhir/r4")
answers.init_blueprint(fhir)

_STRICT = re.compile(r"(^|[,;\s])handling\s*=\s*\"?strict\"?", re.IGNORECASE)
_VERSION = re.compile(r"[1-9][0-9]{0,8}")  # the database counts to 2^31
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
HALF_LIFE = LIFETIME // 2  # seconds
Pairs = list[tuple[str, str]]
Wanted = TypeVar("Wanted", params.Search, params.Everything, params.History, params.ResourceSearch)


NOBODY = "Diese Patientin oder diesen Patienten gibt es in dieser Organisation nicht."


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of resources that are kept as they came: how they are found, shown, and said not to be there."""

    name: str
    understand: Callable[[Pairs], params.ResourceSearch]
    stored: Callable[[], Resources]
    make: Callable[[resources.StoredRow], resources.Resource]
    unknown: str


KINDS = (
    Kind("Patient", params.patient_search, lambda: service().patients, resources.patient, NOBODY),
    Kind(
        "ImagingStudy", params.study_search, lambda: service().studies, resources.imaging_study,
        "Diese Bildgebungsstudie gibt es in dieser Organisation nicht.",
    ),
)  # fmt: skip


@fhir.get("/metadata")
def metadata(organization: str) -> Response:
    """CapabilityStatement; needs no token."""
    organization_id = parse_id(organization)
    if organization_id is None:
        raise FhirError(404)
    return tagged(capability_statement(fhir_base(organization_id)))


@fhir.get("/DocumentReference")
@fhir.post("/DocumentReference/_search")
def search_documents(organization: str) -> Response:
    """Search, newest first."""
    organization_id, wanted = _asked(organization, params.search)
    found = service().documents.search(organization_id, wanted)
    referred = [row[1] for row in found.rows if row[1]] if wanted.answer.with_patients else []
    patients = tuple(resources.patient(stored_row(row)) for row in service().patients.listed(organization_id, referred))
    return _bundle(
        organization_id, "DocumentReference", wanted.answer, found, document_maker(organization_id), patients
    )


@fhir.get("/DocumentReference/_history")
def document_changes(organization: str) -> Response:
    """What became of documents: stored, marked, restored, linked, deleted."""
    organization_id, wanted = _asked(organization, params.history)
    return _history(organization_id, "DocumentReference/_history", wanted, None)


@fhir.get("/DocumentReference/<document_id>/_history")
def changes_of_document(organization: str, document_id: str) -> Response:
    """The versions of one document."""
    organization_id, wanted = _asked(organization, params.history)
    key = parse_id(document_id)
    if key is None or not service().histories.changes(organization_id, params.History(), key).total:
        raise FhirError(404, "Dieses Dokument gibt es in dieser Organisation nicht.")
    log_access("metadata", organization_id, key, bearer().user_id, bearer().token_id)
    return _history(organization_id, f"DocumentReference/{key}/_history", wanted, key)


@fhir.get("/DocumentReference/<document_id>/_history/<version_id>")
def read_version(organization: str, document_id: str, version_id: str) -> Response:
    """One version of a document (vread); 410 for that of its deletion, and for all of a deleted document."""
    organization_id = authorize(organization)
    key, number = parse_id(document_id), int(version_id) if _VERSION.fullmatch(version_id) else 0
    found = service().histories.changes(organization_id, params.History(), key, number).rows if key and number else []
    if key is None or not found:
        raise FhirError(404, "Diese Version gibt es in dieser Organisation nicht.")
    log_access("metadata", organization_id, key, bearer().user_id, bearer().token_id)
    entry = resources.version(fhir_base(organization_id), found[0], document_maker(organization_id))
    if "resource" not in entry:
        raise FhirError(410, "Dieses Dokument ist gelöscht.")
    response = answer(entry["resource"])
    response.headers["ETag"] = entry["response"]["etag"]
    return response


@fhir.get("/DocumentReference/<document_id>")
def read_document(organization: str, document_id: str) -> Response:
    """One document's DocumentReference."""
    organization_id = authorize(organization)
    row = _row(organization_id, document_id)
    log_access("metadata", organization_id, uuid.UUID(row[0]), bearer().user_id, bearer().token_id)
    document = document_maker(organization_id)(row)
    return tagged(document, _state(document))


def _search_resources(organization: str, kind: Kind) -> Response:
    organization_id, wanted = _asked(organization, kind.understand)
    found = kind.stored().search(organization_id, wanted)
    return _bundle(organization_id, kind.name, wanted.answer, found, lambda row: kind.make(stored_row(row)))


def _read_resource(organization: str, key: str, kind: Kind) -> Response:
    organization_id, ident = authorize(organization), parse_id(key)
    row = kind.stored().one(organization_id, ident) if ident else None
    if row is None:
        raise FhirError(404, kind.unknown)
    return tagged(kind.make(stored_row(row)))


def _route(kind: Kind) -> None:
    """Search by GET and POST, and read."""

    def search(organization: str) -> Response:
        return _search_resources(organization, kind)

    def read(organization: str, key: str) -> Response:
        return _read_resource(organization, key, kind)

    base = f"/{kind.name}"
    fhir.add_url_rule(base, f"search_{kind.name}", search, methods=["GET"])
    fhir.add_url_rule(f"{base}/_search", f"post_search_{kind.name}", search, methods=["POST"])
    fhir.add_url_rule(f"{base}/<key>", f"read_{kind.name}", read, methods=["GET"])


for _kind in KINDS:
    _route(_kind)


@fhir.route("/Patient/<patient_id>/$everything", methods=["GET", "POST"])
def patient_everything(organization: str, patient_id: str) -> Response:
    """All current documents linked to a patient, and the patient's imaging studies. Posted: parameters in a form or in
    a Parameters resource, as FHIR clients do by default (FHIR R4, operations, section 3.2.0.2)."""
    organization_id, wanted = _asked(organization, params.everything)
    key = parse_id(patient_id)
    found = service().documents.everything(organization_id, key, wanted) if key else None
    if key is None or found is None:
        raise FhirError(404, NOBODY)
    return _bundle(organization_id, f"Patient/{key}/$everything", wanted.answer, found, _either_maker(organization_id))


@fhir.route("/<path:_rest>", methods=[*_METHODS, "OPTIONS"], provide_automatic_options=False)
@fhir.route("/", methods=_METHODS, defaults={"_rest": ""}, strict_slashes=False)
def unknown(organization: str, _rest: str) -> Response:
    """Whatever else is asked for below the base: only a member learns that it is not there."""
    authorize(organization)
    allowed = _allowed()
    raise FhirError(405, allow=allowed) if allowed else FhirError(404)


@fhir.before_request
def options() -> Response | None:
    """OPTIONS is answered before anything else: the methods of a path are no secret and cost nothing to name."""
    if request.method != "OPTIONS":
        return None
    allowed = _allowed()
    return Response(status=204, headers={"Allow": ", ".join(allowed)}) if allowed else answers.error_answer(404)


def _allowed() -> tuple[str, ...]:
    """The methods that a route of ours has for the path of this request."""
    there = {method for method in _METHODS if _is_routed(method)}
    return tuple(sorted(there | {"OPTIONS"} | ({"HEAD"} if "GET" in there else set()))) if there else ()


def _is_routed(method: str) -> bool:
    adapter = current_app.create_url_adapter(request)
    try:
        rule, _ = adapter.match(method=method, return_rule=True) if adapter else (None, None)
    except HTTPException:
        return False
    return rule is not None and rule.endpoint != f"{fhir.name}.{unknown.__name__}"


def _asked(organization: str, understand: Callable[[Pairs], Wanted]) -> tuple[uuid.UUID, Wanted]:
    """The organization and what is asked of it, once the caller may ask and everything is understood that has to be."""
    organization_id = authorize(organization)
    wanted = understand(_pairs())
    _refuse_ignored(wanted.answer)
    return organization_id, wanted


def _pairs() -> Pairs:
    """Query string and, of a `_search`, the posted form, decoded and in order."""
    pairs = list(_decoded(request.query_string.decode("utf-8", "replace")))
    if request.method != "POST":
        return pairs
    if request.mimetype in ("application/fhir+json", "application/json") and request.path.endswith("/$everything"):
        return pairs + _parameters(request.get_data())
    if request.mimetype not in ("application/x-www-form-urlencoded", ""):
        raise FhirError(415, "Erwartet wird ein Formular: application/x-www-form-urlencoded.")
    return pairs + list(_decoded(request.get_data().decode("utf-8", "replace")))


def _parameters(body: bytes) -> Pairs:
    """Name and value of each parameter of a posted Parameters resource; an empty body has none."""
    if not body.strip():
        return []
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise FhirError(400, "Der Inhalt ist kein JSON. Erwartet wird eine Ressource Parameters.") from None
    if not isinstance(given, dict) or given.get("resourceType") != "Parameters":
        raise FhirError(400, "Erwartet wird eine Ressource Parameters.", "Parameters")
    listed = given.get("parameter", [])
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise FhirError(400, "Parameters.parameter ist keine Liste von Parametern.", "Parameters.parameter")
    return [
        (str(item.get("name", "")), str(value))
        for item in listed
        for name, value in item.items()
        if name.startswith("value") and isinstance(value, str | int)
    ]


def _decoded(query: str) -> Pairs:
    """Like `urllib.parse.parse_qsl`, but nothing is refused: blank values are kept, bad bytes replaced."""
    pairs = []
    for part in query.split("&"):
        if part:
            name, _, value = part.partition("=")
            pairs.append((unquote_plus(name), unquote_plus(value)))
    return pairs


def _refuse_ignored(wanted: params.AnswerOptions) -> None:
    if wanted.ignored and _STRICT.search(request.headers.get("Prefer", "")):
        names = ", ".join(dict.fromkeys(name[:50] for name in wanted.ignored))
        raise FhirError(400, f"Unbekannt oder nicht lesbar (Prefer: handling=strict): {names}", *wanted.ignored[:20])


def _bundle(
    organization_id: uuid.UUID,
    path: str,
    wanted: params.AnswerOptions,
    found: ResultPage,
    make: Callable[[Any], Any],
    included: tuple[resources.Resource, ...] = (),
    shape: Callable[..., resources.Resource] = resources.bundle,
) -> Response:
    page = resources.Page(found.total, [make(row) for row in found.rows], found.next, included, found.complete)
    response = answer(shape(fhir_base(organization_id), path, wanted, page))
    if found.complete is not None:
        response.headers["Befund-Complete-Until"] = dates.to_text(found.complete)
    if wanted.ignored:
        names = dict.fromkeys(quote(name[:50], safe=":._-") for name in wanted.ignored)
        response.headers["Befund-Ignored"] = ", ".join(list(names)[:20])
    return response


def _history(organization_id: uuid.UUID, path: str, wanted: params.History, document: uuid.UUID | None) -> Response:
    base, maker = fhir_base(organization_id), document_maker(organization_id)
    found = service().histories.changes(organization_id, wanted, document)
    make: Callable[[Any], Any] = lambda row: resources.version(base, row, maker)  # noqa: E731
    return _bundle(organization_id, path, wanted.answer, found, make, shape=resources.history)


def _row(organization_id: uuid.UUID, document_id: str) -> Any:
    key = parse_id(document_id)
    row = service().documents.one(organization_id, key) if key else None
    if row is None:
        raise FhirError(404, "Dieses Dokument gibt es in dieser Organisation nicht.")
    return row


def document_maker(organization_id: uuid.UUID) -> Callable[[Any], resources.Resource]:
    """Row to DocumentReference, with the download URL of this call."""
    parts, make = service(), resources.document
    url = parts.presigner.signer(public_base(), str(organization_id), bearer().token_id, time.time())
    return lambda row: make(row, url(row[0]))


def _state(document: resources.Resource) -> resources.Resource:
    """What a DocumentReference says, without the URL of this call.

    A caller who gets 304 keeps the URL it holds: the state changes twice in the lifetime of a URL, so that a URL kept
    so is good for half of it at least.
    """
    content = document["content"][0]
    attachment = {name: value for name, value in content["attachment"].items() if name != "url"}
    return document | {"content": [content | {"attachment": attachment}], "_until": int(time.time() // HALF_LIFE)}


def _either_maker(organization_id: uuid.UUID) -> Callable[[Any], resources.Resource]:
    """Row of `$everything` to its resource; an imaging study has size -1 and its JSON in place of the title."""
    document = document_maker(organization_id)

    def make(row: Any) -> resources.Resource:
        if row[7] >= 0:
            return document(row)
        return resources.imaging_study(resources.StoredRow(row[0], row[1], orjson.loads(row[6]), row[10]))

    return make
