"""The language model on a GPU host: a Bento of its own around `vllm serve`, with nothing cached and nothing logged.

    BEFUND_VLLM_MODEL=Qwen/Qwen2.5-7B-Instruct bentoml serve bentos.vllm:LanguageServer

vLLM listens on BEFUND_VLLM_PORT (8000), and BEFUND_LLM_BASE_URL is `http://HOST:8000/v1`. This process starts it,
watches it and ends it; on its own port (3001) it answers /livez and /readyz from its first second on, and nothing else:
a proxy here would keep an abandoned call running.

Every setting is read where the Bento runs (gpu_host/host_settings.py). This file imports nothing of the text API but
how log lines look: the image of this Bento holds vLLM and BentoML only.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

os.environ.setdefault("BENTOML_DO_NOT_TRACK", "True")  # before the import that would read it

import bentoml
from starlette.applications import Starlette

from bentos.gpu_host import Child, Host, WrongSetting, command, environment, read
from clinical.tracing import write_lines

log = logging.getLogger("befund.gpu_host")

END_SECONDS = 5.0
"""Beside the time that vLLM has for its requests: for its own end."""


def _settings() -> Host:
    """The settings; a wrong one ends the process in a sentence."""
    try:
        return read(os.environ, vars(bentoml.use_arguments()), sys.argv)
    except WrongSetting as error:
        raise SystemExit(f"befund: {error}") from None


write_lines(
    os.environ.get("BEFUND_LOG_FORMAT", "text"),
    "befund",
    ("", "bentoml", "uvicorn", "uvicorn.error", "circus"),
    logging.INFO,
)
host = _settings()
child = Child(command(host), environment(host, os.environ), host.health_url)


class Control:
    """ASGI middleware: the probes are answered from what is known of vLLM, every other path with 404."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """`/livez` is 200 until vLLM is given up, `/readyz` while it answers; both say the state."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        well = {"/livez": child.state != "failed", "/readyz": child.state == "ready"}
        if (alive := well.get(scope["path"])) is None:
            await _answer(send, 404, b"")
        else:
            await _answer(send, 200 if alive else 503, json.dumps({"status": child.state}).encode())


async def _answer(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def _watched(_: Starlette) -> AsyncIterator[None]:
    watching = asyncio.create_task(child.run(host.start_seconds, host.shutdown_seconds + END_SECONDS))
    watching.add_done_callback(_given_up)
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def _given_up(watching: asyncio.Task[None]) -> None:
    """End the server around this worker, so that the supervisor of containers or services restarts it or reports it."""
    if not watching.cancelled():
        if error := watching.exception():
            log.error("the watch over vLLM ended: %s", type(error).__name__)
        os.kill(os.getppid(), signal.SIGTERM)


@bentoml.service(
    name="LanguageServer",
    workers=1,
    http={"host": host.host, "port": host.control_port},
    metrics={"enabled": False},
    logging={"access": {"enabled": False}},
    tracing={"excluded_urls": ".*"},
)
@bentoml.asgi_app(Starlette(lifespan=_watched), path="/")
class LanguageServer:
    """`vllm serve` as a child process; ready while its engine answers."""


LanguageServer.add_asgi_middleware(Control)  # type: ignore[attr-defined]
