"""Stream events as Server-Sent Events and back; bytes only, no sockets.

Source: the WHATWG HTML standard, section 9.2 (server-sent events), and the contract of the text API, section 4: each
event is `data: <JSON>` followed by a blank line. The JSON is ASCII-escaped: U+2028, U+2029 and U+0085 inside a text
would end the line for readers that split at every Unicode line break.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter

from clinical.contract import Event, PartialEvent, ResultEvent, StatusEvent

PING = b": ping\n\n"
"""A comment that keeps proxies from closing a silent stream; readers skip it."""

PING_SECONDS = 15.0
"""At least one byte in this time while a tier works (decisions, "Stream headers")."""

_EVENT: TypeAdapter[Event] = TypeAdapter(
    Annotated[StatusEvent | PartialEvent | ResultEvent, Field(discriminator="type")],
    config=ConfigDict(cache_strings="keys"),
)
_LINE_END = re.compile(r"\r\n|\n|\r")


def encode(event: Event) -> bytes:
    """One event as `data: {...}` and a blank line, ASCII only."""
    return b"data: " + event.model_dump_json(ensure_ascii=True).encode("ascii") + b"\n\n"


class Decoder:
    """Bytes of a stream, cut anywhere, to events.

    Comments and the fields `event`, `id`, `retry` are skipped; several `data` lines of one event are joined by a line
    feed. Raises pydantic.ValidationError on data that is no event of the contract.
    """

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")()
        self._rest = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield every event that is complete with `chunk`."""
        self._rest += self._text.decode(chunk)
        for line in self._lines():
            if line:
                self._field(line)
            elif self._data:
                data, self._data = "\n".join(self._data), []
                yield _EVENT.validate_json(data)

    def _lines(self) -> Iterator[str]:
        """Take whole lines off the buffer; a carriage return at its end may still be half of CRLF and stays."""
        start = 0
        for end in _LINE_END.finditer(self._rest):
            if end.group() == "\r" and end.end() == len(self._rest):
                break
            yield self._rest[start : end.start()]
            start = end.end()
        self._rest = self._rest[start:]

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
