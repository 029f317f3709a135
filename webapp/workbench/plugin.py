"""Adds the workbench to the application."""

from flask import Flask

from webapp.extensions import csrf
from webapp.workbench import calls
from webapp.workbench.catalog_pages import catalog, lookup, search
from webapp.workbench.coding import coding
from webapp.workbench.drafting import drafting
from webapp.workbench.extraction import extraction


def init_app(app: Flask) -> None:
    """Register the pages. Looking a code up changes nothing, so it needs no token, and nobody gets a session for it."""
    calls.init_app(app)
    everybody = app.config["BEFUND"].workbench_catalog == "everybody"
    app.jinja_env.globals["open_catalog"] = lambda: everybody
    for view in (lookup, search):
        csrf.exempt(view)
    for blueprint in (coding, extraction, drafting, catalog):
        app.register_blueprint(blueprint)
