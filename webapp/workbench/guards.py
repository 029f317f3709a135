"""Access to the workbench: signed-in members; a person without an organization is told so."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import render_template
from flask_login import current_user
from sqlalchemy import exists, select
from werkzeug.wrappers import Response

from webapp.extensions import db
from webapp.guards import signed_in_required
from webapp.models import Membership

P = ParamSpec("P")
R = TypeVar("R")


def member_required(view: Callable[P, R]) -> Callable[P, R | Response | tuple[str, int]]:
    """The login page for nobody, 403 with a word for those who belong to no organization."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | tuple[str, int]:
        if not db.session.scalar(select(exists().where(Membership.user_id == current_user.id))):
            return render_template("no_place.html"), 403
        return view(*args, **kwargs)

    return signed_in_required(guarded)
