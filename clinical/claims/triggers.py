"""The table of trigger words, `context.tsv`: its rows and groups, read once.

One table for negation, certainty, temporality and experiencer, in the manner of NegEx and ConText (Chapman et al. 2001,
doi 10.1006/jbin.2001.1029; Harkema et al. 2009, doi 10.1016/j.jbi.2009.05.002). Its columns are explained at its top;
a clinician extends it without reading this file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from clinical.claims.patterns import Element, Mark, Words, elements_of, group_line, words_of

TABLE: Final = "context.tsv"

Axis = Literal["negation", "certainty", "temporality", "experiencer"]
AXES: Final[tuple[Axis, ...]] = get_args(Axis)
DEFAULTS: Final[Mapping[Axis, str]] = {
    "negation": "affirmed",
    "certainty": "certain",
    "temporality": "present",
    "experiencer": "patient",
}
"""Claim of a mention that no trigger governs, by axis."""

VALUES: Final[Mapping[Axis, tuple[str, ...]]] = {
    "negation": ("affirmed", "denied", "excluded"),
    "certainty": ("certain", "suspected", "questioned"),
    "temporality": ("present", "past", "hypothetical"),
    "experiencer": ("patient", "family", "other"),
}

_NAMED: Final = "".join(rf"(?<!{w} .)" for w in ("Influenza", "Hepatitis", "Grippe", "Typ", "Hämophilie", "Faktor"))
ENDING: Final = r"{}(?=[ \t]*(?:[,;\n]|\Z))(?<=[^\W\d_)] .)" + _NAMED
ANSWER_ENDS: Final = r"(?=[ \t]*(?:[;/\n]|,(?!\d)|\Z))"
ANSWER: Final = r"0(?<=[^\W\d_]{2}[ \t].)" + ANSWER_ENDS
"""A short answer at the end of an item of a form. Like the forms below it begins with its sign, not with what stands
before it: the search then skips everything else at once."""
BOX: Final = r"[\[(☐□▢◻○](?:(?<=\[) {0,2}\]|(?<=\() {1,2}\)|(?<=[☐□▢◻○]))"
TICKED: Final = r"(?:\[ ?[xX✓✗] ?\]|\( ?[xX] ?\)|[☑☒⊠■◼●✓✔])"
"""Boxes of a form as they are typed: left empty, and ticked."""
NO: Final = (
    r"nein|nö|nee|neg|keine?[nrs]?(?!\s+(?-i:[A-ZÄÖÜ]))|nirgends|0|(?:wohl |eher )?nicht(?! mehr)"
    r"|(?:nimmt|hat|hatte|bisher) keine?|wird (?:\w+ \w+ )?(?:verneint|abgestritten|bestritten)"
    r"|verneint|unwahrscheinlich|widerlegt|ausgeschlossen"
)
"""Pattern of a negative answer to a question; "Vaskulitis? Kein Fieber." answers another one."""
BOXES: Final = re.compile(BOX)
FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "-": re.compile(r"[-–−](?<=[^\W\d_)] .)(?=\s*(?:[,;/|\n]|\.(?!\w)|\Z))"),
    "(a-)": re.compile(r"[-–−](?<=[^\W\d_].)(?=[ \t]*(?:,[ \t]|[;/|\n]|\.(?!\w)|\Z))"),
    **{f"(^{letter})": re.compile(rf"(?m:^(?:[-•*] )?){letter}(?= [A-ZÄÖÜ])") for letter in "AVZ"},
    "(? nein)": re.compile(rf"\?(?=(?:[^?.;:\n]{{0,40}}(?:[=-]>|→|:)|)\s{{0,2}}(?i:{NO})(?![^\W\d_]))"),
    "(: 0)": re.compile(r":[ \t]?[0–−-](?=[ \t]*(?:[,;/\n]|\.(?!\w)|\Z))"),
    "( 0)": re.compile(ANSWER),
    **dict.fromkeys(("(☐)", "(☐ )"), BOXES),
    **{f"({letter}$)": re.compile(ENDING.format(letter)) for letter in "AVZ"},
}
"""Signs that say something at certain places only: a minus by itself between a word and a dividing mark ("Fieber -,
Husten +") or at the end of a word where a plus stands so too ("Fieber-, Husten+"), the answers "? nein", ": 0" and
": -", and the outpatient marker that opens a line or ends an item."""

Direction = Literal["before", "behind", "both", "around", "within", "clause", "own", "stop", "end", "pseudo"]
Scope = Literal["word", "item", "list", "sentence", "-"]
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
QUIET: Final[tuple[Direction, ...]] = ("pseudo", "stop", "end")
"""Directions of triggers that govern nothing."""


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
    """Number of marks among its elements."""
    needs: tuple[frozenset[str], ...] = ()
    """Words behind the first of each of which a text has one, or else the trigger stands nowhere in it."""

    @property
    def refutes(self) -> bool:
        """True if it may deny a mention, ask for it, or make it of somebody else."""
        asks = self.value == "questioned"
        return self.direction not in QUIET and (asks or not {"negation", "experiencer"}.isdisjoint(self.axes))


@dataclass(frozen=True, slots=True)
class Table:
    """The rows as they are looked for: by the first word, by the beginning of the first word, and the signs."""

    rows: tuple[TriggerRow, ...]
    heads: Words
    """Every word that a trigger may begin with."""
    by_word: Mapping[str, tuple[TriggerRow, ...]]
    by_stem: Mapping[str, tuple[TriggerRow, ...]]
    endings: tuple[tuple[Words, TriggerRow], ...]
    """Those that begin with a word of which only the end is named: what it has to be, and the row."""
    numbers: tuple[tuple[Words, TriggerRow], ...]
    """Those that begin with a number: what it has to be, and the row."""
    lengths: tuple[int, ...]
    signs: re.Pattern[str]
    by_sign: Mapping[str, TriggerRow]
    groups: Mapping[str, str]


@cache
def table() -> Table:
    """The table as it is shipped, read once. Raises ValueError naming the line that cannot be read."""
    return read_table(files("clinical.claims").joinpath(TABLE).read_text("utf-8"))


@cache
def refuting() -> Table:
    """The rows of the table that may refute a mention."""
    return _indexed([row for row in table().rows if row.refutes], table().groups)


@cache
def denying_words() -> frozenset[str]:
    """Spelled words that by themselves deny what they stand beside: "kein", "ohne", "verneint"."""
    single = (row for row in table().rows if "negation" in row.axes and row.value != "-" and len(row.elements) == 1)
    return frozenset(word for row in single for word in _head_of(row).words)


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
    axes = tuple(one for one in AXES if axis in (one, "all"))
    way = next((one for one in DIRECTIONS if one == direction), None)
    reach = next((one for one in SCOPES if one == scope), None)
    no_value = value != "-" and any(value not in VALUES[one] for one in axes)
    if not axes or way is None or reach is None or no_value:
        raise ValueError(f"{TABLE}, line {number}: no such axis, value, direction or scope in {columns[1:5]}")
    elements = () if is_sign(trigger) else elements_of(trigger, groups)
    marks = sum(isinstance(element, Mark) for element in elements)
    behind = [element for element in elements if isinstance(element, Words)][1:]
    needs = tuple(element.words for element in behind if element.plain and not element.optional)
    return TriggerRow(trigger, axes, value, way, reach, example, counter, elements, marks, needs)


def is_sign(trigger: str) -> bool:
    """True if a trigger is made of marks (`?`, `(-)`, `(A)`), not of words."""
    return trigger[0] == "(" or not any(char.isalnum() or char == "@" for char in trigger)


def _head_of(row: TriggerRow) -> Words:
    """The first word of a trigger that is none of marks."""
    return next(element for element in row.elements if isinstance(element, Words))


def _indexed(rows: Sequence[TriggerRow], groups: Mapping[str, str]) -> Table:
    by_word: defaultdict[str, list[TriggerRow]] = defaultdict(list)
    by_stem: defaultdict[str, list[TriggerRow]] = defaultdict(list)
    numbers: list[tuple[Words, TriggerRow]] = []
    endings: list[tuple[Words, TriggerRow]] = []
    for row in rows:
        if not row.elements:
            continue
        head = _head_of(row)
        for word in head.words:
            by_word[word].append(row)
        for stem in head.stems:
            by_stem[stem].append(row)
        if head.endings:
            endings.append((Words(frozenset(), (), head.endings), row))
        if head.number or head.year:
            numbers.append((head, row))
    signs = {row.trigger: row for row in rows if not row.elements}
    plain = [re.escape(sign) for sign in sorted(signs, key=len, reverse=True) if sign not in FORMS]
    ends = dict.fromkeys(ending for head, _ in endings for ending in head.endings)
    return Table(
        tuple(rows),
        Words(
            frozenset(by_word),
            tuple(by_stem),
            tuple(ends),
            number=any(head.number for head, _ in numbers),
            year=any(head.year for head, _ in numbers),
        ),
        {word: tuple(some) for word, some in by_word.items()},
        {stem: tuple(some) for stem, some in by_stem.items()},
        tuple(endings),
        tuple(numbers),
        tuple(sorted({len(stem) for stem in by_stem})),
        re.compile("|".join(plain) or r"(?!)"),
        signs,
        groups,
    )
