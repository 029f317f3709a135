"""POST /api/codes/suggest on the wire: the first characters of words, and the codes that may be meant."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictStr

from clinical.contract.shared import Frozen, not_blank, said

SUGGEST_MAX = 200
SUGGEST_CODES = 50

Typed = Annotated[StrictStr, said(SUGGEST_MAX), AfterValidator(not_blank)]


class SuggestRequest(Frozen):
    """`text`: what is typed so far; `sex` and `age` (completed years, fractions for infants) of the patient put codes
    that are unusual for others last."""

    text: Typed
    limit: Annotated[int, Field(strict=True, ge=1, le=SUGGEST_CODES)] = 8
    sex: Literal["M", "W"] | None = None
    age: Annotated[float, Field(strict=True, ge=0, le=150)] | None = None


class SuggestedCode(Frozen):
    """A code with its mark (`+`, `*`, `!` or nothing), its official title, and the wording it was found by; empty where
    the code itself was typed."""

    code: str
    mark: str
    description: str
    terminal: bool
    wording: str


class SuggestResponse(Frozen):
    """The likeliest first; `version` is the year of the catalog."""

    version: str
    codes: tuple[SuggestedCode, ...]
