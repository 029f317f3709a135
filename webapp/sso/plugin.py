"""Registers vendor sign-in on the application."""

import os

from flask import Flask

from webapp.sso.blueprint import VendorBlueprint
from webapp.sso.cli import providers
from webapp.sso.completion import completion
from webapp.sso.providers import secrets_open
from webapp.watching import need


def init_app(app: Flask) -> None:
    """Register the blueprints and commands."""
    if app.config["BEFUND"].development:
        # oauthlib knows no loopback exception. What may be HTTP is decided in `providers.url_problem`, for every row.
        os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    app.register_blueprint(VendorBlueprint())
    app.register_blueprint(completion)
    app.cli.add_command(providers)
    need(app, "keys", secrets_open)
