"""The FHIR endpoints that read: metadata, search, read, `_history`, `$everything`.

Each: authorize, read the parameters, one statement, rows to resources, bytes.
"""

import re
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

import orjson
from flask import Blueprint, Response, request
from flask.globals import request_ctx

from webapp.fhir import answers, dates, resources
from webapp.fhir.access import authorize, bearer, log_access, parse_id, require
from webapp.fhir.answers import FhirError, answer, tagged, versioned
from webapp.fhir.capability import EXTRACT, capability_statement, extract_definition
from webapp.fhir.details import Resource, values_at
from webapp.fhir.machines.scopes import FILES
from webapp.fhir.parameters import Inclusion
from webapp.fhir.received import Pairs, sent
from webapp.fhir.searching import params
from webapp.fhir.searching.wanted import TARGET, AnswerOptions, Carried, Paging, PatientKey, ResultPage, Row, Search
from webapp.fhir.service import fhir_base, public_base, service
from webapp.urls import LIFETIME

fhir = Blueprint("fhir", __name__, url_prefix="/<organization>/fhir/r4")
answers.init_blueprint(fhir)

_HANDLING = re.compile(r"(?:^|[,;\s])handling\s*=\s*\"?(strict|lenient)(?![\w-])", re.IGNORECASE)
_TOLD = {
    "parameter": "Parameter „{0}“", "modifier": "Modifikator „{0}“ von {1}", "chain": "Verkettung „{0}“",
    "prefix": "Präfix „{0}“ von {1}", "value": "Wert „{0}“ von {1}",
    "number": f"mehr als {params.MOST_CONDITIONS} Bedingungen, mit {{1}}",
}  # fmt: skip
SHOWN, MOST_TOLD = 50, 10  # characters of a name or value, and how many of them; the caller knows what it sent
_VERSION = re.compile(r"[1-9][0-9]{0,8}")  # the database counts to 2^31
MOST_INCLUDED = 1_000  # resources that are sent along with a page
HALF_LIFE = LIFETIME // 2  # seconds
UNKNOWN = {
    "DocumentReference": "Dieses Dokument gibt es in dieser Organisation nicht.",
    "Patient": "Diese Patientin oder diesen Patienten gibt es in dieser Organisation nicht.",
    "ImagingStudy": "Diese Bildgebungsstudie gibt es in dieser Organisation nicht.",
}
_SEARCHED = f"any({', '.join(UNKNOWN)})"


@fhir.get("/metadata", defaults={"made": capability_statement})
@fhir.get(f"/{EXTRACT}", defaults={"made": extract_definition}, endpoint="operation_definition")
def metadata(organization: str, made: Callable[[str], Resource]) -> Response:
    """CapabilityStatement, and the definition of `$extract` that it names; neither needs a token."""
    organization_id = parse_id(organization)
    if organization_id is None:
        raise FhirError(404)
    return tagged(made(fhir_base(organization_id)))


@fhir.get(f"/<{_SEARCHED}:kind>", strict_slashes=False)
@fhir.get(f"/<{_SEARCHED}:kind>/", endpoint="search_below")
@fhir.post(f"/<{_SEARCHED}:kind>/_search")
def search(organization: str, kind: str) -> Response:
    """Search a type, newest first."""
    organization_id, wanted = _asked(organization, partial(params.search, kind=kind))
    return _found(organization_id, kind, wanted, kind)


@fhir.get("/Patient/<patient_id>/<any(DocumentReference, ImagingStudy):kind>")
@fhir.post("/Patient/<patient_id>/<any(DocumentReference, ImagingStudy):kind>/_search")
def search_compartment(organization: str, patient_id: str, kind: str) -> Response:
    """Search in the compartment of a patient: what is linked to it (FHIR R4, section 3.1.1.1)."""
    organization_id, wanted = _asked(organization, partial(params.search, kind=kind))
    key = parse_id(patient_id)
    if key is None or service().stored["Patient"].one(organization_id, key) is None:
        raise FhirError(404, UNKNOWN["Patient"])
    wanted = replace(wanted, people=(*wanted.people, (PatientKey(key),)))
    return _found(organization_id, kind, wanted, f"Patient/{key}/{kind}")


@fhir.route("/DocumentReference/$docref", methods=["GET", "POST"])
def patient_documents(organization: str) -> Response:
    """The documents of a patient that are in force, for applications of patients and visitors (International Patient
    Access); `start` and `end` bound the storing time, as in `$everything`."""
    organization_id, wanted = _asked(organization, params.docref)
    if not wanted.people:
        raise FhirError(400, "Erwartet wird der Parameter patient.", "patient")
    return _found(organization_id, "DocumentReference", wanted, "DocumentReference/$docref")


