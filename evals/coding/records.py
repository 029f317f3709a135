"""How each query came out, one object per query in the JSON file of a result.

Queries are named by a hash, so that two results can be paired without holding a text. A hash keeps a text out of sight,
not secret: who guesses it can confirm it. Texts are stored only where they are asked for (`--keep-texts`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from clinical.catalog import Catalog
from evals.coding.measures.hierarchy import distance_of
from evals.coding.measures.sets import CODE, f1_of
from evals.coding.outcomes import Outcome


def records(outcomes: Sequence[Outcome], catalog: Catalog, keep_texts: bool = False) -> list[dict[str, Any]]:
    """One object per query: its name, the right codes, the first code found, and what the measures made of it."""
    seen: Counter[str] = Counter()
    rows = []
    for outcome in outcomes:
        name = name_of(outcome)
        seen[name] += 1
        text = {"text": outcome.example.query} if keep_texts else {}
        row = {"id": f"{name}.{seen[name]}", **text, "codes": sorted(outcome.example.codes)}
        row |= {"kind": outcome.example.kind} if outcome.example.kind else {}
        rows.append(row | (_scores(outcome, catalog) if outcome.found is not None else {"failed": True}))
    return rows


def name_of(outcome: Outcome) -> str:
    """16 hexadecimal digits of the SHA-256 of the text and its right codes."""
    whole = "\0".join([outcome.example.query, *sorted(outcome.example.codes)])
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _scores(outcome: Outcome, catalog: Catalog) -> dict[str, Any]:
    first, right = outcome.first, outcome.example.codes
    return {
        "first": first.code if first else None,
        "confidence": first.confidence if first else None,
        "probability": round(first.probability, 4) if first and first.probability is not None else None,
        "rank": outcome.rank,
        "category": first is not None and first.code[:3] in {code[:3] for code in right},
        "recall_10": round(len(right & {hit.code for hit in outcome.found or ()}) / len(right), 4),
        "f1": round(f1_of(outcome, CODE), 4),
        "distance": distance_of(outcome, catalog),
    }
