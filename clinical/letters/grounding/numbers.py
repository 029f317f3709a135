"""Numbers of people, cases, telephones, places: evidenced by their whole digit sequence, never by a part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from clinical.letters.grounding.literal import stands_literally
from clinical.text import LookedFor, SourceText, find_pieces, lowered, parse_date

_RUN = re.compile(
    r"[+(\d](?<!\bTe[+(\d])(?:(?<=\+)\(?\d+|(?<=\()\d+|(?<=\d)\d*)"
    r"(?:(?:\)\s?|\s?[-/–.]\s?|[ \u00a0\u202f]{1,2}\(?|\s?\()?\d+)*"
)
"""A number with its marks; it begins with one of few characters, so that the search skips everything else at once."""
_SHORTEST_WITH_DATE = 7
"""Characters of the shortest number with a date beside it (`5 1.1.24`), less one."""
_SHORTEST_DATE = 6
"""Characters of the shortest date in one piece (`1.1.24`)."""
_PIECE = re.compile(r"[+(]*\d[\d./()–-]*")
_COUNTRIES = ("41", "43", "49", "423")
_NO_OTHERS = dict.fromkeys(code for code in range(128) if not chr(code).isdecimal())
_MARKS = re.compile(r"[\s./–-]{0,3}")
"""Marks between the characters of a case number."""
_MIXED_BEFORE, _MIXED_BEHIND = re.compile(r"(?<!\w)(?<!\d[./-])"), re.compile(r"(?![^\W_]|[./-]\d)")
MOST_WRAPS: Final = 3
"""Line ends at most that a number goes over."""
_WRAP = re.compile(r"[ \t]*\r?\n[ \t]*")


def digits_of(text: str) -> str:
    """The decimal digits of a text, of whatever script, as ASCII."""
    if text.isascii():
        return text.translate(_NO_OTHERS)
    return "".join(str(int(char)) for char in text if char.isdecimal())


Span = tuple[int, int]
"""Begin and end of a number in code points."""


def runs_of(source: SourceText) -> Iterator[Span]:
    """The places of every number of the text that may be one: whole runs, and what is left of them beside a date."""
    for match in _RUN.finditer(source.view):
        start, end = span = match.span()
        yield span
        if end - start > _SHORTEST_WITH_DATE and len((text := match[0]).split()) > 1:
            pieces = [(piece.group(), start + piece.start()) for piece in _PIECE.finditer(text)]
            if max(len(piece) for piece, _ in pieces) >= _SHORTEST_DATE:
                yield from _beside_dates(pieces)


def _beside_dates(pieces: list[tuple[str, int]]) -> Iterator[Span]:
    """`4711 12.03.2024` is a case number and a date, not one number."""
    group: list[tuple[str, int]] = []
    divided = False
    for text, start in [*pieces, ("", 0)]:
        is_date = parse_date(text.strip("().")) is not None
        divided = divided or is_date
        if is_date or not text:
            if group and divided:
                last, last_start = group[-1]
                yield group[0][1], last_start + len(last)
            group = []
        else:
            group.append((text, start))


def national(text: str) -> str:
    """A telephone number's digits without its country: `+41 (0)44 123` and `0041 44 123` are `044123`."""
    plus = text.strip().startswith(("+", "(+", "00"))
    digits = digits_of(text.replace("(0)", ""))
    if not plus:
        return digits
    digits = digits.removeprefix("00")
    country = next((code for code in _COUNTRIES if digits.startswith(code)), None)
    return "0" + digits.removeprefix(country) if country else digits


def _country(text: str) -> str | None:
    """The country a number names, None if it names none."""
    digits = digits_of(text)
    if text.strip().startswith(("+", "(+")) or digits.startswith("00"):
        return next((code for code in _COUNTRIES if digits.removeprefix("00").startswith(code)), digits[:6])
    return None


def _same_country(one: str, other: str) -> bool:
    named = {_country(one), _country(other)} - {None}
    return len(named) < 2


