"""Find the triggers of the table in a text, and resolve those that share a word."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from clinical.claims.patterns import Element, Gap, Mark, Words
from clinical.claims.triggers import (
    ANSWER_ENDS,
    BOX,
    BOXES,
    ENDING,
    FORMS,
    TICKED,
    Axis,
    Table,
    TriggerRow,
    group,
    refuting,
    table,
)
from clinical.text import COLON, COMMA, LINE, STOP, SourceText, word_set

_MARKED_ITEM: Final = re.compile(ENDING.format("G"))  # by it, other markers at the ends of items count too
_MARKED_LINE: Final = re.compile(r"[GAVZ] (?=[A-ZÄÖÜ])(?:(?<=^..)|(?<=^[-•*] ..))", re.M)
_ANSWERED: Final = re.compile(r"[0nj+-](?<=[^\W\d_]{2}[ \t].)(?:(?<=[nj])\.|(?<=\+)\++)?" + ANSWER_ENDS)
ANSWERS: Final = 2
"""Items that end with a short answer (0, n, j, +) before one of them is read as one: a single 0 may be a stage."""
_PLUS: Final = re.compile(r"\+(?<=[^\W\d_]\+)(?=[ \t]*(?:[,;/|.\n]|\Z))")
"""By a plus at the end of a word a minus there is a sign too, not a hyphen ("Sturz-, Dekubitus-")."""
_BOX_LEADS: Final = re.compile(rf"[\n:][ \t]*(?:{BOX}|{TICKED})")
"""A box before the first word of a line or list belongs to what follows, and so do the others of the text."""
MARKED_LINES: Final = 2
"""Lines that open with a marker before one of them is read as a marker: a single letter may be a name or a grade."""


_HEAD: Final = re.compile(r"[.)]?[ \t]*:[ \t]*\n")
"""A colon at the end of a line, whatever stands below it."""
_Tokens = tuple[int, ...]
_PARTING: Final = word_set("und aber sondern jedoch")
"""Words that no trigger goes across whose words belong to one statement."""
TURNING: Final = "@not"
"""The group of words that no trigger leaves room for between its own: "lässt sich nicht ausschließen" says the opposite
of "lässt sich ausschließen"."""


class Occurrence(NamedTuple):
    """A trigger of a text: its row, its tokens `first..last` (a sign is no token: `last` is `first - 1`), and the
    tokens that are words of the trigger, not words it leaves room for."""

    row: TriggerRow
    first: int
    last: int
    cue_tokens: tuple[int, ...]
    start: int
    end: int


def occurrences(
    source: SourceText, known: Table | None = None, signs: Iterable[Occurrence] | None = None
) -> tuple[Occurrence, ...]:
    """All triggers of a text in the order of their places. Where two share a word, the one with more words holds; of
    two equal ones of an axis a pseudo-trigger, then the one that also names marks. `signs`: its signs, where known.

    Linear in the length of the text: a trigger has a bounded number of words and of gaps.
    """
    rows = known or table()
    found = [*_of_words(source, rows), *(signs_of(source, rows) if signs is None else signs)]
    found.sort(key=lambda one: (-len(one.cue_tokens), one.row.direction != "pseudo", -one.row.marks, one.first))
    taken: dict[int, dict[Axis, int]] = {}
    kept = []
    for one in found:
        held = [taken[i] for i in one.cue_tokens if i in taken]
        if not held or not _is_beaten(one, held):
            kept.append(one)
            for i in one.cue_tokens:
                taken.setdefault(i, {}).update(dict.fromkeys(one.row.axes, len(one.cue_tokens)))
    kept.sort(key=lambda one: (one.first, one.last))
    return tuple(kept)


def has_refutation(source: SourceText, signs: Iterable[Occurrence]) -> bool:
    """True if a trigger of a text may refute a mention, whether others beat it or not. `signs`: those of the text."""
    return any(sign.row.refutes for sign in signs) or next(_of_words(source, refuting()), None) is not None


def _is_beaten(one: Occurrence, held: list[dict[Axis, int]]) -> bool:
    """True if another trigger holds one of its words on one of its axes, or a longer one holds it on any."""
    if any(axis in sizes for sizes in held for axis in one.row.axes):
        return True
    own_axes_only = one.row.direction in ("stop", "end")
    return not own_axes_only and any(size > len(one.cue_tokens) for sizes in held for size in sizes.values())


def _of_words(source: SourceText, rows: Table) -> Iterator[Occurrence]:
    known = source.word_places
    words = known.keys()
    for word in rows.heads.fitting(known):
        for row in _beginning(word, rows):
            if any(words.isdisjoint(needed) for needed in row.needs):
                continue
            for i in _followed(source, row.elements, known[word]):
                own = _match(source, row.elements, i)
                if own:
                    yield Occurrence(row, own[0], own[-1], own, source.start[own[0]], source.end[own[-1]])


def _followed(source: SourceText, elements: Sequence[Element], places: Sequence[int]) -> Sequence[int]:
    """The places behind which the second word of a trigger stands, where it has to stand there: most fall at that."""
    at = 2 if isinstance(elements[0], Mark) else 1
    following = elements[at] if at < len(elements) else None
    if not isinstance(following, Words) or following.optional:
        return places
    words, last = source.words, len(source.words) - 1
    if following.plain:
        return [i for i in places if i < last and words[i + 1] in following.words]
    return [i for i in places if i < last and following.fits(words[i + 1])]


def _beginning(word: str, rows: Table) -> Sequence[TriggerRow]:
    """The rows whose trigger may begin with a word."""
    if word[0] == "#":
        return [row for head, row in rows.numbers if head.fits(word)]
    some = rows.by_word.get(word, ())
    if word.startswith(rows.heads.stems):
        some = (*some, *(row for length in rows.lengths for row in rows.by_stem.get(word[:length], ())))
    if word.endswith(rows.heads.endings):
        known = rows.by_word.get(word, ())
        some = (*some, *(row for head, row in rows.endings if head.fits(word) and row not in known))
    return some


def signs_of(source: SourceText, known: Table | None = None) -> Iterator[Occurrence]:
    """The triggers of a text that are signs, in the order of their places: some count only where others stand."""
    rows = known or table()
    text = source.text
    found = [(match.start(), match.end(), match.group()) for match in rows.signs.finditer(text)]
    marked = len(_MARKED_LINE.findall(text)) >= MARKED_LINES
    boxed = BOXES.search(text) is not None
    box = "(☐)" if boxed and _BOX_LEADS.search("\n" + text) else "(☐ )"
    dashed = _PLUS.search(text) is not None
    for sign, form in FORMS.items():
        counts = boxed and sign == box if form is BOXES else dashed if sign == "(a-)" else marked or sign[:2] != "(^"
        if counts and sign in rows.by_sign:
            places = [(match.start(), match.end(), sign) for match in form.finditer(text)]
            found += places if places and _is_told(sign, text) else ()
    for start, end, sign in sorted(found):
        first = bisect_left(source.start, start)
        sign_tokens = tuple(i for i in range(first, min(first + 2, len(source.words))) if source.start[i] < end)
        behind = sign_tokens[-1] + 1 if sign_tokens else first
        at = (behind, behind - 1) if not sign_tokens else (sign_tokens[0], sign_tokens[-1])
        yield Occurrence(rows.by_sign[sign], *at, sign_tokens, start, end)


def _is_told(sign: str, text: str) -> bool:
    """True if a sign says something in a text in which it stands: other signs of its kind do."""
    if sign[:2] == "( ":
        return len([*islice(_ANSWERED.finditer(text), ANSWERS)]) == ANSWERS
    if sign[-2:] == "$)":
        return _MARKED_ITEM.search(text) is not None
    return True


def _match(source: SourceText, elements: Sequence[Element], i: int) -> tuple[int, ...]:
    """The tokens of the trigger's own words where it begins at token `i`; empty where it does not stand there."""
    first, at = elements[0], 1
    if isinstance(first, Mark):
        if not _holds(source, first, i):
            return ()
        at = 2
    further = _walk(source, elements, (at, i + 1), LINE)
    return (i, *further) if further is not None else ()


