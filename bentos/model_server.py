"""One OpenAI-compatible server behind the language model: its name, its capabilities as its refusals show them, health.

What is sent are patient texts: no redirect is followed, no ambient proxy is used, nothing is logged at any level, and
what the server says in an error (vLLM echoes the input) goes nowhere.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai import AsyncOpenAI

from bentos.metrics import FAILURES
from bentos.queueing import Pools
from bentos.wire import Extras, ServerCapabilities, body_of, completion_of, context_said, too_long, without_refused
from clinical.errors import LanguageModelError, ModelMalformed, ModelTimeout, ModelUnavailable
from clinical.llm import Completion, JsonSchema, Limits, Message
from clinical.tracing import outgoing

log = logging.getLogger("befund.model")

CONNECT_SECONDS = 3.0
LOOK_SECONDS = 2.0
ADAPTATIONS_MAX = 5
"""Capabilities that one call may find missing; there are four, and the size of the context."""
PROVEN_SECONDS = 60.0
"""For so long a call that was answered shows that key and name are right; then health asks for a word itself."""
PROBE = (Message("user", "Antworte mit: ok"),)
PROBE_LIMITS = Limits(max_tokens=16, timeout_s=2.0)
REFUSALS = (400, 413, 422, 500, 501)
"""Status codes under which servers say what they do not take; others say that they cannot."""
CONTEXT_FIELDS = ("max_model_len", "context_length", "max_context_length")
"""Names of the context length in the lists of models of vLLM, LM Studio and Mistral."""

for _name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore"):
    # At DEBUG these print request bodies; OPENAI_LOG=debug or a verbose root logger must not change that.
    logging.getLogger(_name).setLevel(logging.WARNING)


class ConnectionBroke(Exception):
    """Refused, reset or closed before an answer: worth one more try."""


class ServerBusy(Exception):
    """429 or 503 with the seconds after which to come again, None where none are named."""

    def __init__(self, status: int, seconds: float | None) -> None:
        self.status, self.seconds = status, seconds
        super().__init__(f"the model server answered {status}")


class ModelServer:
    """One base URL. One instance per event loop."""

    def __init__(
        self, url: str, key: str | None, model: str | None, calls: int, capabilities: ServerCapabilities
    ) -> None:
        self.base_url = base_url_of(url)
        self.model, self._discovered, self._looked = model, False, False
        self.capabilities = capabilities
        self.proven = 0.0
        self.rests_until = 0.0
        limit = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        self._http = httpx2.AsyncClient(timeout=limit, transport=Pools(calls), follow_redirects=False, trust_env=False)
        self._client = AsyncOpenAI(
            base_url=self.base_url, api_key=key or "none", max_retries=0, timeout=limit, http_client=self._http
        )
        parts = urlsplit(self.base_url)
        self._health_url = f"{parts.scheme}://{parts.netloc}/health"

    async def complete(
        self, messages: Sequence[Message], schema: JsonSchema | None, limits: Limits, extras: Extras
    ) -> Completion:
        """One answer, to a request as the server can take it. A capability that a refusal shows to be missing is kept
        as missing once a call without it was answered."""
        name = await self._name()
        capabilities = self.capabilities
        for _ in range(ADAPTATIONS_MAX):
            try:
                answer = await self._send(name, body_of(messages, schema, limits, capabilities, extras))
            except openai.APIStatusError as error:
                capabilities = self._adapted(capabilities, error)
                continue
            self.capabilities, self.proven = capabilities, time.monotonic()
            return completion_of(answer)
        raise ModelUnavailable("the model server refuses every known form of the request")

    async def _send(self, name: str, body: dict[str, Any]) -> Any:
        """One request. As `extra_body` the large parts go through as they are: the library would copy them item by
        item, looking for types of its own, which took longer than anything else here."""
        with _in_our_words("the model server's answer"):
            return await self._client.chat.completions.create(
                model=name, messages=[], extra_body=body, extra_headers=outgoing()
            )

    def _adapted(self, capabilities: ServerCapabilities, error: openai.APIStatusError) -> ServerCapabilities:
        """The capabilities to assume next. Raises what else the refusal means, without the server's own words."""
        status = error.status_code
        if status in REFUSALS:
            context = context_said(error.body)
            if context is not None:
                if context and context != capabilities.context:
                    self.capabilities = replace(self.capabilities, context=context)
                    return replace(capabilities, context=context)
                raise too_long(capabilities.context) from None
            if (adapted := without_refused(capabilities, error.body)) is not None:
                return adapted
        if status in (429, 503):
            raise ServerBusy(status, _retry_after(error)) from None
        if status == 404 and self._discovered:
            self.model = None
        self.proven = 0.0
        raise ModelUnavailable(f"the model server answered {status}", remedy=_REMEDIES.get(status, "")) from None

    async def _name(self) -> str:
        """The name to ask for: as set, else the first that the server lists; its context is noted in passing."""
        if self.model is None:
            try:
                with _in_our_words("the list of models"):
                    models = await self._listed()
            except openai.APIStatusError as error:
                found = f"the model server lists no models ({error.status_code})"
                raise ModelUnavailable(found, remedy="set BEFUND_LLM_MODEL, check BEFUND_LLM_API_KEY") from None
            if not models:
                raise ModelUnavailable("the model server lists no model", remedy="set BEFUND_LLM_MODEL")
            self.model, self._discovered, self._looked = models[0].id, True, True
            self._note_context(models)
        elif not self._looked:
            self._looked = True
            with suppress(openai.OpenAIError, ValueError, TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    self._note_context(await self._listed())
        return self.model

    async def listed(self) -> list[str]:
        """The names that the server lists; none where it lists nothing that can be read."""
        try:
            return [str(model.id) for model in await self._listed()]
        except (openai.OpenAIError, ValueError):
            return []

    async def _listed(self) -> list[Any]:
        served = await self._client.models.list()
        models = getattr(served, "data", None) or ()
        return [model for model in models if isinstance(getattr(model, "id", None), str)]

    def _note_context(self, models: Sequence[Any]) -> None:
        mine = next((model for model in models if model.id == self.model), None)
        sizes = [getattr(mine, name, None) for name in CONTEXT_FIELDS]
        size = next((size for size in sizes if isinstance(size, int) and size > 0), None)
        if self.capabilities.context is None and size is not None:
            self.capabilities = replace(self.capabilities, context=size)

    async def well(self, extras: Extras) -> bool:
        """Return True when key, name and engine work, tried by one short completion a minute at most. Never raises."""
        try:
            answer = await self._http.get(self._health_url)
            if answer.status_code >= 500:
                return _unwell(f"/health answers {answer.status_code}")
            if time.monotonic() - self.proven < PROVEN_SECONDS and self.proven:
                return True
            await self.complete(PROBE, None, PROBE_LIMITS, extras)
            return True
        except (httpx2.HTTPError, openai.OpenAIError, LanguageModelError, ConnectionBroke, ServerBusy, ValueError) as e:
            return _unwell(str(e) if isinstance(e, LanguageModelError | ServerBusy) else type(e).__name__)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


@contextmanager
def _in_our_words(read: str) -> Iterator[None]:
    """The library's errors as ours, which hold nothing of what is `read`; a refusal by status goes through."""
    try:
        yield
    except openai.APITimeoutError:
        raise ModelTimeout("the connection to the language model timed out") from None
    except openai.APIConnectionError:
        raise ConnectionBroke from None
    except openai.APIStatusError:
        raise
    except (openai.OpenAIError, ValueError) as error:
        raise ModelMalformed(f"{read} cannot be read ({type(error).__name__})") from None


def _unwell(cause: str) -> bool:
    FAILURES.labels("model").inc()
    log.warning("the language model is not well: %s", cause)
    return False


_REMEDIES = {
    401: "check BEFUND_LLM_API_KEY",
    403: "check BEFUND_LLM_API_KEY",
    404: "check BEFUND_LLM_MODEL and that BEFUND_LLM_BASE_URL ends in /v1",
}


def base_url_of(url: str) -> str:
    """The base URL as the library wants it: with `/v1` where only a host was given, without the call's own path."""
    url = url.strip().rstrip("/")
    url = url.removesuffix("/chat/completions")
    return url if urlsplit(url).path.strip("/") else f"{url}/v1"


def _retry_after(error: openai.APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None
