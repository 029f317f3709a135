"""A data set measured, and two measurements compared in pairs: tables of figures with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from clinical.search import SearchIndex
from evals.coding.measure import Way, result_of, run
from evals.coding.outcomes import Outcome
from evals.coding.records import records
from evals.coding.targets import target_of
from evals.lab.opened import Artifact, Data, data_of, opened
from evals.reports.paired import Pair, changes, label_changes, pairs_of
from evals.reports.paired import flips as flipped
from evals.reports.results import read_result, write_result

FIGURES: Final = ("top_1", "top_3", "top_10", "top_1_category", "mrr", "recall_10", "f1", "distance")
BANDS: Final = ("high", "medium")


@dataclass(frozen=True)
class Evaluation:
    """How each query of a data set came out. `result`: what `evals coding --out` writes, without a text."""

    result: dict[str, Any]
    outcomes: tuple[Outcome, ...]
    index: SearchIndex

    @property
    def figures(self) -> pd.DataFrame:
        """Measures with value, low, high (95 %). Precision of a band: of first codes so marked; coverage: their share
        of the queries."""
        rows = dict(_figures(self.result))
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"]).rename_axis("measure")

    def save(self, path: str | Path, keep_texts: bool = False) -> None:
        """For `python -m evals compare` and `report`; `keep_texts`: with the texts of the queries."""
        rows = records(self.outcomes, self.index.catalog, keep_texts)
        write_result(Path(path).expanduser(), self.result | {"queries": rows})

    def _repr_html_(self) -> str:
        n, failed = self.result["n"], self.result["failed"]
        return f"<p>{n} queries, {failed} failed</p>" + str(self.figures.round(4).to_html())


def evaluate(
    data: Data,
    catalog: Artifact = None,
    *,
    tier: int = 1,
    variant: str = "none",
    target: str = "in-process",
    concurrency: int = 1,
) -> Evaluation:
    """Ask every query of a data set; the options are those of `python -m evals coding`.

    Raises SourceError for a data set that cannot be read, SettingError where a tier needs a model and there is none.
    """
    index, dataset = opened(catalog), data_of(data)
    asked = target_of(target, index, tier, concurrency)
    outcomes = run(index, dataset.examples, variant, asked, Way(None, concurrency))
    result = result_of(outcomes, index, dataset, target=asked, variant=variant, keep_texts=False)
    return Evaluation(result, tuple(outcomes), index)


def compare(before: Evaluation | str | Path, after: Evaluation | str | Path) -> pd.DataFrame:
    """What changed on the same queries, a row a measure: values, difference with its 95 % interval, p of no difference
    (exact McNemar test, paired bootstrap), queries won and lost, and a verdict: better, worse, or chance; then what
    labels and probabilities are worth, also by kind of input (bootstrap over categories).

    Evaluations or files of results. Raises SourceError where the queries are not the same.
    """
    rows = []
    pairs = _pairs(before, after)
    for change in changes(pairs) + label_changes(pairs):
        verdict = "chance" if not change.real else "better" if change.better > 0 else "worse"
        counts = (change.won, change.lost)
        rows.append((change.name, change.before, change.after, *change.difference, change.p, *counts, verdict))
    columns = ["measure", "before", "after", "difference", "low", "high", "p", "won", "lost", "verdict"]
    return pd.DataFrame(rows, columns=columns).set_index("measure").astype({"won": "Int64", "lost": "Int64"})


def flips(before: Evaluation | str | Path, after: Evaluation | str | Path, measure: str = "top_1") -> pd.DataFrame:
    """The queries that came out differently by a yes/no measure (top_1, top_10, top_1_category); texts where known."""
    won, lost = flipped(_pairs(before, after), measure)
    rows = [(kind, *_flip(pair)) for kind, pairs in (("won", won), ("lost", lost)) for pair in pairs]
    return pd.DataFrame(rows, columns=["flip", "text", "right", "before", "after", "rank_before", "rank_after"])


def _flip(pair: Pair) -> tuple[Any, ...]:
    one, other = pair
    text = one.get("text") or other.get("text")
    return (text, tuple(one["codes"]), one.get("first"), other.get("first"), one.get("rank"), other.get("rank"))


def _pairs(before: Evaluation | str | Path, after: Evaluation | str | Path) -> list[Pair]:
    return pairs_of(_result(before), _result(after), (_name(before, "before"), _name(after, "after")))


def _result(said: Evaluation | str | Path) -> dict[str, Any]:
    """In memory the texts are there; they go nowhere unless somebody saves them."""
    if isinstance(said, Evaluation):
        return said.result | {"queries": records(said.outcomes, said.index.catalog, keep_texts=True)}
    return read_result(Path(said).expanduser())


def _name(said: Evaluation | str | Path, otherwise: str) -> str:
    return otherwise if isinstance(said, Evaluation) else Path(said).name


def _figures(result: dict[str, Any]) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Only what there was something to measure of."""
    found = {name: result.get(name) for name in FIGURES}
    for band in BANDS:
        for what in ("precision", "coverage"):
            found[f"{band}_{what}"] = result["confidence"][band][what]
    found["calibration_error"] = result.get("calibration", {}).get("ece")
    yield from ((name, tuple(values)) for name, values in found.items() if values)
