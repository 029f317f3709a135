"""An OpenAI-shaped model server that misbehaves on demand, on a free port of 127.0.0.1.

It answers the project's questions through `answers`, a function of the form's name and the question's JSON, and fails
as `mode` says. It records how many calls run, were finished and were given up by their client.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from clinical.budget import Budget
from evals.rules_model import RULES
from tests.serving import served

Answers = Callable[[str, Mapping[str, Any]], Any]
Quirk = Callable[[Mapping[str, Any], int], Response | None]
"""A server's own behaviour with the body of a call and its number from 0; None: it answers as usual."""


def by_rules(form: str, question: Mapping[str, Any]) -> Any:
    """The answer of the rules."""
    return RULES[form](question, Budget())


@dataclass
class ModelServer:
    """State and wishes of one server; the attributes may be changed while it runs."""

    mode: str = "answer"
    answers: Answers = by_rules
    text: str = "Entwurf."
    seconds: float = 0.0
    healthy: bool = True
    failing_forms: frozenset[str] | None = None
    """Only questions of these forms fail (None: all)."""
    failures_left: int | None = None
    """Only the next so many calls fail (None: all)."""
    quirk: Quirk | None = None
    key: str | None = None
    """A call without this bearer key is refused."""
    models: Callable[[], Response] | None = None
    """The list of models; None: one model, without its context."""
    health_path: bool = True
    base_url: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each call."""
    running: int = 0
    finished: int = 0
    given_up: int = 0

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/health", self._health),
            ]
        )

    async def _models(self, request: Request) -> Response:
        if self.models:
            return self.models()
        return JSONResponse({"object": "list", "data": [{"id": "test/model-1b", "object": "model"}]})

    async def _health(self, request: Request) -> Response:
        if not self.health_path:
            return JSONResponse({"detail": "Not Found"}, status_code=404)
        return PlainTextResponse("", status_code=200 if self.healthy else 503)

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        self.calls.append(body)
        self.headers.append(dict(request.headers))
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return JSONResponse({"error": {"message": "Unauthorized"}}, status_code=401)
        if self.quirk and (odd := self.quirk(body, len(self.calls) - 1)) is not None:
            return odd
        self.running += 1
        try:
            failing = self._fails(body)
            if await self._wait(request, 3600.0 if failing and self.mode == "stall" else self.seconds):
                self.given_up += 1
                return Response(status_code=499)
            self.finished += 1
            if body.get("stream") and not failing:
                return StreamingResponse(pieces(self.text), media_type="text/event-stream")
            return FAILURES[self.mode](body) if failing else self._answer(body)
        finally:
            self.running -= 1

    async def _wait(self, request: Request, seconds: float) -> bool:
        """Take the time; True when the client has left meanwhile."""
        leaving = asyncio.ensure_future(_left(request))
        done, _ = await asyncio.wait({leaving}, timeout=seconds)
        leaving.cancel()
        return bool(done)

    def _fails(self, body: Mapping[str, Any]) -> bool:
        if self.mode == "answer" or self.failures_left == 0:
            return False
        if self.failing_forms is not None and _form(body) not in self.failing_forms:
            return False
        if self.failures_left is not None:
            self.failures_left -= 1
        return True

    def _answer(self, body: Mapping[str, Any]) -> Response:
        form = _form(body)
        if form is None:
            return completion(self.text)
        question = next(message["content"] for message in body["messages"] if message["role"] == "user")
        said = self.answers(form, json.loads(question))
        return completion(said if isinstance(said, str) else json.dumps(said))


def _form(body: Mapping[str, Any]) -> str | None:
    if "response_format" not in body:
        return None
    return str(body["response_format"]["json_schema"]["name"])


def completion(text: Any, reason: str = "stop", **message: Any) -> Response:
    """A chat completion of OpenAI's form; `message` adds fields such as `reasoning_content`."""
    answer = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "test/model-1b",
        "choices": [
            {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return Response(json.dumps(answer), media_type="application/json")


def pieces(text: str) -> Iterator[str]:
    """A streamed completion of OpenAI's form, a word a piece; the last piece counts the tokens."""
    head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "test/model-1b"}
    for word in text.split():
        choice = {"index": 0, "delta": {"content": f"{word} "}, "finish_reason": None}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    yield f"data: {json.dumps({**head, 'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n"


class _Dropped(Response):
    """Announce more than is sent: the client sees the connection break."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"1000"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id": "x', "more_body": True})


FAILURES: dict[str, Callable[[Mapping[str, Any]], Response]] = {
    "garbage": lambda body: completion("Ich bin nur ein Papagei. \ud83d"),
    "half-json": lambda body: completion('{"findings": [{"quote": "Hus'),
    "wrong-schema": lambda body: completion('{"antwort": 42}'),
    "empty": lambda body: completion(""),
    "no-text": lambda body: completion(None),
    "no-choices": lambda body: JSONResponse({"object": "chat.completion", "choices": []}),
    "not-json": lambda body: PlainTextResponse("<html>Proxy</html>"),
    "broken-json": lambda body: Response(b"{", media_type="application/json"),
    "echoing-500": lambda body: JSONResponse({"error": {"message": json.dumps(body)}}, status_code=500),
    "echoing-400": lambda body: JSONResponse({"error": {"message": json.dumps(body)}}, status_code=400),
    "429": lambda body: JSONResponse({"error": {"message": "slow down"}}, status_code=429),
    "redirect": lambda body: Response(status_code=307, headers={"location": "http://127.0.0.1:9/v1/chat/completions"}),
    "drop": lambda body: _Dropped(),
}


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@contextmanager
def model_server(**wishes: Any) -> Iterator[ModelServer]:
    """A running server; `base_url` ends in /v1."""
    server = ModelServer(**wishes)
    with served(server.app()) as base:
        server.base_url = f"{base}/v1"
        yield server
