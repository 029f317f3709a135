"""python -m evals coding --catalog DIR --queries FILE: the rate at which the right code is found.

The measures are those of `evals.measures.queries`, each with its 95 % interval: over all queries, over those whose
words do not stand in the index as they are, over those to which no wording is nearly the same, by the best overlap of
a query's words with a wording of a right code, by chapter, by number of wordings, and what labels and probabilities
are worth. A query that cannot be searched counts as failed, never as wrong.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from catalog_build.files import check_place
from catalog_build.own_synonyms import spelled
from catalog_build.vocabulary import FILE as VOCABULARY
from clinical.command_line import PATH, paragraphs
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.coding import variants
from evals.coding.outcomes import Nearness, Outcome, frame_of
from evals.coding.targets import (
    SearchTarget,
    Target,
    TierTarget,
    answers,
    journal_of,
    journalled,
    target_of,
)
from evals.command import CATALOG, JSON, main_of
from evals.data.cards import Dataset, read_dataset
from evals.data.examples import Example
from evals.exchange import ExchangedModel
from evals.measures.intervals import clustered
from evals.measures.queries import LABELS, rows_of
from evals.measures.results import ALL, MeasuredResult, Row, beside, printed, row
from evals.report import tracking

SEED = 2026
MOST_AT_ONCE = 512
"""Texts at once: a thread each; a server that takes more than this is measured with `evals load`."""
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
@click.option(
    "--exchange", type=PATH, help="tiers 2 and 3: ask no server; questions and answers are files of this folder"
)
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
    if asked["exchange"] and (asked["tier"] == 1 or asked["where"] != "in-process"):
        raise click.UsageError("--exchange is for tiers 2 and 3 in this process")
    model = ExchangedModel(asked["exchange"]) if asked["exchange"] else None
    target = target_of(asked["where"], index, asked["tier"], asked["concurrency"], model)
    variant = asked["variant"]
    journal = journal_of(out) if out is not None and not isinstance(target, SearchTarget) else None
    outcomes = run(index, data.examples, variant, target, asked["concurrency"], journal)
    more: dict[str, Any] = {"own_synonyms": own_queries(catalog, data.examples)}
    if isinstance(target, TierTarget):
        more["offered"] = offered(target, data.examples, variant)
    if model and (left := model.unanswered()):
        print(f"{len(left)} questions wait for an answer in {asked['exchange']}", file=sys.stderr)
    result = result_of(outcomes, index, data, target=target, variant=variant, **more)
    if out:
        result.write(out, texts=keep_texts)
        journal_of(out).unlink(missing_ok=True)
    text = shown(result)
    print(json.dumps({"about": result.about, "rows": result.rows.to_dict("records")}) if as_json else text)
    return tracking.logged(result, text)


main = main_of(command, "coding")


def result_of(
    outcomes: Sequence[Outcome],
    index: SearchIndex,
    data: Dataset,
    *,
    target: Target,
    variant: str = "none",
    **more: Any,
) -> MeasuredResult:
    """The rows, on what and with what they were measured, and how each query came out."""
    queries = frame_of(outcomes, index.catalog)
    about = {"variant": variant, "manifest": index.manifest.digest, "dataset": data.about, "seed": SEED}
    command = f"python -m evals coding --queries {data.file} --variant {variant}"
    rows = [*rows_of(queries), *more.pop("offered", ())]
    return MeasuredResult.of("coding", command, rows, queries, **target.about, **about, **more)


def offered(target: TierTarget, examples: Sequence[Example], variant: str) -> list[Row]:
    """The share of the right codes that the tier's model could choose from, over the texts that came to a choice."""
    pairs = [
        (code in target.offered[text], text)
        for example in examples
        if target.offered.get(text := changed(example.query, variant))
        for code in sorted(example.codes)
    ]
    return row("offered", ALL, len(pairs), clustered([right for right, _ in pairs], [text for _, text in pairs]))


def run(
    index: SearchIndex,
    examples: Sequence[Example],
    variant: str = "none",
    target: Target | None = None,
    concurrency: int = 1,
    journal: Path | None = None,
) -> list[Outcome]:
    """Ask the target (the index itself if none is given) every query, so many at once. `journal`: file to keep answers
    in as they come. Whoever interrupts leaves no call under way."""
    nearness, asked = Nearness(index, examples), target or SearchTarget(index)
    texts = [changed(example.query, variant) for example in examples]
    about = asked.about | {"manifest": index.manifest.digest}
    found = journalled(asked, texts, journal, about, concurrency) if journal else answers(asked, texts, concurrency)
    bar = progress(examples, "queries", "asked")
    try:
        return [Outcome(example, next(found), *nearness.of(example)) for example in bar]
    finally:
        if isinstance(asked, TierTarget):
            asked.stop()


def changed(query: str, variant: str) -> str:
    """The query as the variant has it: the same in every data set."""
    return VARIANTS[variant](query, random.Random(f"{SEED} {query}"))  # noqa: S311 - reproducible, not a secret


def own_queries(catalog: Path, examples: Iterable[Example]) -> int:
    """Count the queries that are, word for word, own synonyms of the catalog, and say so on stderr: figures on them say
    that the file was read, not more."""
    path = catalog / VOCABULARY
    if not path.is_file():
        return 0
    with path.open(encoding="utf-8", newline="") as file:
        own = {spelled(row["text"]) for row in csv.DictReader(file, delimiter="\t") if row["state"] == "taken"}
    asked = list(examples)
    found = sum(spelled(example.query) in own for example in asked)
    if found:
        print(f"{found} of {len(asked)} queries are own synonyms of this catalog: they are measured on themselves; "
              "leave them out, or take the evaluation set of catalog_build feedback", file=sys.stderr)  # fmt: skip
    return found


BASIC: Final = ("top_1", "top_10", "top_1_category", "mrr", "recall_10")
WHAT: Final = ("precision", "coverage", "of_all_codes")
FURTHER: Final = (
    "failed", "offered", "f1", "set_precision", "set_recall", "micro_f1", "distance", "calibration_error", "brier",
    "area_under_risk_coverage",
)  # fmt: skip


def shown(result: MeasuredResult) -> str:
    """The rows for a person: the basic measures of each set, what each label is worth, and further ones over all."""
    rows = [Row(*one) for one in result.rows[list(Row._fields)].itertuples(index=False)]
    tables = [beside([one for one in rows if not one.set.startswith(("chapter ", "wordings "))], BASIC)]
    tables += [beside(rows, [f"{label}_{what}" for what in WHAT]) for label in LABELS]
    named = ("target", "tier", "model", "prompts", "variant")
    about = ", ".join(f"{key} {result.about[key]}" for key in named if key in result.about)
    further = printed([one for one in rows if one.set == ALL and one.measure in FURTHER])
    return "\n\n".join(filter(None, [*tables, further, about]))
