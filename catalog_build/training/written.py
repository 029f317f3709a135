"""Inputs that people wrote, coded by hand: what the second stage of calibration learns of texts that no grammar has.

1,596 invented inputs in fourteen sets (`written.jsonl`; the set is the letter and number before the hyphen of an `id`),
each of another author than the rules', in the manner of wards, practices, coders and patients of Germany, Austria and
Switzerland; the form of a line is that of `evals.reading.inputs`. And the texts of authors who gave codes
(`catalog_build.training.authors`, split train). Whoever measures on them measures what was learnt from; what is kept
apart for measuring is in none of them (`tests/catalog_build/test_written.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from catalog_build.training.authors import Author, LabelledText, authors, read

FILE: Final = Path(__file__).with_name("written.jsonl")


class WrittenInput(NamedTuple):
    """A text, the codes that are right for anything it states, the set it is of, and the places (start, end in code
    points) that it states something at without a code being known for it."""

    text: str
    right: frozenset[str]
    source: str
    open: tuple[tuple[int, int], ...] = ()


@cache
def written_inputs() -> tuple[WrittenInput, ...]:
    """All of them, set by set."""
    own = tuple(
        WrittenInput(
            row["text"],
            frozenset(code for said in row["codes"] for code in (*said["codes"], *said.get("also", ()))),
            source_of(row),
        )
        for row in written_rows()
    )
    texts = read("train")
    return own + tuple(
        as_input(one, author) for author in authors() for one in texts.get(author.ident, ()) if is_coded(one)
    )


@cache
def written_rows() -> tuple[Mapping[str, Any], ...]:
    """The rows of FILE."""
    return tuple(json.loads(line) for line in FILE.read_text("utf-8").splitlines())


def source_of(row: Mapping[str, Any]) -> str:
    """The set that a row of FILE is of."""
    return str(row["id"]).partition("-")[0]


def marked_inputs() -> list[tuple[str, str, tuple[tuple[int, int], ...]]]:
    """Set and text of those rows of FILE that only state what is there, and where it stands (start, end in code
    points): other statements are marked there together with the words that tell of the claim."""
    found = []
    for row in written_rows():
        marks = _places(row["text"], [said["text"] for said in row["codes"]])
        if marks is not None and not row.get("absent") and all(said["claim"] == "present" for said in row["codes"]):
            found.append((source_of(row), row["text"], marks))
    return found


def _places(text: str, said: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
    """Find the place of each of these words, the next one where they occur again; None if one is missing."""
    taken: list[tuple[int, int]] = []
    for words in said:
        starts = [match.start() for match in re.finditer(re.escape(words), text)]
        free = [at for at in starts if all(at >= end or at + len(words) <= start for start, end in taken)]
        if not words or not free:
            return None
        taken.append((free[0], free[0] + len(words)))
    return tuple(sorted(taken))


STATED: Final = ("present", "suspected", "history", "family")
"""Claims under which a mention's codes are right to show."""


def is_coded(text: LabelledText) -> bool:
    """True where the author gave codes; a text without any says nothing about them."""
    return any(mention.codes for mention in text.mentions)


def as_input(text: LabelledText, author: Author) -> WrittenInput:
    """The text of an author as an input."""
    stated = [one for one in text.mentions if one.claim in STATED or one.second in STATED]
    right = frozenset(code for one in stated for code in (*one.codes, *one.also))
    left = () if author.coded == "all" else tuple((one.start, one.end) for one in stated if not one.codes)
    return WrittenInput(text.text, right, author.ident, left)
