"""The language model on a GPU host: a Bento of its own around `vllm serve`, with nothing cached and nothing logged.

    bentoml serve bentos.vllm:LanguageServer --arg model=Qwen/Qwen2.5-7B-Instruct

vLLM listens on `port` (8000), and BEFUND_LLM_BASE_URL is `http://HOST:8000/v1`. BentoML starts and ends it and answers
/livez and /readyz on its own port (3001); nothing else goes through BentoML, whose proxy would keep an abandoned call
running. A key for vLLM comes from the environment variable VLLM_API_KEY, never from the command line.

This file imports nothing of the text API: the image of this Bento holds vLLM and BentoML only.
"""

from __future__ import annotations

import os
import shlex
import urllib.error
import urllib.request
from typing import Any

os.environ.setdefault("BENTOML_DO_NOT_TRACK", "True")  # before the import that would read it

import bentoml
from pydantic import BaseModel, ConfigDict, Field

CONTROL_PORT = 3001
PROBE_SECONDS = 2.0
OPEN_PATHS = frozenset({"/livez", "/readyz", "/healthz"})

QUIET = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "WARNING", "DO_NOT_TRACK": "1"}
"""Environment of vLLM. At INFO it prints the flags and, in some paths, request ids; nothing of that is needed."""

PRIVATE = (
    "--no-enable-prefix-caching",
    "--no-enable-log-requests",
    "--no-enable-log-outputs",
    "--no-log-error-stack",
    "--disable-uvicorn-access-log",
    "--disable-fastapi-docs",
)
"""Contents are neither cached nor logged. Prefix caching is on by default in vLLM."""

SCHEMAS = (
    "--structured-outputs-config.backend",
    "guidance",
    "--structured-outputs-config.disable_any_whitespace",
    "true",
)
"""xgrammar, the default, let raw control characters into strings (5 of 10 answers failed strict parsing)."""


class Arguments(BaseModel):
    """What differs between hosts; given as `--arg name=value`. `gpus` is the tensor parallelism, 0 runs on CPU."""

    model_config = ConfigDict(extra="forbid")

    model: str = "Qwen/Qwen2.5-7B-Instruct"
    name: str = ""
    gpus: int = Field(default=1, ge=0, le=64)
    max_model_len: int = Field(default=16_384, ge=4_096)
    memory: float = Field(default=0.9, gt=0, le=1)
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65_535)
    extra: str = ""


def command(arguments: Arguments) -> list[str]:
    """The `vllm serve` command line; `extra` holds further flags as they would be typed."""
    parallel = (
        ["--tensor-parallel-size", str(arguments.gpus), "--gpu-memory-utilization", str(arguments.memory)]
        if arguments.gpus
        else []
    )
    return [
        "vllm",
        "serve",
        arguments.model,
        *("--served-model-name", arguments.name or arguments.model.rstrip("/").rpartition("/")[2]),
        *("--host", arguments.host),
        *("--port", str(arguments.port)),
        *("--max-model-len", str(arguments.max_model_len)),
        *parallel,
        *PRIVATE,
        *SCHEMAS,
        *shlex.split(arguments.extra),
    ]


def answers(url: str) -> bool:
    """Whether vLLM answers its health check: 503 when its engine has died, refused while it loads or is gone."""
    try:
        with urllib.request.urlopen(url, timeout=PROBE_SECONDS) as answer:  # noqa: S310 - a fixed http address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


class OnlyProbes:
    """Answer 404 to everything but the probes: BentoML would otherwise proxy every path to vLLM."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass probes and the lifespan."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


args = bentoml.use_arguments(Arguments)


@bentoml.service(
    name="LanguageServer",
    workers=1,
    http={"host": args.host, "port": CONTROL_PORT, "proxy_port": args.port},
    resources={"gpu": args.gpus} if args.gpus else {},
    metrics={"enabled": False},
    logging={"access": {"enabled": False}},
    tracing={"excluded_urls": ".*"},
)
class LanguageServer:
    """`vllm serve` as a child process; ready while its engine answers."""

    def __command__(self) -> list[str]:
        os.environ.update(QUIET)
        return command(args)

    def __is_ready__(self) -> bool:
        return answers(f"http://127.0.0.1:{args.port}/health")

    def __is_alive__(self) -> bool:
        return self.__is_ready__()


LanguageServer.add_asgi_middleware(OnlyProbes)  # type: ignore[attr-defined]
