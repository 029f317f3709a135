"""The LanguageModel port, and how an answer of a fixed form is had from it.

Everything Befund asks a model goes through `LanguageModel.complete`: the real client and the fakes of the
tests differ only behind it. `ask` adds what every structured question needs: the schema, a tolerant
but strict-in-the-end reader, one repair attempt, and the sum of the tokens of all attempts.

What a model says is never trusted: it is read into a frozen form or refused, and no error repeats any of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from clinical.contract import Usage
from clinical.errors import ModelMalformed, ModelTimeout, ModelTruncated

log = logging.getLogger("befund.model")

Role = Literal["system", "user", "assistant"]

BY_RULES: Final = "rules"
"""The `model` of answers that fixed rules gave, and no language model."""

REPAIR_ECHO_MAX = 4_000
"""Characters of the malformed answer shown back to the model: enough to mend it, too few to double the cost."""

CUT = "abgeschnitten, weil zu lang; fasse dich kürzer"

_CONTROL = dict.fromkeys(range(32), " ")
"""Raw control characters are illegal inside JSON strings and mean nothing outside them: a space loses nothing.
Some guided-decoding backends emit them (half the outputs of xgrammar, measured on vLLM 0.32)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call: tokens of the answer, seconds in all (waiting in our queue included)."""

    max_tokens: int
    timeout_s: float
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """The model's text without its thoughts, the tokens it took, and whether it was cut at its last token."""

    text: str
    tokens_in: int
    tokens_out: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A named JSON schema the answer must fit (draft 2020-12, as pydantic writes it)."""

    name: str
    schema: Mapping[str, Any]

    @classmethod
    def of(cls, form: type[BaseModel]) -> JsonSchema:
        """The schema of a pydantic form; its name is the class name. Made once for each form, never changed."""
        return _schema_of(form)


@cache
def _schema_of(form: type[BaseModel]) -> JsonSchema:
    return JsonSchema(form.__name__, form.model_json_schema())


class LanguageModel(Protocol):
    """A chat model. `complete` may be cancelled at any time, which must reach the server behind it."""

    @property
    def name(self) -> str:
        """The model's identifier as shown to callers; never a host name or a path."""
        ...

    @property
    def busy(self) -> bool:
        """True if one more call would be refused with ModelBusy: asked before a stream is opened."""
        ...

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """One answer, marked when it was cut. Raises a LanguageModelError (unavailable, busy, timeout, too long)."""
        ...

    async def health(self) -> bool:
        """True if the model can answer now; bounded to 2 s, never raises."""
        ...


@runtime_checkable
class CountsUnusable(Protocol):
    """A language model that counts its answers that could not be used."""

    def unusable(self, given_up: bool) -> None:
        """An answer of the wrong form, cut or empty. `given_up`: no other is asked for."""
        ...


def tell_unusable(model: LanguageModel, given_up: bool) -> None:
    """Report an unusable answer to a model that counts them."""
    if isinstance(model, CountsUnusable):
        model.unusable(given_up)


class Form(BaseModel):
    """Base of every form a model must fill in: nothing beside the named fields, unchangeable once read."""

    model_config = ConfigDict(frozen=True, extra="forbid", cache_strings="keys")


F = TypeVar("F", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class FilledForm(Generic[F]):
    """A filled-in form and the tokens of all attempts it took."""

    value: F
    usage: Usage


async def ask(
    model: LanguageModel, messages: Sequence[Message], form: type[F], limits: Limits, schema: JsonSchema | None = None
) -> FilledForm[F]:
    """Ask for a filled-in `form`; a malformed answer is shown back once, then ModelMalformed is raised.

    `schema` is what the model is bound to where it is narrower than the form (an enum of candidates); what a server
    lets through in spite of it is the caller's to drop. `limits.timeout_s` bounds both attempts together. Other
    LanguageModelErrors pass through unchanged.
    """
    deadline = time.monotonic() + limits.timeout_s
    schema = schema or JsonSchema.of(form)
    first = await model.complete(messages, schema=schema, limits=limits)
    value, complaint = _whole(first, form)
    if value is not None:
        return FilledForm(value, Usage(tokens_in=first.tokens_in, tokens_out=first.tokens_out))
    left = deadline - time.monotonic()
    tell_unusable(model, given_up=left <= 0)
    if left <= 0:
        log.warning("the model gave no usable %s, and no time is left for a repair: %s", form.__name__, complaint)
        raise ModelTimeout("the language model used up its time with a malformed answer")
    echo = first.text[:REPAIR_ECHO_MAX].strip() or "(leer)"
    repair = (*messages, Message("assistant", echo), Message("user", _repair(complaint)))
    second = await model.complete(repair, schema=schema, limits=replace(limits, timeout_s=left))
    value, complaint = _whole(second, form)
    if value is None:
        tell_unusable(model, given_up=True)
        log.warning("the model gave no usable %s, also after a repair: %s", form.__name__, complaint)
        raise _unusable(form, complaint, second.truncated)
    total_in, total_out = first.tokens_in + second.tokens_in, first.tokens_out + second.tokens_out
    return FilledForm(value, Usage(tokens_in=total_in, tokens_out=total_out))


def _whole(answer: Completion, form: type[F]) -> tuple[F | None, str]:
    """As `read`, but a cut answer is none, even where what came of it would fit: a list may lack its end."""
    return (None, CUT) if answer.truncated else read(answer.text, form)


def _unusable(form: type[BaseModel], complaint: str, truncated: bool) -> ModelMalformed:
    if truncated:
        return ModelTruncated(
            f"the language model's answer was cut at its tokens ({form.__name__}), also after a repair",
            "a whole answer",
            "give thinking tokens of its own (BEFUND_LLM_THINKING_TOKENS), or turn thinking off",
        )
    return ModelMalformed(
        f"the language model's answer does not fit the form {form.__name__} ({complaint}), also after a repair",
        "JSON as in the schema that was sent",
        "check that the model server honours response_format json_schema and that max_tokens is not cut",
    )


def read(text: str, form: type[F]) -> tuple[F | None, str]:
    """The filled-in form, or None and what is wrong with it in words that hold nothing of the answer.

    Tolerates what servers without guided decoding put around the JSON: thoughts, code fences, a sentence.
    """
    body = text.rpartition("</think>")[2]
    start, end = body.find("{"), body.rfind("}")
    if start < 0 or end < start:
        return None, "kein JSON-Objekt"
    try:
        return form.model_validate_json(body[start : end + 1].translate(_CONTROL)), ""
    except ValidationError as error:
        return None, _complaint(error)


def _complaint(error: ValidationError) -> str:
    """The kinds of the first few faults; places and inputs are left out, since they may repeat the text."""
    kinds = sorted({str(fault["type"]) for fault in error.errors(include_input=False, include_url=False)})
    return ", ".join(kinds[:5])


def _repair(complaint: str) -> str:
    return (
        f"Diese Antwort passt nicht zum verlangten JSON-Schema ({complaint}). "
        "Antworte noch einmal, nur mit einem JSON-Objekt nach dem Schema, ohne weiteren Text."
    )
