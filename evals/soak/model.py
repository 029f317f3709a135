"""The language model of the soak: answers as the rehearsal rules do, slowly, with lies, or not at all.

    python -m evals.soak.model PORT        GET /mode/NAME changes what it does, until the next change

`answer` at once; `slow` after two seconds; `lies` with values that stand in no text and codes that nobody was shown;
`breaks` with errors, halves of answers and answers that were cut, in turn.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Mapping
from typing import Any

from evals.speed.slow_model import SlowModel

SECONDS = {"answer": 0.02, "slow": 2.0, "lies": 0.02, "breaks": 0.02}
INVENTED = "Kanarienvogelfieber"
"""Stands in no text that is sent and in no catalog: an answer that holds it holds a lie."""
NOT_SHOWN = ("Z99.99", "X00.0", "")


class FailingModel(SlowModel):
    """One server; its mode is one of SECONDS."""

    def __init__(self) -> None:
        super().__init__(SECONDS["answer"])
        self._mode, self._turn = "answer", itertools.count()

    async def _answer(self, path: bytes, body: bytes, reader: asyncio.StreamReader) -> Mapping[str, Any]:
        if path.startswith(b"/mode/"):
            self._mode = path.removeprefix(b"/mode/").decode()
            self.seconds = SECONDS[self._mode]
            return {"mode": self._mode}
        answer = dict(await super()._answer(path, body, reader))
        if "choices" not in answer or self._mode not in ("lies", "breaks"):
            return answer
        form = json.loads(body).get("response_format", {}).get("json_schema", {}).get("name")
        return self._broken(answer) if self._mode == "breaks" else _lie(answer, form)

    def _broken(self, answer: dict[str, Any]) -> dict[str, Any]:
        (choice,), turn = answer["choices"], next(self._turn) % 3
        text = choice["message"]["content"]
        if turn == 0:
            return {"object": "error", "choices": []}
        half = {**choice, "message": {"role": "assistant", "content": text[: len(text) // 2]}}
        return {**answer, "choices": [{**half, "finish_reason": "length" if turn == 1 else "stop"}]}


def _lie(answer: dict[str, Any], form: str | None) -> dict[str, Any]:
    """The same form with every text exchanged, and codes that were not among the candidates."""
    (choice,) = answer["choices"]
    text = choice["message"]["content"]
    said = json.dumps(_exchanged(json.loads(text))) if form else INVENTED
    return {**answer, "choices": [{**choice, "message": {"role": "assistant", "content": said}}]}


def _exchanged(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _exchanged(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_exchanged(item, name) for item in value]
    if not isinstance(value, str) or name in ("assertion", "confidence", "typ", "geschlecht", "art", "klasse"):
        return value
    return NOT_SHOWN[0] if name == "code" else INVENTED


async def main(port: int) -> None:
    """Serve on 127.0.0.1 until the process is ended."""
    server = await asyncio.start_server(FailingModel().client, "127.0.0.1", port, backlog=4_096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
