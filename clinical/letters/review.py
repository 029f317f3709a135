"""Find kept values that may belong into another field, by comparing the answer with the rules' reading of the letter.

A value that the rules read in the same field is supported. One for which they read another value, or which they read in
another field of the same sort, is named for a human; so is an entry of a list that stands below the heading of another
list. Nothing is removed by it (decisions, "review").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from clinical.contract import Arztbrief, ReviewNote, Zuweisung, values_of
from clinical.letters.fields import FIELDS, PARTS, Fields, field_of
from clinical.letters.grounding import Grounded, ground
from clinical.letters.reader import RulesReader, lists_by_form

SHORTEST = 3
"""Characters from which on a value is looked for in other fields."""

Headed = Sequence[tuple[str, str]]
"""The parts of a letter below a heading: (the list it heads, their words)."""


class _Value(NamedTuple):
    """A kept value, its words, and where it stands."""

    path: str
    field: str
    text: str
    words: str
    start: int
    end: int

    def overlaps(self, other: _Value) -> bool:
        return self.start < other.end and other.start < self.end

    def says(self, other: _Value) -> bool:
        """True if one of both values is a part of the other."""
        return self.words in other.words or other.words in self.words


def reviewed(
    mine: Grounded, text: str, document: type[Zuweisung] | type[Arztbrief], fields: Fields = FIELDS
) -> Grounded:
    """The answer compared with what the rules read in the letter."""
    reader = RulesReader(text)
    theirs = ground(reader.read("arztbrief" if issubclass(document, Arztbrief) else "zuweisung"), text, document)
    return compared(mine, theirs, [(part, plain(words)) for part, words in reader.lists_by_heading()], fields)


def compared(mine: Grounded, theirs: Grounded, headed: Headed = (), fields: Fields = FIELDS) -> Grounded:
    """The answer with what supports each value, and a note for each that the rules read otherwise.

    `theirs`: what the rules read in the letter, grounded in it; `headed`: the lists of the letter by their heading.
    """
    read = list(_values(theirs))
    support: dict[str, str | None] = {}
    notes = []
    for value in _values(mine):
        agreed = any(_agree(value, one, fields) for one in read)
        support[value.path] = fields[value.field].support if agreed else None
        doubt = None if agreed else _doubt(value, read, headed, fields)
        if doubt:
            notes.append(ReviewNote(path=value.path, reason=doubt))
    evidence = tuple(one.model_copy(update={"support": support[one.path]}) for one in mine.evidence)
    return replace(mine, evidence=evidence, review=tuple(notes))


def _values(grounded: Grounded) -> Iterator[_Value]:
    stated = dict(values_of(grounded.data.model_dump()))
    for one in grounded.evidence:
        text = stated[one.path]
        yield _Value(one.path, field_of(one.path), text, plain(text), one.start, one.end)


def plain(text: str) -> str:
    """The words of a text alone, in lower case."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _agree(one: _Value, other: _Value, fields: Fields) -> bool:
    """True if both are the same value of the same field."""
    if one.field != other.field:
        return False
    return one.says(other) or one.overlaps(other)


def _doubt(value: _Value, read: Sequence[_Value], headed: Headed, fields: Fields) -> str | None:
    """Return the reason, in German, that a value not read by the rules in its field may belong elsewhere."""
    row = fields[value.field]
    if value.path == value.field and (own := next((one for one in read if one.field == value.field), None)):
        return f"Der Regelleser liest hier «{own.text}»."
    entry = row.sort == "entry"
    formed = lists_by_form(value.text) if entry else frozenset()
    for one in read if len(value.words) >= SHORTEST else ():
        if one.field == value.field or fields[one.field].sort != row.sort:
            continue
        if value.words == one.words or (entry and row.part not in formed and value.overlaps(one)):
            return f"Der Regelleser liest diesen Wert {_said(fields[one.field].part)}."
    if entry and row.part not in formed:
        parts = {part for part, words in headed if f" {value.words} " in f" {words} "} or set(formed)
        if parts and row.part not in parts:
            return f"Der Wert steht oder klingt im Brief {_said(min(parts))}."
    return None


def _said(part: str) -> str:
    """German phrase for the place of the values of a part of the document."""
    return PARTS[part].said if part in PARTS else f"bei «{part}»"
