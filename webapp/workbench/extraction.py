"""The page "Extrahieren": a letter's fields beside the letter, each value tied to the place that evidences it."""

from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from flask import Blueprint, render_template
from pydantic import BaseModel
from werkzeug.wrappers import Response

from clinical.contract import TEXT_MAX, Arztbrief, ExtractRequest, Zuweisung
from webapp.workbench import examples
from webapp.workbench.calls import stream
from webapp.workbench.guards import member_required
from webapp.workbench.words import EXTRACTION, spoken

extraction = Blueprint("extraction", __name__, url_prefix="/extraction")


@extraction.get("/")
@member_required
def page() -> str:
    """The page; everything on it happens in the browser and at `answer`."""
    choices = {**dict(_choices(Arztbrief)), **dict(_choices(Zuweisung))}
    given = {"longest": TEXT_MAX, "example": examples.LETTER, "choices": choices, "words": spoken(EXTRACTION)}
    return render_template("workbench/extraction.html", given=given)


@extraction.post("/answer/")
@member_required
def answer() -> Response:
    """The text API's answer for a letter, as one event."""
    return stream("/api/documents/extract", ExtractRequest, {"evidence": True})


def _choices(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, list[str]]]:
    """The fields of fixed lists of the contract: (path, values)."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _choices(inner, f"{above}{name}.")
        for one in get_args(inner):
            if get_origin(one) is Literal:
                yield f"{above}{name}", list(get_args(one))
