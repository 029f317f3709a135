"""The table of explicit words for values of fixed lists, and where its phrases stand in a text.

Every line of `enumerations.tsv` is one phrase: words, gaps and dividing marks, read once and matched token by token.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Final, Literal, get_args

from clinical.claims import Element, Gap, Mark, Words, elements_of, written_groups
from clinical.text import BOX_SIGNS, LINE, STOP, SourceText, name_key, spelling, word_set

TABLE: Final = "enumerations.tsv"

Role = Literal["says", "hints", "not"]
"""says: names the value. hints: names it where nothing says another one. not: its words say nothing here."""

ENDINGS: Final = ("", "e", "en", "er", "em", "es")
"""Endings of an adjective."""

LONGEST_APART: Final = 4
"""Tokens of a word at most that the text writes apart (`SourceText.merged`)."""

_YEAR = re.compile(r"#(?:19|20)\d\d(?:-|$)")
"""A year or a day, beside which a stroke divides: `(1950/w)`."""

LABELS: Final = word_set("klasse abteilung versicherung zusatzversicherung versicherungsklasse vorliegend ein vor ja")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One line of the table."""

    field: str
    value: str
    role: Role
    elements: tuple[Element, ...]
    lead: int
    """Number of the element that is its first word."""
    head: Words
    """Its first word."""
    needs: tuple[tuple[Words, int], ...]
    """The further words that it must have, and how many tokens behind its first each begins at most."""

    @classmethod
    def of(cls, field: str, value: str, role: Role, elements: tuple[Element, ...]) -> Phrase:
        """A phrase with what it is looked for by."""
        lead, head = next((number, _one(words)) for number, words in enumerate(elements) if isinstance(words, Words))
        needs, reach = [], LONGEST_APART
        for element in elements[lead + 1 :]:
            if isinstance(element, Words) and not (element.optional or element.number or element.year):
                needs.append((_one(element), reach))
            reach += LONGEST_APART if isinstance(element, Words) else element.most if isinstance(element, Gap) else 0
        return cls(field, value, role, elements, lead, head, tuple(needs))


@cache
def _one(words: Words) -> Words:
    """The same words always as one object, so that they are known by it."""
    return words


@lru_cache(maxsize=1)
def table() -> tuple[Phrase, ...]:
    """The lines of the table. Raises ValueError naming the line that cannot be read."""
    text = files("clinical.letters.grounding.enumerations").joinpath(TABLE).read_text("utf-8")
    lines = [(number, line.split("\t")) for number, line in enumerate(text.splitlines(), 1) if line and line[0] != "#"]
    groups = dict(written_groups())
    for _, columns in lines:
        if columns[0][0] == "@":
            groups[columns[0]] = "|".join(groups.get(word, word) for word in columns[2].split())
    written = [(columns[0], columns[1], *columns[3:5]) for _, columns in lines if columns[2:3] == ["="]]
    return tuple(
        phrase
        for number, columns in lines
        if columns[0][0] != "@" and columns[2:3] != ["="]
        for phrase in _read(number, columns, written, groups)
    )


def _read(
    number: int, columns: list[str], written: list[tuple[str, ...]], groups: Mapping[str, str]
) -> Iterator[Phrase]:
    """The phrases of one line: one, or for the value `*` one of every written form of every value of its list."""
    role = next((one for one in get_args(Role) if columns[2:3] == [one]), None)
    if len(columns) < 4 or role is None:
        raise ValueError(f"{TABLE}, line {number}: expected field, value, says|hints|not, phrase, remark; tabs between")
    field, value, _, phrase = columns[:4]
    forms = [(one, stem, form) for path, one, stem, form in written if path == field] if value == "*" else []
    for one, stem, form in forms or [(value, "", "")]:
        parts = re.sub(r"@v\b", form, phrase.replace("%", stem)).split()
        row = " ".join(_inflected("|".join(groups.get(word, word) for word in part.split("|"))) for part in parts)
        yield Phrase.of(field, one, role, elements_of(row, groups, _key))


def _inflected(part: str) -> str:
    """Every ending of an adjective for each word that is written with a plus: `privat+`."""
    return re.sub(r"([^\W\d_]+)\+", lambda word: "|".join(word[1] + ending for ending in ENDINGS), part)


def _key(word: str) -> str:
    return name_key(spelling(word))


@lru_cache(maxsize=32)
def phrases(field: str, value: str) -> tuple[Phrase, ...]:
    """The phrases of one value, in the order of the table."""
    return tuple(phrase for phrase in table() if (phrase.field, phrase.value) == (field, value))


@lru_cache(maxsize=16)
def values(field: str) -> tuple[str, ...]:
    """The values of a list that the table names."""
    return tuple(dict.fromkeys(phrase.value for phrase in table() if phrase.field == field))


@lru_cache(maxsize=16)
def choices(field: str) -> frozenset[str]:
    """Words of the field's single-word phrases and labels' values: what a form offers side by side."""
    last = (phrase.elements[-1] for phrase in table() if phrase.field == field and phrase.role != "not")
    words = {word for element in last if isinstance(element, Words) for word in element.words}
    return frozenset(words | {"m", "w", "d", "divers"} if field == "patient.geschlecht" else words - LABELS)


