"""Adds the vendor to try sign-in with and the command `demo` to the application, in development only."""

from flask import Flask

from webapp.demo.cli import demo
from webapp.demo.vendor import demo_vendor, token
from webapp.extensions import csrf


def init_app(app: Flask) -> None:
    """The command says why it does nothing in production; the vendor is not even there."""
    app.cli.add_command(demo)
    if app.config["BEFUND"].development:
        csrf.exempt(token)
        app.register_blueprint(demo_vendor)
