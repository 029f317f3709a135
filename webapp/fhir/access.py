"""Authorization of callers, and the log of who read which document.

401 before 403 before anything is looked up; a document is only ever looked up together with its organization, so that
neither an answer nor its timing tells whether it exists in another one.
"""

import uuid
from collections.abc import Iterable
from functools import lru_cache

from flask import g, request
from limits import parse

from webapp.audit import short_ip
from webapp.extensions import db, limiter, network
from webapp.fhir.answers import FhirError, negotiate
from webapp.fhir.machines import needed, scopes
from webapp.fhir.models import AccessLog
from webapp.fhir.searching.params import UUID
from webapp.fhir.service import service
from webapp.fhir.tokens import Bearer

REFUSED_PER_ADDRESS = parse("600 per minute")  # a program with an old token polls; 10 a second is no program's pace


def authorize(organization: str) -> uuid.UUID:
    """The organization in the path, once the caller's token has proved to be a member's. Raises FhirError 401, 403."""
    organization_id = parse_id(organization)
    header, parts = request.headers.get("Authorization", ""), service()
    bearer = (parts.machines if parts.machines.is_asked(header) else parts.tokens).check(header, organization_id)
    if bearer is None:
        if not limiter.limiter.hit(REFUSED_PER_ADDRESS, "fhir-refused", network()):
            raise FhirError(429, "Von dieser Adresse kamen zu viele Aufrufe ohne gültiges Zugriffstoken.")
        raise FhirError(401)
    if organization_id is None or not bearer.member:
        raise FhirError(403)
    g.bearer = bearer
    if bearer.strict and request.args.get("_format"):
        negotiate(strict=True)
    require(needed.of_path(request.method, request.path))
    return organization_id


def require(rights: Iterable[scopes.Right]) -> None:
    """Go on only where the caller has all of these rights. Raises FhirError 403."""
    if lacking := bearer().lacks(rights):
        raise FhirError(403, f"Diesem Dienstkonto fehlt: {lacking}.")


def bearer() -> Bearer:
    """The caller of an authorized request."""
    found: Bearer = g.bearer
    return found


@lru_cache(maxsize=1024)
def parse_id(text: str) -> uuid.UUID | None:
    """A UUID in its canonical form, None for anything else."""
    return uuid.UUID(text) if UUID.fullmatch(text) else None


def log_access(
    how: str, organization: uuid.UUID, read: uuid.UUID, user: str | None, token: str | None,
    kind: str = "DocumentReference",
) -> None:  # fmt: skip
    """Write down that a resource was read. One whose reading cannot be logged is not handed out."""
    entry = AccessLog(
        organization_id=organization,
        kind=kind,
        document_id=read,
        user_id=uuid.UUID(user) if user else None,
        token_id=token,
        how=how,
        address=short_ip(request.remote_addr),
    )
    with db.write() as session:
        session.add(entry)
