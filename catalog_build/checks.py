"""Checks on the tables before anything is built from them: one list of conditions, two runners.

With Great Expectations installed (extra `checks`) it runs them and writes its data docs (HTML); without it the
same conditions run in plain Python and no docs are written. A failed fatal condition stops the build.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from catalog_build.official import Source, Synonym
from catalog_build.synonyms import NEVER_HELD_OUT
from clinical.errors import ArtifactMismatch, ArtifactMissing, CheckFailed
from clinical.icd import CODE_PATTERN

EXAMPLES: Final = 5
DRIFT: Final = 0.02  # a new year changes far less than 2 % of the codes; a cut-off file changes more

Rule = Literal["matches", "unique", "filled", "true", "within"]
Table = dict[str, list[Any]]  # column name -> values; the first column names the row in examples


@dataclass(frozen=True)
class Condition:
    """`column` of `table` obeys `rule`; one that is not `fatal` is reported and stops nothing."""

    name: str
    sentence: str
    table: str
    column: str
    rule: Rule
    fatal: bool = True


CONDITIONS: Final = (
    Condition("code-pattern", "a code is a letter, two digits, and up to two behind a dot", "codes", "code", "matches"),
    Condition("code-unique", "a code comes once and so has exactly one title", "codes", "code", "unique"),
    Condition("title-present", "every code has a title", "codes", "title", "filled"),
    Condition("parent-exists", "the parent of every code is in the catalog", "codes", "parent_exists", "true"),
    Condition("terminal-fits", "a code is terminal exactly when nothing is below it", "codes", "terminal_fits", "true"),
    Condition("terminal-usable", "a terminal code may be used by §295 or §301", "codes", "usable", "true"),
    Condition("text-present", "every wording has a text", "texts", "text", "filled"),
    Condition("synonym-lives", "every synonym is coded with terminal codes of the catalog", "texts", "lives", "true"),
    Condition("one-code", "a wording stands under one terminal code only", "texts", "one_code", "true", fatal=False),
    Condition("counts-stable", "no count differs by more than 2 % from before", "counts", "change", "within"),
)


@dataclass(frozen=True)
class CheckResult:
    """Result of a condition: rows examined, rows against it, and examples of these."""

    name: str
    holds: bool
    fatal: bool
    examined: int
    against: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class CheckReport:
    """All results; `engine` says who ran them, `docs` whether the HTML was written."""

    engine: str
    docs: bool
    results: tuple[CheckResult, ...]


def check(
    source: Source,
    texts: Sequence[Synonym],
    docs: Path | None = None,
    previous: Mapping[str, int] | None = None,
    engine: Literal["great_expectations", "plain"] | None = None,
) -> CheckReport:
    """Run every condition; write Great Expectations' data docs into the folder `docs` where one is named.

    `previous`: counts of the artifact before (`previous_counts`); without it the counts are not compared.
    `engine`: None takes Great Expectations where it is installed. Raises CheckFailed for the first fatal condition
    that does not hold, naming it with examples; the docs are written all the same.
    """
    tables = {"codes": _codes(source), "texts": _texts(source, texts)}
    if previous is not None:
        tables["counts"] = _counts(source, previous)
    if engine == "plain" or (engine is None and not quality_installed()):
        report = CheckReport("plain", False, tuple(_run_plain(tables)))
    else:
        results = tuple(_run_great_expectations(tables, docs))
        report = CheckReport("great_expectations", docs is not None, results)
    _stop_on_failure(report)
    return report


def quality_installed() -> bool:
    """True if Great Expectations and pandas are installed."""
    return all(importlib.util.find_spec(name) for name in ("great_expectations", "pandas"))


def counts(source: Source) -> dict[str, int]:
    """The counts that the manifest records and a later build compares with."""
    return {
        "codes": len(source.catalog),
        "terminal_codes": sum(code.terminal for code in source.catalog),
        "synonyms": len(source.synonyms),
    }


def previous_counts(folder: Path) -> dict[str, int]:
    """The counts in an artifact's manifest. Raises ArtifactMissing or ArtifactMismatch."""
    remedy = "name the folder of a finished artifact"
    try:
        manifest = orjson.loads((folder / "manifest.json").read_bytes())
        return {name: int(manifest[name]) for name in ("codes", "terminal_codes", "synonyms")}
    except FileNotFoundError:
        raise ArtifactMissing(f"there is no manifest.json in {folder}", "an artifact", remedy) from None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise ArtifactMismatch(f"manifest.json in {folder} has no counts", "an artifact", remedy) from None


def _codes(source: Source) -> Table:
    catalog = source.catalog
    return {
        "code": [code.code for code in catalog],
        "title": [code.title or None for code in catalog],
        "parent_exists": [code.parent is None or code.parent in catalog for code in catalog],
        "terminal_fits": [code.terminal != bool(catalog.children(code.code)) for code in catalog],
        "usable": [not code.terminal or (code.use_295, code.use_301) != ("V", "V") for code in catalog],
    }


def _texts(source: Source, texts: Sequence[Synonym]) -> Table:
    terminal = {code.code for code in source.catalog if code.terminal}
    by_text: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        if text.code in terminal:
            by_text[text.text].add(text.code)

    def lives(text: Synonym) -> bool:
        if text.source in NEVER_HELD_OUT:
            return text.code in source.catalog
        return text.code in terminal and all(code in terminal for code in text.secondary)

    return {
        "text": [text.text or None for text in texts],
        "code": [text.code for text in texts],
        "lives": [lives(text) for text in texts],
        "one_code": [len(by_text[text.text]) <= 1 for text in texts],
    }


