"""Adds the reading of stored documents to the application."""

from flask import Flask

from webapp.extensions import csrf
from webapp.extracting.pages import extracted
from webapp.extracting.routes import READ, extracting


def init_app(app: Flask) -> None:
    """Register the operation as the FHIR routes are: a bearer token is no cookie."""
    csrf.exempt(extracting)
    app.register_blueprint(extracting)
    app.register_blueprint(extracted)
    app.jinja_env.globals["types_read"] = READ
