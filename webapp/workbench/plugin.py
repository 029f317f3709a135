"""Adds the workbench to the application."""

from flask import Flask

from clinical.settings import Settings
from webapp.extensions import csrf
from webapp.workbench import calls, relay
from webapp.workbench.catalog import open_book, shown
from webapp.workbench.catalog_pages import catalog, lookup, search
from webapp.workbench.coding import coding
from webapp.workbench.drafting import drafting
from webapp.workbench.extraction import extraction

WARM_UP = "befund_warm_up"
"""Name of the extension that a server calls once in each of its processes, before the first request."""


def init_app(app: Flask) -> None:
    """Register the pages. Looking a code up changes nothing, so it needs no token, and nobody gets a session for it."""
    calls.init_app(app)
    app.extensions[WARM_UP] = lambda: _warm_up(app.config["BEFUND"])
    everybody = app.config["BEFUND"].workbench_catalog == "everybody"
    app.jinja_env.globals["open_catalog"] = lambda: everybody
    app.jinja_env.filters["shown"] = shown
    for view in (lookup, search):
        csrf.exempt(view)
    for blueprint in (coding, extraction, drafting, catalog):
        app.register_blueprint(blueprint)


def _warm_up(given: Settings) -> None:
    """The first person of a process waits neither for the catalog to be read nor for the first call's imports."""
    relay.warm_up()
    for folder in (given.catalog, given.workbench_earlier):
        if folder is not None:
            open_book(folder)
