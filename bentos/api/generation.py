"""POST /api/llm/generate: a free instruction applied to a text."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from bentos.api.admission import Admitted, read_body, understood
from bentos.api.disconnect import while_connected
from bentos.models import model_for
from clinical.contract import GenerateRequest
from clinical.generation import generate, generate_by_rules

router = APIRouter()


@router.post("/api/llm/generate")
async def llm_generate(request: Request, _key: Admitted) -> Response:
    """The model's draft; 503 without a model, 502 when it fails or gives nothing."""
    body = understood(request, GenerateRequest, await read_body(request))
    work = generate_by_rules(body) if request.app.state.by_rules else generate(body, model_for(request))
    draft = await while_connected(request, work)
    return Response(draft.model_dump_json(), media_type="application/json", headers={"Cache-Control": "no-store"})
