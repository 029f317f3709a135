"""The page "Extrahieren": a letter's fields beside the letter, each value tied to the place that evidences it."""

from flask import Blueprint, render_template
from werkzeug.wrappers import Response

from clinical.contract import TEXT_MAX, ExtractRequest
from webapp.workbench import examples
from webapp.workbench.calls import stream
from webapp.workbench.guards import member_required
from webapp.workbench.words import EXTRACTION, spoken

extraction = Blueprint("extraction", __name__, url_prefix="/extraction")


@extraction.get("/")
@member_required
def page() -> str:
    """The page; everything on it happens in the browser and at `answer`."""
    given = {"longest": TEXT_MAX, "example": examples.LETTER, "words": spoken(EXTRACTION)}
    return render_template("workbench/extraction.html", given=given)


@extraction.post("/answer/")
@member_required
def answer() -> Response:
    """The text API's answer for a letter, as one event."""
    return stream("/api/documents/extract", ExtractRequest, {"evidence": True})
