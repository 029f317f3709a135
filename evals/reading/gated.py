"""Gated measures of reading: coverage and precision of labels by kind of text, mentions, claims, errors on our inputs.

Claims are those of marked mentions of the authors nobody trained or tuned on, by author and with what is read instead.

The texts are generated from the wordings of the catalog that is measured, so a result says by what artifact it was
made, and one of other wordings is compared all the same: the intervals of the kept one say what chance allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clinical.reading import SearchIndex
from evals.measures.intervals import share
from evals.measures.results import Row, row
from evals.reading import claimed, claims
from evals.reading.generated import LEVELS, bands, found_in, generated
from evals.reading.inputs import read_inputs

TEXTS, SEED = 150, 2026
SHARES: Final = (("exact", "said"), ("claims_right", "claims"))


def measured(index: SearchIndex, size: int = TEXTS) -> dict[str, Any]:
    """A result of the kind `reading`."""
    texts = generated(index, size, SEED)
    counts = {name: dict(own) for name, own in sorted(found_in(index, texts).items())}
    written = dict(claimed.claimed(read_inputs(claimed.WRITTEN)))
    judged = [list(one) for one in claims.of_authors()]
    result = {
        "written": written,
        "authors": judged,
        "labels": bands(index, texts),
        "mentions": counts,
        "texts": size,
        "seed": SEED,
    }
    return result | {"manifest": index.manifest.digest}


def rows_of(found: Mapping[str, Any]) -> list[Row]:
    """The same as rows of the table of results."""
    rows: list[Row] = []
    for kind, own in found["labels"].items():
        rows += row("stated_and_shown", kind, own["stated"], own["coverage"])
        for level in LEVELS:
            rows += row(f"{level}_precision", kind, own[level]["codes"], own[level]["precision"])
    for name, own in found["mentions"].items():
        for part, whole in SHARES:
            size = own.get(whole, 0)
            rows += row(part, name, size, share(own.get(part, 0), size))
    rows += claims.measured_rows([claims.JudgedClaim(*one) for one in found["authors"]])
    return [*rows, *claimed.rows_of("written", found["written"])]
