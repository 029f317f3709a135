"""Inputs that people wrote, coded by hand: what the second stage of calibration learns of texts that no grammar has.

1,596 invented inputs in fourteen sets (`written.jsonl`; the set is the letter and number before the hyphen of an `id`),
each of another author than the rules', in the manner of wards, practices, coders and patients of Germany, Austria and
Switzerland. The form of a line is that of `evals.reading.inputs`. Whoever measures on them measures what was learnt
from; what is kept apart for measuring is in none of them (`tests/catalog_build/test_written.py`).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = Path(__file__).with_name("written.jsonl")


class WrittenInput(NamedTuple):
    """A text, the codes that are right for anything it states, and the set it is of."""

    text: str
    right: frozenset[str]
    source: str


@cache
def written_inputs() -> tuple[WrittenInput, ...]:
    """All of them, set by set."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return tuple(
        WrittenInput(
            row["text"],
            frozenset(code for said in row["codes"] for code in (*said["codes"], *said.get("also", ()))),
            row["id"].partition("-")[0],
        )
        for row in rows
    )
