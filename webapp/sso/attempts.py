"""Sign-ins that have left for a vendor and are awaited back: stored for ten minutes, each usable once.

An attempt belongs to the browser that started it, by a cookie of its own named after the state. So any number of tabs,
also of a browser that had no cookie before, come back in any order without disturbing each other.
"""

import secrets
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from urllib.parse import unquote

from flask import Request
from sqlalchemy import Table, bindparam, delete, insert
from werkzeug.wrappers import Response

from webapp.extensions import db
from webapp.models import utcnow
from webapp.sessions import cookie_name, digest, drop_cookie, set_cookie
from webapp.sso.models import SignInAttempt
from webapp.urls import split_request_url

LIFETIME = timedelta(minutes=10)  # contract, section 8: the vendor's code should not live longer either
COOKIE = "befund_signin_"
ATTEMPTS = cast(Table, SignInAttempt.__table__)
TAKING = (
    delete(ATTEMPTS)
    .where(ATTEMPTS.c.state_hash == bindparam("state"), ATTEMPTS.c.browser_hash == bindparam("browser"))
    .returning(ATTEMPTS.c.provider_id, ATTEMPTS.c.code_verifier, ATTEMPTS.c.next_path, ATTEMPTS.c.created_at)
)
COOKIES_AT_MOST = 8  # per browser; the oldest give way
PURGE_EVERY = 50  # one start in this many also deletes what was never finished


@dataclass(frozen=True, slots=True)
class Started:
    """A stored attempt: state and verifier for the vendor, and the cookie that will prove the browser."""

    state: str
    verifier: str
    cookie: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that came back."""

    provider_id: str
    code_verifier: str
    next_path: str


def start(provider_id: str, next_path: str, pkce: bool) -> Started:
    """Store a new attempt. `verifier` is "" without PKCE (RFC 7636: 43 to 128 characters otherwise)."""
    started = Started(
        state=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48) if pkce else "",
        cookie=f"{int(time.time())}.{secrets.token_urlsafe(16)}",
    )
    row = {
        "state_hash": digest(started.state),
        "browser_hash": digest(started.cookie),
        "provider_id": provider_id,
        "code_verifier": started.verifier,
        "next_path": next_path,
    }
    with db.write_rows() as rows:
        rows.execute(insert(ATTEMPTS), row)
        if secrets.randbelow(PURGE_EVERY) == 0:
            rows.execute(delete(ATTEMPTS).where(ATTEMPTS.c.created_at < utcnow() - LIFETIME))
    return started


def take(request: Request) -> Attempt | None:
    """The attempt of this callback, removed so that nobody can use it again. None: `state` is missing, given twice,
    unknown, used, expired, or of another browser."""
    states = request.args.getlist("state")
    cookie = request.cookies.get(cookie_name(_name(states[0]))) if len(states) == 1 else None
    if not cookie:
        return None
    with db.write_rows() as rows:
        taken = rows.execute(TAKING, {"state": digest(states[0]), "browser": digest(cookie)}).one_or_none()
    if taken is None or utcnow() - taken.created_at > LIFETIME:
        return None
    return Attempt(taken.provider_id, taken.code_verifier, taken.next_path)


def remember(response: Response, request: Request, started: Started) -> None:
    """Give the browser the attempt's cookie, and take the oldest back when it has too many."""
    prefix = cookie_name(COOKIE)
    held = sorted((value, name) for name, value in request.cookies.items() if name.startswith(prefix))
    for _, name in held[: max(0, len(held) - COOKIES_AT_MOST + 1)]:
        drop_cookie(response, name.removeprefix("__Host-"))
    set_cookie(response, _name(started.state), started.cookie, LIFETIME)


def forget(response: Response, request: Request) -> None:
    """Take back the cookie of the attempt this callback was for."""
    state = request.args.get("state", "")
    if cookie_name(_name(state)) in request.cookies:
        drop_cookie(response, _name(state))


def local_path(value: str) -> str:
    """Return `value` if it is a path on this site, else "": no scheme, host, backslash or control character, also not
    behind one or more layers of percent-encoding."""
    seen = value
    for _ in range(4):
        if not seen.startswith("/") or seen.startswith("//") or "\\" in seen or not seen.isprintable():
            return ""
        if "//" in seen.split("?", 1)[0]:
            return ""
        seen = unquote(seen)
    try:
        parts = split_request_url(value)
    except ValueError:
        return ""
    return value if len(value) <= 2000 and not parts.scheme and not parts.netloc else ""


def _name(state: str) -> str:
    return COOKIE + digest(state)[:16]
