"""Annotated letters: whether what they state is found as a mention, with its claim, and coded, by claim.

The form of a line (JSON): `id`, and `codes`: statements with `text`, `start` (code points of the file `<id>.txt`, a
byte order mark counts), `claim`, `codes` (the first is the primary one) and `also`. The letters are as long as they
come; the contract's bound for a query does not hold here, each letter is read in pieces of whole lines.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from clinical.search import Mentioned, SearchIndex
from evals.reports.intervals import share

PIECE: Final = 1_900
"""Characters read at once, up to the end of a line: under the 2,000 of the contract."""


class StatedDiagnosis(NamedTuple):
    """What a letter states: `start` inclusive, `end` exclusive, in code points; all codes that are right for it."""

    start: int
    end: int
    claim: str
    codes: frozenset[str]


def read_letters(path: Path, texts: Path) -> Iterator[tuple[str, list[StatedDiagnosis]]]:
    """The letters of the file with their texts, and what each states."""
    for line in path.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        stated = [
            StatedDiagnosis(
                one["start"],
                one["start"] + len(one["text"]),
                {"denied": "excluded"}.get(one["claim"], one["claim"]),
                frozenset((*one["codes"], *one.get("also", ()))),
            )
            for one in row["codes"]
        ]
        yield (texts / f"{row['id']}.txt").read_text("utf-8"), stated


def counted(index: SearchIndex, path: Path, texts: Path) -> dict[str, Counter[str]]:
    """Counts by claim and for `all`: stated, touched (some mention lies there), claim (a touching one has the claim),
    coded (a touching one shows a right code); `found`: all mentions with a code, `right`: those that touch a statement
    one of whose codes they show."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text, stated in read_letters(path, texts):
        mentions = list(_mentions(index, text))
        for one in stated:
            near = [m for m in mentions if m.start < one.end and one.start < m.end]
            own = Counter(stated=1, touched=bool(near), claim=any(m.claim == one.claim for m in near))
            own["coded"] = any(one.codes & set(m.codes) for m in near)
            counts[one.claim] += own
            counts["all"] += own
        for mention in mentions:
            if mention.codes:
                near_codes = [s.codes for s in stated if s.start < mention.end and mention.start < s.end]
                counts["all"]["found"] += 1
                counts["all"]["right"] += any(codes & set(mention.codes) for codes in near_codes)
    return counts


def _mentions(index: SearchIndex, text: str) -> Iterator[Mentioned]:
    """The mentions of a letter, read piece by piece; places in the whole letter."""
    at = 0
    while at < len(text):
        end = len(text) if len(text) - at <= PIECE else text.rfind("\n", at + 1, at + PIECE) + 1 or at + PIECE
        for mention in index.read(text[at:end]).mentions:
            yield mention._replace(start=mention.start + at, end=mention.end + at)
        at = end


def lines(counts: dict[str, Counter[str]]) -> list[str]:
    """The table, one line a claim, with 95 % intervals of the shares of all."""
    rows = ["letters     stated  touched  claim  coded"]
    for name, own in sorted(counts.items()):
        shares = "  ".join(f"{own[part] / max(1, own['stated']):.3f}" for part in ("touched", "claim", "coded"))
        rows.append(f"{name:11s} {own['stated']:6d}    {shares}")
    every = counts["all"]
    right = share(every["right"], every["found"])
    if right:
        rows.append(f"mentions with a code: {every['found']}, right {right[0]:.3f} ({right[1]:.3f}-{right[2]:.3f})")
    return rows
