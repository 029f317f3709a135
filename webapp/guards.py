"""Guards of pages: each stands before all views of a blueprint (`before_request`), so that none is forgotten."""

from flask import abort, render_template
from flask_login import current_user
from sqlalchemy import exists, select
from werkzeug.wrappers import Response

from webapp.extensions import db, login_manager
from webapp.models import Membership

Refused = Response | tuple[str, int] | None


def signed_in() -> Refused:
    """The login page for nobody, who comes back here afterwards."""
    refused: Response | None = None if current_user.is_authenticated else login_manager.unauthorized()
    return refused


def operator() -> Refused:
    """Only for members with the role `operator`: 403 for others, the login page for nobody."""
    refused = signed_in()
    if refused is None and not current_user.is_operator:
        abort(403)
    return refused


def member() -> Refused:
    """The login page for nobody, 403 with a word for those who belong to no organization."""
    refused = signed_in()
    if refused is None and not db.session.scalar(select(exists().where(Membership.user_id == current_user.id))):
        return render_template("no_place.html"), 403
    return refused