def find_phone(source: SourceText, runs: LookedFor[Span], value: str) -> tuple[int, int] | None:
    """A telephone number, with or without its country, also over a line end."""
    wanted = national(value)
    if _alphabetic(value):
        return _literal(source, value)
    if len(wanted) < 3:
        return None
    rows = _over_line_ends(source, runs, wanted[-1])
    found = (one for one in rows if national(one[2]) == wanted and _same_country(one[2], value))
    return next(((start, end) for start, end, _ in found), None)


def _over_line_ends(source: SourceText, runs: LookedFor[Span], last: str) -> Iterator[tuple[int, int, str]]:
    """Every run, and every row of runs that only line ends part, that may end with a digit: (start, end, text)."""
    view = source.view
    for number, (start, end) in enumerate(runs):
        row = view[start:end]
        following = islice(runs.behind(number + 1), MOST_WRAPS if _WRAP.match(view, end) else 0)
        while True:
            if row[-1] == last or not "0" <= row[-1] <= "9":
                yield start, end, row
            first, behind = next(following, (end, end))
            if not _WRAP.fullmatch(view, end, max(end, first)):
                break
            row, end = f"{row} {view[first:behind]}", behind


def _literal(source: SourceText, value: str) -> tuple[int, int] | None:
    """A number with alphabetic characters in it (`14-DW`, `30l3` of a scan), as it stands."""
    return stands_literally(source.text, value) if any(char.isdecimal() for char in value) else None


def _alphabetic(text: str) -> str:
    return "".join(char for char in text if char.isalnum() and not char.isdecimal())


def find_identifier(source: SourceText, runs: LookedFor[Span], value: str) -> tuple[int, int] | None:
    """An insurance or case number: digits as one whole number, and its alphabetic characters in their places."""
    if _alphabetic(value):
        return _find_mixed(source, value) or _literal(source, value)
    wanted = digits_of(value)
    if not wanted:
        return None
    long_ones = ((start, end) for start, end in runs if end - start >= len(wanted))
    whole = next(((start, end) for start, end in long_ones if digits_of(source.view[start:end]) == wanted), None)
    if whole or " " not in value.strip():
        return whole
    rows = (one for one in _over_line_ends(source, runs, wanted[-1]) if digits_of(one[2]) == wanted)
    return next(((start, end) for start, end, _ in rows), None)


def _find_mixed(source: SourceText, value: str) -> tuple[int, int] | None:
    compact = [char for char in value if char.isalnum()]
    if not any(char.isdecimal() for char in compact):
        return None
    wanted = lowered("".join(compact))
    return find_pieces(lowered(source.view), wanted, _MARKS, before=_MIXED_BEFORE, behind=_MIXED_BEHIND)


def find_postcode(source: SourceText, value: str) -> tuple[int, int] | None:
    """A postcode (`8006`, `CH-8006`): a number of its own, a place behind it where another number stands before it."""
    wanted = digits_of(value)
    alphabetic = _alphabetic(value).upper()
    if alphabetic not in ("", "CH", "A", "AT", "D", "DE", "FL", "LI"):
        return _literal(source, value)
    if not wanted:
        return None
    view = source.view
    for start, end in _wholes(view, wanted):
        before, after = view[max(0, start - 2) : start], view[end : end + 2]
        crowded = (before[-1:].isspace() and before[:1].isdecimal()) or (after[:1] == " " and after[1:].isdecimal())
        named = after[:1] in (" ", "\u00a0", "\t") and after[1:].isupper()
        prefix = view[max(0, start - 3) : start].upper().rstrip("- ")
        if (not crowded or named) and (not alphabetic or prefix.endswith(alphabetic)) and not before[-1:].isalpha():
            return start, end
    return None


_INSIDE_BEFORE, _INSIDE_AFTER = re.compile(r"(?<=\d)|(?<=\d[.,/-])"), re.compile(r"[.,/-]?\d")


def _wholes(view: str, digits: str) -> Iterator[tuple[int, int]]:
    """The places of some digits that are no part of a longer number or date."""
    start = view.find(digits)
    while start >= 0:
        end = start + len(digits)
        if not (_INSIDE_BEFORE.match(view, start) or _INSIDE_AFTER.match(view, end)):
            yield start, end
        start = view.find(digits, end)
