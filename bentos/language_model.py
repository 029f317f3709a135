"""The language model behind an OpenAI-compatible server (vLLM), with a bounded queue towards it.

What is sent are patient texts: no redirect is followed, no ambient proxy is used, nothing is logged at any level, and
what the server says in an error (vLLM echoes the input) goes nowhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai import AsyncOpenAI

from clinical.errors import LanguageModelError, ModelBusy, ModelMalformed, ModelTimeout, ModelUnavailable
from clinical.llm import Completion, JsonSchema, Limits, Message

PROBE_SECONDS = 2.0
CONNECT_SECONDS = 3.0
POOL_CALLS, POOLS_MAX = 16, 128
"""Calls at once that share a pool of connections, and how many pools there are at most."""
MORE_ROOM = "raise BEFUND_LLM_CONCURRENCY with the capacity of the model server, or BEFUND_LLM_QUEUE"
UNKNOWN = ""
"""The name before the server was asked for it; health shows it as null."""

for _name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore"):
    # At DEBUG these print request bodies; OPENAI_LOG=debug or a verbose root logger must not change that.
    logging.getLogger(_name).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is: base URL up to and including `/v1`, key and name where needed, and our queue towards it.

    `concurrency` calls are under way at once; with `queue` more waiting no further request is taken on.
    """

    base_url: str
    api_key: str | None = None
    model: str | None = None
    concurrency: int = 64
    queue: int = 256


class Queue:
    """A bounded number of calls at once and a bounded number waiting; never a pile-up.

    `full` is asked before a request is taken on. A stream that was taken on makes up to two calls side by side and must
    not fail half way because others came; so calls are refused only at twice the number.
    """

    def __init__(self, concurrency: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._room = concurrency + waiting
        self._inside = 0

    @property
    def full(self) -> bool:
        """Whether no further request should be taken on."""
        return self._inside >= self._room

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a slot; ModelBusy at once when there is not even room to wait."""
        if self._inside >= 2 * self._room:
            raise ModelBusy("the queue towards the language model is full", remedy=MORE_ROOM)
        self._inside += 1
        try:
            async with self._slots:
                yield
        finally:
            self._inside -= 1


class Pools(httpx2.AsyncBaseTransport):
    """Connections in many small pools, used in turn.

    A pool looks at every connection it has when a call begins and when it ends: with one pool a thousand calls at once
    cost a thousand looks each. How many calls are under way is bounded by `Queue`, so the pools need no bound.
    """

    def __init__(self, calls: int) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=POOL_CALLS)
        tls = httpx2.create_ssl_context(trust_env=False)
        count = min(POOLS_MAX, -(-calls // POOL_CALLS))
        self._pools = [httpx2.AsyncHTTPTransport(verify=tls, limits=limits, trust_env=False) for _ in range(count)]
        self._turn = cycle(self._pools)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """By the pool whose turn it is."""
        return await next(self._turn).handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.aclose()


class OpenAIModel:
    """A LanguageModel on the `openai` library's asynchronous client. One instance per event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._model = endpoint.model
        self._discovered = False
        self._queue = Queue(endpoint.concurrency, endpoint.queue)
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            transport=Pools(endpoint.concurrency),
            follow_redirects=False,
            trust_env=False,
        )
        self._client = AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or "none",
            max_retries=0,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            http_client=self._http,
        )
        parts = urlsplit(endpoint.base_url)
        self._health_url = f"{parts.scheme}://{parts.netloc}/health"

    @property
    def name(self) -> str:
        """The served name; of a name that is a path only its last part."""
        name = self._model or UNKNOWN
        return name.rstrip("/").rpartition("/")[2] if name.startswith(("/", ".", "~")) else name

    @property
    def busy(self) -> bool:
        """Whether the queue is full."""
        return self._queue.full

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """One answer within `limits.timeout_s`, waiting included. One retry when the connection broke."""
        try:
            async with asyncio.timeout(limits.timeout_s), self._queue.place():
                try:
                    return await self._call(messages, schema, limits)
                except _ConnectionBroke:
                    return await self._call(messages, schema, limits)
        except _ConnectionBroke:
            raise ModelUnavailable(
                "the connection to the language model broke or was refused, twice",
                remedy="check BEFUND_LLM_BASE_URL and the model server",
            ) from None
        except TimeoutError:
            raise ModelTimeout(
                f"the language model gave no answer within {limits.timeout_s:.0f} s",
                remedy="check the load of the model server",
            ) from None

    async def health(self) -> bool:
        """Whether the server can answer: vLLM's `/health` notices a dead engine; elsewhere `/v1/models` must do."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                answer = await self._http.get(self._health_url)
                if answer.status_code in (404, 405):
                    await self._client.models.list()
                elif answer.status_code != 200:
                    return False
                await self._served_name()
                return True
        except (TimeoutError, httpx2.HTTPError, openai.OpenAIError, LanguageModelError, ValueError):
            return False

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._client.close()

    async def _call(self, messages: Sequence[Message], schema: JsonSchema | None, limits: Limits) -> Completion:
        """One request. What goes wrong is named by its kind; the server's own words, which may echo, stay behind."""
        try:
            name = await self._served_name()
            answer = await self._client.chat.completions.create(**_request(name, messages, schema, limits))
        except openai.APITimeoutError:
            raise ModelTimeout("the connection to the language model timed out") from None
        except openai.APIConnectionError:
            raise _ConnectionBroke from None
        except openai.APIStatusError as error:
            if error.status_code == 404 and self._discovered:
                self._model = None
            raise ModelUnavailable(f"the model server answered {error.status_code}") from None
        except (openai.OpenAIError, ValueError) as error:
            raise ModelMalformed(f"the model server's answer cannot be read ({type(error).__name__})") from None
        return _completion(answer)

    async def _served_name(self) -> str:
        """The name to ask for: as set, else the first that the server lists."""
        if self._model is None:
            served = await self._client.models.list()
            names = [model.id for model in getattr(served, "data", None) or () if isinstance(model.id, str)]
            if not names:
                raise ModelUnavailable("the model server lists no model", remedy="set BEFUND_LLM_MODEL")
            self._model, self._discovered = names[0], True
        return self._model


class _ConnectionBroke(Exception):
    """Refused, reset or closed before an answer: worth one more try."""


def _request(name: str, messages: Sequence[Message], schema: JsonSchema | None, limits: Limits) -> dict[str, Any]:
    """What the library is asked for. As `extra_body` the large parts go through as they are: it would copy them item by
    item, looking for types of its own, which took longer than anything else here."""
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.content} for message in messages],
    }
    if schema is not None:
        inner = {"name": schema.name, "schema": schema.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": inner}
    return {
        "model": name,
        "messages": [],
        "max_tokens": limits.max_tokens,
        "temperature": limits.temperature,
        "extra_body": body,
    }


def _completion(answer: Any) -> Completion:
    """The first choice of an answer whose form nobody has checked yet."""
    choices = getattr(answer, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    text = getattr(message, "content", None)
    if not isinstance(text, str):
        raise ModelMalformed("the model server's answer holds no text", "choices[0].message.content")
    usage = getattr(answer, "usage", None)
    # JSON can carry half a surrogate pair, which no UTF-8 answer of ours could hold.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Completion(text, _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens"))


def _tokens(usage: Any, field: str) -> int:
    value = getattr(usage, field, None)
    return value if isinstance(value, int) and value >= 0 else 0
