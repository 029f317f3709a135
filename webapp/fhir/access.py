"""Authorization of callers, and the log of who read which document.

401 before 403 before anything is looked up; a document is only ever looked up together with its organization, so that
neither an answer nor its timing tells whether it exists in another one.
"""

import uuid
from collections.abc import Iterable

from flask import g, request
from limits import parse

from webapp.audit import short_ip
from webapp.extensions import db, limiter, network
from webapp.fhir.answers import FhirError, named_format, negotiate
from webapp.fhir.callers import Bearer
from webapp.fhir.machines import scopes
from webapp.fhir.models import AccessLog
from webapp.fhir.searching.wanted import UUID, Right
from webapp.fhir.service import service

REFUSED_PER_ADDRESS = parse("600 per minute")  # a program with an old token polls; 10 a second is no program's pace


def authorize(organization: str) -> uuid.UUID:
    """The organization in the path, once the caller's token has proved to be a member's. Raises FhirError 401, 403."""
    organization_id = parse_id(organization)
    bearer = service().callers.check(request.headers.get("Authorization", ""), organization_id)
    if bearer is None:
        if not limiter.limiter.hit(REFUSED_PER_ADDRESS, "fhir-refused", network()):
            raise FhirError(429, "Von dieser Adresse kamen zu viele Aufrufe ohne gültiges Zugriffstoken.")
        raise FhirError(401)
    if organization_id is None or not bearer.member:
        raise FhirError(403)
    g.bearer = bearer
    if bearer.strict and named_format():
        negotiate(strict=True)
    if bearer.rights is not None:
        require(rights_of_path(request.method, request.path))
    return organization_id


def require(rights: Iterable[Right]) -> None:
    """Go on only where the caller has all of these rights. Raises FhirError 403."""
    if lacking := bearer().lacks(rights):
        raise FhirError(403, f"Diesem Dienstkonto fehlt: {lacking}.")


def bearer() -> Bearer:
    """The caller of an authorized request."""
    found: Bearer = g.bearer
    return found


def parse_id(text: str) -> uuid.UUID | None:
    """A UUID in its canonical form, None for anything else."""
    return uuid.UUID(text) if UUID.fullmatch(text) else None


def log_access(
    how: str, organization: uuid.UUID, read: uuid.UUID, kind: str = "DocumentReference", *, user: str = "",
    token: str = "",
) -> None:  # fmt: skip
    """Write down that a resource was read, by the caller, or else by the `user`, or with a link made with the `token`.
    One whose reading cannot be logged is not handed out."""
    if caller := g.get("bearer"):
        user, token = caller.user_id, caller.token_id
    whose = {"user_id": uuid.UUID(user) if user else None, "token_id": token or None}
    entry = AccessLog(organization_id=organization, kind=kind, document_id=read, how=how, **whose)
    entry.address = short_ip(request.remote_addr)
    with db.write() as session:
        session.add(entry)


def rights_of_path(method: str, path: str) -> scopes.Rights:
    """scopes.Rights for this path whatever the parameters are; paths that lead nowhere need none."""
    kind, _, rest = path.partition("/fhir/r4/")[2].strip("/").partition("/")
    if kind == "_history":
        return frozenset({("DocumentReference", "s")})  # the one type with a history
    if kind not in scopes.TYPES:
        return frozenset()
    within = rest.split("/")[1:2]
    if kind == "Patient" and within and within[0] in scopes.TYPES:  # a compartment tells that there is such a patient
        return frozenset({("Patient", "r"), (within[0], "s")})
    if method == "POST" and rest in ("", "$generate-metadata"):
        return frozenset({(kind, "c")})
    if method == "POST" and rest.endswith("/$update-metadata"):
        return frozenset({(kind, "u")})
    if letter := {"PUT": "u", "PATCH": "u", "DELETE": "d"}.get(method):
        return frozenset({(kind, letter)})
    return frozenset({(kind, "s" if rest in ("", "_search", "_history", "$docref") else "r")})
