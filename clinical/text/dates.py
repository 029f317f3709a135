"""Dates of a text in any common notation, with their places, and whether a date value is among them.

Two-digit years are read by POSIX `%y` (00-68 is 20xx, 69-99 is 19xx), a birth date by `BIRTH_PIVOT`: a fixed rule,
so that the same letter means the same next year and text added to it changes nothing. Impossible days never count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, NamedTuple

POSIX_PIVOT = 68
"""Two-digit years up to this one are 20xx (POSIX strptime %y)."""

BIRTH_PIVOT = 30
"""Two-digit birth years up to this one are 20xx: a child is likelier than someone of over 95 years."""

YEARS = range(1850, 2100)

_MONTHS = {
    "januar": 1, "jaenner": 1, "jän": 1, "jan": 1, "februar": 2, "feber": 2, "febr": 2, "feb": 2,
    "maerz": 3, "mrz": 3, "mär": 3,
    "april": 4, "apr": 4, "mai": 5, "juni": 6, "jun": 6, "juno": 6, "juli": 7, "jul": 7, "august": 8, "aug": 8,
    "september": 9, "sept": 9, "sep": 9, "oktober": 10, "october": 10, "okt": 10, "november": 11, "nov": 11,
    "dezember": 12, "december": 12, "dez": 12, "jänner": 1, "märz": 3,
}  # fmt: skip
_ROMAN = {r: i for i, r in enumerate(["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"], 1)}
MONTH_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True)).replace("ä", "(?:ä|a\u0308)")
_ROMANS = "|".join(sorted(_ROMAN, key=len, reverse=True))

_INITIALS = "JFMASONDIVXjfmasondivx"
_SHORTEST = 6
"""Characters of the shortest date of digits: `1.1.24`."""
_DIGITS = re.compile(rf"\d(?:[\d\s./'-]{{{_SHORTEST - 1},}}+|[\d\s.]*+(?=[{_INITIALS}]))")
"""A digit and all behind it of which dates of digits are made, or a number before what begins as a month: every date
lies in or begins with one of these, and they are found in half the time of looking for the patterns below."""

# What stands before is checked by `_free`.
_NUMERIC = re.compile(
    r"(\d\d?)\s?(?:([./-])\s?(\d{1,2})\s?(?:\2|(?<=\s))|\s(\d{2})\s)\s?'?(?:(\d{4})(?!\d|[.,/]\d)|(\d{2})(?!\d|"
    r"[.,/-]\d))"
)
_SOLID = re.compile(r"(\d\d{3})(?:([-./])(\d{1,2})\2(\d{1,2})(?!\d|[.,/-]\d)|\d{4}(?!\w|[.,/-]\d))")
"""Four digits and more: a year first, with marks behind it, or all in one."""
_BROKEN_NAME = r"[^\W\d_]{1,8}-\s?\n\s?[^\W\d_]{1,8}"  # `Septem-` / `ber`
_BEFORE_NAME = re.compile(rf"\d(?=[\s.]*+[{_INITIALS}](?i:[aäcekopru-]|[ivx]{{0,3}}\.))")
"""The last digit of a day before what begins as the name of a month: cheaper to look for than what follows."""
_NAMED = re.compile(
    rf"(\d\d?)\s?\.?\s*(?=[jfmasondivx])(?:({MONTH_NAMES})\.?|({_BROKEN_NAME})|({_ROMANS})\.)\s*,?'?\s*(\d{{4}}|"
    rf"\d{{2}})(?![\d.]\d|\d)",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?<![\d.,])\d\d?\.\s?(?:0?[1-9]|1[0-2])\.(?!\s?\d)")
_FIRST_OF_RANGE = re.compile(
    r"(?<!\d)(?<!\d[.,/-])(\d{1,2})\s?\.\s?(?:(\d{1,2})\s?\.?)?\s*(?:-|–|—|/|\+|und|u\.|bis(?:\s+(?:zum|"
    r"einschl\.))?)\s*$"
)
_BIRTH = re.compile(
    r"(?:\b(?:geb(?:\.|\b)|geboren\w*|geburts\w*|geb\.?-?dat\w*|GD:)[^\d\n]{0,25}\n?[^\d\n]{0,12}|[^\s]\s?\(?\*\s?)$",
    re.IGNORECASE,
)
_BIRTH_HINTS = ("*", "geb", "gd:")
"""Cheap to look for, and part of every form above."""
_RANGE_ENDS = (*"-–—/+", "und", "u.", "bis", "zum", "einschl.")
"""Endings of the text before the second day of a range."""
_RANGE_REACH = 30
_LONGEST = 30
_BIRTH_REACH = 45


class DateMention(NamedTuple):
    """One date of a text: `year` as written (two digits: below 100), place in code points, said of a birth or not."""

    year: int
    month: int
    day: int
    start: int
    end: int
    birth: bool = False

    def iso(self, birth: bool = False) -> str | None:
        """The date as YYYY-MM-DD, read as a birth date or not; None if there is no such day."""
        year = self.year if self.year >= 100 else full_year(self.year, birth)
        try:
            return date(year, self.month, self.day).isoformat() if year in YEARS else None
        except ValueError:
            return None


def full_year(two_digits: int, birth: bool) -> int:
    """The year a two-digit year means."""
    pivot = BIRTH_PIVOT if birth else POSIX_PIVOT
    return two_digits + (2000 if two_digits <= pivot else 1900)


def parse_date(value: str, birth: bool = False) -> str | None:
    """The ISO form of a value that is one date and nothing else; None otherwise."""
    value = value.strip()
    if not 6 <= len(value) <= _LONGEST or (value.isdigit() and len(value) != 8):
        return None
    for form, read in _FORMS:
        match = form.match(value)
        for mention in read(match) if match and match.end() == len(value) else ():
            if iso := mention.iso(birth):
                return iso
    return None


def dates_of(text: str) -> tuple[DateMention, ...]:
    """Every date of the text, in the order of their places; both ends of a range that shares its year."""
    return dates_among(days_in(text), text)


def dates_among(days: Iterable[DateMention], text: str) -> tuple[DateMention, ...]:
    """`dates_of` a text of which `days_in` is known."""
    found: dict[tuple[int, int, int, int], DateMention] = {}
    for one in days:
        if one.iso() or one.iso(birth=True):
            place = (one.start, one.year, one.month, one.day)
            found.setdefault(place, one._replace(birth=True) if is_birth(text, one.start) else one)
    return tuple(sorted(found.values(), key=lambda one: (one.start, one.end)))


def days_in(text: str) -> Iterator[DateMention]:
    """All that is written as a date in a text, in the order of their places, impossible days and both ends of a range
    too. `birth` is not told yet."""
    behind = 0
    for digits in _DIGITS.finditer(text):
        start, end = digits.span()
        found = list[DateMention]()
        if end - start >= _SHORTEST:
            for form, read in _OF_DIGITS:
                for match in form.finditer(text, start, end + 2):  # `,5`: by what follows a number may be another one
                    found += read(match)
        if text[end : end + 1] in _INITIALS and (digit := _BEFORE_NAME.search(text, start, end + 5)):
            at = digit.start() - text[digit.start() - 1 : digit.start()].isdecimal()
            named = _NAMED.match(text, at) if at >= behind else None
            if named:
                found += _named(named)
                behind = named.end()
        if found:
            found += [first for one in found if (first := _start_of_range(text, one)) is not None]
            yield from sorted(found, key=lambda one: one.start)


def meaning(days: Iterable[DateMention], day: str, birth: bool) -> Iterator[DateMention]:
    """Those of `days_in` a text that mean a day (YYYY-MM-DD), read as birth dates or not, in the order of the text."""
    wanted = (int(day[5:7]), int(day[8:]))
    return (one for one in days if one[1:3] == wanted and one.iso(birth) == day)


def day_places(text: str) -> list[tuple[int, int]]:
    """Spans of the days in a text (`start` inclusive, `end` exclusive, in code points): its dates, and days of which
    only the month is written ("am 3.5. behandelt")."""
    days = (match.span() for match in _DAY.finditer(text))
    return sorted({*days, *((one.start, one.end) for one in dates_of(text))})


def is_birth(text: str, start: int) -> bool:
    """True if the words before a date make it a date of birth."""
    before = text[max(0, start - _BIRTH_REACH) : start].lower()
    if not any(hint in before for hint in _BIRTH_HINTS):
        return False
    return _BIRTH.search(text, max(0, start - _BIRTH_REACH), start) is not None


def _numeric(m: re.Match[str]) -> Iterator[DateMention]:
    day, mark, month, other, long, short = m.groups()
    dose_scheme = mark == "-" and not long and not len(day) == len(month) == 2  # 1-0-10
    if not dose_scheme and _free(m, "-/" if mark in ("-", "/") else ""):
        yield DateMention(int(long or short), int(month or other), int(day), *m.span())


def _named(m: re.Match[str]) -> Iterator[DateMention]:
    name = re.sub(r"-\s*", "", m[2] or m[3] or "").lower().replace("a\u0308", "ä")
    month = _ROMAN.get((m[4] or "").upper()) or _MONTHS.get(name, 0)
    if month and _free(m, ""):
        yield DateMention(int(m[5]), month, int(m[1]), m.start(), m.end())


def _solid(m: re.Match[str]) -> Iterator[DateMention]:
    if m[2]:
        if _free(m, "-/"):
            yield DateMention(int(m[1]), int(m[3]), int(m[4]), m.start(), m.end())
    elif _free(m, "-/") and not m.string[m.start() - 1 : m.start()].isalnum():
        digits = m.group()
        yield DateMention(int(digits[4:]), int(digits[2:4]), int(digits[:2]), m.start(), m.end())
        yield DateMention(int(digits[:4]), int(digits[4:6]), int(digits[6:]), m.start(), m.end())


_OF_DIGITS: Final = ((_NUMERIC, _numeric), (_SOLID, _solid))
_FORMS: Final = (*_OF_DIGITS, (_NAMED, _named))
"""Every notation of a date, and what reads it."""


def _free(match: re.Match[str], more: str) -> bool:
    """True if the digits of a match begin a number of their own: no digit before, none behind one separator."""
    start = match.start()
    before = match.string[start - 1] if start else " "
    if before in ".,-/":
        return not (before in ".," + more and start > 1 and match.string[start - 2].isdigit())
    return not before.isdigit()


def _start_of_range(text: str, end: DateMention) -> DateMention | None:
    """`29.09.-02.10.21` and `1. - 21. Juli 2022`: the first day, whose month and year stand with the second."""
    reach = max(0, end.start - _RANGE_REACH)
    ranged = text[reach : end.start].rstrip().endswith(_RANGE_ENDS)
    m = _FIRST_OF_RANGE.search(text, reach, end.start) if ranged else None
    if m is None:
        return None
    month = int(m[2]) if m[2] else end.month
    year = end.year if (month, int(m[1])) <= (end.month, end.day) else end.year - 1
    return DateMention(year, month, int(m[1]), m.start(), end.end) if year >= 0 else None
