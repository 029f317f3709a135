"""Access decorators for pages, with types (Flask-Login has none)."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import abort, render_template
from flask_login import current_user
from sqlalchemy import exists, select
from werkzeug.wrappers import Response

from webapp.extensions import db, login_manager
from webapp.models import Membership

P = ParamSpec("P")
R = TypeVar("R")


def signed_in_required(view: Callable[P, R]) -> Callable[P, R | Response]:
    """The login page for nobody, who comes back here afterwards."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | Response:
        if not current_user.is_authenticated:
            refused: Response = login_manager.unauthorized()
            return refused
        return view(*args, **kwargs)

    return guarded


def operator_required(view: Callable[P, R]) -> Callable[P, R | Response]:
    """Only for members with the role `operator`: 403 for others, the login page for nobody."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if not current_user.is_operator:
            abort(403)
        return view(*args, **kwargs)

    return signed_in_required(guarded)


def member_required(view: Callable[P, R]) -> Callable[P, R | Response | tuple[str, int]]:
    """The login page for nobody, 403 with a word for those who belong to no organization."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | tuple[str, int]:
        if not db.session.scalar(select(exists().where(Membership.user_id == current_user.id))):
            return render_template("no_place.html"), 403
        return view(*args, **kwargs)

    return signed_in_required(guarded)
