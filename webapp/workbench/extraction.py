"""The page "Extrahieren": a letter's fields beside the letter, each value tied to the place that evidences it."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from flask import Blueprint, render_template, request
from pydantic import BaseModel
from werkzeug.wrappers import Response

from clinical.contract import TEXT_MAX, Arztbrief, ExtractFileRequest, ExtractRequest, TextRequest, Zuweisung
from webapp import guards
from webapp.workbench import examples
from webapp.workbench.calls import stream
from webapp.workbench.words import EXTRACTION, spoken

FILE_MAX = 20 * 1024 * 1024
LARGEST_CALL = FILE_MAX * 4 // 3 + 64 * 1024
"""Bytes of a call with a file, which travels in base64."""

extraction = Blueprint("extraction", __name__, url_prefix="/extraction")
extraction.before_request(guards.member)


@extraction.get("/")
def page() -> str:
    """The page; everything on it happens in the browser and at `answer`."""
    return render_template("workbench/extraction.html", given=shown())


def shown() -> dict[str, Any]:
    """Data for the page's script."""
    choices = {**dict(_choices(Arztbrief)), **dict(_choices(Zuweisung))}
    return {
        "longest": TEXT_MAX,
        "largest": FILE_MAX,
        "example": examples.LETTER,
        "choices": choices,
        "lists": {**_lists(Arztbrief), **_lists(Zuweisung)},
        "words": spoken(EXTRACTION),
    }


@extraction.post("/answer/")
def answer() -> Response:
    """The text API's answer for a letter, a text or a file, as one event."""
    request.max_content_length = LARGEST_CALL
    wanted = ExtractFileRequest if _holds_file() else ExtractRequest
    return stream("/api/documents/extract", wanted, {"evidence": True})


@extraction.post("/sheets/")
def sheets() -> Response:
    """Pages of a file as images, as one event."""
    request.max_content_length = LARGEST_CALL
    return stream("/api/documents/text", TextRequest, {})


def _holds_file() -> bool:
    given = request.get_json(silent=True)
    return isinstance(given, dict) and "content" in given


def _lists(model: type[BaseModel]) -> dict[str, Any]:
    """The lists of the contract, and an empty entry of each."""
    kinds = {name: get_args(field.annotation)[0] for name, field in model.model_fields.items() if field.default == ()}
    return {name: kind().model_dump() if issubclass(kind, BaseModel) else None for name, kind in kinds.items()}


def _choices(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, list[str]]]:
    """The fields of fixed lists of the contract: (path, values)."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _choices(inner, f"{above}{name}.")
        for one in get_args(inner):
            if get_origin(one) is Literal:
                yield f"{above}{name}", list(get_args(one))
