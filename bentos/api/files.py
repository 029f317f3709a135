"""Files in requests: `multipart/form-data` with a part `file`, or JSON with `content: {contentType, data}`.

A file is held in memory and nowhere else. Whatever costs its length (the form, base64, the words of a text) is done in
a thread; the file itself is opened in a process apart (`clinical.letters.files`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import orjson
from fastapi import Request
from pydantic import BaseModel
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from bentos.api.admission import BODY_MAX, read_body, understood
from bentos.api.problems import BodyTooLarge, InvalidBody
from bentos.metrics import FILE_SECONDS, FILES
from clinical.contract import FileContent
from clinical.letters import FileReader, FileRefused, PageText

FILE_MAX = 20 * 1024 * 1024
FORM_MAX = FILE_MAX + 64 * 1024
JSON_MAX = FILE_MAX * 4 // 3 + 64 * 1024
UPLOAD_SECONDS = 60.0
UPLOADS = 8
"""Bodies over 1 MiB that one process holds at once; the next one waits before it is read."""
PARTS_MAX = 8
FORM = "multipart/form-data with the parts file and document_type"

Asked = TypeVar("Asked", bound=BaseModel)
Plain = TypeVar("Plain", bound=BaseModel)


async def asked_with_file(request: Request, model: type[Asked], plain: type[Plain] | None = None) -> Asked | Plain:
    """The body of an admitted request: a form or JSON with a file as `model`, JSON without `content` as `plain`.

    Raises BodyTooLarge, BodyTooSlow, InvalidBody.
    """
    kind = request.headers.get("content-type", "")
    form = kind.split(";")[0].strip().lower() == "multipart/form-data"
    async with room_for(request):
        raw = await read_body(request, UPLOAD_SECONDS, FORM_MAX if form else JSON_MAX)
        if len(raw) <= BODY_MAX and not form:
            return _of_json(request, raw, model, plain)
        if form:
            return await asyncio.to_thread(_of_form, request, raw, kind, model)
        return await asyncio.to_thread(_of_json, request, raw, model, plain)


@asynccontextmanager
async def room_for(request: Request) -> AsyncIterator[None]:
    """Wait for a place before a body over 1 MiB, or of unknown length, is read."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) <= BODY_MAX:
        yield
        return
    async with request.app.state.uploads:
        yield


def _of_json(request: Request, raw: bytes, model: type[Asked], plain: type[Plain] | None) -> Asked | Plain:
    if plain is None or _has_content(raw):
        return understood(request, model, raw)
    if len(raw) > BODY_MAX:
        raise BodyTooLarge("a body over 1 MiB without a file")
    return understood(request, plain, raw)


def _has_content(raw: bytes) -> bool:
    """True if a JSON body has a `content` of its own, or says the word and is no JSON; a text may say it, too."""
    if b'"content"' not in raw:
        return False
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return True  # a file that was cut off, as far as can be told
    return isinstance(body, dict) and body.get("content") is not None


def _of_form(request: Request, raw: bytes, kind: str, model: type[Asked]) -> Asked:
    parts = _parts(raw, kind)
    if "file" not in parts:
        raise InvalidBody("a form without a part named file", [(["file"], "missing")], FORM)
    given: dict[str, Any] = {"content": FileContent(data=parts.pop("file"))}
    for name, value in parts.items():
        words = value.decode("utf-8", "replace")
        given[name] = {"true": True, "false": False}.get(words, words)
    return understood(request, model, given)


def _parts(raw: bytes, kind: str) -> dict[str, bytes]:
    """The parts of a form by name. Raises InvalidBody."""
    boundary = parse_options_header(kind)[1].get(b"boundary")
    if not boundary:
        raise InvalidBody("a form without a boundary", [((), "form_invalid")], FORM)
    collected = _Parts()
    try:
        parser = MultipartParser(boundary, collected.callbacks())
        parser.write(raw)
        parser.finalize()
    except FormParserError:
        raise InvalidBody("a broken form", [((), "form_invalid")], FORM) from None
    return collected.named


class _Parts:
    """Parts of a form as the parser comes upon them."""

    def __init__(self) -> None:
        self.named: dict[str, bytes] = {}
        self._header, self._value, self._name = b"", b"", ""
        self._data: list[bytes] = []

    def callbacks(self) -> Any:
        """The calls of the parser."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_part_data": self._part_data,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        if len(self.named) >= PARTS_MAX:
            raise FormParserError("too many parts")
        self._header, self._value, self._name, self._data = b"", b"", "", []

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._name = parse_options_header(self._value)[1].get(b"name", b"").decode("utf-8", "replace")
        self._header, self._value = b"", b""

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._data.append(data[start:end])

    def _end(self) -> None:
        if not self._name or self._name in self.named:
            raise FormParserError("a part without a name, or two of one name")
        self.named[self._name] = b"".join(self._data)


async def text_of(request: Request, data: bytes) -> PageText:
    """The text of a file, counted and timed. Raises FileRefused."""
    reader: FileReader = request.app.state.files
    with FILE_SECONDS.time():
        try:
            found = await reader.text(data)
        except FileRefused as error:
            FILES.labels(type(error).__name__).inc()
            raise
    FILES.labels("recognised" if any(page.source == "ocr" for page in found.pages) else "read").inc()
    return found
