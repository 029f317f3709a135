"""The end of a sign-in: into a session, or first to the form that asks for an address and proves it by a one-time code,
where the vendor vouches for none.

Nothing here tells whether an address already has an account: each way reads the same until the code is right.
"""

import secrets
import time
from dataclasses import asdict
from typing import Any

from flask import Blueprint, flash, redirect, render_template, session, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_login import login_user
from flask_wtf import FlaskForm
from werkzeug.wrappers import Response
from wtforms import StringField
from wtforms.validators import ValidationError

from webapp import audit
from webapp.errors import ErrorPage
from webapp.extensions import limiter
from webapp.models import User
from webapp.sessions import begin_anew
from webapp.sso import accounts, otp
from webapp.sso.models import Provider
from webapp.sso.profile import Profile, usable_email
from webapp.sso.providers import find_active
from webapp.watching import SIGN_INS

completion = Blueprint("completion", __name__, url_prefix="/accounts/complete")
PER_ADDRESS = "120 per minute"
PENDING_KEY = "pending_sign_in"
PENDING_S = 30 * 60  # time to find the mail; after that the vendor is asked again


class AddressForm(FlaskForm):  # type: ignore[misc] # no types there
    """An e-mail address."""

    email = StringField(lazy_gettext("E-Mail-Adresse"))

    def validate_email(self, field: StringField) -> None:
        """One usable address."""
        if not usable_email(field.data):
            raise ValidationError(_("Bitte geben Sie eine gültige E-Mail-Adresse ein, zum Beispiel name@praxis.de."))


class CodeForm(FlaskForm):  # type: ignore[misc]
    """The six digits; spaces between them are forgiven."""

    code = StringField(lazy_gettext("Code aus der E-Mail"), filters=[lambda text: "".join((text or "").split())])

    def validate_code(self, field: StringField) -> None:
        """Six digits."""
        if len(field.data) != otp.DIGITS or not (field.data.isascii() and field.data.isdigit()):
            raise ValidationError(_("Der Code besteht aus sechs Ziffern."))


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
        "profile": asdict(profile),
        "next_path": next_path,
        "since": int(time.time()),
    }
    return redirect(url_for("completion.address"))


def _pending() -> dict[str, Any]:
    """The sign-in this session waits to complete. Raises ErrorPage when there is none or it took too long."""
    waiting: dict[str, Any] | None = session.get(PENDING_KEY)
    if waiting is None or time.time() - waiting["since"] > PENDING_S:
        raise ErrorPage("expired", 400)
    return waiting


@completion.route("/", methods=["GET", "POST"])
@limiter.limit(PER_ADDRESS, methods=["POST"])
def address() -> str | Response | tuple[str, int]:
    """Ask for the address (or show the doubtful one), send the code."""
    waiting = _pending()
    fixed = waiting["profile"]["email"]
    form = AddressForm(data={"email": waiting.get("address") or fixed})
    if fixed:
        form.email.data = fixed
    if form.validate_on_submit():
        email = fixed or usable_email(form.email.data)
        try:
            otp.send_code(waiting["id"], email, waiting["provider_id"])
        except otp.CodeRefused as refusal:
            flash(_words(refusal), "error")
            status = 502 if refusal.reason == "not_sent" else 429
            return render_template("complete_address.html", form=form, fixed=fixed), status
        session[PENDING_KEY] = {**waiting, "address": email}
        return redirect(url_for("completion.code"))
    return render_template("complete_address.html", form=form, fixed=fixed), 422 if form.errors else 200


@completion.route("/code/", methods=["GET", "POST"])
@limiter.limit(PER_ADDRESS, methods=["POST"])
def code() -> str | Response | tuple[str, int]:
    """Check the code; the right one signs in."""
    waiting = _pending()
    email = waiting.get("address")
    if not email:
        return redirect(url_for("completion.address"))
    form = CodeForm()
    if form.validate_on_submit():
        try:
            otp.check_code(waiting["id"], email, form.code.data, waiting["provider_id"])
        except otp.CodeRefused as refusal:
            form.code.errors = [_words(refusal)]
        else:
            return _complete(waiting, email)
    return render_template("complete_code.html", form=form, email=email), 422 if form.errors else 200


def _complete(waiting: dict[str, Any], email: str) -> Response:
    provider = find_active(waiting["provider_id"])
    if provider is None:
        raise ErrorPage("provider_not_found", 404)
    try:
        found = accounts.resolve(provider, Profile(**waiting["profile"]), proven_email=email)
    except ErrorPage as outcome:
        SIGN_INS.labels(outcome.key).inc()
        audit.record_alone("refused", provider_id=provider.id, detail=outcome.key)
        raise
    if found is None:  # cannot be: the address is proven
        raise ErrorPage("try_again", 503)
    return signed_in(found, waiting["next_path"])


def _words(refusal: otp.CodeRefused) -> str:
    """The refusal in the person's language."""
    minutes = max(1, round(refusal.wait_s / 60))
    words: dict[str, str] = {
        "too_soon": _("Ein Code ist gerade unterwegs. Bitte warten Sie %(n)s Sekunden.", n=refusal.wait_s),
        "too_many": _(
            "Es wurden zu viele Codes angefordert. Bitte versuchen Sie es in %(n)s Minuten erneut.", n=minutes
        ),
        "not_sent": _("Die E-Mail konnte nicht verschickt werden. Bitte versuchen Sie es in einigen Minuten erneut."),
        "wrong": _("Der Code stimmt nicht. Noch %(n)s Versuche.", n=refusal.left),
        "void": _("Dieser Code gilt nicht mehr. Bitte fordern Sie einen neuen an."),
    }
    return words[refusal.reason]
