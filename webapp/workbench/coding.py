"""The page "Kodieren": a text with its mentions marked in place, and the codes for each, to be accepted or rejected."""

from flask import Blueprint, render_template
from werkzeug.wrappers import Response

from clinical.contract import QUERY_MAX, ResearchRequest
from webapp.config import settings
from webapp.guards import member_required
from webapp.workbench import examples
from webapp.workbench.calls import stream
from webapp.workbench.catalog import open_book
from webapp.workbench.words import CODING, spoken

coding = Blueprint("coding", __name__, url_prefix="/coding")


@coding.get("/")
@member_required
def page() -> str:
    """The page; everything on it happens in the browser and at `events`."""
    book = open_book(settings().catalog)
    version = book.version if book else None
    given = {"longest": QUERY_MAX, "example": examples.LIST, "version": version, "words": spoken(CODING)}
    return render_template("workbench/coding.html", given=given)


@coding.post("/events/")
@member_required
def events() -> Response:
    """The text API's events for a text, as they come."""
    return stream("/api/deep-research", ResearchRequest, {"details": True, "rerank": False}, streams=True)
