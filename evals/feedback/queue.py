"""Which texts to review next: those on which the most wrong answers are to be expected.

Worth of a text: how often it was sent, times the probability that the first code shown for it is wrong (certain where
a higher tier says another code). Summed over all texts that is the number of wrong first codes to be expected, so the
head of the queue is where a review changes most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from catalog_build.own_synonyms import spelled
from clinical.errors import SourceError
from clinical.search import SearchIndex
from evals.coding.targets import SearchTarget, Target, answers


class Waiting(NamedTuple):
    """A text, how often it came, what is shown first, the probability that this is right, and what a higher tier says
    (empty where none was asked, or it says the same)."""

    query: str
    times: int
    code: str
    probability: float
    other: str = ""

    @property
    def worth(self) -> float:
        """Wrong first codes to be expected."""
        return self.times * (1.0 if self.other else 1.0 - self.probability)


def texts_of(path: Path) -> list[str]:
    """One text a line. Raises SourceError where there is none."""
    lines = [" ".join(line.split()) for line in path.read_text(encoding="utf-8-sig", errors="replace").splitlines()]
    texts = [line for line in lines if spelled(line)]
    if not texts:
        raise SourceError(path.name, None, "holds no text", "one text a line", "name another file")
    return texts


def waiting(
    texts: Iterable[str], reviewed: Iterable[str], index: SearchIndex, higher: Target | None = None
) -> list[Waiting]:
    """The texts without a review, most useful first; spellings of the same words are one."""
    done = {spelled(text) for text in reviewed}
    counts, first = Counter[tuple[str, ...]](), dict[tuple[str, ...], str]()
    for text in texts:
        words = spelled(text)
        if words not in done:
            counts[words] += 1
            first.setdefault(words, text)
    queries = list(first.values())
    rows = [_waiting(text, counts[spelled(text)], found) for text, found in zip(
        queries, answers(SearchTarget(index), queries), strict=True)]  # fmt: skip
    if higher is not None:
        rows = _disputed(rows, higher)
    return sorted(rows, key=lambda row: (-row.worth, row.query))


def _waiting(text: str, count: int, found: Sequence[object] | None) -> Waiting:
    best = found[0] if found else None
    code, probability = getattr(best, "code", ""), getattr(best, "probability", None)
    return Waiting(text, count, code, probability or 0.0)


def _disputed(rows: list[Waiting], higher: Target) -> list[Waiting]:
    said = answers(higher, [row.query for row in rows])
    firsts = [found[0].code if found else "" for found in said]
    return [row._replace(other=other if other != row.code else "") for row, other in zip(rows, firsts, strict=True)]
