"""The language model behind one or several OpenAI-compatible servers (vLLM), with a bounded queue towards them.

Each call is one line in the log when it fails, with its cause and nothing of its content, and a count in any case.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bentos.metrics import FAILURES, MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS, MODEL_UNUSABLE
from bentos.model_server import ConnectionBroke, ModelServer, ServerBusy
from bentos.queueing import Queue, SharedPlaces
from bentos.wire import Extras, ServerCapabilities
from clinical.errors import (
    LanguageModelError,
    ModelBusy,
    ModelContextTooSmall,
    ModelMalformed,
    ModelTimeout,
    ModelUnavailable,
)
from clinical.llm import Completion, JsonSchema, Limits, Message
from clinical.settings import base_urls
from clinical.tracing import span

log = logging.getLogger("befund.model")

PROBE_SECONDS = 2.0
REST_SECONDS = 30.0
"""Seconds for which a server that failed is tried last."""
WAITS_MAX = 3
"""Most waits of one call for a busy server, each as long as its Retry-After says."""
UNKNOWN = ""
"""The name before the server was asked for it; health shows it as null."""
_OUTCOMES: Mapping[type[LanguageModelError], str] = {
    ModelTimeout: "timeout",
    ModelBusy: "busy",
    ModelContextTooSmall: "too_long",
    ModelMalformed: "malformed",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Connection to the model: base URLs, tried in turn when one fails; key and name where needed; our queue to it.

    `concurrency` calls are under way at once; with `queue` more waiting no further request is taken on. `context` is
    in tokens (None: as the server says), `extra_body` goes into every call, `thinking_tokens` are added. With a
    `redis_url` `concurrency` holds for all workers together that ask these servers.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    model: str | None = None
    concurrency: int = 64
    queue: int = 256
    context: int | None = None
    thinking_tokens: int = 0
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    redis_url: str = field(default="", repr=False)


class OpenAIModel:
    """A LanguageModel on the `openai` library's asynchronous client. One instance per event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        shared = (
            SharedPlaces(endpoint.redis_url, endpoint.base_url, endpoint.concurrency) if endpoint.redis_url else None
        )
        self._queue, self._shared = Queue(endpoint.concurrency, endpoint.queue, shared), shared
        self.extras = Extras(endpoint.extra_body, endpoint.thinking_tokens)
        capabilities = ServerCapabilities(context=endpoint.context)
        self.servers = [
            ModelServer(url, endpoint.api_key, endpoint.model, endpoint.concurrency, capabilities)
            for url in base_urls(endpoint.base_url)
        ]

    @property
    def name(self) -> str:
        """The served name; of a name that is a path only its last part."""
        name = next((server.model for server in self.servers if server.model), UNKNOWN)
        return name.rstrip("/").rpartition("/")[2] if name.startswith(("/", ".", "~")) else name

    @property
    def busy(self) -> bool:
        """True when the queue is full."""
        return self._queue.full

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """One answer within `limits.timeout_s`, waiting included. One retry when the connection broke."""
        began, outcome, form = time.perf_counter(), "left", schema.name if schema else "text"
        with span("model call", "client") as call:
            try:
                answer = await self._within(messages, schema, limits)
                outcome = "truncated" if answer.truncated else "answered"
                if answer.truncated:
                    log.warning("model call cut after %d tokens (%s)", answer.tokens_out, form)
                call.tell(tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
                MODEL_TOKENS.labels("in").inc(answer.tokens_in)
                MODEL_TOKENS.labels("out").inc(answer.tokens_out)
                return answer
            except LanguageModelError as error:
                outcome = next((name for kind, name in _OUTCOMES.items() if isinstance(error, kind)), "unavailable")
                took = time.perf_counter() - began
                log.warning("model call failed after %.1f s (%s, %s): %s", took, form, outcome, error)
                raise
            finally:
                call.tell(failed=outcome not in ("answered", "truncated", "left"), form=form, outcome=outcome)
                MODEL_CALLS.labels(outcome).inc()
                MODEL_SECONDS.labels(outcome).observe(time.perf_counter() - began)

    async def _within(self, messages: Sequence[Message], schema: JsonSchema | None, limits: Limits) -> Completion:
        try:
            async with asyncio.timeout(limits.timeout_s), self._queue.slot():
                for wait in range(WAITS_MAX + 1):
                    try:
                        return await self._in_turn(messages, schema, limits)
                    except ServerBusy as busy:
                        if busy.seconds is None or busy.seconds > limits.timeout_s or wait == WAITS_MAX:
                            raise ModelUnavailable(str(busy), remedy="check the load of the model server") from None
                        await asyncio.sleep(busy.seconds)
                raise AssertionError("the last round returns or raises")
        except TimeoutError:
            raise ModelTimeout(
                f"the language model gave no answer within {limits.timeout_s:.0f} s",
                remedy="check the load of the model server",
            ) from None

    async def _in_turn(self, messages: Sequence[Message], schema: JsonSchema | None, limits: Limits) -> Completion:
        """From the first server that answers; those that failed lately come last. Raises what the last one said."""
        order = sorted(self.servers, key=lambda server: max(server.rests_until, time.monotonic()))
        tries = order if len(order) > 1 else order * 2
        for number, server in enumerate(tries):
            try:
                return await server.complete(messages, schema, limits, self.extras)
            except (ConnectionBroke, ServerBusy, ModelUnavailable) as failure:
                server.rests_until = time.monotonic() + REST_SECONDS
                again = len(order) > 1 or isinstance(failure, ConnectionBroke)
                if again and number + 1 < len(tries):
                    continue
                if isinstance(failure, ConnectionBroke):
                    raise ModelUnavailable(
                        "the connection to the language model broke or was refused, twice",
                        remedy="check BEFUND_LLM_BASE_URL and the model server",
                    ) from None
                raise
            except asyncio.CancelledError:
                server.rests_until = time.monotonic() + REST_SECONDS if len(order) > 1 else 0.0
                raise
        raise AssertionError("the last try returns or raises")

    def unusable(self, given_up: bool) -> None:
        """Count an answer that came and could not be used."""
        MODEL_UNUSABLE.labels("given_up" if given_up else "asked_again").inc()

    async def health(self) -> bool:
        """Return True when one of the servers can answer, with this key and this name."""
        probes = [asyncio.ensure_future(server.well(self.extras)) for server in self.servers]
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                for probe in asyncio.as_completed(probes):
                    if await probe:
                        return True
        except TimeoutError:
            FAILURES.labels("model").inc()
            log.warning("the language model is not well: no answer within %.0f s", PROBE_SECONDS)
            return False
        finally:
            for probe in probes:
                probe.cancel()
        return False

    async def close(self) -> None:
        """Close the connections to the servers."""
        await asyncio.gather(*(server.close() for server in self.servers))
        if self._shared is not None:
            await self._shared.close()
