"""Short texts with what is there and what is not (`offered.tsv`): is the one still offered, and the other not?

A mention is judged by what its own words give alone, so the table needs no codes and suits any catalog: what gives no
code alone is not asked for. What is over or of a relative may give a code of chapter XXI; the disease's own may not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from clinical.icd import HEALTH_FACTORS, category
from clinical.reading import Candidate, SearchIndex

TABLE: Final = Path(__file__).with_name("offered.tsv")
_MARKED: Final = re.compile(r"\[([^][]{2,})\]|\{([^{}]+)\}")


class Marked(NamedTuple):
    """A mention of a probe text: `start` inclusive, `end` exclusive, in code points."""

    start: int
    end: int
    words: str
    stated: bool


class Offered(NamedTuple):
    """Of `stated` mentions that give a code alone, how many still do; of `absent` ones, which are offered as there."""

    stated: int
    kept: int
    absent: int
    leaked: tuple[str, ...]


@cache
def probe_texts() -> tuple[tuple[str, tuple[Marked, ...]], ...]:
    """Each text of the table and its mentions."""
    lines = TABLE.read_text("utf-8").splitlines()
    return tuple(read_marked(line.replace("\\n", "\n")) for line in lines if line and line[0] != "#")


def read_marked(line: str) -> tuple[str, tuple[Marked, ...]]:
    """A text without its marks, and what was marked in it."""
    text, at, found = "", 0, []
    for match in _MARKED.finditer(line):
        text += line[at : match.start()]
        words = match[1] or match[2]
        found.append(Marked(len(text), len(text) + len(words), words, match[2] is not None))
        text, at = text + words, match.end()
    return text + line[at:], tuple(found)


def offered(index: SearchIndex) -> Offered:
    """Every text of the table, as tier 1 shows it."""
    stated = kept = absent = 0
    leaked = []
    for text, marked in probe_texts():
        shown = _shown(index, text)
        categories = [_categories(index, own.words) for own in marked]
        there = {one for own, alone in zip(marked, categories, strict=True) if own.stated for one in alone}
        for own, alone in zip(marked, categories, strict=True):
            if own.stated and alone:
                stated += 1
                kept += any(category(hit.code) in alone or _meet(own, hit) for hit in shown)
            if not own.stated:
                absent += 1
                if any(_is_leak(hit, own, marked, alone - there) for hit in shown):
                    leaked.append(f"{own.words} | {text}")
    return Offered(stated, kept, absent, tuple(leaked))


def _is_leak(hit: Candidate, own: Marked, marked: Sequence[Marked], alone: set[str]) -> bool:
    """Return True if a code stands for an absent finding: by its place, which no stated mention shares, or its kind."""
    if hit.code in HEALTH_FACTORS:
        return False
    shared = any(other.stated and _meet(other, hit) for other in marked)
    return (_meet(own, hit) and not shared) or category(hit.code) in alone


def _meet(own: Marked, hit: Candidate) -> bool:
    return hit.start < own.end and own.start < hit.end


def _categories(index: SearchIndex, words: str) -> set[str]:
    return {category(hit.code) for hit in _shown(index, words)}


def _shown(index: SearchIndex, text: str) -> list[Candidate]:
    return [hit for hit in index.search(text, 10) if hit.confidence != "low"]
