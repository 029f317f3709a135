"""The operator's pages of service accounts: who calls, with which secrets or keys, what it may do, when it last did."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_login import current_user
from flask_wtf import FlaskForm
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response
from wtforms import IntegerField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, Length, NumberRange, Optional, ValidationError

from clinical.errors import SettingError
from webapp import guards
from webapp.extensions import db
from webapp.fhir.dates import instant
from webapp.fhir.machines import accounts
from webapp.fhir.machines import scopes as smart
from webapp.fhir.machines.accounts import SCOPES_LENGTH, ServiceAccount
from webapp.fhir.service import fhir_base
from webapp.fhir.tokens import MOST_DAYS, state
from webapp.models import NAME_LENGTH, Organization
from webapp.wire import url_problem

service_pages = Blueprint("services", __name__, url_prefix="/operator/services")
service_pages.before_request(guards.operator)
SECRET, KEYS_URL, KEYS = "secret", "url", "upload"
WAYS = [
    (SECRET, _l("Geheimnis, das einmal angezeigt wird")),
    (KEYS_URL, _l("Öffentliche Schlüssel unter einer URL (JWKS)")),
    (KEYS, _l("Öffentliche Schlüssel, hier eingefügt (JWKS)")),
]
Page = str | Response | tuple[str, int]


class ScopesForm(FlaskForm):  # type: ignore[misc] # no types there
    """Scopes of an account."""

    scopes = StringField(_l("Rechte (Scopes)"), default=smart.DEFAULT, validators=[Length(max=SCOPES_LENGTH)])

    def validate_scopes(self, field: StringField) -> None:
        """Words that are scopes, by single spaces."""
        if smart.problem(field.data or ""):
            raise ValidationError(
                _("Erwartet werden Wörter wie system/DocumentReference.rs, durch Leerzeichen getrennt.")
            )

    def give(self, session: Session, account: ServiceAccount) -> str:
        """Give the account these; "" as of keys. Raises SettingError."""
        accounts.set_scopes(session, account, self.scopes.data, by=current_user)
        return ""


class KeysForm(FlaskForm):  # type: ignore[misc] # no types there
    """Keys by which a program authenticates itself."""

    way = SelectField(_l("Womit es sich ausweist"), choices=[way for way in WAYS if way[0] != SECRET])
    url = StringField(_l("URL der Schlüssel"))
    jwks = TextAreaField(_l("Schlüsselsatz (JSON)"), validators=[Length(max=accounts.LARGEST_KEYS)])

    def validate_url(self, field: StringField) -> None:
        """https, where keys are fetched from there."""
        if self.way.data == KEYS_URL and url_problem((field.data or "").strip()):
            raise ValidationError(_("Erwartet wird eine Adresse, die mit https:// beginnt."))

    def validate_jwks(self, field: TextAreaField) -> None:
        """Public keys, where they are pasted."""
        if self.way.data != KEYS:
            return
        try:
            accounts.checked_keys(field.data or "")
        except SettingError:
            words = _("Erwartet wird ein JSON Web Key Set mit öffentlichen Schlüsseln für RS384 oder ES384.")
            raise ValidationError(words) from None

    def give(self, session: Session, account: ServiceAccount) -> str:
        """Give the account what was chosen; the text of a new secret, "" for keys. Raises SettingError."""
        if self.way.data == SECRET:
            return accounts.add_secret(session, account, by=current_user)
        given = {"url": self.url.data.strip()} if self.way.data == KEYS_URL else {"jwks": self.jwks.data}
        accounts.set_keys(session, account, **given, by=current_user)
        return ""


class NewForm(KeysForm, ScopesForm):
    """A new account."""

    way = SelectField(_l("Womit es sich ausweist"), choices=WAYS)
    organization = SelectField(_l("Organisation"))
    name = StringField(
        _l("Name des Programms"), validators=[InputRequired(_l("Bitte ausfüllen.")), Length(max=NAME_LENGTH)]
    )

    def validate_name(self, field: StringField) -> None:
        """One line of words."""
        if not (field.data or "").strip() or not field.data.isprintable():
            raise ValidationError(_("Bitte ausfüllen."))


class DaysForm(FlaskForm):  # type: ignore[misc] # no types there
    """Lifetime of a new secret."""

    days = IntegerField(
        _l("Gültig für Tage"), default=accounts.DAYS, validators=[Optional(), NumberRange(1, MOST_DAYS)]
    )


@service_pages.get("/")
def show() -> str:
    """All accounts, and a form for a new one."""
    return _listed(_new_form())


@service_pages.post("/")
def add() -> Page:
    """Make an account with its first secret, which this answer shows and no other, or with its keys."""
    form = _new_form()
    if not form.validate():
        return _listed(form), 422
    with db.write() as session:
        organization = uuid.UUID(form.organization.data)
        account = accounts.create(session, organization, form.name.data, form.scopes.data, by=current_user)
        fresh = form.give(session, account)
    return _answer(account.id, fresh)


@service_pages.get("/<account>/")
def one(account: str) -> str:
    """An account with its secrets and keys."""
    return _shown(_found(db.session, account))


@service_pages.post("/<account>/secrets/")
def add_secret(account: str) -> Page:
    """A further secret; those before it go on working, so that the program can change over."""
    form = DaysForm()
    if not form.validate():
        return _shown(_found(db.session, account), days=form), 422
    fresh = ""
    try:
        with db.write() as session:
            days = form.days.data or accounts.DAYS
            fresh = accounts.add_secret(session, _found(session, account), days, by=current_user)
    except SettingError:
        most = accounts.SECRETS_AT_MOST
        flash(
            _("Mehr als %(most)d gültige Geheimnisse hat ein Dienstkonto nicht: beenden Sie zuerst eines.", most=most),
            "error",
        )
    return _answer(account, fresh)


@service_pages.post("/<account>/secrets/<secret>/revoke/")
def revoke_secret(account: str, secret: str) -> Response:
    """End a secret; the next call with it is refused."""
    with db.write() as session:
        if not accounts.revoke_secret(session, _found(session, account), secret, by=current_user):
            abort(404)
    flash(_("Das Geheimnis ist beendet."), "success")
    return redirect(url_for("services.one", account=account))


@service_pages.post("/<account>/<any(keys, scopes):what>/")
def change(account: str, what: str) -> Page:
    """Say where the public keys are, or what it may do, in place of what was said before; from its next call on."""
    form = KeysForm() if what == "keys" else ScopesForm()
    if not form.validate():
        return _shown(_found(db.session, account), **{what: form}), 422
    with db.write() as session:
        form.give(session, _found(session, account))
    return _saved(account)


@service_pages.post("/<account>/<any(handling, active):what>/")
def switch(account: str, what: str) -> Response:
    """Switch it on or off, or say what becomes of search parameters that are not understood."""
    with db.write() as session:
        row, said = _found(session, account), request.form.get(what)
        if what == "active":
            accounts.set_active(session, row, said == "1", by=current_user)
        else:
            accounts.set_lenient(session, row, said == "lenient", by=current_user)
    return _saved(account)


def _saved(account: str) -> Response:
    flash(_("Gespeichert."), "success")
    return redirect(url_for("services.one", account=account))


def _answer(account: str, fresh: str) -> Page:
    """The page of the account: at once where a secret has to be shown, which no address leads to again."""
    return _shown(_found(db.session, account), fresh) if fresh else redirect(url_for("services.one", account=account))


def _found(session: Session, account: str) -> ServiceAccount:
    row = session.get(ServiceAccount, account)
    if row is None:
        abort(404)
    return row


def _new_form() -> NewForm:
    form = NewForm()
    rows: Sequence[Organization] = db.session.scalars(select(Organization).order_by(Organization.name)).all()
    form.organization.choices = [(str(row.id), row.name) for row in rows]
    return form


def _listed(form: NewForm) -> str:
    rows = [
        (account, accounts.living(account), _when(account.last_used_at), accounts.ends_soon(account))
        for account in accounts.all_accounts(db.session)
    ]
    return render_template("services.html", rows=rows, form=form)


def _shown(account: ServiceAccount, fresh: str = "", **forms: FlaskForm) -> str:
    secrets = [(one, instant(one.expires_at), _when(one.last_used_at), state(one)) for one in account.secrets]
    ends = accounts.ends_soon(account)
    given: dict[str, Any] = {"days": DaysForm(formdata=None), "keys": KeysForm(formdata=None)}
    given["scopes"] = ScopesForm(formdata=None, scopes=account.scopes)
    return render_template(
        "service.html", account=account, secrets=secrets, fresh=fresh, used=_when(account.last_used_at),
        ends=_when(ends.expires_at) if ends else None, base=fhir_base(account.organization_id), forms=given | forms,
    )  # fmt: skip


def _when(micros: int | None) -> datetime | None:
    return None if micros is None else instant(micros)
