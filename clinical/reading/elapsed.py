"""The code of the time since, where the classification asks for it: of an old infarction, I25.2-.

"Z. n. NSTEMI vor 6 Wochen", "2014 Hinterwandinfarkt": no wording holds the times that texts hold. A year counts from
the year of the catalog, so that the same text has the same codes every day: what was two years before its year is over
for more than one, whenever in its year it is coded; of what was later, the year alone does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np

from clinical.icd import Catalog
from clinical.reading.claim_stage import TextSpans
from clinical.search import Hits

_DAYS: Final = {"tag": 1, "woche": 7, "monat": 30.4, "jahr": 365}
"""Days of a unit, by its singular."""
_NUMBERS: Final = {
    "ein": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "elf": 11, "zwölf": 12,
}  # fmt: skip
_UNIT: Final = r"(tag|woche|monat|jahr)[a-z]*"
_LONG: Final = re.compile(rf"(\d+) {_UNIT} (?:bis unter [^:]+|und länger) zurückliegend", re.I)
_AGO: Final = rf"(?:(\d+|{'|'.join(_NUMBERS)})(?:e[nmr]?)?\s+)?{_UNIT}"
_YEAR: Final = r"(?:(?:\d\d?\.\s?)?\d\d?[./]\s?)?((?:19|20)\d\d)"
_WORDS: Final = r"(?:[^\W\d_]+\.?[ (]+){0,3}?"
"""At most three words between a mention and its time, on one line and in one part of the sentence."""
_BEHIND: Final = re.compile(rf"[ (]+{_WORDS}(?:vor\s+{_AGO}|{_YEAR})\b", re.I)
_BEFORE: Final = re.compile(rf"(?:\bvor\s+{_AGO}|\b{_AGO}\s+nach|\b{_YEAR}:?)[ (]+{_WORDS}$", re.I)
REACH: Final = 50
"""Code points before and behind a mention within which its time is looked for."""


class LongAgo(NamedTuple):
    """Number of a code in the catalog, and from how many days on it stands for something that long ago."""

    days: float
    code: int


class Elapsed:
    """The codes that say how long ago something was, longest ago first, by the number of each code of their parent;
    read off the catalog's own titles. `year`: of the catalog; None where it has none."""

    def __init__(self, families: Mapping[int, Sequence[LongAgo]], year: int | None) -> None:
        self._families, self._year = families, year

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        """From titles such as `4 Monate bis unter 1 Jahr zurückliegend`, whatever their codes."""
        families: dict[str, list[LongAgo]] = {}
        for number, code in enumerate(catalog.codes):
            if code.parent and "zurückliegend" in code.title and (told := _LONG.search(code.title)):
                families.setdefault(code.parent, []).append(LongAgo(int(told[1]) * _DAYS[told[2].lower()], number))
        by_code = {
            catalog.number(child.code): sorted(since, reverse=True)
            for parent, since in families.items()
            for child in catalog.children(parent)
        }
        return cls(by_code, int(catalog.version) if catalog.version.isdecimal() else None)

    def dated(self, draft: TextSpans, hits: Hits) -> Hits:
        """The hits, each code of such a family by the time that the text tells beside its mention, where it does."""
        codes = hits.code.tolist()
        if self._families.keys().isdisjoint(codes):
            return hits
        rows = [row for row, code in enumerate(codes) if code in self._families]
        for row in rows:
            part = draft.spans[int(hits.part[row])].part
            days = self._days(draft.reading.text, part.start, part.end)
            if days is not None:
                since = self._families[codes[row]]
                codes[row] = next((one.code for one in since if one.days <= days), codes[row])
        return hits._replace(code=np.array(codes, dtype=np.int64))

    def _days(self, text: str, start: int, end: int) -> float | None:
        """At least how many days ago the mention's event was, by the time in it or next to it; None: not told."""
        before = _BEFORE.search(text, max(0, start - REACH), start)
        for match in (before, _BEHIND.match(text, end, end + REACH), _BEHIND.search(text, start, end)):
            if match:
                *told, year = match.groups()
                if year is not None:
                    return 365 if self._year is not None and int(year) <= self._year - 2 else None
                number, unit = next(pair for pair in zip(told[::2], told[1::2], strict=True) if pair[1])
                count = _NUMBERS.get(number.lower()) or int(number) if number else 1
                return count * _DAYS[unit.lower()]
        return None
