"""Pages for signed-in members: "Zugriffstokens" and "Dokumente"."""

import uuid
from datetime import datetime
from functools import partial
from typing import Any

from flask import Blueprint, Response, abort, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_login import current_user
from flask_wtf import FlaskForm
from sqlalchemy import select
from sqlalchemy.orm import joinedload
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response as AnyResponse
from wtforms import IntegerField, StringField
from wtforms.validators import DataRequired, Length, NumberRange

from webapp import audit, guards
from webapp.extensions import db, login_manager
from webapp.fhir import linking, store, tokens
from webapp.fhir.access import log_access
from webapp.fhir.dates import instant
from webapp.fhir.files import SAFE, clean_content_type, clean_title, content
from webapp.fhir.models import TITLE_LENGTH, Status
from webapp.fhir.resources import DocumentRow
from webapp.fhir.searching import params
from webapp.fhir.service import fhir_base, service
from webapp.models import NAME_LENGTH, Membership, Organization

LARGEST_UPLOAD = 512 * 1024 * 1024
PREVIEWED = ("application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp", "text/plain")
PER_PAGE = 25
# A preview belongs to no origin and runs nothing, in the frame of its own page and opened by itself.
FRAMED = f"{SAFE['Content-Security-Policy']}; frame-ancestors 'self'"
FILTERS = ("patient", "from", "to", "status", "contenttype")

member_pages = Blueprint("documents", __name__)
member_pages.before_request(guards.signed_in)


class TokenForm(FlaskForm):  # type: ignore[misc] # no types there
    """A new access token."""

    name = StringField(validators=[DataRequired(), Length(max=NAME_LENGTH)])
    days = IntegerField(default=tokens.DAYS, validators=[DataRequired(), NumberRange(1, tokens.MOST_DAYS)])


class Item(DocumentRow):
    """A document as the pages show it."""

    __slots__ = ()

    @property
    def stored(self) -> datetime:
        """The time of storage, for the reader's own time zone."""
        return instant(self.stored_at)

    @property
    def patient(self) -> str:
        """The patient or identifier that it is filed under."""
        tag = f"{self.external_system}|{self.external_value}" if self.external_system else self.external_value
        return tag or self.patient_id or ""

    @property
    def preview(self) -> str:
        """The kind of preview: `pdf`, `plain` (images and text) or not at all."""
        if self.content_type not in PREVIEWED or self.entered_in_error:
            return ""
        return "pdf" if self.content_type == "application/pdf" else "plain"


