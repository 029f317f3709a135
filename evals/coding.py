"""python -m evals coding --catalog DIR --queries FILE: how often the right code is found.

top_1, top_10: the first code, or one of the first ten, is right. top_1_category: the first code is in the right
three-character category. mrr: mean of 1 / rank among ten. recall_10: share of a text's codes among the first ten.
f1, f1_category: mean over texts of the F1 of the codes shown, whole and cut to three characters.
confidence: over the queries whose first code is `high` (`medium`), how often it is right (precision) and for how many
of all queries that is (coverage); `all`: the same over every code of that confidence, not only the first.
by_overlap: by the best Jaccard overlap of the query's words with any wording of a right code. Each measure is
[value, low, high] with a 95 % interval. A query that cannot be searched counts as failed, never as wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from clinical.errors import BefundError
from clinical.search import SearchIndex
from clinical.text import words
from evals import variants
from evals.datasets import Example, read_examples
from evals.metrics import mean, share
from evals.targets import Coded, SearchTarget, Target, target_of

LIMIT = 10
EDGES = (0.2, 0.4, 0.6, 0.8, 1.01)
VARIANTS: dict[str, Callable[[str, random.Random], str]] = {
    "none": lambda query, _: query,
    "typo": variants.typo,
    "spelling": variants.spelling,
}


class Outcome(NamedTuple):
    """One query: its codes, what came back, its overlap with the catalog, and whether it stands there verbatim."""

    example: Example
    found: tuple[Coded, ...] | None
    overlap: float
    verbatim: bool

    @property
    def rank(self) -> int | None:
        """Place of the first right code, from 1; None when it is not among those found."""
        places = [n for n, hit in enumerate(self.found or (), start=1) if hit.code in self.example.codes]
        return places[0] if places else None


def main(arguments: Sequence[str]) -> int:
    """Measure and print, as a table or as JSON."""
    parser = argparse.ArgumentParser(prog="python -m evals coding", description=__doc__)
    parser.add_argument("--catalog", type=Path, required=True, help="the artifact folder")
    parser.add_argument("--queries", type=Path, required=True, help="TSV with query and codes, or JSON lines")
    parser.add_argument("--variant", choices=VARIANTS, default="none", help="change every query in this way first")
    parser.add_argument("--tier", type=int, choices=(1, 2, 3), default=1, help="which tier answers")
    parser.add_argument("--target", default="in-process", help="in-process, or the address of a text API")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    try:
        index = SearchIndex.load(options.catalog)
        target = target_of(options.target, index, options.tier)
        outcomes = run(index, read_examples(options.queries), options.variant, target)
    except BefundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    result = report(outcomes) | target.about | {"variant": options.variant, "manifest": index.manifest.digest}
    print(json.dumps(result) if options.json else table(result))
    return 0


def run(
    index: SearchIndex, examples: Sequence[Example], variant: str = "none", target: Target | None = None
) -> list[Outcome]:
    """Ask the target (the index itself if none is given) every query; the variant is drawn with a fixed seed."""
    asked = target or SearchTarget(index)
    chance = random.Random(2026)  # noqa: S311 - reproducible, not a secret
    overlaps = _Overlaps(index)
    outcomes = []
    for example in tqdm(examples, desc="queries", unit="query", disable=None, leave=False):
        overlap, verbatim = overlaps.of(example)
        found = asked.ask(VARIANTS[variant](example.query, chance))
        outcomes.append(Outcome(example, found, overlap, verbatim))
    return outcomes


class _Overlaps:
    """Best word overlap of a query with any wording of its right codes."""

    def __init__(self, index: SearchIndex) -> None:
        tables = index.wordings.tables
        names = list(index.wordings.vocabulary)
        self._of: dict[str, list[tuple[str, ...]]] = {}
        for number, code in enumerate(tables.code):
            spelled = tuple(names[n] for n in tables.word[tables.word_start[number] : tables.word_start[number + 1]])
            self._of.setdefault(index.catalog.codes[code].code, []).append(spelled)
        self._all = {spelled for wordings in self._of.values() for spelled in wordings}

    def of(self, example: Example) -> tuple[float, bool]:
        """(overlap 0..1, whether the very words stand in the index under any code)."""
        spelled = tuple(word.text for word in words(example.query))
        own = set(spelled)
        best = 0.0
        for wording in (wording for code in example.codes for wording in self._of.get(code, ())):
            either = len(own.union(wording))
            best = max(best, len(own.intersection(wording)) / either if either else 0.0)
        return best, spelled in self._all


def report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All measures over all queries, over those not verbatim in the index, and by overlap."""
    result = measures(outcomes)
    result["confidence"] = {name: confidence(outcomes, name) for name in ("high", "medium")}
    result["not_verbatim"] = measures([outcome for outcome in outcomes if not outcome.verbatim])
    buckets = {}
    low = 0.0
    for high in EDGES:
        buckets[f"{low:.1f}-{min(high, 1.0):.1f}"] = measures([o for o in outcomes if low <= o.overlap < high])
        low = high
    result["by_overlap"] = buckets
    return result


