"""Types that requests and answers of the text API share: lengths, frozen values, spans, tokens used.

Lengths count Unicode code points of the value as sent. Unknown JSON fields are ignored, wrong types refused.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictStr

QUERY_MAX = 2_000
TEXT_MAX = 20_000
PROMPT_MAX = 5_000
TIER1_MAX_CODES = 10


class Frozen(BaseModel):
    """A value that does not change once made; unknown fields of a request are ignored.

    `cache_strings`, here and wherever JSON of a request is read: by its default pydantic keeps the short strings that
    it has read for the whole process.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", cache_strings="keys")


def not_blank(value: str) -> str:
    """A value of white space alone counts as empty (decisions, "Which limit answers first")."""
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def said(most: int) -> Any:
    """The rules of a text of 1 to `most` characters, as the validation and as the schema of the API state them."""
    return Field(min_length=1, max_length=most, json_schema_extra={"pattern": r"\S"})


Query = Annotated[StrictStr, said(QUERY_MAX), AfterValidator(not_blank)]
Text = Annotated[StrictStr, said(TEXT_MAX), AfterValidator(not_blank)]
Prompt = Annotated[StrictStr, said(PROMPT_MAX), AfterValidator(not_blank)]


class Span(Frozen):
    """A place in the request's text: `start` inclusive, `end` exclusive, in code points."""

    start: int
    end: int


class Usage(Frozen):
    """Tokens over all attempts of one request."""

    tokens_in: int
    tokens_out: int
