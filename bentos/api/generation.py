"""POST /api/llm/generate: a free instruction applied to a text."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from bentos.api.admission import body_of
from bentos.api.disconnect import while_connected
from bentos.models import model_for
from clinical.contract import GenerateRequest, GenerateResponse
from clinical.generation import generate, generate_by_rules

router = APIRouter()


@router.post("/api/llm/generate")
async def llm_generate(
    request: Request, response: Response, body: Annotated[GenerateRequest, Depends(body_of(GenerateRequest))]
) -> GenerateResponse:
    """The model's draft; 503 without a model, 502 when it fails or gives nothing."""
    work = generate_by_rules(body) if request.app.state.by_rules else generate(body, model_for(request))
    response.headers["Cache-Control"] = "no-store"
    return await while_connected(request, work)