def _counts(source: Source, previous: Mapping[str, int]) -> Table:
    now = counts(source)
    names = [name for name in now if name in previous]
    return {
        "name": names,
        "now": [now[name] for name in names],
        "before": [previous[name] for name in names],
        "change": [now[name] / previous[name] - 1 if previous[name] else float(now[name]) for name in names],
    }


def _stop_on_failure(report: CheckReport) -> None:
    failed = [result for result in report.results if result.fatal and not result.holds]
    if not failed:
        return
    first = failed[0]
    sentence = next(condition.sentence for condition in CONDITIONS if condition.name == first.name)
    others = f" (and {', '.join(result.name for result in failed[1:])} fails too)" if failed[1:] else ""
    found = f"check {first.name} fails for {first.against} of {first.examined}: {'; '.join(first.examples)}{others}"
    raise CheckFailed(found, f"that {sentence}", "correct the source files and build again")


# --- in plain Python -------------------------------------------------------------------------------------------------


def _run_plain(tables: Mapping[str, Table]) -> Iterator[CheckResult]:
    """Examine each table in plain Python; results in the order of CONDITIONS."""
    for condition in CONDITIONS:
        if (table := tables.get(condition.table)) is None:
            continue
        values, names = table[condition.column], next(iter(table.values()))
        against = [name for name, holds in zip(names, _holds(condition.rule, values), strict=True) if not holds]
        examples = tuple(str(name) for name in against[:EXAMPLES])
        yield CheckResult(condition.name, not against, condition.fatal, len(values), len(against), examples)


def _holds(rule: Rule, values: list[Any]) -> list[bool]:
    if rule == "matches":
        return [re.fullmatch(CODE_PATTERN, value) is not None for value in values]
    if rule == "unique":
        often = Counter(values)
        return [often[value] == 1 for value in values]
    if rule == "filled":
        return [value is not None for value in values]
    if rule == "within":
        return [abs(value) <= DRIFT for value in values]
    return [bool(value) for value in values]


# --- by Great Expectations -------------------------------------------------------------------------------------------


def _run_great_expectations(tables: Mapping[str, Table], docs: Path | None) -> Iterator[CheckResult]:
    """Validate each table as one suite; results in the order of CONDITIONS. The docs' index is `docs/index.html`."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at import time: nothing is sent anywhere
    if docs is not None:
        docs.mkdir(parents=True, exist_ok=True)  # before anything: the site builder logs what it cannot write
    import great_expectations as gx
    import pandas as pd

    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    _set_site(context, docs)
    source = context.data_sources.add_pandas("icd10gm")
    results: dict[str, Any] = {}
    for table, columns in tables.items():
        batch = source.add_dataframe_asset(table).add_batch_definition_whole_dataframe("all")
        suite = context.suites.add(gx.ExpectationSuite(name=table))
        for condition in CONDITIONS:
            if condition.table == table:
                suite.add_expectation(_expectation(condition))
        validation = gx.ValidationDefinition(name=table, data=batch, suite=suite)
        outcome: Any = context.validation_definitions.add(validation).run(
            batch_parameters={"dataframe": pd.DataFrame(columns)},
            result_format={
                "result_format": "SUMMARY",
                "partial_unexpected_count": EXAMPLES,
                "unexpected_index_column_names": [next(iter(columns))],
            },
        )
        for result in outcome.results:
            results[result.expectation_config.meta["condition"]] = result
    if docs is not None:
        context.build_data_docs()
    for condition in CONDITIONS:
        if condition.table in tables:
            yield _result(condition, results[condition.name], next(iter(tables[condition.table])))


def _set_site(context: Any, docs: Path | None) -> None:
    for name in list(context.variables.data_docs_sites or ()):
        context.delete_data_docs_site(name)
    if docs is None:
        return
    store = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(docs.resolve())}
    site = {"class_name": "SiteBuilder", "show_how_to_buttons": False, "store_backend": store}
    context.add_data_docs_site("checks", {**site, "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"}})


def _expectation(condition: Condition) -> Any:
    from great_expectations import expectations

    gxe: Any = expectations  # re-exports without naming them
    makers: dict[Rule, tuple[Any, dict[str, Any]]] = {
        "matches": (gxe.ExpectColumnValuesToMatchRegex, {"regex": f"^(?:{CODE_PATTERN.pattern})$"}),
        "unique": (gxe.ExpectColumnValuesToBeUnique, {}),
        "filled": (gxe.ExpectColumnValuesToNotBeNull, {}),
        "true": (gxe.ExpectColumnValuesToBeInSet, {"value_set": [True]}),
        "within": (gxe.ExpectColumnValuesToBeBetween, {"min_value": -DRIFT, "max_value": DRIFT}),
    }
    make, arguments = makers[condition.rule]
    meta = {"condition": condition.name, "notes": condition.sentence}
    return make(column=condition.column, severity="critical" if condition.fatal else "warning", meta=meta, **arguments)


def _result(condition: Condition, outcome: Any, key: str) -> CheckResult:
    raised = outcome.exception_info.get("exception_message")
    if raised:  # a condition that could not be evaluated does not hold
        return CheckResult(condition.name, False, condition.fatal, 0, 0, (str(raised),))
    rows = outcome.result.get("partial_unexpected_index_list") or []
    examples = tuple(str(row.get(key)) for row in rows)
    examined, against = outcome.result["element_count"], outcome.result["unexpected_count"]
    return CheckResult(condition.name, bool(outcome.success), condition.fatal, examined, against, examples)
