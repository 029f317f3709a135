"""Server-side sessions in the database. The cookie carries a random id and nothing else."""

import hashlib
import secrets
import uuid
from contextlib import suppress
from datetime import timedelta
from typing import Any, cast

from flask import Flask, Request, Response, g, request, session
from flask.json.tag import TaggedJSONSerializer
from flask.sessions import SessionInterface, SessionMixin
from sqlalchemy import Row, Table, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.datastructures import CallbackDict
from werkzeug.wrappers import Response as BaseResponse

from webapp.config import session_times, settings
from webapp.database import DatabaseBusy
from webapp.errors import busy_page, outage_page
from webapp.extensions import db
from webapp.models import BrowserSession, utcnow
from webapp.watching import part_of

SESSION_COOKIE = "befund_session"
COOKIE: dict[str, Any] = {"httponly": True, "samesite": "Lax", "path": "/"}
TOUCH_EVERY = timedelta(minutes=5)  # `seen_at` is written at most this often, so that reading stays reading
SHOWN = 20  # sessions on the account page: more than anybody's devices
PURGE_EVERY = 100  # one new session in this many also deletes those nobody can use any more
BROWSERS = ("Edg", "OPR", "Firefox", "Chrome", "Safari")
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux")

SESSIONS = cast(Table, BrowserSession.__table__)
FINDING = select(SESSIONS).where(SESSIONS.c.id_hash == bindparam("key"))
ENDING = delete(SESSIONS).where(SESSIONS.c.id_hash == bindparam("key"))

_serializer = TaggedJSONSerializer()


class ServerSession(CallbackDict[str, Any], SessionMixin):
    """The session of one request. `row_key` is the SHA-256 of the id in the cookie, None before the first save."""

    def __init__(self, initial: dict[str, Any] | None = None, row: Row[Any] | None = None) -> None:
        super().__init__(initial, on_update=_mark_modified)
        self.row_key = row.id_hash if row else None
        self.public_id = row.public_id if row else None
        self.seen_at = row.seen_at if row else None
        self.rotate = False
        self.new = row is None
        self.modified = False

    def renew(self) -> None:
        """Give the session a new id when it is saved; the old id stops working."""
        self.rotate = self.modified = True


def _mark_modified(session: ServerSession) -> None:
    session.modified = True


class DatabaseSessions(SessionInterface):
    """Loads and saves `ServerSession` through `browser_session`."""

    def open_session(self, app: Flask, request: Request) -> ServerSession:
        """The stored session of the cookie, or a new one when there is none, it is unknown, idle or too old."""
        if "HTTP_COOKIE" not in request.environ:  # a program, which brings a token
            return ServerSession()
        cookie = request.cookies.get(cookie_name(SESSION_COOKIE))
        row = None
        try:
            if cookie:
                with db.read_rows() as rows:
                    row = rows.execute(FINDING, {"key": digest(cookie)}).one_or_none()
        except SQLAlchemyError as error:
            g.session_lost = error  # raised where errors become answers; here it would be a bare 500
        if row is None or _over(row):
            return ServerSession()
        return ServerSession(_serializer.loads(row.data), row)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Write what changed; an empty session is removed together with its cookie."""
        assert isinstance(session, ServerSession)  # noqa: S101 - ours by construction
        if session.accessed:
            vary(response, "Cookie")
        try:
            if not g.get("unsaved_session"):
                _save(session, response)
        except DatabaseBusy as error:  # behind the handlers of errors: the answer that was made is no longer true
            _replace(response, busy_page(error))
        except SQLAlchemyError as error:
            if not (part := part_of(error)):
                raise
            _replace(response, outage_page(part, error))


def begin_anew() -> None:
    """Forget what the session of this request holds, and give it a new id: at each sign-in and sign-out."""
    session.clear()
    cast(ServerSession, session).renew()


def vary(response: BaseResponse, name: str) -> None:
    """Add a header to those that the answer differs by; `response.vary` would take them apart and join them again."""
    there = response.headers.get("Vary")
    response.headers["Vary"] = f"{there}, {name}" if there else name


def cookie_name(name: str) -> str:
    """The name with the `__Host-` prefix under HTTPS, where browsers then refuse it from any other host or path."""
    return f"__Host-{name}" if is_https() else name


def is_https() -> bool:
    """Return True when the person's browser uses HTTPS: by the public URL when set, else by the request."""
    public = settings().public_url
    return public.startswith("https://") if public else request.is_secure