def measures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of one set of queries."""
    answered = [outcome for outcome in outcomes if outcome.found is not None]
    size = len(answered)
    ranks = [outcome.rank for outcome in answered]
    category = [
        bool(outcome.found) and outcome.found[0].code[:3] in {code[:3] for code in outcome.example.codes}
        for outcome in answered
        if outcome.found is not None
    ]
    return {
        "n": len(outcomes),
        "answered": size,
        "failed": len(outcomes) - size,
        "top_1": share(sum(rank == 1 for rank in ranks), size),
        "top_10": share(sum(rank is not None for rank in ranks), size),
        "top_1_category": share(sum(category), size),
        "mrr": mean([1 / rank if rank else 0.0 for rank in ranks]),
        "recall_10": mean([_recall(outcome) for outcome in answered]),
        "f1": mean([_f1(outcome, 6) for outcome in answered]),
        "f1_category": mean([_f1(outcome, 3) for outcome in answered]),
    }


def confidence(outcomes: Sequence[Outcome], name: str) -> dict[str, Any]:
    """Precision and coverage of one confidence, over first codes and over all codes."""
    answered = [outcome for outcome in outcomes if outcome.found is not None]
    first = [o for o in answered if o.found and o.found[0].confidence == name]
    every = [(hit, o) for o in answered for hit in o.found or () if hit.confidence == name]
    return {
        "precision": share(sum(o.rank == 1 for o in first), len(first)),
        "coverage": share(len(first), len(answered)),
        "all": share(sum(hit.code in o.example.codes for hit, o in every), len(every)),
    }


def _recall(outcome: Outcome) -> float:
    return len(outcome.example.codes & {hit.code for hit in outcome.found or ()}) / len(outcome.example.codes)


def _f1(outcome: Outcome, length: int) -> float:
    """F1 of the codes that are shown (high and medium; in tiers 2 and 3 all), cut to `length` characters."""
    right = {code[:length] for code in outcome.example.codes}
    shown = {hit.code[:length] for hit in outcome.found or () if hit.shown}
    return 2 * len(right & shown) / (len(right) + len(shown))


def table(result: dict[str, Any]) -> str:
    """Plain text: one line a set of queries."""
    lines = [f"{'':24}{'n':>6} {'failed':>6}  top-1   top-10  3-char  MRR     recall at 10"]
    sets = {"all": result, "not verbatim in the index": result["not_verbatim"]}
    sets |= {f"overlap {name}": values for name, values in result["by_overlap"].items()}
    for name, values in sets.items():
        figures = [values[key] for key in ("top_1", "top_10", "top_1_category", "mrr", "recall_10")]
        cells = "".join(f"  {figure[0]:.3f} " if figure else "  -     " for figure in figures)
        lines.append(f"{name[:24]:24}{values['n']:6} {values['failed']:6}{cells}")
    for name, values in result["confidence"].items():
        precision, coverage = values["precision"], values["coverage"]
        if precision and coverage:
            of_all = f"; over all {name} codes {values['all'][0]:.3f}"
            lines.append(
                f"{name}: precision {precision[0]:.3f} ({precision[1]:.3f}-{precision[2]:.3f}) "
                f"on {100 * coverage[0]:.1f} % of queries{of_all}"
            )
    low, high = result["top_10"][1:] if result["top_10"] else (0, 0)
    about = ", ".join(
        f"{key} {result[key]}" for key in ("target", "tier", "model", "prompts", "variant") if key in result
    )
    lines.append(f"95 % interval of top-10: {low:.3f}-{high:.3f}; {about}")
    if result["f1"] and result["f1_category"]:
        lines.append(f"F1 of the codes shown: {result['f1'][0]:.3f}, three characters {result['f1_category'][0]:.3f}")
    return "\n".join(lines)
