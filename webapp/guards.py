"""Access decorators for pages, with types (Flask-Login has none)."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from flask import abort
from flask_login import current_user
from werkzeug.wrappers import Response

from webapp.extensions import login_manager

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
