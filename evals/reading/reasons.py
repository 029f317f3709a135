"""Reasons in the ledger of a text why a mention has no code, and how many of these mentions somebody stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clinical.coding import tier_one
from clinical.contract import ResearchRequest
from clinical.reading import SearchIndex
from evals.measures.intervals import share
from evals.measures.results import Row, row


def reasons(index: SearchIndex, rows: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """Counts by reason: mentions, and `stated`, those that touch a statement of the written input."""
    counts: dict[str, Counter[str]] = {}
    for given in rows:
        text = given["text"]
        stated = [(at, at + len(said["text"])) for said in given["codes"] if (at := text.find(said["text"])) >= 0]
        event = tier_one(ResearchRequest(query=text, details=True), index.catalog, index.read(text))
        for one in event.mentions or ():
            if one.reason is not None:
                own = counts.setdefault(one.reason, Counter())
                own["mentions"] += 1
                own["stated"] += any(start < one.span.end and one.span.start < end for start, end in stated)
    return counts


def rows_of(counts: Mapping[str, Mapping[str, int]]) -> Iterator[Row]:
    """The share that somebody stated, by reason, the most frequent first, as rows of the table of results."""
    for name, own in sorted(counts.items(), key=lambda each: -each[1]["mentions"]):
        yield from row("stated_without_code", name, own["mentions"], share(own["stated"], own["mentions"]))
