"""What a text says is over, in the words of the catalog.

"Z. n. Apoplex", "Schlaganfall vor drei Jahren", "früherer Herzinfarkt": the classification has words and codes of
their own for what is over (Z. n., alter, Folgen, in der Eigenanamnese), and a disease that is over is not coded as one
that is there. Such a text is therefore searched as the catalog words the past, and what was found by a wording of the
present counts less.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_NUMBER: Final = r"(?:\d+(?:[.,]\d+)?|ein\w*|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|vielen|einigen|mehreren)"
_AGO: Final = rf"vor\s+(?:(?:ca\.?|etwa|rund|über|mehr als)\s+)?{_NUMBER}(?:\s*[½¼¾]|\s+1\s*/\s*2)?\s+(?:jahr|monat)\w*"
_BEFORE: Final = (
    r"z\.?\s?n\.?|zust(?:and|\.)\s+n(?:ach|\.)|st(?:atus|\.)?\s?n(?:ach|\.)|früher\w*|ehemalig\w*|stattgehabt\w*"
)
_FORMS: Final = ("Z. n. {}", "Zustand nach {}", "{} in der Eigenanamnese")
"""How the catalog words what is over; its authors did not settle on one of them."""

_LEADING: Final = re.compile(rf"^\s*(?:{_BEFORE}|{_AGO})(?!\w)\s*(?:ein\w*\s+)?", re.I)
_TRAILING: Final = re.compile(rf"[\s,]+{_AGO}\s*$", re.I)
_JUST_BEFORE: Final = re.compile(rf"(?:^|\W)(?:{_BEFORE}|{_AGO})\s+(?:ein\w*\s+)?$", re.I)
_JUST_BEHIND: Final = re.compile(rf"^[\s,]*(?:links\s+|rechts\s+)?{_AGO}", re.I)
_PAST_WORDING: Final = re.compile(
    r"\bz\.\s?n\.|\bzustand\b|\balte[rsn]?\b|\bfolge(?:n|zustand)|\w*folgen\b|eigenanamnese|\bresiduen|\bspät"
    r"|\bfrühere|\bverlust\b|\bvorhandensein\b|\berworbenes fehlen\b",
    re.I,
)
REACH: Final = 40
"""Code points beside a mention that are read for a sign of the past."""


class Past(NamedTuple):
    """A mention of something that is over: as the text has it, its sign included, and in the words of the catalog."""

    written: str
    forms: tuple[str, ...]


def past_of(text: str, start: int = 0, end: int | None = None) -> Past | None:
    """The mention from `start` to `end` in the words of the past; None when the text does not say that it is over.

    The sign may stand inside the mention, at one of its ends, or directly beside it.
    """
    stop = len(text) if end is None else end
    mention = text[start:stop]
    bare = _TRAILING.sub("", _LEADING.sub("", mention, count=1), count=1).strip()
    before = _JUST_BEFORE.search(text[max(0, start - REACH) : start])
    behind = _JUST_BEHIND.search(text[stop : stop + REACH])
    if not bare or (bare == mention.strip() and not before and not behind):
        return None
    written = f"{before.group().strip() if before else ''} {mention.strip()} {behind.group().strip() if behind else ''}"
    return Past(written.strip(), tuple(form.format(bare) for form in _FORMS))


def says_past(wording: str) -> bool:
    """Whether a wording of the catalog means something that is over."""
    return _PAST_WORDING.search(wording) is not None
