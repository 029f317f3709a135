"""The FHIR endpoints that read: metadata, search, read, `_history`, `$everything`.

Each: authorize, read the parameters, one statement, rows to resources, bytes.
"""

import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote

import orjson
from flask import Blueprint, Response, current_app, request
from werkzeug.exceptions import HTTPException

from webapp.fhir import answers, dates, resources
from webapp.fhir.access import authorize, bearer, log_access, parse_id, require, rights_of_search
from webapp.fhir.answers import FhirError, answer, tagged, versioned
from webapp.fhir.capability import capability_statement
from webapp.fhir.machines.scopes import FILES
from webapp.fhir.searching import params
from webapp.fhir.searching.patients import Resources, stored_row
from webapp.fhir.searching.search import ResultPage
from webapp.fhir.searching.sent import Pairs, sent
from webapp.fhir.searching.taken import MOST_CONDITIONS
from webapp.fhir.searching.wanted import AnswerOptions, Everything, History, PatientKey, ResourceSearch, Search
from webapp.fhir.service import fhir_base, public_base, service
from webapp.urls import LIFETIME

fhir = Blueprint("fhir", __name__, url_prefix="/<organization>/fhir/r4")
answers.init_blueprint(fhir)
fhir.before_request(answers.negotiate)

_HANDLING = re.compile(r"(?:^|[,;\s])handling\s*=\s*\"?(strict|lenient)(?![\w-])", re.IGNORECASE)
_TOLD = {
    "parameter": "Parameter „{0}“", "modifier": "Modifikator „{0}“ von {1}", "chain": "Verkettung „{0}“",
    "prefix": "Präfix „{0}“ von {1}", "value": "Wert „{0}“ von {1}",
    "number": f"mehr als {MOST_CONDITIONS} Bedingungen, mit {{1}}",
}  # fmt: skip
SHOWN, MOST_TOLD = 50, 10  # characters of a name or value, and how many of them; the caller knows what it sent
_VERSION = re.compile(r"[1-9][0-9]{0,8}")  # the database counts to 2^31
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
HALF_LIFE = LIFETIME // 2  # seconds
Wanted = TypeVar("Wanted", Search, Everything, History, ResourceSearch)


