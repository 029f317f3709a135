"""A code as somebody wrote it: the code itself, another case, with the mark of the classification, with the outpatient
markers of certainty and side."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from bentos.terminology.systems import Year
from clinical.icd import Code

Way = Literal["exact", "case", "marked", "unknown"]

_MARKED: Final = re.compile(r"([A-Za-z]\d\d(?:\.\d{1,2})?)(?:\.?-)?([+*!†]?)((?:\s?[GVAZ])?(?:\s?[RLB])?)", re.ASCII)
LONGEST: Final = 24


class Typed(NamedTuple):
    """The code that is meant, None where there is none; how it was written; its mark is another one than the code's."""

    code: Code | None
    way: Way
    wrong_mark: bool = False


def typed_code(year: Year, written: str) -> Typed:
    """The code of a year that is written this way."""
    if (code := year.catalog.get(written)) is not None:
        return Typed(code, "exact")
    if (code := year.catalog.get(written.upper())) is not None and len(written) <= LONGEST:
        return Typed(code, "case")
    match = _MARKED.fullmatch(written) if len(written) <= LONGEST else None
    code = year.catalog.get(match[1].upper()) if match else None
    if match is None or code is None:
        return Typed(None, "unknown")
    mark = match[2].replace("†", "+")
    return Typed(code, "marked", bool(mark) and mark not in (code.marked[-1], "+" if not code.never_alone else ""))