def set_cookie(response: BaseResponse, name: str, value: str, max_age: timedelta | None = None) -> None:
    """Set a cookie of ours: HttpOnly, SameSite=Lax, Path=/, Secure under HTTPS. Without `max_age` it ends with the
    browser."""
    response.set_cookie(cookie_name(name), value, max_age=max_age, secure=is_https(), **COOKIE)


def drop_cookie(response: BaseResponse, name: str) -> None:
    """Delete a cookie of ours."""
    response.delete_cookie(cookie_name(name), secure=is_https(), **COOKIE)


def digest(value: str) -> str:
    """SHA-256 in hex: enough for random values of 128 bits and more, which cannot be guessed from it."""
    return hashlib.sha256(value.encode()).hexdigest()


def sessions_of(user_id: uuid.UUID, here: uuid.UUID | None) -> tuple[list[Row[Any]], int]:
    """The live sessions of a person, SHOWN at most: the one called `here` (its `public_id`), then the latest; and how
    many there are beyond these. A program that signs in and never out has thousands, which are only counted."""
    columns = SESSIONS.c.public_id, SESSIONS.c.browser, SESSIONS.c.created_at
    live = select(*columns, func.count().over()).where(SESSIONS.c.user_id == user_id, ~_over(SESSIONS.c))
    ordered = live.order_by((SESSIONS.c.public_id == here).desc(), SESSIONS.c.seen_at.desc()).limit(SHOWN)
    rows = list(db.session.execute(ordered))
    return rows, rows[0][-1] - len(rows) if rows else 0


def browser_label(user_agent: str) -> str:
    """ "Firefox, Linux": enough to recognise one's own device, not enough to fingerprint it."""
    browser = next((name for name in BROWSERS if name in user_agent), "")
    system = next((name for name in SYSTEMS if name in user_agent), "")
    names = {"Edg": "Edge", "OPR": "Opera", "Mac OS": "macOS"}
    return ", ".join(names.get(part, part) for part in (browser, system) if part)


def _over(of: Any) -> Any:
    """True for a row that was idle for too long or is too old; of the table's columns the condition of it."""
    now, (idle, longest) = utcnow(), session_times(settings())
    return (of.seen_at < now - idle) | (of.created_at < now - longest)


def _user_id(session: ServerSession) -> uuid.UUID | None:
    value = session.get("_user_id")
    return uuid.UUID(value) if value else None


def _save(session: ServerSession, response: Response) -> None:
    if not session:
        _remove(session, response)
    elif session.rotate or session.row_key is None:
        _insert(session, response)
    elif session.modified:
        _update(session, data=_serializer.dumps(dict(session)), user_id=_user_id(session), seen_at=utcnow())
    elif session.seen_at is not None and utcnow() - session.seen_at > TOUCH_EVERY:
        with suppress(DatabaseBusy):  # reading goes on; the next request says it
            _update(session, seen_at=utcnow())


def _replace(response: Response, by: Response) -> None:
    """Make `response`, which keeps its headers of security, say what `by` says."""
    response.status_code = by.status_code
    response.set_data(by.get_data())
    response.headers.pop("Location", None)
    for name in ("Content-Type", "Retry-After"):
        response.headers[name] = by.headers[name]


def _remove(session: ServerSession, response: Response) -> None:
    if session.row_key is not None and session.modified:
        with db.write_rows() as rows:
            rows.execute(ENDING, {"key": session.row_key})
        drop_cookie(response, SESSION_COOKIE)


def _insert(session: ServerSession, response: Response) -> None:
    value = secrets.token_urlsafe(32)
    row = {
        "id_hash": digest(value),
        "user_id": _user_id(session),
        "data": _serializer.dumps(dict(session)),
        "browser": browser_label(request.user_agent.string),
    }
    with db.write_rows() as rows:
        if session.row_key is not None:
            rows.execute(ENDING, {"key": session.row_key})
        if secrets.randbelow(PURGE_EVERY) == 0:
            rows.execute(delete(SESSIONS).where(_over(SESSIONS.c)))
        rows.execute(insert(SESSIONS), row)
    set_cookie(response, SESSION_COOKIE, value)


def _update(session: ServerSession, **values: Any) -> None:
    """An ended session (its row is gone) is not brought back to life by a request that was still running."""
    with db.write_rows() as rows:
        rows.execute(update(SESSIONS).where(SESSIONS.c.id_hash == session.row_key).values(**values))
