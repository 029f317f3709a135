"""A data set measured, and two measurements compared in pairs: tables of figures with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from clinical.errors import SettingError
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.coding.measure import result_of, run
from evals.coding.outcomes import Outcome
from evals.coding.targets import SearchTarget, Target, TierTarget, answers, target_of
from evals.lab.opened import Artifact, Data, data_of, inputs_of, opened
from evals.measures.paired import FLIPPING, Pairs, changes, label_changes, pairs_of
from evals.measures.paired import flips as flipped
from evals.measures.results import ALL, MeasuredResult, read_result
from evals.measures.texts import EVERY, OF_TEXTS, rows_of
from evals.reading.inputs import frame_of
from evals.reading.judged import shown
from evals.report.compare import flipped as listed
from evals.report.compare import flipped_texts

FIGURES: Final = (
    "top_1", "top_3", "top_10", "top_1_category", "mrr", "recall_10", "f1", "distance", "high_precision",
    "high_coverage", "medium_precision", "medium_coverage", "calibration_error",
)  # fmt: skip


@dataclass(frozen=True)
class Evaluation:
    """Outcomes of a data set: of its queries, or of its texts, which state several things each.

    `result`: as `evals coding --out` or `evals reading --out` writes it, with the texts in memory; `inputs`: the texts,
    empty for queries; `shown`: the codes that another target than tier 1 in this process showed, text by text.
    """

    result: MeasuredResult
    outcomes: tuple[Outcome, ...]
    index: SearchIndex
    inputs: tuple[Mapping[str, Any], ...] = ()
    shown: tuple[tuple[str, ...], ...] | None = None

    @property
    def figures(self) -> pd.DataFrame:
        """Measures with value, low, high (95 %). Precision of a band: of first codes so marked; coverage: their share
        of the queries. Of texts: those of `evals.measures.texts`, with the number of statements or codes."""
        names, every = ((*OF_TEXTS,), EVERY) if self.inputs else (FIGURES, ALL)
        rows = self.result.rows.query("set == @every", local_dict={"every": every}).set_index("measure")
        columns = ["n", "value", "low", "high"] if self.inputs else ["value", "low", "high"]
        return rows.reindex([name for name in names if name in rows.index])[columns]

    @property
    def table(self) -> pd.DataFrame:
        """Every row of the result: also by chapter, kind of input, overlap and number of wordings."""
        return self.result.rows

    def save(self, path: str | Path, keep_texts: bool = False) -> None:
        """For `python -m evals compare` and `report`; `keep_texts`: with the texts of the queries."""
        self.result.write(Path(path).expanduser(), texts=keep_texts)

    def _repr_html_(self) -> str:
        asked = self.result.queries
        failed = 0 if asked is None else int(asked["failed"].sum())
        what = f"{len(self.inputs)} texts" if self.inputs else f"{len(self.outcomes)} queries"
        return f"<p>{what}, {failed} failed</p>" + str(self.figures.round(4).to_html())


def evaluate(
    data: Data,
    catalog: Artifact = None,
    *,
    tier: int = 1,
    variant: str = "none",
    target: str = "in-process",
    concurrency: int = 1,
) -> Evaluation:
    """Ask every query of a data set, or every text of one that has statements; the options are those of `python -m
    evals coding`.

    Raises SourceError for a data set that cannot be read, SettingError where a tier needs a model and there is none,
    or for a variant of texts, whose statements have places.
    """
    index, told = opened(catalog), inputs_of(data)
    asked = target_of(target, index, tier, concurrency)
    if told is not None:
        if variant != "none":
            raise SettingError(f"variant {variant!r} of texts with statements", "none", "take it of queries")
        return _of_texts(index, *told, asked, concurrency)
    dataset = data_of(data)
    outcomes = run(index, dataset.examples, variant, asked, concurrency)
    return Evaluation(result_of(outcomes, index, dataset, target=asked, variant=variant), tuple(outcomes), index)


def _of_texts(
    index: SearchIndex, inputs: Sequence[Mapping[str, Any]], about: Mapping[str, Any], asked: Target, concurrency: int
) -> Evaluation:
    """Tier 1 in this process shows the codes that a text spells out, too; any other target says what it shows."""
    texts = [str(row["text"]) for row in inputs]
    found: Iterator[list[tuple[str, str]] | None]
    if isinstance(asked, SearchTarget):
        found = (shown(index, text) for text in texts)
    else:
        coded = answers(asked, texts, concurrency)
        found = (None if one is None else [(hit.code, hit.confidence) for hit in one if hit.shown] for one in coded)
    try:
        got = list(progress(found, "texts", "read", total=len(texts)))
    finally:
        if isinstance(asked, TierTarget):
            asked.stop()
    told = iter(got)
    table = frame_of(inputs, lambda _: next(told))
    rows, command = list(rows_of(table)), f"python -m evals reading --inputs {about['name']}"
    known = {"manifest": index.manifest.digest, "dataset": dict(about)}
    result = MeasuredResult.of("reading", command, rows, table, **asked.about, **known)
    codes = tuple(tuple(code for code, _ in one or ()) for one in got)
    return Evaluation(result, (), index, tuple(inputs), None if isinstance(asked, SearchTarget) else codes)


def compare(before: Evaluation | str | Path, after: Evaluation | str | Path) -> pd.DataFrame:
    """The changes on the same queries, a row a measure: values, difference with its 95 % interval, p of no difference
    (exact McNemar test, paired bootstrap), queries won and lost, and a verdict: better, worse, or chance; then what
    labels and probabilities are worth, also by kind of input (bootstrap over categories). Of texts with statements
    whole texts are drawn, authors where there are several; won and lost are statements, or wrong codes that went and
    came.

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
    """The queries that came out differently by a yes/no measure (top_1, top_10, top_1_category); texts where known.

    Of texts with statements: the statements that came to be shown or missed, then (`shown_right`) the wrong codes that
    went or came; one of both with `measure`.
    """
    both = _pairs(before, after)
    if both.of_texts:
        names = [measure] if measure in FLIPPING else FLIPPING
        told = [(name, kind, one) for name in names for kind, own in flipped_texts(both, name).items() for one in own]
        some = [(kind, one.get("text"), tuple(one["codes"]), name) for name, kind, one in told]
        return pd.DataFrame(some, columns=["flip", "text", "codes", "measure"])
    rows = []
    for kind, pairs in zip(("won", "lost"), flipped(both, measure), strict=True):
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
