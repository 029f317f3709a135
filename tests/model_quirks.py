"""Ways in which OpenAI-like model servers differ, each with what must come of it.

Shapes are those of vLLM, Ollama, llama.cpp, TGI, LM Studio, OpenAI and their like; no server of these runs here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from clinical.errors import LanguageModelError, ModelContextTooSmall, ModelMalformed, ModelTruncated, ModelUnavailable
from tests.openai_server import Quirk, completion

THOUGHT = "Patient Geheim denkt nach"
DRAFT = "Entwurf."
FORM = '{"phrase": "Husten", "kind": "present"}'
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A quirk, whether a form is asked for, and what comes of it: the draft or form, or an error of this kind."""

    quirk: Quirk | None
    form: bool = False
    error: type[LanguageModelError] | None = None
    server: Mapping[str, Any] = field(default_factory=dict)
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    calls_max: int = 2


def refused(message: str, status: int = 400, **more: Any) -> Response:
    """A refusal in OpenAI's form."""
    return JSONResponse({"error": {"message": message, **more}}, status_code=status)


def refusing(there: Callable[[Body], bool], answer: Callable[[], Response], says: str = DRAFT) -> Quirk:
    """Refuse a body in which something is there, else answer."""
    return lambda body, number: answer() if there(body) else completion(says)


def always(*args: Any, **message: Any) -> Quirk:
    """The same answer to every call."""
    return lambda body, number: completion(*args, **message)


def first(odd: Callable[[], Response], says: str = DRAFT) -> Quirk:
    """An odd answer to the first call alone."""
    return lambda body, number: odd() if number == 0 else completion(says)


def _system(body: Body) -> bool:
    return any(turn["role"] == "system" for turn in body["messages"])


def _in_words(body: Body) -> bool:
    return "response_format" not in body and "JSON-Schema" in json.dumps(body["messages"])


def _wants_words(body: Body, number: int) -> Response:
    """llama.cpp with a grammar it cannot compile: answers in form only when the schema stands in the prompt."""
    if "response_format" in body:
        return refused("failed to parse grammar: unsupported json_schema", type="invalid_request_error")
    return completion(FORM if _in_words(body) else "Gern!")


def _tgi(body: Body, number: int) -> Response:
    if "response_format" in body:
        return JSONResponse({"error": "Input validation error: grammar is not supported", "error_type": "x"}, 422)
    return completion(FORM)


def _small(body: Body, number: int) -> Response:
    """vLLM with a context of 4,096, asked for more than is left of it."""
    if body["max_tokens"] + 40 > 4_096:
        return refused(
            "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens in all.",
            type="BadRequestError",
        )
    return completion(DRAFT)


def _models(**fields: Any) -> Callable[[], Response]:
    return lambda: JSONResponse({"data": [{"id": "test/model-1b", **fields}]})


def _denied() -> Response:
    return refused("Unauthorized", 401)


PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, {"type": "text", "text": DRAFT}]
HARMONY = (
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{DRAFT}<|return|>"
)
NEW_FIELD = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

