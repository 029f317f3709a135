"""POST /api/documents/extract: a letter to fields whose every value is evidenced; POST /api/documents/text: the text of
a file and where its words stand."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from functools import cache

from fastapi import APIRouter, Request, Response

from bentos.api.admission import Admitted
from bentos.api.disconnect import while_connected
from bentos.api.files import asked_with_file, text_of
from bentos.metrics import FALLBACKS
from bentos.models import model_for
from clinical import letters
from clinical.contract import (
    TEXT_MAX,
    ExtractFileRequest,
    ExtractRequest,
    ExtractResponse,
    TextRequest,
    TextResponse,
)
from clinical.errors import ModelNotConfigured, ModelTimeout, ModelUnavailable
from clinical.letters import TextTooLong

log = logging.getLogger("befund.model")
router = APIRouter()
NOT_STORED = {"Cache-Control": "no-store"}
EXPLAINED = {"evidence", "states", "review", "remarks", "text", "pages"}
"""Fields of an answer beyond the contract, there where `evidence` is asked for."""

DOWN = (ModelNotConfigured, ModelTimeout, ModelUnavailable)
"""The errors of a language model that is not there. One that is busy asks the caller to come again (503), and an answer
of the wrong form is the model's own fault, which a good answer in its place would hide (502)."""


@cache
def load_letters() -> None:
    """Load what reads letters. A server does so when it is ready for all else: its start waits for none of it."""
    for model in (ExtractRequest, ExtractFileRequest, ExtractResponse, TextRequest, TextResponse):
        model.model_rebuild()
    _ = letters.extract


async def _loaded() -> None:
    """Wait for it beside the requests of others, where one comes with the start."""
    if not load_letters.cache_info().currsize:
        await asyncio.to_thread(load_letters)


@router.post("/api/documents/extract")
async def documents_extract(request: Request, _key: Admitted) -> Response:
    """The grounded document; 503 without a model, 502 when it fails or gives nothing usable after one repair."""
    await _loaded()
    asked = await asked_with_file(request, ExtractFileRequest, ExtractRequest)
    if isinstance(asked, ExtractFileRequest):
        answer = await while_connected(request, _of_file(request, asked))
    else:
        answer = await while_connected(request, _of_text(request, asked))
    left_out = EXPLAINED if not asked.evidence else None
    return Response(answer.model_dump_json(exclude=left_out), media_type="application/json", headers=NOT_STORED)


async def _of_text(request: Request, asked: ExtractRequest) -> ExtractResponse:
    """With BEFUND_LLM_FALLBACK=rules the rules read the letter while the model is down; `model` says so."""
    state = request.app.state
    if state.by_rules:
        return await letters.extract_by_rules(asked)
    try:
        return await letters.extract(asked, model_for(request))
    except DOWN as error:
        if state.settings.llm_fallback == "error":
            raise
        FALLBACKS.labels(type(error).__name__).inc()
        log.warning("%s; the rules read this letter (BEFUND_LLM_FALLBACK=rules)", error)
        return await letters.extract_by_rules(asked)


async def _of_file(request: Request, asked: ExtractFileRequest) -> ExtractResponse:
    found = await text_of(request, asked.content.data)
    if len(found.text) > TEXT_MAX:
        raise TextTooLong(f"a file of {len(found.text)} characters", f"at most {TEXT_MAX}")
    letter = ExtractRequest(document_type=asked.document_type, text=found.text, evidence=asked.evidence)
    answer = await _of_text(request, letter)
    return await asyncio.to_thread(letters.placed, answer, found)


@router.post("/api/documents/text")
async def documents_text(request: Request, _key: Admitted) -> Response:
    """The text of a file with its map, and pages as images where asked for."""
    await _loaded()
    asked = await asked_with_file(request, TextRequest)
    answer = await while_connected(request, _read(request, asked))
    return Response(answer, media_type="application/json", headers=NOT_STORED)


async def _read(request: Request, asked: TextRequest) -> str:
    began = time.perf_counter()
    found = await text_of(request, asked.content.data)
    there = [page.number for page in found.pages if page.number in asked.draw]
    images = {
        number: base64.b64encode(await request.app.state.files.image(asked.content.data, number, asked.width)).decode()
        for number in there
    }

    def written() -> str:
        spent = round((time.perf_counter() - began) * 1000, 1)
        pages, words = letters.pages_of(found, images), letters.words_of(found)
        return TextResponse(text=found.text, pages=pages, words=words, processing_time_ms=spent).model_dump_json()

    return await asyncio.to_thread(written)
