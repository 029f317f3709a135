"""The end of a sign-in: into a session, or to the form that asks for an address."""

import secrets
import time
from typing import Any

from flask import redirect, session, url_for
from flask_login import login_user
from werkzeug.wrappers import Response

from webapp.errors import ErrorPage
from webapp.models import User
from webapp.sessions import begin_anew
from webapp.sso.models import Provider
from webapp.sso.profile import Profile
from webapp.watching import SIGN_INS

PENDING_KEY = "pending_sign_in"
PENDING_S = 30 * 60  # time to find the mail; after that the vendor is asked again


def signed_in(user: User, next_path: str) -> Response:
    """Begin the person's session, under a new id, and go where they wanted to go."""
    begin_anew()
    login_user(user)
    SIGN_INS.labels("signed_in").inc()
    session.pop("_id", None)  # a hash of address and browser that Flask-Login only uses for its session protection
    return redirect(next_path or url_for("account.show"))


def ask_for_address(provider: Provider, profile: Profile, next_path: str) -> Response:
    """Keep the sign-in in the session and go to the completion form."""
    begin_anew()
    SIGN_INS.labels("address").inc()
    session[PENDING_KEY] = {
        "id": secrets.token_urlsafe(24),
        "provider_id": provider.id,
        "profile": profile.as_dict(),
        "next_path": next_path,
        "since": int(time.time()),
    }
    return redirect(url_for("completion.address"))


def pending() -> dict[str, Any]:
    """The sign-in this session waits to complete. Raises ErrorPage when there is none or it took too long."""
    waiting: dict[str, Any] | None = session.get(PENDING_KEY)
    if waiting is None or time.time() - waiting["since"] > PENDING_S:
        raise ErrorPage("expired", 400)
    return waiting


def update_pending(waiting: dict[str, Any], **values: Any) -> None:
    """Change the pending sign-in in the session."""
    session[PENDING_KEY] = {**waiting, **values}