NOBODY = "Diese Patientin oder diesen Patienten gibt es in dieser Organisation nicht."


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of resources that are kept as they came: how they are found, shown, and said not to be there."""

    name: str
    understand: Callable[[Pairs], ResourceSearch]
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


@fhir.get("/DocumentReference", strict_slashes=False)
@fhir.get("/DocumentReference/", endpoint="search_documents_below")
@fhir.post("/DocumentReference/_search")
def search_documents(organization: str) -> Response:
    """Search, newest first."""
    return _documents(*_asked(organization, params.search))


@fhir.get("/Patient/<patient_id>/DocumentReference")
@fhir.post("/Patient/<patient_id>/DocumentReference/_search")
def search_documents_of(organization: str, patient_id: str) -> Response:
    """Search in the compartment of a patient: documents that are linked to it (FHIR R4, section 3.1.1.1)."""
    organization_id, wanted = _asked(organization, params.search)
    key = _known_patient(organization_id, patient_id)
    wanted = replace(wanted, patients=(*wanted.patients, PatientKey(key, None)))
    return _documents(organization_id, wanted, f"Patient/{key}/DocumentReference")


@fhir.get("/Patient/<patient_id>/ImagingStudy")
@fhir.post("/Patient/<patient_id>/ImagingStudy/_search")
def search_studies_of(organization: str, patient_id: str) -> Response:
    """Search in the compartment of a patient: imaging studies."""
    organization_id, wanted = _asked(organization, params.study_search)
    key = _known_patient(organization_id, patient_id)
    wanted = replace(wanted, groups=(*wanted.groups, (PatientKey(key, None),)))
    return _resources(organization_id, wanted, KINDS[1], f"Patient/{key}/ImagingStudy")


@fhir.route("/DocumentReference/$docref", methods=["GET", "POST"])
def patient_documents(organization: str) -> Response:
    """The documents of a patient that are in force, for applications of patients and visitors (International Patient
    Access); `start` and `end` bound the storing time, as in `$everything`."""
    organization_id, wanted = _asked(organization, params.docref)
    if not wanted.patients and not wanted.groups:
        raise FhirError(400, "Erwartet wird der Parameter patient.", "patient")
    return _documents(organization_id, wanted, "DocumentReference/$docref")


def _known_patient(organization_id: uuid.UUID, patient_id: str) -> uuid.UUID:
    key = parse_id(patient_id)
    if key is None or service().patients.one(organization_id, key) is None:
        raise FhirError(404, NOBODY)
    return key


def _documents(organization_id: uuid.UUID, wanted: Search, path: str = "DocumentReference") -> Response:
    found = service().documents.search(organization_id, wanted)
    referred = [row[1] for row in found.rows if row[1]] if wanted.answer.with_patients else []
    patients = tuple(resources.patient(stored_row(row)) for row in service().patients.listed(organization_id, referred))
    return _bundle(organization_id, path, wanted.answer, found, document_maker(organization_id), patients)


@fhir.get("/_history", defaults={"kind": ""}, endpoint="changes")
@fhir.get("/DocumentReference/_history", defaults={"kind": "DocumentReference"})
def document_changes(organization: str, kind: str) -> Response:
    """Lists the changes of documents: stored, marked, restored, linked, deleted. Nothing else has a history, so that of
    the system is the same."""
    organization_id, wanted = _asked(organization, params.history)
    return _history(organization_id, f"{kind}/_history".lstrip("/"), wanted, None)


@fhir.get("/DocumentReference/<document_id>/_history")
def changes_of_document(organization: str, document_id: str) -> Response:
    """The versions of one document."""
    organization_id, wanted = _asked(organization, params.history)
    key = parse_id(document_id)
    if key is None or not service().histories.changes(organization_id, History(), key).total:
        raise FhirError(404, "Dieses Dokument gibt es in dieser Organisation nicht.")
    log_access("metadata", organization_id, key, bearer().user_id, bearer().token_id)
    return _history(organization_id, f"DocumentReference/{key}/_history", wanted, key)


@fhir.get("/DocumentReference/<document_id>/_history/<version_id>")
def read_version(organization: str, document_id: str, version_id: str) -> Response:
    """One version of a document (vread); 410 for that of its deletion, and for all of a deleted document."""
    organization_id = authorize(organization)
    key, number = parse_id(document_id), int(version_id) if _VERSION.fullmatch(version_id) else 0
    found = service().histories.changes(organization_id, History(), key, number).rows if key and number else []
    if key is None or not found:
        raise FhirError(404, "Diese Version gibt es in dieser Organisation nicht.")
    log_access("metadata", organization_id, key, bearer().user_id, bearer().token_id)
    entry = resources.version(fhir_base(organization_id), found[0], document_maker(organization_id))
    if "resource" not in entry:
        raise FhirError(410, "Dieses Dokument ist gelöscht.")
    return versioned(answer(entry["resource"]), entry["resource"]["meta"]["versionId"], found[0][0])


@fhir.get("/DocumentReference/<document_id>")
def read_document(organization: str, document_id: str) -> Response:
    """One document's DocumentReference."""
    organization_id, key = authorize(organization), parse_id(document_id)
    found = service().documents.read(organization_id, key) if key else None
    if key is None or found is None:
        if key and service().histories.changes(organization_id, History(), key).total:
            raise FhirError(410, "Dieses Dokument ist gelöscht.")
        raise FhirError(404, "Dieses Dokument gibt es in dieser Organisation nicht.")
    log_access("metadata", organization_id, key, bearer().user_id, bearer().token_id)
    row, at = found
    document = document_maker(organization_id)(row)
    return answers.read(document, at, lasting=_outlasts(document, at, time.time()))


def _resources(organization_id: uuid.UUID, wanted: ResourceSearch, kind: Kind, path: str) -> Response:
    if wanted.having and not wanted.never:
        having = service().documents.patients_with(organization_id, wanted.having)
        wanted = replace(wanted, ids=tuple(having if wanted.ids is None else having.intersection(wanted.ids)))
    found = kind.stored().search(organization_id, wanted)
    return _bundle(organization_id, path, wanted.answer, found, lambda row: kind.make(stored_row(row)))


def _read_resource(organization: str, key: str, kind: Kind) -> Response:
    organization_id, ident = authorize(organization), parse_id(key)
    row = kind.stored().one(organization_id, ident) if ident else None
    if row is None:
        raise FhirError(404, kind.unknown)
    log_access("metadata", organization_id, uuid.UUID(row[0]), bearer().user_id, bearer().token_id, kind.name)
    found = stored_row(row)
    return answers.read(kind.make(found), found.stored_at)


def _route(kind: Kind) -> None:
    """Search by GET and POST, and read."""

    def search(organization: str) -> Response:
        return _resources(*_asked(organization, kind.understand), kind, kind.name)

    def read(organization: str, key: str) -> Response:
        return _read_resource(organization, key, kind)

    base = f"/{kind.name}"
    for path, name in ((base, f"search_{kind.name}"), (f"{base}/", f"search_{kind.name}_below")):
        fhir.add_url_rule(path, name, search, methods=["GET"])
    fhir.add_url_rule(f"{base}/_search", f"post_search_{kind.name}", search, methods=["POST"])
    fhir.add_url_rule(f"{base}/<key>", f"read_{kind.name}", read, methods=["GET"])


