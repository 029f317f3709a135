"""Adds the reading of stored documents to the application."""

from flask import Flask, Response, request

from webapp.extensions import csrf
from webapp.extracting.pages import extracted
from webapp.extracting.routes import READ, extracting
from webapp.fhir.service import service


def init_app(app: Flask) -> None:
    """Register the operation as the FHIR routes are: a bearer token is no cookie, and pages of listed origins may read
    its answers."""
    csrf.exempt(extracting)
    app.register_blueprint(extracting)
    app.register_blueprint(extracted)
    app.jinja_env.globals["types_read"] = READ
    app.after_request(_allow_origin)


def _allow_origin(response: Response) -> Response:
    if request.blueprint != extracting.name:
        return response
    return service().origins.allow(response, str((request.view_args or {})["organization"]))
