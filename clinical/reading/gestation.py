"""The week of pregnancy that a text states, and its code: O09.-, by completed weeks.

The classification asks for the duration of a pregnancy beside everything else, and no wording of it holds the numbers
that a text holds. "39. SSW" is the thirty-ninth week: 38 are completed. "38+4" says 38 completed weeks and four days.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from clinical.icd import Catalog

LONGEST: Final = 44
"""Completed weeks above which a number is a slip."""

_WEEK: Final = r"(?:ssw|schwangerschaftswoche)"
_SIGNS: Final = ("ssw", "schwangerschaftswoche")
"""One of them is in every text that the patterns find something in; looking for them takes a tenth of their time."""
_COMPLETED: Final = re.compile(
    rf"\b(\d{{1,2}})\s*\+\s*[0-6]\s*\.?\s*{_WEEK}\b|\b{_WEEK}\s*:?\s*(\d{{1,2}})\s*\+\s*[0-6]\b", re.I
)
_BEGUN: Final = re.compile(
    rf"(?<!\+)(?<!\+ )\b(\d{{1,2}})\s*\.\s*{_WEEK}\b|\b{_WEEK}\s*:?\s*(\d{{1,2}})\b(?!\s*\+)", re.I
)
_OF_THE_CHILD: Final = re.compile(r"(?:früh|neu)gebor|\bgeboren\b|\bgeburtsgewicht\b|\bfrühchen\b", re.I)
_NOT_NOW: Final = re.compile(
    r"(?:\b(?:ab|bis|seit|plan|geplant\w*)(?: (?:zur?|in|der))*"
    r"|(?:geburt|abort|abortion|fruchttod|verlust|sectio|\bFG)(?: (?:in|mit|bei|der))*"
    r"|\b(?:schwester|tochter|freundin|nachbarin|mutter)\b[^.;\n]{0,25})\s*$",
    re.IGNORECASE,
)
"""The end of a text before a week that is none of a pregnancy as it is now: from when or until when something is done,
a birth or a loss in that week, somebody else who is pregnant."""
BEFORE: Final = 40
"""Code points before a week in which this is looked for."""
_RANGE: Final = re.compile(r"(\d+)\.?(?: Woche)? bis (\d+) vollendete")
_LESS: Final = re.compile(r"Weniger als (\d+) vollendete")
_MORE: Final = re.compile(r"Mehr als (\d+) vollendete")


class StatedWeeks(NamedTuple):
    """Completed weeks and where the text states them, `start` inclusive, `end` exclusive, in code points."""

    weeks: int
    start: int
    end: int


class Gestation:
    """Completed weeks -> number of the code, read off the catalog's own titles. Empty when it has none of them."""

    def __init__(self, by_week: dict[int, int]) -> None:
        self._by_week = by_week

    @classmethod
    def of(cls, catalog: Catalog) -> Gestation:
        """From the titles `Schwangerschaftsdauer: 5 bis 13 vollendete Wochen`, whatever their codes."""
        found: dict[int, int] = {}
        for number, code in enumerate(catalog.codes):
            if code.terminal and code.title.startswith("Schwangerschaftsdauer"):
                found |= dict.fromkeys(_weeks_of(code.title), number)
        return cls(found)

    def codes(self, text: str) -> Iterator[tuple[int, StatedWeeks]]:
        """Numbers of the codes of the weeks that `text` states of a pregnancy, each once."""
        seen = set[int]()
        for stated in stated_weeks(text):
            number = self._by_week.get(stated.weeks)
            if number is not None and number not in seen:
                seen.add(number)
                yield number, stated


def stated_weeks(text: str) -> list[StatedWeeks]:
    """Completed weeks of pregnancy in `text`; none where it is about a child that was born in that week, about
    another time or somebody else."""
    small = text.casefold()
    if not any(sign in small for sign in _SIGNS) or _OF_THE_CHILD.search(text):
        return []
    found = [StatedWeeks(int(match[1] or match[2]), *match.span()) for match in _COMPLETED.finditer(text)]
    found += [StatedWeeks(int(match[1] or match[2]) - 1, *match.span()) for match in _BEGUN.finditer(text)]
    now = (one for one in found if not _NOT_NOW.search(text, max(0, one.start - BEFORE), one.start))
    return sorted((stated for stated in now if 0 <= stated.weeks <= LONGEST), key=lambda stated: stated.start)


def _weeks_of(title: str) -> range:
    if match := _RANGE.search(title):
        return range(int(match[1]), int(match[2]) + 1)
    if match := _LESS.search(title):
        return range(int(match[1]))
    if match := _MORE.search(title):
        return range(int(match[1]) + 1, LONGEST + 1)
    return range(0)
