"""Pages of the operator: the vendors, and the audit trail."""

from itertools import groupby
from typing import Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_login import current_user
from flask_wtf import FlaskForm
from sqlalchemy import select
from werkzeug.wrappers import Response
from wtforms import BooleanField, PasswordField, SelectField, StringField

from clinical.errors import SettingError
from webapp import audit, guards
from webapp.extensions import db
from webapp.models import AuditEvent
from webapp.sso.blueprint import callback_url
from webapp.sso.models import Provider
from webapp.sso.providers import (
    DEFAULT_SCOPES,
    ProviderFields,
    all_providers,
    exposed,
    find,
    problems,
    set_active,
    store,
)

operator = Blueprint("operator", __name__, url_prefix="/operator")
operator.before_request(guards.operator)
AUDIT_PAGE = 100
AUDIT_KINDS = {
    "": _l("Alles außer Ablehnungen"),
    "sign_in": _l("Anmeldungen"),
    "change": _l("Änderungen"),
    "document": _l("Dokumente"),
    "refusal": _l("Ablehnungen"),
}
EVENTS = {
    "activated": _l("Person eingeschaltet"),
    "created": _l("Konto angelegt"),
    "deactivated": _l("Person abgeschaltet"),
    "dry_run": _l("Probe-Anmeldung"),
    "imported": _l("Dokumente eingelesen"),
    "linked": _l("Anmeldeweg verknüpft"),
    "marked": _l("Dokument als fehlerhaft markiert"),
    "member_changed": _l("Mitglied aufgenommen oder geändert"),
    "member_removed": _l("Mitglied entfernt"),
    "notice_not_sent": _l("Hinweis nicht verschickt"),
    "organization_added": _l("Organisation angelegt"),
    "organization_handling_set": _l("Suche einer Organisation umgestellt"),
    "origin_allowed": _l("Webseite zugelassen"),
    "origin_refused": _l("Webseite nicht mehr zugelassen"),
    "otp_failed": _l("Falscher Code aus der E-Mail"),
    "otp_not_sent": _l("Code nicht verschickt"),
    "otp_sent": _l("Code verschickt"),
    "provider_activated": _l("Anbieter eingeschaltet"),
    "provider_added": _l("Anbieter angelegt"),
    "provider_changed": _l("Anbieter geändert"),
    "provider_deactivated": _l("Anbieter abgeschaltet"),
    "provider_resealed": _l("Geheimnis eines Anbieters neu verschlüsselt"),
    "purged": _l("Dokument endgültig gelöscht"),
    "refused": _l("Abgelehnt"),
    "service_activated": _l("Dienstkonto eingeschaltet"),
    "service_added": _l("Dienstkonto angelegt"),
    "service_deactivated": _l("Dienstkonto abgeschaltet"),
    "service_handling_set": _l("Suche eines Dienstkontos umgestellt"),
    "service_keys_set": _l("Schlüssel eines Dienstkontos gesetzt"),
    "service_scopes_set": _l("Rechte eines Dienstkontos gesetzt"),
    "service_secret_added": _l("Geheimnis eines Dienstkontos erstellt"),
    "service_secret_revoked": _l("Geheimnis eines Dienstkontos widerrufen"),
    "service_token": _l("Zugriffstoken an ein Dienstkonto"),
    "session_ended": _l("Sitzung beendet"),
    "sessions_ended": _l("Alle Sitzungen beendet"),
    "signed_in": _l("Angemeldet"),
    "signed_out": _l("Abgemeldet"),
    "subjects_moved": _l("Kennungen eines Anbieters umgestellt"),
    "token_created": _l("Zugriffstoken erstellt"),
    "token_revoked": _l("Zugriffstoken widerrufen"),
    "tokens_revoked": _l("Alle Zugriffstokens widerrufen"),
    "unlinked": _l("Verknüpfung aufgehoben"),
    "unmarked": _l("Markierung eines Dokuments aufgehoben"),
    "updated": _l("Von einem Programm geändert"),
    "uploaded": _l("Dokumente hochgeladen"),
}
"""The German words of what the trail records, for people; programs read its names (`flask audit list`)."""


