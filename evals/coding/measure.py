"""python -m evals coding --catalog DIR --queries FILE: how often the right code is found.

What is measured: the modules of `evals.coding.measures`, one each. not_verbatim: over the queries whose words do not
stand in the index as they are; not_near: no wording of any code is nearly the same (`near`). by_overlap: by the best
Jaccard overlap of the query's words with any wording of a right code. Each measure is [value, low, high] with a 95 %
interval. A query that cannot be searched counts as failed, never as wrong.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from clinical.catalog import Catalog
from clinical.command_line import PATH, paragraphs
from clinical.progress import progress
from clinical.search import SearchIndex
from evals.coding import variants
from evals.coding.at_once import costs
from evals.coding.card import Dataset, read_dataset
from evals.coding.datasets import Example
from evals.coding.journal import journalled
from evals.coding.journal import place_of as journal_of
from evals.coding.measures import measures
from evals.coding.outcomes import Nearness, Outcome
from evals.coding.records import records
from evals.coding.studies.own_words import own_queries
from evals.coding.targets import SearchTarget, Target, TierTarget, answers, target_of
from evals.command import CATALOG, JSON, main_of
from evals.reports import tracking
from evals.reports.files import check_place
from evals.reports.results import provenance, write_result

SEED = 2026
MOST_AT_ONCE = 512
"""Texts at once: a thread each; a server that takes more than this is measured with `evals.speed`."""
EDGES = (0.2, 0.4, 0.6, 0.8, 1.01)
VARIANTS: dict[str, Callable[[str, random.Random], str]] = {
    "none": lambda query, _: query,
    "typo": variants.typo,
    "spelling": variants.spelling,
    "flattened": variants.flattened,
    "lowered": variants.lowered,
    "apart": variants.apart,
    "abbreviated": variants.abbreviated,
    "abbreviated_without_dots": lambda query, chance: variants.without_dots(variants.abbreviated(query, chance)),
    "cut_off": variants.cut_off,
    "cut_off_without_dots": lambda query, chance: variants.without_dots(variants.cut_off(query, chance)),
    "in_a_note": variants.in_a_note,
}


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--queries", type=PATH, required=True, help="TSV with query and codes, or JSON lines")
@click.option(
    "--variant", type=click.Choice(list(VARIANTS)), default="none", help="change every query in this way first"
)
@click.option("--tier", type=click.IntRange(1, 3), default=1, help="which tier answers")
@click.option("--target", "where", default="in-process", help="in-process, or the address of a text API")
@click.option("--concurrency", type=click.IntRange(1, MOST_AT_ONCE), default=1, help="texts at once, for a model")
@click.option("--price", type=(float, float), default=(0.0, 0.0), help="of a million tokens, in and out")
@JSON
@click.option("--out", type=PATH, help="also write the result with the outcome of each query, for `compare`")
@click.option("--keep-texts", is_flag=True, help="with --out: the texts as well, not only a hash of each")
def command(catalog: Path, queries: Path, out: Path | None, keep_texts: bool, as_json: bool, **asked: Any) -> int:
    """Measure and print, as a table or as JSON."""
    if keep_texts and not out:
        raise click.UsageError("--keep-texts needs --out")
    if out:
        check_place(out)
    tracking.check()
    index, data = SearchIndex.load(catalog), read_dataset(queries)
    target, variant = target_of(asked["where"], index, asked["tier"], asked["concurrency"]), asked["variant"]
    journal = journal_of(out) if out is not None and not isinstance(target, SearchTarget) else None
    outcomes = run(index, data.examples, variant, target, Way(journal, asked["concurrency"]))
    result = result_of(outcomes, index, data, target=target, variant=variant, keep_texts=keep_texts)
    result["own_synonyms"] = own_queries(catalog, data.examples)
    if isinstance(target, TierTarget):
        result["per_text"] = costs(target.spent, *asked["price"])
    if out:
        write_result(out, result)
        journal_of(out).unlink(missing_ok=True)
    text = table(result)
    print(json.dumps({key: value for key, value in result.items() if key != "queries"}) if as_json else text)
    return tracking.logged(result, text)


main = main_of(command, "coding")


def result_of(
    outcomes: Sequence[Outcome], index: SearchIndex, data: Dataset, *, target: Target, variant: str, keep_texts: bool
) -> dict[str, Any]:
    """The figures, on what and with what they were measured, and `queries`: how each query came out."""
    result = report(outcomes, index.catalog) | target.about
    result |= {"variant": variant, "manifest": index.manifest.digest, "dataset": data.about, "seed": SEED}
    return result | provenance("coding") | {"queries": records(outcomes, index.catalog, keep_texts)}


class Way(NamedTuple):
    """`journal`: where answers are kept as they come (None: nowhere); `concurrency`: texts at once."""

    journal: Path | None = None
    concurrency: int = 1


ALONE = Way()


def run(
    index: SearchIndex,
    examples: Sequence[Example],
    variant: str = "none",
    target: Target | None = None,
    way: Way = ALONE,
) -> list[Outcome]:
    """Ask the target (the index itself if none is given) every query. Whoever interrupts leaves no call under way."""
    nearness, asked = Nearness(index, examples), target or SearchTarget(index)
    texts = [changed(example.query, variant) for example in examples]
    about = asked.about | {"manifest": index.manifest.digest}
    many = way.concurrency
    found = journalled(asked, texts, way.journal, about, many) if way.journal else answers(asked, texts, many)
    bar = progress(examples, "queries", "asked")
    try:
        return [Outcome(example, next(found), *nearness.of(example)) for example in bar]
    finally:
        if isinstance(asked, TierTarget):
            asked.stop()


def changed(query: str, variant: str) -> str:
    """The query as the variant has it: the same in every data set."""
    return VARIANTS[variant](query, random.Random(f"{SEED} {query}"))  # noqa: S311 - reproducible, not a secret


def report(outcomes: Sequence[Outcome], catalog: Catalog) -> dict[str, Any]:
    """All measures over all queries, over those not verbatim in the index, and by overlap."""
    result = measures(outcomes, catalog, whole=True)
    result["not_verbatim"] = measures([outcome for outcome in outcomes if not outcome.verbatim], catalog)
    result["not_near"] = measures([outcome for outcome in outcomes if not outcome.near], catalog)
    buckets = {}
    low = 0.0
    for high in EDGES:
        of_bucket = [outcome for outcome in outcomes if low <= outcome.overlap < high]
        buckets[f"{low:.1f}-{min(high, 1.0):.1f}"] = measures(of_bucket, catalog)
        low = high
    result["by_overlap"] = buckets
    return result


def table(result: dict[str, Any]) -> str:
    """Plain text: one line a set of queries."""
    lines = [f"{'':26}{'n':>6} {'failed':>6}  top-1   top-10  3-char  MRR     recall at 10"]
    sets = {
        "all": result,
        "not verbatim in the index": result["not_verbatim"],
        "nothing near in it": result["not_near"],
    }
    sets |= {f"overlap {name}": values for name, values in result["by_overlap"].items()}
    for name, values in sets.items():
        figures = [values[key] for key in ("top_1", "top_10", "top_1_category", "mrr", "recall_10")]
        cells = "".join(f"  {figure[0]:.3f} " if figure else "  -     " for figure in figures)
        lines.append(f"{name:26}{values['n']:6} {values['failed']:6}{cells}")
    for name, values in result["confidence"].items():
        precision, coverage = values["precision"], values["coverage"]
        if precision and coverage:
            of_all = f"; over all {name} codes {values['all'][0]:.3f}"
            lines.append(
                f"{name}: precision {precision[0]:.3f} ({precision[1]:.3f}-{precision[2]:.3f}) "
                f"on {100 * coverage[0]:.1f} % of queries{of_all}"
            )
    lines += _by_kind(result) + _further(result)
    if result.get("per_text"):
        lines.append(
            "per text asked: " + ", ".join(f"{key} {_plain(value)}" for key, value in result["per_text"].items())
        )
    low, high = result["top_10"][1:] if result["top_10"] else (0, 0)
    about = ", ".join(
        f"{key} {result[key]}" for key in ("target", "tier", "model", "prompts", "variant") if key in result
    )
    lines.append(f"95 % interval of top-10: {low:.3f}-{high:.3f}; {about}")
    return "\n".join(lines)


def _plain(value: float) -> str:
    """0.00002, not 2e-05."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _by_kind(result: dict[str, Any]) -> list[str]:
    """What the labels are worth for each kind of input, where the data set names kinds."""
    lines = []
    for kind, labels in result.get("labels_by_kind", {}).items():
        for name, values in labels.items():
            if values["all"] and name != "low":
                value, low, high = values["all"]
                lines.append(
                    f"  {kind}: {name} {value:.3f} ({low:.3f}-{high:.3f}) of {values['codes']} codes, "
                    f"believed {values['believed']}"
                )
    return lines


def _further(result: dict[str, Any]) -> list[str]:
    """Sets of codes, distance, averages over groups, calibration: each where there is something to measure."""
    lines = []
    if result["f1"]:
        figures = [result[key][0] for key in ("f1", "f1_category", "set_precision", "set_recall")]
        lines.append(
            "codes shown: F1 {:.3f}, three characters {:.3f}, precision {:.3f}, recall {:.3f}".format(*figures)
        )
        lines.append(
            f"first code: right chapter {result['top_1_chapter'][0]:.3f}, steps away {result['distance'][0]:.2f}"
        )
        for name, key in (("chapters", "macro_chapter"), ("synonym bands", "by_synonyms")):
            values = result[key]
            lines.append(f"mean over {name}: top-1 {values['top_1'][0]:.3f}, top-10 {values['top_10'][0]:.3f}")
    if "calibration" in result:
        values = result["calibration"]
        error, low, high = values["ece"]
        lines.append(
            f"calibration error {error:.3f} ({low:.3f}-{high:.3f}; by chance alone {values['ece_by_chance']:.3f}), "
            f"area under risk-coverage {values['aurc'][0]:.3f}"
        )
    return lines