@member_pages.url_value_preprocessor
def _allow_uploads(endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Before anything reads the form (the check against forgery does): whose session it is and whether that person
    belongs there. Only then may the body be larger than the general limit."""
    if endpoint == "documents.upload":
        if not current_user.is_authenticated:
            abort(login_manager.unauthorized())
        my_organization((values or {})["organization_id"])
        request.max_content_length = LARGEST_UPLOAD


@member_pages.route("/tokens/", methods=["GET", "POST"])
def access_tokens() -> str | AnyResponse:
    """One's own tokens; a new one is shown once, on the answer to the form, and nowhere again."""
    form, fresh = TokenForm(), ""
    if form.validate_on_submit():
        with db.write() as session:
            token, fresh = tokens.create(session, current_user.id, form.name.data.strip(), form.days.data)
            audit.record(session, "token_created", user=current_user, detail=token.id)
    mine = tokens.of_user(db.session, current_user.id)
    bases = [(mine.name, fhir_base(mine.id)) for mine in _organizations()]
    rows = [(token, instant(token.expires_at), tokens.state(token)) for token in mine]
    return render_template("tokens.html", form=form, fresh=fresh, rows=rows, bases=bases)


@member_pages.post("/tokens/<token_id>/revoke/")
def revoke_token(token_id: str) -> AnyResponse:
    """Revoke one of one's own tokens; the next call with it is refused."""
    with db.write() as session:
        if tokens.revoke(session, current_user.id, token_id):
            audit.record(session, "token_revoked", user=current_user, detail=token_id)
    flash(_("Das Zugriffstoken ist widerrufen."), "success")
    return redirect(url_for("documents.access_tokens"))


@member_pages.get("/documents/")
def all_documents() -> str | AnyResponse:
    """The first organization's documents, or a word that there is none."""
    for first in _organizations():
        return redirect(url_for("documents.of_organization", organization_id=first.id))
    return render_template("no_place.html")


@member_pages.get("/documents/<uuid:organization_id>/")
def of_organization(organization_id: uuid.UUID) -> str:
    """Newest first; the filters are those of the search."""
    organization = my_organization(organization_id)
    pairs = [(name, value.strip()) for name, value in request.args.items(multi=True) if value.strip()]
    wanted = params.search([*_bounded(pairs), ("_count", str(PER_PAGE))])
    found = service().documents.search(organization_id, wanted)
    kept: dict[str, Any] = {name: value for name, value in pairs if name in FILTERS}
    newest = url_for("documents.of_organization", organization_id=organization_id, **kept)
    more: dict[str, Any] = {"_offset": str(found.next.offset), "_cursor": str(found.next)} if found.next else {}
    older = url_for("documents.of_organization", organization_id=organization_id, **kept | more) if more else ""
    return render_template(
        "documents.html", organization=organization, organizations=_organizations(),
        items=[Item._make(row) for row in found.rows],
        total=found.total, kept=kept, older=older, newest=newest if wanted.answer.paging.offset else "",
    )  # fmt: skip


@member_pages.get("/documents/<uuid:organization_id>/<uuid:document>/")
def one_document(organization_id: uuid.UUID, document: uuid.UUID) -> str:
    """The metadata of a document, and its preview in a frame that runs nothing."""
    organization = my_organization(organization_id)
    return render_template("document.html", organization=organization, item=_row(organization_id, document))


@member_pages.get("/documents/<uuid:organization_id>/<uuid:document>/file")
def file(organization_id: uuid.UUID, document: uuid.UUID) -> Response:
    """The file itself: for download, or for the frame of its own page."""
    my_organization(organization_id)
    item = _row(organization_id, document)
    if item.entered_in_error:
        abort(404)
    preview = request.args.get("preview") == "1" and bool(item.preview)
    log_access("preview" if preview else "download", organization_id, document, user=str(current_user.id))
    response = content(item, inline=preview)
    if preview:
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        response.headers["Content-Security-Policy"] = FRAMED
    return response


@member_pages.post("/documents/<uuid:organization_id>/upload/")
def upload(organization_id: uuid.UUID) -> AnyResponse:
    """Store the chosen files, filed under one patient or none."""
    my_organization(organization_id)
    chosen = [file for file in request.files.getlist("files") if file.filename]
    try:
        said = linking.stated(request.form.get("patient", "").strip())
        whose = linking.Subjects(db.session, organization_id, [said]).of(said)
    except ValueError:
        flash(_("Diese Patientenkennung ist unbekannt."), "error")
        return redirect(url_for("documents.of_organization", organization_id=organization_id))
    new = store.put_and_store(lambda: [_put(file, whose) for file in chosen], partial(_store, organization_id))
    flash(_("Gespeichert: %(number)d", number=len(new)), "success" if new else "error")
    return redirect(url_for("documents.of_organization", organization_id=organization_id))


def _put(file: FileStorage, whose: linking.Subject) -> store.NewDocument:
    file.stream.seek(0)
    kept = service().files.put(file.stream)
    title = clean_title(file.filename or "")[:TITLE_LENGTH]
    return store.NewDocument(kept, title, clean_content_type(file.mimetype), *whose)


def _store(organization_id: uuid.UUID, new: list[store.NewDocument]) -> list[store.NewDocument]:
    with db.write() as session:
        store.store_documents(session, organization_id, new, service().files)
        if new:
            audit.record(session, "uploaded", user=current_user, detail=f"{len(new)} in organization {organization_id}")
    return new


@member_pages.post("/documents/<uuid:organization_id>/<uuid:document>/mark/")
def mark(organization_id: uuid.UUID, document: uuid.UUID) -> AnyResponse:
    """Mark as entered in error, or take that back."""
    my_organization(organization_id)
    _row(organization_id, document)
    wrong = request.form.get("status") == Status.ENTERED_IN_ERROR.value
    with db.write() as session:
        store.mark(session, document, Status.ENTERED_IN_ERROR if wrong else Status.CURRENT)
        audit.record(session, "marked" if wrong else "unmarked", user=current_user, detail=str(document))
    flash(_("Als fehlerhaft markiert.") if wrong else _("Die Markierung ist aufgehoben."), "success")
    return redirect(url_for("documents.one_document", organization_id=organization_id, document=document))


def _organizations() -> list[Organization]:
    memberships = select(Membership).where(Membership.user_id == current_user.id)
    rows = db.session.scalars(memberships.options(joinedload(Membership.organization))).all()
    return sorted((row.organization for row in rows), key=lambda organization: organization.name)


def my_organization(organization_id: uuid.UUID) -> Organization:
    """The organization, 404 for those who do not belong to it: a page need not tell that it exists."""
    for organization in _organizations():
        if organization.id == organization_id:
            return organization
    abort(404)


def _row(organization_id: uuid.UUID, document: uuid.UUID) -> Item:
    row = service().documents.one(organization_id, document)
    if row is None:
        abort(404)
    return Item._make(row)


def _bounded(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The page's fields `from` and `to` as dates of the search."""
    renamed = {"from": "ge", "to": "le"}
    return [("date", renamed[name] + value) if name in renamed else (name, value) for name, value in pairs]
