"""The table of trigger words, `context.tsv`, and where its triggers stand in a text.

One table for negation, certainty, temporality and experiencer, in the manner of NegEx and ConText (Chapman et al. 2001,
doi 10.1006/jbin.2001.1029; Harkema et al. 2009, doi 10.1016/j.jbi.2009.05.002). Its columns are explained at its top;
a clinician extends it without reading this file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from clinical.language.context.patterns import Element, Gap, Mark, Words, elements_of, group_line, words_of
from clinical.language.tokens import COLON, COMMA, LINE, STOP, SourceText

TABLE: Final = "context.tsv"

Axis = Literal["negation", "certainty", "temporality", "experiencer"]
AXES: Final[tuple[Axis, ...]] = get_args(Axis)
DEFAULTS: Final[Mapping[Axis, str]] = {
    "negation": "affirmed",
    "certainty": "certain",
    "temporality": "present",
    "experiencer": "patient",
}
"""What is claimed of a mention that no trigger governs."""

VALUES: Final[Mapping[Axis, tuple[str, ...]]] = {
    "negation": ("affirmed", "denied", "excluded"),
    "certainty": ("certain", "suspected", "questioned"),
    "temporality": ("present", "past", "hypothetical"),
    "experiencer": ("patient", "family", "other"),
}

_NAMED: Final = "".join(rf"(?<!{w} .)" for w in ("Influenza", "Hepatitis", "Grippe", "Typ", "Hämophilie", "Faktor"))
_ENDING: Final = r"{}(?=[ \t]*(?:[,;\n]|\Z))(?<=[^\W\d_)] .)" + _NAMED
_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "-": re.compile(r"[-–−](?<=[^\W\d_)] .)(?=\s*(?:[,;/|\n]|\Z))"),
    **{f"(^{letter})": re.compile(rf"(?m:^(?:[-•*] )?){letter}(?= [A-ZÄÖÜ])") for letter in "AVZ"},
    "(? nein)": re.compile(r"\?(?=\s{0,2}(?i:nein|neg|keine?|0)(?![^\W\d_]))"),
    "(: 0)": re.compile(r":[ \t]?0(?=[ \t]*(?:[,;/\n]|\Z))"),
    **{f"({letter}$)": re.compile(_ENDING.format(letter)) for letter in "AVZ"},
}
"""Signs that say something at certain places only: a minus by itself between a word and a dividing mark ("Fieber -,
Husten +"), the answers "? nein" and ": 0", and the outpatient marker that opens a line or ends an item."""
_MARKED_ITEM: Final = re.compile(_ENDING.format("G"))  # by it, other letters at the ends of items are markers too
_MARKED_LINE: Final = re.compile(r"[GAVZ] (?=[A-ZÄÖÜ])(?:(?<=^..)|(?<=^[-•*] ..))", re.M)
MARKED_LINES: Final = 2
"""Lines that open with a marker before one of them is read as a marker: a single letter may be a name or a grade."""

Direction = Literal["before", "behind", "both", "within", "stop", "end", "pseudo"]
Scope = Literal["word", "item", "list", "sentence", "-"]


@dataclass(frozen=True, slots=True)
class TriggerRow:
    """One line of the table."""

    trigger: str
    axes: tuple[Axis, ...]
    value: str
    direction: Direction
    scope: Scope
    example: str
    counter_example: str
    elements: tuple[Element, ...]
    marks: int = 0
    """How many marks its elements name."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A trigger of a text: its row, its tokens `first..last` (a sign is no token: `last` is `first - 1`), and the
    tokens that are words of the trigger, not words it leaves room for."""

    row: TriggerRow
    first: int
    last: int
    cue_tokens: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """The rows as they are looked for: by the first word, by the beginning of the first word, and the signs."""

    rows: tuple[TriggerRow, ...]
    by_word: Mapping[str, tuple[TriggerRow, ...]]
    by_stem: Mapping[str, tuple[TriggerRow, ...]]
    numbers: tuple[tuple[Words, TriggerRow], ...]
    """Those that begin with a number: what it has to be, and the row."""
    lengths: tuple[int, ...]
    signs: re.Pattern[str]
    by_sign: Mapping[str, TriggerRow]
    groups: Mapping[str, str]


@cache
def table() -> Table:
    """The table as it is shipped, read once. Raises ValueError naming the line that cannot be read."""
    return read_table(files("clinical.language.context").joinpath(TABLE).read_text("utf-8"))


@cache
def denying_words() -> frozenset[str]:
    """Spelled words that by themselves deny what they stand beside: "kein", "ohne", "verneint"."""
    single = (row for row in table().rows if "negation" in row.axes and row.value != "-" and len(row.elements) == 1)
    return frozenset(word for row in single for word in row.elements[0].words)  # type: ignore[union-attr]


def written_groups() -> Mapping[str, str]:
    """The groups of words of the table by name, each as its words are written, with bars between."""
    return table().groups


@cache
def group(name: str) -> Words:
    """A group of words of the table by its name, for who asks about single words: `group("@relative")`.

    Raises KeyError for a name that the table does not have.
    """
    return words_of(table().groups[name])


def read_table(text: str) -> Table:
    """A table from the text of its file. Raises ValueError naming the line that cannot be read."""
    groups: dict[str, str] = {}
    rows: list[TriggerRow] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line[0] == "#":
            continue
        columns = line.split("\t")
        if columns[1:2] == ["="]:
            groups[columns[0]] = group_line(columns, groups)
        else:
            rows.append(_row(number, columns, groups))
    return _indexed(rows, groups)


def _row(number: int, columns: Sequence[str], groups: Mapping[str, str]) -> TriggerRow:
    if len(columns) != 7:
        raise ValueError(
            f"{TABLE}, line {number}: {len(columns)} columns; expected trigger, axis, value, direction, scope, example,"
            " counter-example, divided by tabs"
        )
    trigger, axis, value, direction, scope, *shown = columns
    example, counter = (text.replace("\\n", "\n") for text in shown)
    axes: tuple[Axis, ...] = AXES if axis == "all" else (axis,)  # type: ignore[assignment]
    known = (
        all(one in AXES and (value == "-" or value in VALUES[one]) for one in axes)
        and direction in get_args(Direction)
        and scope in get_args(Scope)
    )
    if not known:
        raise ValueError(f"{TABLE}, line {number}: no such axis, value, direction or scope in {columns[1:5]}")
    elements = () if is_sign(trigger) else elements_of(trigger, groups)
    marks = sum(isinstance(element, Mark) for element in elements)
    return TriggerRow(trigger, axes, value, direction, scope, example, counter, elements, marks)  # type: ignore[arg-type]


def is_sign(trigger: str) -> bool:
    """Whether a trigger is made of marks (`?`, `(-)`, `(A)`), not of words."""
    return trigger[0] == "(" or not any(char.isalnum() or char == "@" for char in trigger)


def _head_of(row: TriggerRow) -> Words:
    """The first word of a trigger that is none of marks."""
    return next(element for element in row.elements if isinstance(element, Words))


def _indexed(rows: Sequence[TriggerRow], groups: Mapping[str, str]) -> Table:
    by_word: defaultdict[str, list[TriggerRow]] = defaultdict(list)
    by_stem: defaultdict[str, list[TriggerRow]] = defaultdict(list)
    numbers: list[tuple[Words, TriggerRow]] = []
    for row in rows:
        if not row.elements:
            continue
        head = _head_of(row)
        for word in head.words:
            by_word[word].append(row)
        for stem in head.stems:
            by_stem[stem].append(row)
        if head.number or head.year:
            numbers.append((head, row))
    signs = {row.trigger: row for row in rows if not row.elements}
    plain = [re.escape(sign) for sign in sorted(signs, key=len, reverse=True) if sign not in _FORMS]
    return Table(
        tuple(rows),
        {word: tuple(some) for word, some in by_word.items()},
        {stem: tuple(some) for stem, some in by_stem.items()},
        tuple(numbers),
        tuple(sorted({len(stem) for stem in by_stem})),
        re.compile("|".join(plain) or r"(?!)"),
        signs,
        groups,
    )


def occurrences(source: SourceText, known: Table | None = None) -> tuple[Occurrence, ...]:
    """All triggers of a text in the order of their places. Where two share a word, the one with more words holds; of
    two equal ones of an axis a pseudo-trigger, then the one that also names marks.

    Linear in the length of the text: a trigger has a bounded number of words and of gaps.
    """
    rows = known or table()
    found = [*_of_words(source, rows), *_of_signs(source, rows)]
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


def _is_beaten(one: Occurrence, held: list[dict[Axis, int]]) -> bool:
    """Whether another trigger holds one of its words on one of its axes, or a longer one holds it on any."""
    if any(axis in sizes for sizes in held for axis in one.row.axes):
        return True
    own_axes_only = one.row.direction in ("stop", "end")
    return not own_axes_only and any(size > len(one.cue_tokens) for sizes in held for size in sizes.values())


def _of_words(source: SourceText, rows: Table) -> Iterator[Occurrence]:
    for word, places in source.word_places.items():
        for row in _beginning(word, rows):
            for i in places:
                own = _match(source, row.elements, i)
                if own:
                    yield Occurrence(row, own[0], own[-1], own, source.start[own[0]], source.end[own[-1]])


def _beginning(word: str, rows: Table) -> Sequence[TriggerRow]:
    """The rows whose trigger may begin with a word."""
    if word[0] == "#":
        return [row for head, row in rows.numbers if head.fits(word)]
    some = rows.by_word.get(word, ())
    if not rows.lengths:
        return some
    return (*some, *(row for length in rows.lengths for row in rows.by_stem.get(word[:length], ())))


def _of_signs(source: SourceText, rows: Table) -> Iterator[Occurrence]:
    found = [(match.start(), match.end(), match.group()) for match in rows.signs.finditer(source.text)]
    marked = len(_MARKED_LINE.findall(source.text)) >= MARKED_LINES
    shut = {"(^": not marked, "$)": _MARKED_ITEM.search(source.text) is None}
    for sign, form in _FORMS.items():
        if sign in rows.by_sign and not shut.get(sign[:2]) and not shut.get(sign[-2:]):
            found += [(match.start(), match.end(), sign) for match in form.finditer(source.text)]
    for start, end, sign in sorted(found):
        first = bisect_left(source.start, start)
        sign_tokens = tuple(i for i in range(first, min(first + 2, len(source))) if source.start[i] < end)
        behind = sign_tokens[-1] + 1 if sign_tokens else first
        at = (behind, behind - 1) if not sign_tokens else (sign_tokens[0], sign_tokens[-1])
        yield Occurrence(rows.by_sign[sign], *at, sign_tokens, start, end)


def _match(source: SourceText, elements: Sequence[Element], i: int) -> tuple[int, ...]:
    """The tokens of the trigger's own words where it begins at token `i`; empty where it does not stand there."""
    opens = 1 if isinstance(elements[0], Mark) else 0
    at = opens + 1
    if at < len(elements) and not _may_stand(source, elements[at], i + 1):
        return ()
    if opens and not _holds(source, elements[0], i):  # type: ignore[arg-type]
        return ()
    further = _walk(source, elements, (at, i + 1), LINE)
    return (i, *further) if further is not None else ()


def _may_stand(source: SourceText, element: Element, i: int) -> bool:
    """Whether an element may stand at token `i`: a look at the word alone, before anything else is asked."""
    if not isinstance(element, Words) or element.optional:
        return True
    return i < len(source.words) and element.fits(source.words[i])


def _walk(source: SourceText, elements: Sequence[Element], place: tuple[int, int], most: int) -> tuple[int, ...] | None:
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
            found = _walk_over(source, elements, (at, i), element.most)
            return None if found is None else (*own, *found)
        elif i < len(source.words) and element.fits(source.words[i]) and source.gap(i) <= most:
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


def _walk_over(
    source: SourceText, elements: Sequence[Element], place: tuple[int, int], most: int
) -> tuple[int, ...] | None:
    at, first = place
    for i in range(first, first + most + 1):
        if i > len(source) or (i < len(source) and source.gap(i) >= STOP):
            return None
        if at < len(elements) and not _may_stand(source, elements[at], i):
            continue
        found = _walk(source, elements, (at, i), COMMA)
        if found is not None:
            return found
    return None


def _holds(source: SourceText, mark: Mark, i: int) -> bool:
    if mark.sign == "-":
        return source.glue(i) == "-"
    if mark.sign == ":":
        return 0 < i < len(source) and source.gap(i) == COLON
    at_edge = i in (0, len(source)) or (mark.sign == "$" and is_answer(source, i))
    if mark.sign == "^":
        return at_edge or source.ends_clause(i) or source.gap(i) >= COMMA
    return at_edge or source.ends_clause(i) or (ends_item(source, i) and "(" not in source.glue(i))


def is_answer(source: SourceText, i: int) -> bool:
    """Whether the word before token `i` is all that a line says behind a colon: "Allergien: keine"."""
    return i > 0 and source.gap(i - 1) == COLON and (i == len(source) or "\n" in source.glue(i))


def ends_item(source: SourceText, i: int) -> bool:
    """Whether a comma, a bracket or a slash parts token `i` from the one before it."""
    return source.gap(i) == COMMA