def _found(organization_id: uuid.UUID, kind: str, wanted: Search, path: str) -> Response:
    stored = service().stored
    if wanted.having and not wanted.never:
        having = service().documents.patients_with(organization_id, wanted.having)
        wanted = replace(wanted, ids=tuple(having if wanted.ids is None else having.intersection(wanted.ids)))
    found, make = stored[kind].search(organization_id, wanted), maker(organization_id)
    others = list(map(make, _included(organization_id, wanted.answer.included, found.rows)))
    if len(others) > MOST_INCLUDED:
        said = f"Zu diesen Treffern gehört mehr, als mitgesandt wird ({MOST_INCLUDED}). Bitte für sich suchen."
        others[MOST_INCLUDED:] = [resources.outcome("too-costly", said, severity="warning")]
    return _bundle(organization_id, path, wanted.answer, found, make, partial(resources.bundle, included=others))


def _included(organization_id: uuid.UUID, inclusions: Iterable[Inclusion], rows: list[Row]) -> list[Row]:
    """Fetch what is sent along with the rows of a page, each once: one more than is sent where there is more."""
    found: dict[str, Row] = {}
    for one in sorted(inclusions):
        if (asked := _related(one, rows, fhir_base(organization_id))) is not None:
            answer = AnswerOptions(paging=Paging(count=MOST_INCLUDED + 1))
            page = service().stored[one.sent].search(organization_id, replace(asked, answer=answer))
            there = {row[0] for row in rows}
            found |= {row[0]: row for row in page.rows if row[0] not in there}
    return list(found.values())[: MOST_INCLUDED + 1]


def _related(one: Inclusion, rows: list[Row], base: str) -> Search | None:
    """The search for what an inclusion sends along; None where the rows of a page refer to nothing."""
    if one.way == "_revinclude" and one.searched == "Patient":
        return Search(people=(tuple(PatientKey(uuid.UUID(row[0])) for row in rows),)) if rows else None
    if one.way == "_revinclude":
        ways = ("DocumentReference/", "urn:uuid:", f"{base}/DocumentReference/")
        words = tuple(f"{way}{row[0]}" for row in rows for way in ways)
        return Search(carried=(Carried("relatesto", words),)) if rows else None
    ids = [row[1] for row in rows]
    if one.sent != "Patient":
        kept = {"rows": [orjson.loads(row[11]) for row in rows if row[11]]}
        named = (TARGET.fullmatch(text) for text in values_at(kept, "rows.relatesTo.target.reference"))
        ids = [match[1] for match in named if match]
    return Search(ids=tuple({uuid.UUID(ident) for ident in ids if ident})) if any(ids) else None


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
    if key is None or not service().histories.changes(organization_id, Search(), key).total:
        raise FhirError(404, UNKNOWN["DocumentReference"])
    log_access("metadata", organization_id, key)
    return _history(organization_id, f"DocumentReference/{key}/_history", wanted, key)


@fhir.get("/DocumentReference/<document_id>/_history/<version_id>")
def read_version(organization: str, document_id: str, version_id: str) -> Response:
    """One version of a document (vread); 410 for that of its deletion, and for all of a deleted document."""
    organization_id = authorize(organization)
    key, number = parse_id(document_id), int(version_id) if _VERSION.fullmatch(version_id) else 0
    found = service().histories.changes(organization_id, Search(), key, number).rows if key and number else []
    if key is None or not found:
        raise FhirError(404, "Diese Version gibt es in dieser Organisation nicht.")
    log_access("metadata", organization_id, key)
    entry = resources.version(fhir_base(organization_id), found[0], maker(organization_id))
    if "resource" not in entry:
        raise FhirError(410, "Dieses Dokument ist gelöscht.")
    return versioned(answer(entry["resource"]), entry["resource"]["meta"]["versionId"], found[0][-1])


@fhir.get(f"/<{_SEARCHED}:kind>/<ident>")
def read(organization: str, kind: str, ident: str) -> Response:
    """A resource as it is now; of a document's file only the address is told."""
    organization_id, key = authorize(organization), parse_id(ident)
    found = service().stored[kind].read(organization_id, key) if key else None
    if key is None or found is None:
        if key and kind == "DocumentReference" and service().histories.changes(organization_id, Search(), key).total:
            raise FhirError(410, "Dieses Dokument ist gelöscht.")
        raise FhirError(404, UNKNOWN[kind])
    log_access("metadata", organization_id, key, kind)
    row, at = found
    lasting, alone = _outlasts(row, at, time.time()), partial(_alone, organization_id, key, row, at)
    return answers.read(maker(organization_id)(row), at, alone, lasting=lasting)


