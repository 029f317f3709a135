"""The page "Kodieren": a text with its mentions marked in place, and the codes for each, to be accepted or rejected."""

from flask import Blueprint, render_template
from werkzeug.wrappers import Response

from clinical.contract import QUERY_MAX, ResearchRequest
from webapp import guards
from webapp.config import settings
from webapp.workbench import examples
from webapp.workbench.calls import stream
from webapp.workbench.catalog import open_book
from webapp.workbench.words import CODING, spoken

coding = Blueprint("coding", __name__, url_prefix="/coding")
coding.before_request(guards.member)


@coding.get("/")
def page() -> str:
    """The page; everything on it happens in the browser and at `events`."""
    book = open_book(settings().catalog)
    version = book.version if book else None
    given = {"longest": QUERY_MAX, "example": examples.LIST, "version": version, "words": spoken(CODING)}
    return render_template("workbench/coding.html", given=given)


@coding.post("/events/")
def events() -> Response:
    """The text API's events for a text, as they come."""
    return stream("/api/deep-research", ResearchRequest, {"details": True, "rerank": False}, streams=True)
