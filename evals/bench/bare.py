"""FastAPI and uvicorn with nothing of ours: the same form of a request, the same bytes as answer, read from a file.

python -m evals.bench.bare PORT ANSWERS        ANSWERS: a JSON object, query -> text of the stream
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel


class Query(BaseModel):
    """As the text API's request, without its rules."""

    query: str
    rerank: bool = False
    details: bool = False


def application(answers: dict[str, str]) -> FastAPI:
    """One route that gives the stream of a query, event by event."""
    app = FastAPI()
    ready = {query: _events(text) for query, text in answers.items()}

    @app.post("/api/deep-research")
    async def research(query: Query) -> StreamingResponse:
        async def events() -> AsyncIterator[bytes]:
            for event in ready[query.query]:
                yield event

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.get("/api/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


def _events(text: str) -> list[bytes]:
    return [f"{event}\n\n".encode() for event in text.split("\n\n") if event]


if __name__ == "__main__":
    app = application(json.loads(Path(sys.argv[2]).read_text("utf-8")))
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
