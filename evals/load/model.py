"""A model server that takes its time: OpenAI-shaped, one process of its own, thousands of calls at once.

    python -m evals.load.model PORT SECONDS

It answers the project's questions by fixed rules, SECONDS after they came; GET /running gives the number
of calls under way whose client is still there.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from clinical.budget import Budget
from evals.load.stand_in import serve
from evals.rules_model import RULES

NAME = "slow-model"


class SlowModel:
    """One server; `seconds` is the time each answer takes."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.running = seconds, 0

    async def answer(self, head: bytes, body: bytes, reader: asyncio.StreamReader) -> Mapping[str, Any]:
        """To a question after the time; to anything else at once."""
        path = head.split(maxsplit=2)[1]
        if path == b"/running":
            return {"running": self.running}
        if not path.endswith(b"/chat/completions"):
            return {"object": "list", "data": [{"id": NAME, "object": "model"}]}
        self.running += 1
        try:
            await self._wait(reader)
            return _completion(json.loads(body))
        finally:
            self.running -= 1

    async def _wait(self, reader: asyncio.StreamReader) -> None:
        """Sleep, unless the client leaves: nothing else can come from it before it has its answer."""
        try:
            more = await asyncio.wait_for(reader.read(1), self.seconds)
        except TimeoutError:
            return
        raise ConnectionError("left" if not more else "pipelined")


def _completion(request: Mapping[str, Any]) -> Mapping[str, Any]:
    question = next(message["content"] for message in request["messages"] if message["role"] == "user")
    text = "ok"  # to a probe, which asks for no form
    if "response_format" in request:
        text = json.dumps(RULES[request["response_format"]["json_schema"]["name"]](json.loads(question), Budget()))
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": NAME, "choices": [message], "usage": usage}


if __name__ == "__main__":
    asyncio.run(serve(SlowModel(float(sys.argv[2])).answer, int(sys.argv[1])))
