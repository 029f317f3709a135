"""A data set measured, and two measurements compared in pairs: tables of figures with their 95 % intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from clinical.reading import SearchIndex
from evals.coding.measure import Way, result_of, run
from evals.coding.outcomes import Outcome
from evals.coding.targets import target_of
from evals.lab.opened import Artifact, Data, data_of, opened
from evals.measures.paired import Pairs, changes, label_changes, pairs_of
from evals.measures.paired import flips as flipped
from evals.measures.results import ALL, MeasuredResult, read_result
from evals.report.compare import flipped as listed

FIGURES: Final = (
    "top_1", "top_3", "top_10", "top_1_category", "mrr", "recall_10", "f1", "distance", "high_precision",
    "high_coverage", "medium_precision", "medium_coverage", "calibration_error",
)  # fmt: skip


@dataclass(frozen=True)
class Evaluation:
    """Outcomes of the queries of a data set. `result`: as `evals coding --out` writes it, with the texts in memory."""

    result: MeasuredResult
    outcomes: tuple[Outcome, ...]
    index: SearchIndex

    @property
    def figures(self) -> pd.DataFrame:
        """Measures with value, low, high (95 %). Precision of a band: of first codes so marked; coverage: their share
        of the queries."""
        rows = self.result.rows.query("set == @ALL", local_dict={"ALL": ALL}).set_index("measure")
        return rows.reindex([name for name in FIGURES if name in rows.index])[["value", "low", "high"]]

    @property
    def table(self) -> pd.DataFrame:
        """Every row of the result: also by chapter, kind of input, overlap and number of wordings."""
        return self.result.rows

    def save(self, path: str | Path, keep_texts: bool = False) -> None:
        """For `python -m evals compare` and `report`; `keep_texts`: with the texts of the queries."""
        self.result.write(Path(path).expanduser(), texts=keep_texts)

    def _repr_html_(self) -> str:
        failed = sum(outcome.found is None for outcome in self.outcomes)
        return f"<p>{len(self.outcomes)} queries, {failed} failed</p>" + str(self.figures.round(4).to_html())


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
    return Evaluation(result_of(outcomes, index, dataset, target=asked, variant=variant), tuple(outcomes), index)


def compare(before: Evaluation | str | Path, after: Evaluation | str | Path) -> pd.DataFrame:
    """The changes on the same queries, a row a measure: values, difference with its 95 % interval, p of no difference
    (exact McNemar test, paired bootstrap), queries won and lost, and a verdict: better, worse, or chance; then what
    labels and probabilities are worth, also by kind of input (bootstrap over categories).

    Evaluations or files of results. Raises SourceError where the queries are not the same.
    """
    pairs, rows = _pairs(before, after), []
    for change in changes(pairs) + label_changes(pairs):
        verdict = "chance" if not change.real else "better" if change.better > 0 else "worse"
        difference, low, high = change.difference
        rows.append(asdict(change) | {"difference": difference, "low": low, "high": high, "verdict": verdict})
    columns = ["name", "before", "after", "difference", "low", "high", "p", "won", "lost", "verdict"]
    table = pd.DataFrame(rows, columns=columns).rename(columns={"name": "measure"})
    return table.set_index("measure").astype({"won": "Int64", "lost": "Int64"})


def flips(before: Evaluation | str | Path, after: Evaluation | str | Path, measure: str = "top_1") -> pd.DataFrame:
    """The queries that came out differently by a yes/no measure (top_1, top_10, top_1_category); texts where known."""
    rows = []
    for kind, pairs in zip(("won", "lost"), flipped(_pairs(before, after), measure), strict=True):
        for row in listed(pairs):
            said = [row[side][what] for what in ("first", "rank") for side in ("before", "after")]
            rows.append((kind, row.get("text"), tuple(row["codes"]), *said))
    return pd.DataFrame(rows, columns=["flip", "text", "right", "before", "after", "rank_before", "rank_after"])


def _pairs(before: Evaluation | str | Path, after: Evaluation | str | Path) -> Pairs:
    (one, name), (other, its_name) = _named(before, "before"), _named(after, "after")
    return pairs_of(one, other, (name, its_name))


def _named(said: Evaluation | str | Path, otherwise: str) -> tuple[MeasuredResult, str]:
    if isinstance(said, Evaluation):
        return said.result, otherwise
    path = Path(said).expanduser()
    return read_result(path), path.name