for _kind in KINDS:
    _route(_kind)


@fhir.route("/Patient/<patient_id>/$everything", methods=["GET", "POST"])
def patient_everything(organization: str, patient_id: str) -> Response:
    """All current documents linked to a patient, and the patient's imaging studies; where `_type` names it, the Patient
    too. Posted: parameters in a form or in a Parameters resource, as FHIR clients do by default (FHIR R4, operations,
    section 3.2.0.2)."""
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
    """The organization and what is asked of it, once the caller may ask that and everything is understood that has to
    be. What is decided over is what is searched: one value, made of the parameters as they were sent."""
    organization_id = authorize(organization)
    given = sent(request)
    if request.method == "POST":
        answers.negotiate(next((value for name, value in given if name == "_format"), ""))
    wanted = understand(given)
    require(rights_of_search(wanted))
    _refuse_ignored(organization_id, wanted.answer)
    return organization_id, wanted


def _refuse_ignored(organization_id: uuid.UUID, wanted: AnswerOptions) -> None:
    """Of strict callers nothing is left out. The call itself decides, else what the account or organization is set to
    (RFC 7240: of a preference that is stated twice, the first counts)."""
    stated = _HANDLING.search(request.headers.get("Prefer", ""))
    strict = stated[1].lower() == "strict" if stated else bearer().strict
    if not strict or not wanted.ignored:
        return
    told = dict.fromkeys(_TOLD[item.what].format(item.part[:SHOWN], item.name[:SHOWN]) for item in wanted.ignored)
    names = dict.fromkeys(item.name[:SHOWN] for item in wanted.ignored)
    more = f" und {len(told) - MOST_TOLD} mehr" if len(told) > MOST_TOLD else ""
    raise FhirError(
        406 if "_format" in names else 400,
        f"Nicht verstanden: {', '.join(list(told)[:MOST_TOLD])}{more}. Was verstanden wird, nennt "
        f"{fhir_base(organization_id)}/metadata; mit Prefer: handling=lenient wird alles andere weggelassen.",
        *list(names)[:MOST_TOLD],
    )  # fmt: skip


def _bundle(
    organization_id: uuid.UUID,
    path: str,
    wanted: AnswerOptions,
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
        names = dict.fromkeys(quote(item.name[:SHOWN], safe=":._-") for item in wanted.ignored)
        response.headers["Befund-Ignored"] = ", ".join(list(names)[:20])
    return response


def _history(organization_id: uuid.UUID, path: str, wanted: History, document: uuid.UUID | None) -> Response:
    base, maker = fhir_base(organization_id), document_maker(organization_id)
    found = service().histories.changes(organization_id, wanted, document)
    make: Callable[[Any], Any] = lambda row: resources.version(base, row, maker)  # noqa: E731
    return _bundle(organization_id, path, wanted.answer, found, make, shape=resources.history)


def document_maker(organization_id: uuid.UUID) -> Callable[[Any], resources.Resource]:
    """Row to DocumentReference, with the download URL of this call where the caller may have files."""
    parts, make = service(), resources.document
    if bearer().lacks([FILES]):
        return lambda row: make(row, "")
    url = parts.presigner.signer(public_base(), str(organization_id), bearer().token_id, time.time())
    return lambda row: make(row, url(row[0]))


def _outlasts(document: resources.Resource, at: int, now: float) -> bool:
    """Return True where the URL that a holder of this version has is good for half of its lifetime at least, so that a
    304, by which it keeps that URL, leaves nobody with a dead one.

    The ETag tells the version alone, as FHIR wants it, and not when it was read. But nobody has read a version before
    it was made, so while that is not longer ago, every URL is as young. What is entered in error has no URL that works.
    """
    return document["status"] == "entered-in-error" or now - at / 1_000_000 < HALF_LIFE


def _either_maker(organization_id: uuid.UUID) -> Callable[[Any], resources.Resource]:
    """Row of `$everything` to its resource; what is no document has its JSON in place of the title, and
    as size -1 for an imaging study, -2 for the patient."""
    document = document_maker(organization_id)

    def make(row: Any) -> resources.Resource:
        if row[7] >= 0:
            return document(row)
        whole = resources.imaging_study if row[7] == -1 else resources.patient
        return whole(resources.StoredRow(row[0], row[1], orjson.loads(row[6]), row[-1]))

    return make
