"""Requests to and answers of an OpenAI-like model server: requests in the form that server accepts, answers without
thoughts, refusals as a change of that form.

Thoughts never leave this file: separate fields of them are not read, marked ones are cut out of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clinical.errors import ModelContextTooSmall, ModelMalformed
from clinical.llm import Completion, JsonSchema, Limits, Message

CHARACTERS_PER_TOKEN = 3.0
"""To plan with, on the safe side of what German takes; the server's own count decides (its refusal is understood)."""
TEMPLATE_TOKENS = 64
"""Tokens that a chat template adds to a question; the templates of the models in docs/operate.md add fewer."""
LEAST_SHARE = 0.5
"""Of the tokens asked for an answer, this much must remain in the context, or the text is called too long."""
SAID_MAX = 300
"""Characters of a refusal that are looked at: further on it may repeat the request, whose words must teach nothing."""


@dataclass(frozen=True, slots=True)
class ServerCapabilities:
    """Server capabilities as learned from its answers."""

    tokens_field: str = "max_tokens"
    temperature: bool = True
    schema_bound: bool = True
    system_role: bool = True
    context: int | None = None
    """Tokens of question and answer together; None: unknown."""


@dataclass(frozen=True, slots=True)
class Extras:
    """Additions of the operator to every request: fields of the body, and tokens for thinking beside the answer's."""

    body: Mapping[str, Any] = field(default_factory=dict)
    thinking_tokens: int = 0


