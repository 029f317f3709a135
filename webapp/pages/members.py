"""The operator's page of organizations and their members."""

import uuid

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_login import current_user
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload
from werkzeug.wrappers import Response

from webapp import guards
from webapp.extensions import db
from webapp.models import Membership, Organization, Role, User
from webapp.pages import organizations

members_page = Blueprint("members", __name__, url_prefix="/operator/members")
members_page.before_request(guards.operator)


@members_page.get("/")
def show() -> str:
    """All organizations with their members."""
    together = selectinload(Organization.memberships).joinedload(Membership.user)
    rows = db.session.scalars(select(Organization).options(together).order_by(Organization.name)).all()
    return render_template("members.html", organizations=rows, roles=list(Role))


@members_page.post("/<uuid:place>/add/")
def add(place: uuid.UUID) -> Response:
    """Make somebody with an account a member, by address."""
    with db.write() as session:
        person = User.of(session, request.form.get("email", ""))
        if person is not None:
            organizations.put_member(session, _place(session, place), person, _role(), by=current_user)
    if person is None:
        flash(_("Mit dieser Adresse hat sich noch niemand angemeldet."), "error")
    else:
        flash(_("Gespeichert."), "success")
    return redirect(url_for("members.show"))


@members_page.post("/<uuid:place>/<uuid:person>/")
def change(place: uuid.UUID, person: uuid.UUID) -> Response:
    """Give a member another role, or end the membership (`role` empty)."""
    try:
        with db.write() as session:
            row, who = _place(session, place), session.get(User, person)
            if who is None:
                abort(404)
            if request.form.get("role"):
                organizations.put_member(session, row, who, _role(), by=current_user)
            elif not organizations.remove_member(session, row, who, by=current_user):
                abort(404)
        flash(_("Gespeichert."), "success")
    except organizations.LastOperator:
        flash(_("Das ist der letzte Betreiber: ernennen Sie zuerst einen anderen."), "error")
    return redirect(url_for("members.show"))


@members_page.post("/<uuid:place>/handling/")
def set_handling(place: uuid.UUID) -> Response:
    """Say what becomes of search parameters of the members' tokens that are not understood."""
    with db.write() as session:
        organizations.set_strict(
            session, _place(session, place), request.form.get("handling") == "strict", by=current_user
        )
    flash(_("Gespeichert."), "success")
    return redirect(url_for("members.show"))


def _place(session: Session, place: uuid.UUID) -> Organization:
    row = session.get(Organization, place, options=[joinedload(Organization.memberships)])
    if row is None:
        abort(404)
    return row


def _role() -> Role:
    try:
        return Role(request.form.get("role", ""))
    except ValueError:
        abort(400)