class ProviderForm(FlaskForm):  # type: ignore[misc] # no types there
    """The provider table of the contract, section 2, and our switches. The secret is written, never shown."""

    id = StringField(_l("Kennung (provider_id)"))
    name = StringField(_l("Name auf der Anmeldeseite"))
    authorization_url = StringField("Authorization URL")
    token_url = StringField("Token URL")
    userinfo_url = StringField("Userinfo URL")
    client_id = StringField("Client ID")
    client_secret = PasswordField("Client Secret")
    scopes = StringField("Scopes", default=DEFAULT_SCOPES)
    token_auth_method = SelectField(
        "Token Auth Method", choices=[("post", "post (client_secret_post)"), ("basic", "basic (client_secret_basic)")]
    )
    issuer = StringField("Issuer")
    own_callback = BooleanField(_l("Eigene Callback-URL für diesen Anbieter"))
    pkce = BooleanField("PKCE (S256)", default=True)
    trust_email = BooleanField(_l("E-Mail-Adressen dieses Anbieters ohne Code übernehmen"), default=True)
    basic_percent_encode = BooleanField(_l("Bei basic: Client ID und Secret zuerst prozentkodieren (RFC 6749)"))

    inactive = BooleanField(_l("Noch nicht einschalten: zuerst eine Probe-Anmeldung"))

    def fields(self, provider_id: str) -> ProviderFields:
        """The entered fields, without surrounding white space (a secret is taken as it is)."""
        given: dict[str, Any] = {name: v if isinstance(v, bool) else (v or "").strip() for name, v in self.data.items()}
        for extra in ("csrf_token", "inactive"):
            given.pop(extra, None)
        given |= {"id": provider_id or given["id"], "client_secret": self.client_secret.data or ""}
        return ProviderFields(**given)


@operator.get("/providers/")
def providers() -> str:
    """All vendors, active or not."""
    rows = all_providers()
    return render_template("providers.html", providers=rows, callback=callback_url(), exposed=exposed(rows))


@operator.route("/providers/add/", methods=["GET", "POST"])
def add_provider() -> str | Response | tuple[str, int]:
    """Enter a new vendor."""
    return _edited(ProviderForm(), provider=None)


@operator.route("/providers/<provider_id>/", methods=["GET", "POST"])
def edit_provider(provider_id: str) -> str | Response | tuple[str, int]:
    """Change a vendor. An empty secret keeps the stored one."""
    provider = find(provider_id)
    if provider is None:
        abort(404)
    return _edited(ProviderForm(obj=provider), provider)


@operator.post("/providers/<provider_id>/active/")
def switch_provider(provider_id: str) -> Response:
    """Switch a vendor on or off."""
    try:
        with db.write() as session:
            if not set_active(session, provider_id, request.form.get("active") == "1", by=current_user):
                abort(404)
    except SettingError:
        said = _(
            "Nicht eingeschaltet: neben einem anderen Anbieter braucht er einen Issuer oder eine eigene Callback-URL."
        )
        flash(said, "error")
    return redirect(url_for("operator.providers"))


@operator.get("/audit/")
def audit_trail() -> str:
    """The newest events, of one `kind` or of all but the refusals, which anybody can cause; `before` (an event id) goes
    back in time."""
    before, kind = request.args.get("before", type=int), request.args.get("kind", "")
    query = select(AuditEvent).order_by(AuditEvent.id.desc()).limit(AUDIT_PAGE + 1)
    query = query.where(AuditEvent.kind == kind if kind in audit.KEPT else AuditEvent.kind != "refusal")
    if before is not None and 0 < before < 2**62:
        query = query.where(AuditEvent.id < before)
    events = list(db.session.scalars(query))
    older = events[AUDIT_PAGE - 1].id if len(events) > AUDIT_PAGE else None
    days = [(day, list(of_day)) for day, of_day in groupby(events[:AUDIT_PAGE], lambda event: f"{event.at:%Y-%m-%d}")]
    return render_template("audit.html", days=days, older=older, kind=kind, kinds=AUDIT_KINDS, words=EVENTS)


def _edited(form: ProviderForm, provider: Provider | None) -> str | Response | tuple[str, int]:
    """Store a valid form, show any other; `provider` None is a new one."""
    if form.is_submitted() and form.validate():
        given = form.fields(provider.id if provider else "")
        others = [row for row in all_providers() if row.id != given.id]
        for field, problem in problems(given, provider, others if provider is None or provider.active else ()).items():
            form[field].errors = [_(problem)]
        if provider is None and not form.id.errors and db.session.get(Provider, given.id) is not None:
            form.id.errors = [_("Diese Kennung ist vergeben.")]
    if not form.is_submitted() or any(field.errors for field in form):
        page = render_template("provider.html", form=form, provider=provider, callback=callback_url(provider))
        return page if not form.is_submitted() else (page, 422)
    with db.write() as session:
        row = store(session, given, by=current_user, active=not form.inactive.data)
    flash(_("Der Anbieter ist gespeichert. Seine Callback-URL: %(url)s", url=callback_url(row)), "success")
    return redirect(url_for("operator.providers"))