CASES: dict[str, Case] = {
    # thoughts
    "vllm reasoning_content": Case(always(DRAFT, reasoning_content=THOUGHT)),
    "vllm reasoning": Case(always(DRAFT, reasoning=THOUGHT)),
    "ollama thinking field": Case(always(DRAFT, thinking=THOUGHT)),
    "qwen think": Case(always(f"<think>\n{THOUGHT}\n</think>\n\n{DRAFT}")),
    "qwen empty think": Case(always(f"<think>\n\n</think>\n\n{DRAFT}")),
    "deepseek think begun by the template": Case(always(f"{THOUGHT}\n</think>\n{DRAFT}")),
    "think in the middle": Case(always(f"<think>{THOUGHT}</think>Ent<think>{THOUGHT}</think>wurf.")),
    "think that does not end": Case(always(f"<think>{THOUGHT}"), error=ModelMalformed),
    "mistral THINK": Case(always(f"[THINK]{THOUGHT}[/THINK]{DRAFT}")),
    "medgemma unused": Case(always(f"<unused94>thought {THOUGHT}<unused95>{DRAFT}")),
    "apertus inner": Case(always(f"<|inner_prefix|>{THOUGHT}<|inner_suffix|>{DRAFT}")),
    "seed think": Case(always(f"<seed:think>{THOUGHT}</seed:think>{DRAFT}")),
    "kimi think": Case(always(f"◁think▷{THOUGHT}◁/think▷{DRAFT}")),
    "reasoning and thought as words": Case(
        always(f"<reasoning>{THOUGHT}</reasoning>Ent<thought>{THOUGHT}</thought>wurf.")
    ),
    "harmony channels": Case(always(HARMONY)),
    "harmony without a final channel": Case(always(f"<|channel|>analysis<|message|>{THOUGHT}"), error=ModelMalformed),
    "think before a form": Case(always(f"<think>{{{THOUGHT}}}</think>{FORM}"), form=True),
    "content as parts with thoughts": Case(always(PARTS)),
    "content as one part": Case(always([{"type": "text", "text": "Ent"}, {"type": "text", "text": "wurf."}])),
    "only thoughts, no content": Case(always(None, reasoning_content=THOUGHT), error=ModelMalformed),
    # truncation
    "cut draft": Case(always("Entwurf mit halbem Sa", "length"), error=ModelTruncated),
    "cut while thinking": Case(always(None, "length", reasoning_content=THOUGHT), error=ModelTruncated),
    "cut form, mended": Case(first(lambda: completion('{"phrase": "Hus', "length"), FORM), form=True),
    "cut form that reads whole, mended": Case(first(lambda: completion(FORM + "   ", "length"), FORM), form=True),
    "cut form twice": Case(always('{"phrase": "Hus', "length"), form=True, error=ModelTruncated),
    "filtered": Case(always("Entw", "content_filter"), error=ModelMalformed),
    "tool call in place of text": Case(always(None, "tool_calls", tool_calls=[]), error=ModelMalformed),
    "refusal in place of text": Case(always(None, refusal="I cannot help."), error=ModelMalformed),
    # fields
    "openai max_completion_tokens": Case(
        refusing(lambda body: "max_tokens" in body, lambda: refused(NEW_FIELD, param="max_tokens"))
    ),
    "openai temperature": Case(
        refusing(
            lambda body: "temperature" in body,
            lambda: refused(
                "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"
            ),
        )
    ),
    "openai both": Case(
        lambda body, number: (
            refused(NEW_FIELD, param="max_tokens")
            if "max_tokens" in body
            else refused("Unsupported parameter", param="temperature")
            if "temperature" in body
            else completion(DRAFT)
        ),
        calls_max=3,
    ),
    "strict server, detail of 422": Case(
        refusing(
            lambda body: "temperature" in body,
            lambda: JSONResponse({"detail": "Extra inputs are not permitted: temperature"}, 422),
        )
    ),
    "response_format refused": Case(_wants_words, form=True),
    "tgi grammar refused": Case(_tgi, form=True),
    "response_format ignored, fenced": Case(always(f"```json\n{FORM}\n```"), form=True),
    "response_format ignored, prose, mended": Case(first(lambda: completion("Gern! Hier:"), FORM), form=True),
    "form with a sentence around": Case(always(f"Hier das Ergebnis: {FORM} Gern geschehen."), form=True),
    "no system role": Case(
        refusing(_system, lambda: refused("System role not supported", type="BadRequestError")), calls_max=2
    ),
    "no system role, llama.cpp": Case(
        refusing(_system, lambda: refused("Jinja Exception: System role not supported", 500)), calls_max=2
    ),
    # context
    "context learnt from a refusal": Case(_small),
    "context too small, vllm": Case(
        lambda body, number: refused("This model's maximum context length is 64 tokens. However, 90 were sent."),
        error=ModelContextTooSmall,
    ),
    "context too small, llama.cpp": Case(
        lambda body, number: refused("the request exceeds the available context size", n_ctx=64),
        error=ModelContextTooSmall,
    ),
    "context too small, openai": Case(
        lambda body, number: refused("Please reduce the length.", code="context_length_exceeded"),
        error=ModelContextTooSmall,
    ),
    "context from the list of models": Case(
        None, error=ModelContextTooSmall, server={"models": _models(max_model_len=64)}, calls_max=0
    ),
    # server
    "401 on the list of models, name set": Case(None, server={"models": _denied}, endpoint={"model": "m"}),
    "401 on the list of models, no name": Case(None, error=ModelUnavailable, server={"models": _denied}, calls_max=0),
    "list of models is empty": Case(
        None, error=ModelUnavailable, server={"models": lambda: JSONResponse({"data": []})}, calls_max=0
    ),
    "list of models is null": Case(
        None, error=ModelUnavailable, server={"models": lambda: JSONResponse({"data": None})}, calls_max=0
    ),
    "wrong key": Case(None, error=ModelUnavailable, server={"key": "right"}, endpoint={"model": "m", "api_key": "no"}),
    "no health path": Case(None, server={"health_path": False}),
    "busy with Retry-After": Case(
        first(lambda: JSONResponse({"error": {"message": "slow"}}, 429, headers={"retry-after": "0.05"}))
    ),
    "loading with Retry-After": Case(
        first(lambda: JSONResponse({"error": {"message": "Loading"}}, 503, headers={"retry-after": "0.05"}))
    ),
    "busy without Retry-After": Case(lambda body, number: refused("slow", 429), error=ModelUnavailable),
    "busy for longer than we wait": Case(
        lambda body, number: JSONResponse({}, 429, headers={"retry-after": "3600"}), error=ModelUnavailable
    ),
    "an error under 200": Case(
        lambda body, number: JSONResponse({"error": {"message": "overloaded", "code": 502}}), error=ModelMalformed
    ),
    "no usage": Case(
        lambda body, number: JSONResponse({"choices": [{"message": {"content": DRAFT}, "finish_reason": "stop"}]})
    ),
    "finish reason of TGI": Case(always(DRAFT, "eos_token")),
}
