"""POST /api/documents/extract: a letter to fields whose every value is evidenced."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from bentos.api.admission import body_of
from bentos.api.disconnect import while_connected
from bentos.models import model_for
from clinical.contract import ExtractRequest
from clinical.letters import extract, extract_by_rules

router = APIRouter()


@router.post("/api/documents/extract")
async def documents_extract(
    request: Request, body: Annotated[ExtractRequest, Depends(body_of(ExtractRequest))]
) -> Response:
    """The grounded document; 503 without a model, 502 when it fails or gives nothing usable after one repair."""
    work = extract_by_rules(body) if request.app.state.by_rules else extract(body, model_for(request))
    answer = await while_connected(request, work)
    left_out = None if body.evidence else {"evidence", "states", "review", "remarks"}
    return Response(
        answer.model_dump_json(exclude=left_out), media_type="application/json", headers={"Cache-Control": "no-store"}
    )
