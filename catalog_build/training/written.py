"""Inputs that people wrote, coded by hand: what the second stage of calibration learns of texts that no grammar has.

They are the texts of the authors to learn from (`catalog_build.training.authors`, split train) that have codes: notes,
lists, letters and messages in the manner of wards, practices, coders and patients of Germany, Austria and Switzerland,
each of another hand than the rules'. Whoever measures on them measures what was learnt from; what is kept apart for
measuring is in none of them (`tests/catalog_build/test_authors.py`).
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from catalog_build.training.authors import LabelledText, authors, read


class WrittenInput(NamedTuple):
    """A text, the codes that are right for anything it states, its author, the places (start, end in code points) that
    it states something at without a code being known for it, and the place and claim of each of its mentions."""

    text: str
    right: frozenset[str]
    source: str
    open: tuple[tuple[int, int], ...] = ()
    claims: tuple[tuple[int, int, str], ...] = ()

    def says(self, start: int, end: int, claim: str) -> bool:
        """True if no mention is marked at a place, or one that claims this; what is suspected counts as present."""
        there = {label for first, last, label in self.claims if first < end and start < last}
        return not there or claim in {"present" if label == "suspected" else label for label in there}


@cache
def written_inputs() -> tuple[WrittenInput, ...]:
    """All of them, author by author."""
    texts = read("train")
    return tuple(
        as_input(one, author.ident, author.coded == "all")
        for author in authors()
        for one in texts.get(author.ident, ())
        if is_coded(one)
    )


STATED: Final = ("present", "suspected", "history", "family")
"""Claims under which a mention's codes are right to show."""


def is_coded(text: LabelledText) -> bool:
    """True where the author gave codes; a text without any says nothing about them."""
    return any(mention.codes for mention in text.mentions)


def as_input(text: LabelledText, author: str, whole: bool = False) -> WrittenInput:
    """The text of an author as an input. `whole`: a mention without a code is none that is coded; else nobody knows."""
    stated = [one for one in text.mentions if one.claim in STATED or one.second in STATED]
    right = frozenset(code for one in stated for code in (*one.codes, *one.also))
    left = () if whole else tuple((one.start, one.end) for one in stated if not one.codes)
    claims = tuple((one.start, one.end, one.claim) for one in text.mentions)
    return WrittenInput(text.text, right, author, left, claims)