def _may_stand(source: SourceText, element: Element, i: int) -> bool:
    """True if an element may match at token `i`, by the word alone: a cheap test before all others."""
    if not isinstance(element, Words) or element.optional:
        return True
    return i < len(source.words) and element.fits(source.words[i])


def _walk(source: SourceText, elements: Sequence[Element], place: tuple[int, int], most: int) -> _Tokens | None:
    """The own tokens of a trigger from one of its elements and one token on (`place`), None where it does not go on;
    `most`: how far the next word may be parted from the one before it."""
    at, i = place
    own: list[int] = []
    while at < len(elements):
        element = elements[at]
        at += 1
        if isinstance(element, Mark):
            if not _holds(source, element, i):
                return None
            most = COLON
        elif isinstance(element, Gap):
            found = _walk_over(source, elements, (at, i), element)
            return None if found is None else (*own, *found)
        elif i < len(source.words) and element.fits(source.words[i]) and source.gaps[i] <= most:
            if element.optional:
                found = _walk(source, elements, (at, i + 1), LINE)
                if found is None:
                    continue
                return (*own, i, *found)
            own.append(i)
            i, most = i + 1, LINE
        elif not element.optional:
            return None
    return tuple(own)


def _walk_over(source: SourceText, elements: Sequence[Element], place: tuple[int, int], gap: Gap) -> _Tokens | None:
    at, first = place
    most, parting = (LINE, COMMA) if gap.inner else (COMMA, STOP)
    turns = group(TURNING).fits
    for i in range(first, first + gap.most + 1):
        if i > len(source.words) or (source.followed if i == len(source.words) else source.gaps[i] >= parting):
            return None
        if i > first and (turns(source.words[i - 1]) or (gap.inner and source.words[i - 1] in _PARTING)):
            return None
        if at < len(elements) and not _may_stand(source, elements[at], i):
            continue
        found = _walk(source, elements, (at, i), most)
        if found is not None:
            return found
    return None


def _holds(source: SourceText, mark: Mark, i: int) -> bool:
    if mark.sign == "-":
        return source.glue(i) == "-"
    if mark.sign == ":":
        return 0 < i < len(source.words) and (source.gaps[i] == COLON or _HEAD.match(source.glue(i)) is not None)
    at_edge = i in (0, len(source.words)) or (mark.sign == "$" and is_answer(source, i))
    if mark.sign == "^":
        return at_edge or source.ends_clause[i] or source.gaps[i] >= COMMA
    return at_edge or source.ends_clause[i] or (ends_item(source, i) and "(" not in source.glue(i))


def is_answer(source: SourceText, i: int) -> bool:
    """True if the word before token `i` is the only one of its line behind a colon: "Allergien: keine"."""
    return i > 0 and source.gaps[i - 1] == COLON and (i == len(source.words) or "\n" in source.glue(i))


def ends_item(source: SourceText, i: int) -> bool:
    """True if a comma, a bracket or a slash divides token `i` from the one before it."""
    return source.gaps[i] == COMMA
