"""POST /api/documents/extract: a letter to fields whose every value is evidenced."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from bentos.api.admission import body_of
from bentos.api.disconnect import while_connected
from bentos.metrics import FALLBACKS
from bentos.models import model_for
from clinical.contract import ExtractRequest, ExtractResponse
from clinical.errors import ModelNotConfigured, ModelTimeout, ModelUnavailable
from clinical.letters import extract, extract_by_rules

log = logging.getLogger("befund.model")
router = APIRouter()

DOWN = (ModelNotConfigured, ModelTimeout, ModelUnavailable)
"""The errors of a language model that is not there. One that is busy asks the caller to come again (503), and an answer
of the wrong form is the model's own fault, which a good answer in its place would hide (502)."""


@router.post("/api/documents/extract")
async def documents_extract(
    request: Request, body: Annotated[ExtractRequest, Depends(body_of(ExtractRequest))]
) -> Response:
    """The grounded document; 503 without a model, 502 when it fails or gives nothing usable after one repair.

    With BEFUND_LLM_FALLBACK=rules the rules read the letter while the model is down; `model` says so.
    """
    answer = await while_connected(request, _extracted(request, body))
    left_out = None if body.evidence else {"evidence", "states", "review", "remarks"}
    return Response(
        answer.model_dump_json(exclude=left_out), media_type="application/json", headers={"Cache-Control": "no-store"}
    )


async def _extracted(request: Request, body: ExtractRequest) -> ExtractResponse:
    state = request.app.state
    if state.by_rules:
        return await extract_by_rules(body)
    try:
        return await extract(body, model_for(request))
    except DOWN as error:
        if state.settings.llm_fallback == "error":
            raise
        FALLBACKS.labels(type(error).__name__).inc()
        log.warning("%s; the rules read this letter (BEFUND_LLM_FALLBACK=rules)", error)
        return await extract_by_rules(body)
