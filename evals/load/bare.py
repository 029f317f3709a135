"""FastAPI and nothing else: the least that an answer over HTTP costs, to compare with (`terminology.beside_bare`)."""

from __future__ import annotations

import os
from typing import Final

from fastapi import FastAPI, Response

LENGTH: Final = "BARE_LENGTH"
"""Environment variable: bytes of the answer."""
BODY = b"x" * int(os.environ.get(LENGTH, "2000"))

app = FastAPI(openapi_url=None)


@app.api_route("/{path:path}", methods=["GET", "POST"])
async def fixed(path: str) -> Response:
    """The same bytes."""
    return Response(BODY, media_type="application/fhir+json")
