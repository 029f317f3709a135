"""POST /api/codes/bulk: many texts in one request, each on a line of JSON; the codes of each come back on a line.

The lines are read whole (20 MB, 10,000 texts at most) and counted towards the key's quota, then answered block by
block: the next block is searched when the one before it has been taken, and none once the client has left. A block
waits for every first answer of a stream, and is small, so that those wait for little.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from bentos.api.admission import Admitted, read_body, spend
from bentos.api.coding import catalog_of
from bentos.api.files import UPLOAD_SECONDS, room_for
from bentos.api.problems import TooManyTexts
from clinical.coding import code_many, status_of
from clinical.contract import (
    BULK_CODES_MAX,
    BULK_LINES_MAX,
    CODED,
    MALFORMED,
    MISSING,
    NOTHING,
    BulkCode,
    BulkResult,
    BulkText,
)
from clinical.reading import SearchIndex

router = APIRouter()

PATH: Final = "/api/codes/bulk"
NDJSON: Final = "application/x-ndjson"
BODY_MAX: Final = 20 * 1024 * 1024
BLOCK: Final = 8
"""Texts that are searched together: about 100 ms, which is what a first answer may have to wait."""


@router.post(PATH)
async def bulk(
    request: Request,
    key: Admitted,
    limit: Annotated[int, Query(ge=1, le=BULK_CODES_MAX)] = 10,
    year: int | None = None,
) -> StreamingResponse:
    """Results as lines, as fast as they are taken."""
    async with room_for(request):
        raw = await read_body(request, UPLOAD_SECONDS, BODY_MAX)
        texts = await asyncio.to_thread(_read, raw)
    index = catalog_of(request, year)
    await spend(request, key, len(texts) - 1)
    return StreamingResponse(
        _coded(request, index, texts, limit), media_type=NDJSON, headers={"Cache-Control": "no-store"}
    )


def _read(raw: bytes) -> list[BulkText | None]:
    """The lines; None for one that is not of the form asked for. Empty lines are none."""
    lines = [line for line in raw.split(b"\n") if line.strip()]
    if len(lines) > BULK_LINES_MAX:
        raise TooManyTexts(f"{len(lines)} lines", f"at most {BULK_LINES_MAX}")
    return [_line(line) for line in lines]


def _line(line: bytes) -> BulkText | None:
    try:
        return BulkText.model_validate_json(line)
    except ValidationError:
        return None


async def _coded(
    request: Request, index: SearchIndex, texts: Sequence[BulkText | None], limit: int
) -> AsyncIterator[bytes]:
    queue = request.app.state.search_queue
    for start in range(0, len(texts), BLOCK):
        yield await queue.later(_block, index, texts[start : start + BLOCK], start, limit)


def _block(index: SearchIndex, texts: Sequence[BulkText | None], start: int, limit: int) -> bytes:
    """The lines of some texts, of which the first is in row `start`."""
    states = [_state(text) for text in texts]
    asked = sorted({text.text or "" for text, state in zip(texts, states, strict=True) if text and state == CODED})
    found = dict(zip(asked, code_many(index, asked, limit), strict=True))
    lines = []
    for row, (text, state) in enumerate(zip(texts, states, strict=True), start):
        hits = found[text.text or ""] if text and state == CODED else ()
        codes = [
            BulkCode.model_construct(
                code=hit.code,
                description=index.catalog.codes[index.catalog.number(hit.code)].title,
                confidence=hit.confidence,
                probability=round(hit.probability, 6),
            )
            for hit, _ in hits
        ]
        state = NOTHING if state == CODED and not codes else state
        answer = BulkResult.model_construct(row=row, id=text.id if text else None, status=state, codes=tuple(codes))
        lines.append(answer.model_dump_json(ensure_ascii=True).encode() + b"\n")
    return b"".join(lines)


def _state(text: BulkText | None) -> str:
    if text is None:
        return MALFORMED
    return MISSING if text.text is None else status_of(text.text)
