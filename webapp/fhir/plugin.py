"""Adds document retrieval to the application: routes, errors in the shape of FHIR, pages for members, commands."""

import re

from flask import Flask, Response, request
from werkzeug.routing import BaseConverter

from webapp.extensions import csrf
from webapp.fhir import answers, service
from webapp.fhir.access import authorize
from webapp.fhir.bulk.cli import GROUPS
from webapp.fhir.files import binary
from webapp.fhir.machines.cli import origin_list, services
from webapp.fhir.machines.oauth import oauth
from webapp.fhir.machines.pages import service_pages
from webapp.fhir.pages import member_pages
from webapp.fhir.routes import fhir
from webapp.fhir.writing.routes import writing
from webapp.watching import need

_OPEN = re.compile(r"/([^/]+)/(?:fhir/r4|files)(?:/.*)?", re.DOTALL)


class FhirId(BaseConverter):
    """An id of FHIR in a path, which `_search` and `$docref` are not."""

    regex = r"[A-Za-z0-9.-]{1,64}"


def _allow_origin(response: Response) -> Response:
    """Only what is below a FHIR base (an unknown path too: a page reads why), and presigned URLs, is for web pages of
    others, where the organization lists them."""
    place = _OPEN.fullmatch(request.path)
    return service.service().origins.allow(response, place[1]) if place else response


def init_app(app: Flask) -> None:
    """Register routes, error shape and commands; a bearer token is no cookie, so CSRF does not apply to its routes."""
    service.init_app(app)
    answers.init_app(app, authorize)
    app.url_map.converters["fhir_id"] = FhirId
    for blueprint in (oauth, writing, fhir, binary):
        csrf.exempt(blueprint)
        app.register_blueprint(blueprint)
    app.register_blueprint(member_pages)
    app.register_blueprint(service_pages)
    app.after_request(_allow_origin)
    for group in (*GROUPS, services, origin_list):
        app.cli.add_command(group)
    need(app, "files", lambda: service.service().files.well())
