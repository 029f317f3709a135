"""POST /api/codes/bulk on the wire: a text on each line in, its codes on a line out; and the states that batch coding
and the bulk endpoint give to a text."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StrictInt, StrictStr

from clinical.contract.coding import Confidence
from clinical.contract.shared import Frozen

BULK_LINES_MAX: Final = 10_000
BULK_CODES_MAX: Final = 20

CODED, NOTHING = "coded", "nothing-found"
MISSING, EMPTY, TOO_LONG, BAD_UTF8, MALFORMED = "missing", "empty", "too-long", "bad-utf-8", "malformed"
TextStatus = Literal["coded", "nothing-found", "missing", "empty", "too-long", "bad-utf-8", "malformed"]
"""States of a text: codes, no code, no value, white space alone, more than 2,000 characters, bytes that are no UTF-8, a
line that is not of the form asked for."""


class BulkText(Frozen):
    """A line of the request. `id` is the caller's own and comes back as it is; a text over 2,000 characters, an empty
    or a missing one is a state of its answer and no error of the others."""

    text: StrictStr | None = None
    id: Annotated[StrictStr, Field(max_length=200)] | StrictInt | None = None


class BulkCode(Frozen):
    """A code of a text, of any confidence; `probability` is calibrated."""

    code: str
    description: str
    confidence: Confidence
    probability: float


class BulkResult(Frozen):
    """A line of the answer: one for each line of the request, in its order. `row` counts from 0; `codes` are the best
    first."""

    row: int
    id: str | int | None
    status: TextStatus
    codes: tuple[BulkCode, ...] = ()
