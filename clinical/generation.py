"""Instruction and text to free text: the prompt is the system message, the text the user message, nothing is added."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

from clinical.contract import GenerateRequest, GenerateResponse, Usage
from clinical.errors import ModelMalformed, ModelTruncated
from clinical.llm import BY_RULES, Completion, LanguageModel, Limits, Message, tell_unusable

LIMITS = Limits(max_tokens=4_096, timeout_s=100)
"""Under the 120 s that clients are told to wait; 4,096 tokens are some 12,000 characters of German."""


SENTENCES_OF_AN_EXTRACT = 5
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ])|\n+")


async def generate_by_rules(request: GenerateRequest) -> GenerateResponse:
    """The first sentences of the text as a list, without a language model; the draft says so."""
    begun = time.perf_counter()
    sentences = [sentence.strip() for sentence in _SENTENCE.split(request.text) if sentence.strip()]
    points = "\n".join(f"- {sentence}" for sentence in sentences[:SENTENCES_OF_AN_EXTRACT])
    return GenerateResponse(
        output=f"## Auszug (nach festen Regeln, ohne Sprachmodell)\n\n{points}\n",
        model=BY_RULES,
        usage=total(),
        processing_time_ms=round(1_000 * (time.perf_counter() - begun), 1),
    )


async def generate(request: GenerateRequest, model: LanguageModel) -> GenerateResponse:
    """Contract, section 4. An empty answer is asked for once more; `usage` sums both attempts.

    Raises a LanguageModelError; ModelMalformed when there is no text twice, ModelTruncated when the draft was cut.
    """
    begun = time.perf_counter()
    messages = (Message("system", request.prompt), Message("user", request.text))
    attempts = [await _whole(model, messages, LIMITS)]
    if not attempts[-1].text.strip():
        tell_unusable(model, given_up=False)
        left = max(0.0, LIMITS.timeout_s - (time.perf_counter() - begun))
        attempts.append(await _whole(model, messages, replace(LIMITS, timeout_s=left)))
    if not attempts[-1].text.strip():
        tell_unusable(model, given_up=True)
        raise ModelMalformed("the language model answered with nothing twice", "text")
    return GenerateResponse(
        output=attempts[-1].text,
        model=model.name,
        usage=total(*attempts),
        processing_time_ms=round(1_000 * (time.perf_counter() - begun), 1),
    )


async def _whole(model: LanguageModel, messages: Sequence[Message], limits: Limits) -> Completion:
    """One answer to its end: half a draft could lack the very sentence that matters."""
    answer = await model.complete(messages, schema=None, limits=limits)
    if answer.truncated:
        tell_unusable(model, given_up=True)
        raise ModelTruncated("the draft was cut at its tokens", "a whole draft", "ask for a shorter one")
    return answer


def total(*attempts: Completion) -> Usage:
    """The tokens of all attempts."""
    return Usage(
        tokens_in=sum(attempt.tokens_in for attempt in attempts),
        tokens_out=sum(attempt.tokens_out for attempt in attempts),
    )
