"""Annotated letters in other words and other lines: what training sees beside the letters as they were written.

Houses, people, streets and places are exchanged for those of other letters, so that a network learns where a value
stands and not its words. Columns, empty lines and line breaks are set as a file's text has them, and a few characters
are misread as a scan's are. Marks move with their words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from catalog_build.training.letters import LabelledLetter

EXCHANGED: Final = (
    *("patient.nachname", "patient.vorname", "patient.strasse", "patient.ort", "versicherung.name"),
    *(
        f"{party}.{one}"
        for party in ("absender", "empfaenger")
        for one in ("institution", "abteilung", "name", "strasse", "ort", "telefon", "email")
    ),
)
"""Fields whose values are exchanged."""
EXCHANGE, EVERYWHERE_FROM = 0.6, 4
"""Share of the values that are exchanged, and characters from which a value is exchanged wherever it is said."""
JOINED, BROKEN, UNINDENTED, EMPTIED = 0.04, 0.25, 0.6, 0.5
"""Shares of line breaks that become blanks, of gaps of columns that become line breaks, and of letters without
indents and without some of their empty lines."""
WIDTHS: Final = (70, 110)
"""Least and most characters at which long lines are broken."""
MISREAD: Final = 0.004
"""Share of the characters that are misread."""
_LIKE: Final[Mapping[str, str]] = {
    **{"ä": "a", "ö": "o", "ü": "u", "ß": "B", "l": "I", "I": "l", "m": "rn", "e": "c", "c": "e", "i": "l"},
    **{"O": "0", "S": "5", "B": "8", "t": "f", "f": "t", "n": "ri", "h": "b", "u": "ii"},
}
_GAP: Final = re.compile(r"(?<=\S)(?:[ ]{2,}|\t+)(?=\S)")
_INDENT: Final = re.compile(r"(?m)^[ \t]+(?=\S)")
_BREAK: Final = re.compile(r"(?<=[\w,])\n(?=\S)")
_EMPTY: Final = re.compile(r"\n[ \t]*(?=\n)")
_FOOT: Final = ("Seite 1 von 2", "Seite 2", "- 2 -", "Vertraulich", "Blatt 2")

Values = Mapping[tuple[str, str], Sequence[str]]


class Edit(NamedTuple):
    """Words in place of those from `start` to `end`."""

    start: int
    end: int
    words: str


def values_by_field(letters: Iterable[LabelledLetter]) -> Values:
    """The words of the values that may be exchanged, by kind of letter and field."""
    found: dict[tuple[str, str], list[str]] = {}
    for letter in letters:
        for value in letter.values:
            if value.field in EXCHANGED and not value.stated and "\n" not in value.words:
                found.setdefault((letter.kind, value.field), []).append(value.words)
    return found


def exchanged(letter: LabelledLetter, values: Values, drawn: np.random.Generator) -> LabelledLetter:
    """The letter with values of other letters."""
    edits: list[Edit] = []
    for value in letter.values:
        others = values.get((letter.kind, value.field), ())
        if value.stated or not others or drawn.random() >= EXCHANGE:
            continue
        words = others[int(drawn.integers(len(others)))]
        edits.append(Edit(value.start, value.end, words))
        if len(value.words) >= EVERYWHERE_FROM:
            said = re.finditer(rf"(?<!\w){re.escape(value.words)}(?!\w)", letter.text)
            edits += [Edit(*one.span(), words) for one in said if one.start() != value.start]
    bounds = {bound for value in letter.values for bound in (value.start, value.end)}
    return _edited(letter, [one for one in edits if not any(one.start < bound < one.end for bound in bounds)])


def relined(letter: LabelledLetter, drawn: np.random.Generator) -> LabelledLetter:
    """The letter with the columns and line breaks of a file's text."""
    text = letter.text
    edits = [Edit(*one.span(), "\n" if drawn.random() < BROKEN else "   ") for one in _GAP.finditer(text)]
    if drawn.random() < UNINDENTED:
        edits += [Edit(*one.span(), "") for one in _INDENT.finditer(text)]
    if drawn.random() < EMPTIED:
        edits += [Edit(*one.span(), "") for one in _EMPTY.finditer(text) if drawn.random() < EMPTIED]
    edits += [Edit(*one.span(), " ") for one in _BREAK.finditer(text) if drawn.random() < JOINED]
    edits += _wrapped(text, int(drawn.integers(*WIDTHS)))
    if drawn.random() < EMPTIED and (breaks := [one.start() for one in _EMPTY.finditer(text)]):
        at = breaks[int(drawn.integers(len(breaks)))]
        edits.append(Edit(at, at, f"\n{_FOOT[int(drawn.integers(len(_FOOT)))]}"))
    return _edited(letter, edits)


def _wrapped(text: str, width: int) -> Iterator[Edit]:
    for line in re.finditer(r".+", text):
        begun = line.start()
        while line.end() - begun > width:
            at = text.rfind(" ", begun + 1, begun + width)
            if at < 0:
                break
            yield Edit(at, at + 1, "\n")
            begun = at + 1


def misread(letter: LabelledLetter, drawn: np.random.Generator) -> LabelledLetter:
    """The letter with a few characters taken for others."""
    places = np.flatnonzero(drawn.random(len(letter.text)) < MISREAD).tolist()
    return _edited(letter, [Edit(at, at + 1, _LIKE[letter.text[at]]) for at in places if letter.text[at] in _LIKE])


def _edited(letter: LabelledLetter, edits: Iterable[Edit]) -> LabelledLetter:
    """The letter with its edits; of two that overlap the first."""
    kept: list[Edit] = []
    for one in sorted(edits):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    said, behind = list[str](), 0
    for one in kept:
        said += [letter.text[behind : one.start], one.words]
        behind = one.end
    text = "".join([*said, letter.text[behind:]])
    starts = [one.start for one in kept]
    grown = [0, *accumulate(len(one.words) - (one.end - one.start) for one in kept)]

    def moved(at: int, is_end: bool) -> int:
        n = bisect_left(starts, at)
        if n and kept[n - 1].end > at:
            one = kept[n - 1]
            return one.start + grown[n - 1] + (len(one.words) if is_end else 0)
        return at + grown[n]

    values = []
    for value in letter.values:
        start, end = moved(value.start, False), moved(value.end, True)
        values.append(value._replace(start=start, end=end, words=text[start:end]))
    return letter._replace(text=text, values=tuple(values))