@cache
def _affixes() -> Words:
    """Every beginning and ending by which a phrase is looked for."""
    every = [words for one in table() for words in (one.head, *(words for words, _ in one.needs))]
    some = [words for words in every if words.stems or words.endings]
    stems = dict.fromkeys(stem for words in some for stem in words.stems)
    endings = dict.fromkeys(ending for words in some for ending in words.endings)
    numbers, years = (any(each) for each in zip(*((words.number, words.year) for words in some), strict=True))
    return Words(frozenset(), tuple(stems), tuple(endings), numbers, years)


class PhrasePlaces:
    """The places of the words of phrases in one text, each looked up once."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._known: dict[int, list[int]] = {}
        """By the object of the words, which the table keeps."""

    @cached_property
    def _indexes(self) -> list[tuple[Mapping[str, list[int]], set[str]]]:
        """The words of the text, and those broken by a hyphen in one piece; which of them have an affix of a phrase."""
        return [(index, _affixes().fitting(index)) for index in (self.source.name_places, self.source.merged_places)]

    def places(self, words: Words) -> list[int]:
        """The tokens at which one of the words begins, in the order of the text."""
        found = self._known.get(id(words))
        if found is None:
            places: list[int] = []
            for index, some in self._indexes:
                fitting = words.words & index.keys()
                if words.stems or words.endings:
                    fitting |= {word for word in some if words.fits(word)}
                for word in fitting:
                    places += index[word]
            found = self._known[id(words)] = sorted({*places})
        return found

    def starts(self, phrase: Phrase) -> Sequence[int]:
        """The places of a phrase's first word behind which each further word that it must have stands near enough:
        most phrases fall at that."""
        starts: Sequence[int] = self.places(phrase.head)
        for words, reach in phrase.needs:
            if starts:
                starts = _before(starts, self.places(words), reach)
        return starts


def _before(starts: Sequence[int], places: Sequence[int], reach: int) -> Sequence[int]:
    """Those of the tokens behind which one of the places comes within reach."""
    if not places:
        return ()
    after = (bisect_right(places, start) for start in starts)
    return [start for start, at in zip(starts, after, strict=True) if at < len(places) and places[at] <= start + reach]


def matches(places: PhrasePlaces, phrase: Phrase) -> Iterator[range]:
    """Every place of a phrase, as token numbers, in the order of the text."""
    source, elements, lead = places.source, phrase.elements, phrase.lead
    for start in places.starts(phrase):
        if lead and not divided(source, start, elements[0]):
            continue
        behind = _fits(source, phrase.head, start)
        end = _walk(source, elements[lead + 1 :], behind) if behind else None
        if end is not None:
            yield range(start, end)


def _fits(source: SourceText, word: Words, i: int) -> int | None:
    """The token number behind the word, written in one piece or broken by a hyphen, or None."""
    if word.fits(source.name(i)):
        return i + 1
    return next((behind for joined, behind in source.merged.get(i, ()) if word.fits(joined)), None)


def _walk(source: SourceText, elements: tuple[Element, ...], i: int) -> int | None:
    """The token number behind the phrase whose remaining elements begin at token `i`, or None."""
    if not elements:
        return i
    element, rest = elements[0], elements[1:]
    if isinstance(element, Mark):
        return _walk(source, rest, i) if divided(source, i, element) else None
    if isinstance(element, Gap):
        for skipped in range(element.most + 1):
            if skipped and not _may_skip(source, i + skipped - 1, i):
                return None
            end = _walk(source, rest, i + skipped)
            if end is not None:
                return end
        return None
    behind = _fits(source, element, i) if i < len(source) and _same_entry(source, i) else None
    end = _walk(source, rest, behind) if behind else None
    if end is not None:
        return end
    return _walk(source, rest, i) if element.optional else None


def _may_skip(source: SourceText, k: int, first: int) -> bool:
    """A gap does not leave its sentence; it may begin behind the mark of a label."""
    return k + 1 < len(source) and (
        source.gap(k) < STOP or (k == first and any(sign in source.glue(k) for sign in "\t|"))
    )


def _same_entry(source: SourceText, i: int) -> bool:
    glue = source.glue(i)
    return source.gap(i) < STOP or (not glue.strip(" \n\t\r:|–-)") and glue.count("\n") < 2)


def divided(source: SourceText, i: int, mark: Element) -> bool:
    """True if the mark stands before token `i`."""
    if i in (0, len(source)):
        return isinstance(mark, Mark) and mark.sign == ","
    glue = source.glue(i)
    if isinstance(mark, Mark) and mark.sign == ":":
        return any(sign in glue for sign in ":\t\n|") or "   " in glue
    boxed = any(sign in glue for sign in BOX_SIGNS)
    if boxed or "  " in glue or source.gap(i) < LINE:
        return boxed or "  " in glue
    return "/" not in glue or " / " in glue or any(_YEAR.match(source.words[k]) for k in (i - 1, i))
