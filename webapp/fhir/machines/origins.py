"""Web pages that may call: a list of origins for each organization, empty until an operator adds one (CORS).

A browser lets a page of another origin read an answer only where the answer allows that origin by name (WHATWG Fetch,
section 3.2). Only the FHIR routes and presigned URLs are ever allowed, never with cookies: a page brings its token. An
origin that is listed may ask; what it gets is decided by the token alone.
"""

import re
import uuid

from flask import Response, request
from sqlalchemy import String, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from clinical.errors import SettingError
from webapp import audit
from webapp.fhir.models import Owned
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.totals import bind
from webapp.fhir.searching.wanted import UUID
from webapp.models import Base
from webapp.sessions import vary

ORIGIN_LENGTH = 255
_ORIGIN = re.compile(r"https://[a-z0-9.-]+(:[1-9][0-9]{0,4})?|http://(localhost|127\.0\.0\.1)(:[1-9][0-9]{0,4})?")
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, If-None-Exist, If-None-Match, Prefer, Range",
    "Access-Control-Max-Age": "600",  # seconds; an origin that is taken off the list is refused by the answer itself
}
# What a page may read beside the headers that every page may.
EXPOSED = "Befund-Complete-Until, Befund-Ignored, Content-Disposition, Content-Range, ETag, Location, Retry-After"


class AllowedOrigin(Base):
    """An origin (scheme, host, port) whose pages may call an organization's FHIR base."""

    __tablename__ = "allowed_origin"

    organization_id: Mapped[Owned] = mapped_column(primary_key=True)
    origin: Mapped[str] = mapped_column(String(ORIGIN_LENGTH), primary_key=True)


class Origins:
    """Adds the headers to answers, by one indexed query where a browser names an origin."""

    def __init__(self, reader: Reader) -> None:
        mine = (AllowedOrigin.organization_id == bind("organization"), AllowedOrigin.origin == bind("origin"))
        self._statement = Statement(select(AllowedOrigin.origin).where(*mine), reader.engine)
        self._reader = reader

    def allow(self, response: Response, organization: str) -> Response:
        """Let the page that asks read the answer where its origin is on the organization's list."""
        vary(response, "Origin")
        origin = request.headers.get("Origin", "")
        if not _ORIGIN.fullmatch(origin) or not UUID.fullmatch(organization):
            return response
        given = {"organization": self._reader.value(uuid.UUID(organization)), "origin": origin}
        if self._reader.rows(self._statement, given):
            response.headers["Access-Control-Allow-Origin"] = origin
            asks_before = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
            response.headers.update(PREFLIGHT if asks_before else {"Access-Control-Expose-Headers": EXPOSED})
            if asks_before and response.status_code == 404:  # only after a success does a browser call and read why
                response.status_code, response.data = 204, b""
        return response


def add(session: Session, organization: uuid.UUID, origin: str) -> None:
    """Put an origin on the list; one that is there stays. Raises SettingError."""
    if not _ORIGIN.fullmatch(origin) or len(origin) > ORIGIN_LENGTH:
        raise SettingError(
            "the origin of a web page", "https://host or https://host:port, in lower case, without a path or *"
        )
    session.merge(AllowedOrigin(organization_id=organization, origin=origin))
    audit.record(session, "origin_allowed", detail=f"{origin} for {organization}")


def remove(session: Session, organization: uuid.UUID, origin: str) -> bool:
    """Take an origin off the list; whether it was there."""
    mine = (AllowedOrigin.organization_id == organization, AllowedOrigin.origin == origin)
    gone = bool(session.execute(delete(AllowedOrigin).where(*mine)).rowcount)  # type: ignore[attr-defined]
    if gone:
        audit.record(session, "origin_refused", detail=f"{origin} for {organization}")
    return gone


def listed(session: Session, organization: uuid.UUID) -> list[str]:
    """The organization's list."""
    mine = select(AllowedOrigin.origin).where(AllowedOrigin.organization_id == organization)
    return list(session.scalars(mine.order_by(AllowedOrigin.origin)))
