"""Seconds to the first token of a streamed answer, and tokens a second, by how many are asked for at once.

The text API itself does not stream a model's words. This measures the server as a data scientist rates it: with long
German questions and free text, nothing of ours in between.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import httpx2
import openai
from openai import AsyncOpenAI

from bentos.language_model import OpenAIModel
from bentos.wire import body_of
from clinical.llm import Limits, Message
from evals.measures.intervals import mean
from evals.measures.results import Row, percentiles, row
from evals.model.drafts import INSTRUCTIONS

LEVELS: Final = (1, 4, 16, 64, 256)
"""Answers at once; none beyond what the run allows."""
ROUNDS, FEWEST = 2, 4
"""Answers of each place at a level, and the fewest of a level."""
TOKENS: Final = 200
SECONDS: Final = 120.0
"""For one answer; what takes longer has failed."""
USAGE: Final = {"stream": True, "stream_options": {"include_usage": True}}


class StreamedAnswer(NamedTuple):
    """Seconds to its first token and to its end, and its tokens (as the server counts them, else pieces)."""

    first: float
    whole: float
    tokens: int


class MeasuredLevel(NamedTuple):
    """Answers that came while `at_once` were asked for, those that failed, and the seconds of all together."""

    at_once: int
    answers: list[StreamedAnswer]
    failed: int
    seconds: float


def level_of(at_once: int, answers: Sequence[Sequence[float]], failed: int, seconds: float) -> MeasuredLevel:
    """A level as it was kept."""
    return MeasuredLevel(at_once, [StreamedAnswer(one[0], one[1], int(one[2])) for one in answers], failed, seconds)


async def measured(model: OpenAIModel, key: str | None, texts: Sequence[str], at_once: int) -> MeasuredLevel:
    """Ask for drafts of these texts, `at_once` at a time."""
    server = model.servers[0]
    limits = Limits(max_tokens=TOKENS, timeout_s=SECONDS)
    room, failed = asyncio.Semaphore(at_once), 0
    http = httpx2.AsyncClient(trust_env=False, timeout=SECONDS, limits=httpx2.Limits(max_connections=None))
    client = AsyncOpenAI(base_url=server.base_url, api_key=key or "none", max_retries=0, http_client=http)

    async def one(number: int) -> StreamedAnswer | None:
        nonlocal failed
        asked = Message("system", INSTRUCTIONS["epicrisis"]), Message("user", texts[number % len(texts)])
        body = body_of(asked, None, limits, server.capabilities, model.extras) | USAGE
        async with room:
            try:
                async with asyncio.timeout(SECONDS):
                    return await _streamed(client, str(server.model), body)
            except (openai.OpenAIError, TimeoutError):
                failed += 1
                return None

    async with http:
        began = time.perf_counter()
        came = await asyncio.gather(*(one(number) for number in range(max(FEWEST, ROUNDS * at_once))))
        seconds = time.perf_counter() - began
    return MeasuredLevel(at_once, [each for each in came if each is not None], failed, seconds)


async def _streamed(client: AsyncOpenAI, name: str, body: dict[str, Any]) -> StreamedAnswer | None:
    """One answer; None where no token came."""
    began, first, pieces, counted = time.perf_counter(), None, 0, 0
    stream = await client.chat.completions.create(model=name, messages=[], stream=True, extra_body=body)
    async for chunk in stream:
        for choice in chunk.choices or ():
            delta = choice.delta
            thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
            if delta.content or thought:
                pieces += 1
                first = first or time.perf_counter() - began
        counted = chunk.usage.completion_tokens if chunk.usage else counted
    return None if first is None else StreamedAnswer(first, time.perf_counter() - began, counted or pieces)


def rows_of(levels: Sequence[MeasuredLevel]) -> Iterator[Row]:
    """Of each level seconds to the first token, tokens a second of one answer and of all, answers that failed."""
    for level in levels:
        name, count = f"{level.at_once} at once", len(level.answers)
        yield from row("failed", name, count + level.failed, float(level.failed))
        if not count:
            continue
        first = [one.first for one in level.answers]
        yield from row("first_token_s", name, count, mean(first))
        yield from percentiles("first_token_p{}_s", name, first, (50, 95))
        yield from row("tokens_a_second_each", name, count, mean([one.tokens / one.whole for one in level.answers]))
        every = sum(one.tokens for one in level.answers) / level.seconds
        yield from row("tokens_a_second", name, count, round(every, 2))
