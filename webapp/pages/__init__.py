"""Pages that belong to no other part: start, account, and the operator's; each file is one subject."""

import uuid

from flask import Flask, redirect, request, url_for
from werkzeug.wrappers import Response

from webapp.extensions import db, login_manager
from webapp.models import User
from webapp.pages.account import account, home
from webapp.pages.cli import orgs, trail, users
from webapp.pages.dry_run import dry_run
from webapp.pages.members import members_page
from webapp.pages.operator import operator


def init_app(app: Flask) -> None:
    """Register the blueprints and commands."""
    for blueprint in (home, account, operator, dry_run, members_page):
        app.register_blueprint(blueprint)
    for group in (users, orgs, trail):
        app.cli.add_command(group)


def init_login(app: Flask) -> None:
    """Set up Flask-Login: our sessions already are server-side and end on the server, so it adds no cookie."""
    login_manager.init_app(app)
    app.after_request_funcs[None].remove(login_manager._update_remember_cookie)
    login_manager.session_protection = None  # it binds to the IP address, which changes on the way home
    login_manager.user_loader(_load_user)
    login_manager.unauthorized_handler(_to_login)


def _load_user(user_id: str) -> User | None:
    user = db.session.get(User, uuid.UUID(user_id))
    return user if user is not None and user.active else None


def _to_login() -> Response:
    here = request.full_path.rstrip("?") if request.method == "GET" else "/"
    return redirect(url_for("home.login", next=here))
