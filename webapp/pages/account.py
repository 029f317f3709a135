"""The start page and the login page; the account page with the linked vendors and the open sessions; signing out."""

import uuid
from typing import cast

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from flask_babel import gettext as _
from flask_login import current_user, logout_user
from sqlalchemy import delete, select
from sqlalchemy.orm import joinedload
from werkzeug.wrappers import Response

from webapp import audit, guards
from webapp.config import settings
from webapp.demo.vendor import PROVIDER
from webapp.extensions import db
from webapp.models import BrowserSession, Membership
from webapp.sessions import ServerSession, begin_anew, sessions_of
from webapp.sso import accounts, attempts
from webapp.sso.blueprint import vendor_host
from webapp.sso.models import Identity
from webapp.sso.providers import active_providers, find

home = Blueprint("home", __name__)
account = Blueprint("account", __name__, url_prefix="/accounts")
account.before_request(guards.signed_in)


@home.get("/")
def index() -> str:
    """The home page: introduces Befund and links to its parts."""
    return render_template("home.html", demo=settings().development and find(PROVIDER) is not None)


@home.get("/accounts/login/")
def login() -> str:
    """The active vendors, each a link that starts its sign-in."""
    wanted = attempts.local_path(request.args.get("next", ""))
    return render_template("login.html", providers=active_providers(), host=vendor_host, next=wanted)


@account.get("/")
def show() -> str:
    """Name, address, organizations, linked vendors, sessions."""
    identities = db.session.scalars(
        select(Identity)
        .where(Identity.user_id == current_user.id)
        .options(joinedload(Identity.provider))
        .order_by(Identity.linked_at)
    ).all()
    memberships = db.session.scalars(
        select(Membership).where(Membership.user_id == current_user.id).options(joinedload(Membership.organization))
    ).all()
    here = cast(ServerSession, session).public_id
    sessions, further = sessions_of(current_user.id, here)
    return render_template(
        "account.html", identities=identities, memberships=memberships, sessions=sessions, further=further, here=here
    )


@account.post("/logout/")
def logout() -> Response:
    """End this session. The next one has another id."""
    audit.record_alone("signed_out", user=current_user)
    logout_user()
    begin_anew()
    flash(_("Sie sind abgemeldet."), "success")
    return redirect(url_for("home.login"))


@account.post("/identities/<uuid:identity_id>/unlink/")
def unlink(identity_id: uuid.UUID) -> Response:
    """Remove a linked vendor while another one remains."""
    with db.write() as writing:
        done = accounts.unlink(writing, current_user, identity_id)
    if done:
        flash(_("Die Verknüpfung ist aufgehoben."), "success")
    else:
        flash(_("Die letzte Verknüpfung bleibt bestehen: ohne sie könnten Sie sich nicht mehr anmelden."), "error")
    return redirect(url_for("account.show"))


@account.post("/sessions/<uuid:public_id>/end/")
def end_session(public_id: uuid.UUID) -> Response:
    """End one of one's own sessions."""
    with db.write() as writing:
        writing.execute(
            delete(BrowserSession).where(
                BrowserSession.user_id == current_user.id, BrowserSession.public_id == public_id
            )
        )
        audit.record(writing, "session_ended", user=current_user)
    flash(_("Die Sitzung ist beendet."), "success")
    return redirect(url_for("account.show"))


@account.post("/sessions/end/")
def end_sessions() -> Response:
    """End all sessions of this person, this one too."""
    with db.write() as writing:
        accounts.end_sessions(writing, current_user)
        audit.record(writing, "sessions_ended", user=current_user)
    logout_user()
    begin_anew()
    flash(_("Alle Sitzungen sind beendet."), "success")
    return redirect(url_for("home.login"))