@fhir.route("/Patient/<patient_id>/$everything", methods=["GET", "POST"])
def patient_everything(organization: str, patient_id: str) -> Response:
    """All current documents linked to a patient, and the patient's imaging studies; where `_type` names it, the Patient
    too. Posted: parameters in a form or in a Parameters resource, as FHIR clients do by default (FHIR R4, operations,
    section 3.2.0.2)."""
    organization_id, wanted = _asked(organization, params.everything)
    key = parse_id(patient_id)
    found = service().documents.everything(organization_id, key, wanted) if key else None
    if key is None or found is None:
        raise FhirError(404, UNKNOWN["Patient"])
    return _bundle(organization_id, f"Patient/{key}/$everything", wanted.answer, found, maker(organization_id))


@fhir.before_request
def negotiate() -> None:
    """OPTIONS is answered before anything else: the methods of a path are no secret and cost nothing to name."""
    if request.method != "OPTIONS":
        answers.negotiate()


def _asked(organization: str, understand: Callable[[Pairs], Search]) -> tuple[uuid.UUID, Search]:
    """The organization and what is asked of it, once the caller may ask that and everything is understood that has to
    be. What is decided over is what is searched: one value, made of the parameters as they were sent."""
    organization_id = authorize(organization)
    asked = request_ctx.request
    given = sent(asked)
    if asked.method == "POST":
        answers.negotiate(next((value for name, value in given if name == "_format"), ""))
    wanted = understand(given)
    if wanted.rights:
        require(wanted.rights)
    if wanted.answer.ignored:
        _refuse_ignored(organization_id, wanted.answer)
    return organization_id, wanted


def _refuse_ignored(organization_id: uuid.UUID, wanted: AnswerOptions) -> None:
    """Of strict callers nothing is left out. The call itself decides, else what the account or organization is set to
    (RFC 7240: of a preference that is stated twice, the first counts)."""
    stated = _HANDLING.search(request.headers.get("Prefer", ""))
    strict = stated[1].lower() == "strict" if stated else bearer().strict
    if not strict:
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
    organization_id: uuid.UUID, path: str, wanted: AnswerOptions, found: ResultPage, make: Callable[[Any], Any],
    shape: Callable[..., Resource] = resources.bundle,
) -> Response:  # fmt: skip
    page = replace(found, rows=[make(row) for row in found.rows])
    response = answer(shape(fhir_base(organization_id), path, wanted, page))
    if found.complete is not None:
        response.headers["Befund-Complete-Until"] = dates.to_text(found.complete)
    if wanted.ignored:
        names = dict.fromkeys(quote(item.name[:SHOWN], safe=":._-") for item in wanted.ignored)
        response.headers["Befund-Ignored"] = ", ".join(list(names)[:20])
    return response


def _history(organization_id: uuid.UUID, path: str, wanted: Search, document: uuid.UUID | None) -> Response:
    base, make = fhir_base(organization_id), maker(organization_id)
    found = service().histories.changes(organization_id, wanted, document)
    return _bundle(
        organization_id, path, wanted.answer, found, lambda row: resources.version(base, row, make), resources.history
    )


def maker(organization_id: uuid.UUID) -> Callable[[Any], Resource]:
    """Row to resource, of a document with the download URL of this call where the caller may have files."""
    caller = bearer()
    if caller.lacks([FILES]):
        return resources.of_row
    url = service().presigner.signer(public_base(), str(organization_id), caller.token_id, time.time())
    return lambda row: resources.document(row, url(row[0])) if row[8] else resources.of_row(row)


def _alone(organization_id: uuid.UUID, document: uuid.UUID, row: Any, at: int) -> bool:
    """Return True where the version before this one of a document was not made in the same second, and has another
    `Last-Modified`. Of what is no document nobody knows."""
    if row[8] is None or row[10] == 1:
        return row[8] is not None
    before = service().histories.changes(organization_id, Search(), document, row[10] - 1).rows
    return bool(before) and before[0][-1] // dates.MICROS < at // dates.MICROS


def _outlasts(row: Any, at: int, now: float) -> bool:
    """Return True where the URL that a holder of this version has is good for half of its lifetime at least, so that a
    304, by which it keeps that URL, leaves nobody with a dead one.

    The ETag tells the version alone, as FHIR wants it, and not when it was read. But nobody has read a version before
    it was made, so while that is not longer ago, every URL is as young. What is entered in error has no URL that works,
    and what is no document has none.
    """
    return row[8] is None or bool(row[4]) or now - at / 1_000_000 < HALF_LIFE
