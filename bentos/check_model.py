"""`python -m bentos check-model`: checks that the configured language model does all that Befund needs of it.

Every question is invented here; nothing of a patient is sent. One row for each check, `ok`, `warn` or `fail`; what
cannot be told because an earlier row failed is left out.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Literal

from bentos.language_model import Endpoint, OpenAIModel
from bentos.model_server import ConnectionBroke, ServerBusy
from clinical.errors import LanguageModelError
from clinical.llm import Completion, Form, JsonSchema, Limits, Message, read

Verdict = Literal["ok", "warn", "fail"]
Found = tuple[Verdict, str, str]

SECONDS = 100.0
"""For one call: as long as a draft may take."""
WORD = "QUARZSEGEL"
"""A word that no model would say unasked: a model bound to it, or one that remembers it, says it."""
COLOUR = {
    "type": "object",
    "properties": {"farbe": {"type": "string", "enum": [WORD]}},
    "required": ["farbe"],
    "additionalProperties": False,
}
SMALL_CONTEXT = 8_192
LONG_TEXT = 12_000
"""Characters, some 4,000 tokens: a letter of four pages, which every context must hold."""
FILLER = "Die Wundheilung verlief ohne Besonderheiten, die Patientin war jederzeit mobil. "
CUT_AT = 8
THINKS_ABOVE = 4.0
"""Tokens for each three characters of the answer: a text without thoughts takes about one."""
SLOW_SECONDS, TOO_SLOW_SECONDS = 20.0, 60.0
"""Of a short answer: a stream makes up to five calls one after the other and has 120 s at its client."""
TRIES = 3
MARKED = re.compile(r"[<\[|◁]/?[\w:]*(?:think|thought|reason|analysis|reflect)", re.IGNORECASE)
"""A mark around thoughts that `bentos.wire` does not know: those that it knows are cut out before an answer is seen."""
GERMAN = frozenset(("der", "die", "das", "den", "dem", "des", "ein", "eine", "einer", "ist", "sind", "wird", "und"))
GERMAN_LEAST = 0.12
"""The share of these words among all: running German has a fifth of them, other languages a few by chance."""


class _Colour(Form):
    farbe: str


@dataclass(frozen=True, slots=True)
class CheckedPoint:
    """One check of one server."""

    check: str
    verdict: Verdict
    found: str
    remedy: str = ""


async def check(endpoint: Endpoint) -> AsyncIterator[CheckedPoint]:
    """The rows of one base URL, as they come; the first that fails on key or name is the last."""
    model = OpenAIModel(endpoint)
    try:
        first = await _row("key", _key(model))
        yield first
        if first.verdict == "fail":
            return
        for name, question in CHECKS.items():
            yield await _row(name, question(model))
        yield await _row("without key", _open(endpoint))
    finally:
        await model.close()


async def _row(name: str, work: Coroutine[Any, Any, Found]) -> CheckedPoint:
    try:
        return CheckedPoint(name, *await work)
    except LanguageModelError as error:
        return CheckedPoint(name, "fail", error.found, error.remedy)


async def _say(model: OpenAIModel, text: str, tokens: int = 400, schema: JsonSchema | None = None) -> Completion:
    limits = Limits(max_tokens=tokens, timeout_s=SECONDS)
    return await model.complete((Message("user", text),), schema=schema, limits=limits)


async def _key(model: OpenAIModel) -> Found:
    answer = await _say(model, "Antworte mit: ok", 16)
    return "ok", f"answered with {answer.tokens_out} tokens", ""


async def _name(model: OpenAIModel) -> Found:
    listed = await model.servers[0].listed()
    asked = model.servers[0].model or ""
    if listed and asked not in listed:
        return "warn", f"{asked} answers, but is not in the server's list", "compare BEFUND_LLM_MODEL with /v1/models"
    return "ok", f"{model.name}{'' if listed else ' (the server lists none)'}", ""


async def _schema(model: OpenAIModel) -> Found:
    """Asked for one colour and bound to another word: only a bound answer has that word."""
    answer = await _say(model, "Welche Farbe hat der Himmel? Als JSON.", schema=JsonSchema("Colour", COLOUR))
    value, complaint = read(answer.text, _Colour)
    if not model.servers[0].capabilities.schema_bound:
        if value is not None:
            return "warn", "the server binds no answer to a schema; it stands in the prompt", "serve with vLLM"
    elif value is not None and value.farbe == WORD:
        return "ok", "bound to the schema", ""
    found = "the schema is ignored without a word" if value else f"no answer in the form ({complaint or 'cut'})"
    return "fail", found, "a server with response_format json_schema, or enough thinking tokens"


async def _thinking(model: OpenAIModel) -> Found:
    answer = await _say(model, "Antworte nur mit dem Namen der Hauptstadt von Bayern.")
    if MARKED.search(answer.text):
        return "fail", "thoughts come through in the answer", "turn thinking off, or name a reasoning parser"
    if answer.tokens_out > 40 and answer.tokens_out * 3 > THINKS_ABOVE * len(answer.text):
        found = f"{answer.tokens_out} tokens for {len(answer.text)} characters: it thinks"
        return "warn", found, "BEFUND_LLM_THINKING_TOKENS, or thinking off (docs/operate.md)"
    return "ok", f"{answer.tokens_out} tokens for {len(answer.text)} characters", ""


async def _truncation(model: OpenAIModel) -> Found:
    """The thinking tokens would lengthen the answer beyond the cut: they are left out."""
    limits = Limits(max_tokens=CUT_AT, timeout_s=SECONDS)
    server, extras = model.servers[0], replace(model.extras, thinking_tokens=0)
    question = (Message("user", "Beschreibe ausführlich den Blutkreislauf des Menschen."),)
    try:
        answer = await server.complete(question, None, limits, extras)
    except (ConnectionBroke, ServerBusy) as error:
        return "fail", f"no answer ({type(error).__name__})", ""
    if answer.truncated:
        return "ok", f"a cut after {CUT_AT} tokens is said", ""
    found = f"{answer.tokens_out} tokens, and no word of the cut after {CUT_AT}"
    return "fail", found, "a server that says finish_reason length: without it half an answer passes for a whole one"


async def _context(model: OpenAIModel) -> Found:
    """The word at the beginning of a long text must still be known at its end: some servers cut without a word."""
    filler = FILLER * (LONG_TEXT // len(FILLER))
    answer = await _say(model, f"Das Kennwort ist {WORD}.\n\n{filler}\n\nNenne das Kennwort vom Anfang, sonst nichts.")
    size = model.servers[0].capabilities.context
    known = f"{size} tokens" if size else "size not known"
    if WORD not in answer.text.upper():
        return "fail", f"{known}; the beginning of a long text was lost", "serve a longer context (vLLM, Ollama)"
    if size is not None and size < SMALL_CONTEXT:
        return "warn", f"{known}: long letters go in many parts", "serve a longer context"
    return ("ok", known, "") if size else ("warn", known, "set BEFUND_LLM_CONTEXT")


async def _german(model: OpenAIModel) -> Found:
    answer = await _say(model, "Erkläre in zwei deutschen Sätzen, was eine Lungenentzündung ist.")
    words = re.findall(r"[a-zäöüß]+", answer.text.lower())
    share = sum(word in GERMAN for word in words) / max(1, len(words))
    if len(words) >= 8 and share >= GERMAN_LEAST:
        return "ok", f"{len(words)} words, {share:.0%} of them German function words", ""
    return "fail", f"{len(words)} words, {share:.0%} of them German function words", "a model with good German"


async def _latency(model: OpenAIModel) -> Found:
    took, tokens = [], 0
    for number in range(TRIES):
        began = time.perf_counter()
        answer = await _say(model, f"Antworte mit der Zahl {number}.", 64)
        took.append(time.perf_counter() - began)
        tokens += answer.tokens_out
    middle = statistics.median(took)
    found = f"{middle:.2f} s for a short answer, {tokens / max(sum(took), 1e-6):.0f} tokens/s"
    verdict: Verdict = "fail" if middle > TOO_SLOW_SECONDS else "warn" if middle > SLOW_SECONDS else "ok"
    return verdict, found, "" if verdict == "ok" else "a smaller model or a faster server"


async def _open(endpoint: Endpoint) -> Found:
    """Check that the server refuses an unknown key."""
    stranger = OpenAIModel(replace(endpoint, api_key="nobody"))
    try:
        await _say(stranger, "Antworte mit: ok", 16)
    except LanguageModelError:
        return "ok", "another key is refused", ""
    finally:
        await stranger.close()
    return "warn", "the server answers with any key", "give it a key, unless only this machine reaches it"


CHECKS: dict[str, Callable[[OpenAIModel], Coroutine[Any, Any, Found]]] = {
    "name": _name,
    "schema": _schema,
    "thinking": _thinking,
    "truncation": _truncation,
    "context": _context,
    "German": _german,
    "latency": _latency,
}


def line(row: CheckedPoint) -> str:
    """A row as text; what to do stands behind what was found."""
    return f"{row.check:<12} {row.verdict:<5} {row.found}{f'; {row.remedy}' if row.remedy else ''}"
