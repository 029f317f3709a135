"""POST /api/documents/extract: a letter to fields whose every value is evidenced."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from bentos.api.admission import body_of
from bentos.api.disconnect import while_connected
from bentos.embedded import RehearsalModel, remarks_of, second_opinion
from bentos.models import model_for
from clinical.contract import ExtractRequest
from clinical.extraction import extract

router = APIRouter()


@router.post("/api/documents/extract")
async def documents_extract(
    request: Request, body: Annotated[ExtractRequest, Depends(body_of(ExtractRequest))]
) -> Response:
    """The grounded document; 503 without a model, 502 when it fails or gives nothing usable after one repair."""
    model = model_for(request)
    second = None if isinstance(model, RehearsalModel) else second_opinion
    answer = await while_connected(request, extract(body, model, second=second))
    if body.evidence and isinstance(model, RehearsalModel):
        answer = answer.model_copy(update={"remarks": await asyncio.to_thread(remarks_of, body.text)})
    left_out = None if body.evidence else {"evidence", "states", "review", "remarks"}
    return Response(
        answer.model_dump_json(exclude=left_out), media_type="application/json", headers={"Cache-Control": "no-store"}
    )