def body_of(
    messages: Sequence[Message],
    schema: JsonSchema | None,
    limits: Limits,
    capabilities: ServerCapabilities,
    extras: Extras,
) -> dict[str, Any]:
    """The body of a chat completion, but for the model's name. Raises ModelContextTooSmall."""
    told = list(messages)
    if schema is not None and not capabilities.schema_bound:
        told = _with_schema(told, schema)
    if not capabilities.system_role:
        told = _without_system(told)
    body: dict[str, Any] = {"messages": [{"role": turn.role, "content": turn.content} for turn in told]}
    body[capabilities.tokens_field] = _room(told, limits.max_tokens + extras.thinking_tokens, capabilities.context)
    if capabilities.temperature:
        body["temperature"] = limits.temperature
    if schema is not None and capabilities.schema_bound:
        inner = {"name": schema.name, "schema": schema.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": inner}
    return {**body, **extras.body}


def _room(messages: Sequence[Message], wanted: int, context: int | None) -> int:
    """The tokens for the answer: as wanted, or what a small context leaves."""
    if context is None:
        return wanted
    left = context - TEMPLATE_TOKENS - int(sum(len(turn.content) for turn in messages) / CHARACTERS_PER_TOKEN)
    if left < wanted * LEAST_SHARE:
        raise too_long(context)
    return min(wanted, left)


def too_long(context: int | None) -> ModelContextTooSmall:
    """The error for a question that does not fit."""
    size = f"of {context} tokens" if context else "of the model server"
    return ModelContextTooSmall(f"the text does not fit into the context {size}", remedy="serve a longer context")


def _with_schema(messages: list[Message], schema: JsonSchema) -> list[Message]:
    """The schema in words, for servers that bind no answer to one."""
    words = f"Antworte nur mit einem JSON-Objekt nach diesem JSON-Schema:\n{json.dumps(schema.schema)}"
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{words}"), *messages[1:]]
    return [Message("system", words), *messages]


def _without_system(messages: list[Message]) -> list[Message]:
    """The system message as the beginning of the first question, for templates that know no such role."""
    system = "\n\n".join(turn.content for turn in messages if turn.role == "system")
    rest = [turn for turn in messages if turn.role != "system"]
    if not system or not rest:
        return rest or messages
    return [Message(rest[0].role, f"{system}\n\n{rest[0].content}"), *rest[1:]]


# --- answers --------------------------------------------------------------------------------------------------------

_HARMONY_FINAL = re.compile(r"<\|channel\|>final[^<]*<\|message\|>")
_HARMONY_MARK = re.compile(r"<\|(?:start|channel|message|end|return|call|constrain)\|>")
_MARKS = tuple(
    (re.compile(re.escape(opened)), re.compile(re.escape(closed)))
    for opened, closed in (
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<unused94>", "<unused95>"),
        ("[THINK]", "[/THINK]"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<seed:think>", "</seed:think>"),
        ("◁think▷", "◁/think▷"),
        ("<reasoning>", "</reasoning>"),
        ("<thought>", "</thought>"),
    )
)
"""Marks of thoughts in the text of models: Qwen3, DeepSeek and others; medgemma (`<unused94>`); Mistral (`[THINK]`);
Apertus (`<|inner_prefix|>`); Seed; Kimi; and words that prompts of older models ask for."""


def without_thoughts(text: str) -> str:
    """The text without what a model thought before or in it; a thought that does not end takes all that follows."""
    if _HARMONY_MARK.search(text):
        finals = list(_HARMONY_FINAL.finditer(text))
        text = _HARMONY_MARK.split(text[finals[-1].end() :])[0] if finals else ""
    if text.lstrip().startswith("{"):
        return text  # an answer in JSON: what its strings hold is judged by its reader
    for opened, closed in _MARKS:
        text = _cut(text, opened, closed)
    return text


def _cut(text: str, opened: re.Pattern[str], closed: re.Pattern[str]) -> str:
    """Everything between the marks goes; an end without a beginning ends a thought that the template began."""
    kept, at = [], 0
    first_end, first_begin = closed.search(text), opened.search(text)
    if first_end and (first_begin is None or first_end.start() < first_begin.start()):
        at = first_end.end()
    while begun := opened.search(text, at):
        kept.append(text[at : begun.start()])
        ended = closed.search(text, begun.end())
        if ended is None:
            return "".join(kept)
        at = ended.end()
    rest = text[at:]
    if kept or at:
        rest = closed.sub("", rest)
        return ("".join(kept) + rest).lstrip()
    return rest


def completion_of(answer: Any) -> Completion:
    """The first choice of an answer whose form nobody has checked yet. Raises ModelMalformed."""
    choices = getattr(answer, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = getattr(first, "finish_reason", None)
    text = _text_of(getattr(getattr(first, "message", None), "content", None))
    truncated = reason in ("length", "max_tokens", "model_length")
    if text is None and not truncated:
        raise ModelMalformed("the model server's answer holds no text", "choices[0].message.content")
    if reason == "content_filter":
        raise ModelMalformed("the model server's filter cut the answer", "an answer that is let through")
    # JSON can carry half a surrogate pair, which no UTF-8 answer of ours could hold.
    text = (text or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    usage = getattr(answer, "usage", None)
    tokens = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    return Completion(without_thoughts(text), *tokens, truncated)


def _text_of(content: Any) -> str | None:
    """A text as such, or as a list of parts, of which those that hold thoughts are left out."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    parts = [part if isinstance(part, Mapping) else getattr(part, "__dict__", {}) for part in content]
    texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
    return "".join(text for text in texts if isinstance(text, str)) if texts else None


def _tokens(usage: Any, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value >= 0 else 0


# --- refusals -------------------------------------------------------------------------------------------------------

_REFUSED = ("support", "not permitted", "not allowed", "unrecognized", "unknown", "unexpected", "invalid", "extra")
_SCHEMA_WORDS = ("response_format", "json_schema", "grammar", "guided", "structured output", "structured_output")
_SYSTEM_WORDS = ("system role", "system message", "role 'system'", 'role "system"', "role system")
_CONTEXT_CODES = ("context_length_exceeded", "exceed_context_size_error")
_CONTEXT = re.compile(
    r"maximum context length(?: is)?[^\d]{0,20}(\d+)|max_new_tokens`? must be <= (\d+)|"
    r"context (?:size|length|window)[^\d]{0,30}(\d+)|exceeds the available context size"
)


def said(body: object) -> tuple[str, str]:
    """The field a refusal names, and the beginning of its sentence, in lower case; whatever form it has."""
    if isinstance(body, Mapping):
        text = body.get("message") or body.get("detail") or body.get("error") or ""
        kinds = [str(body.get(key) or "") for key in ("param", "code", "type")]
        return " ".join(kinds).lower(), str(text)[:SAID_MAX].lower()
    return "", str(body or "")[:SAID_MAX].lower()


def context_said(body: object) -> int | None:
    """The context that a refusal for length names, 0 where it names none; None when length is not the matter."""
    kinds, text = said(body)
    found = _CONTEXT.search(text)
    if isinstance(body, Mapping) and isinstance(body.get("n_ctx"), int):
        return int(body["n_ctx"])
    if found:
        return int(next((number for number in found.groups() if number), 0))
    return 0 if any(code in kinds for code in _CONTEXT_CODES) else None


def without_refused(capabilities: ServerCapabilities, body: object) -> ServerCapabilities | None:
    """The capabilities without the one that a refusal names; None when it names none."""
    kinds, text = said(body)
    refused = any(word in text for word in _REFUSED)

    def about(name: str) -> bool:
        return name in kinds.split() or (name in text and refused)

    if capabilities.tokens_field == "max_tokens" and about("max_tokens") and "max_completion_tokens" in text:
        return replace(capabilities, tokens_field="max_completion_tokens")
    if capabilities.temperature and about("temperature"):
        return replace(capabilities, temperature=False)
    if capabilities.schema_bound and any(about(word) for word in _SCHEMA_WORDS):
        return replace(capabilities, schema_bound=False)
    if capabilities.system_role and refused and any(word in text for word in _SYSTEM_WORDS):
        return replace(capabilities, system_role=False)
    return None
