"""The conditions run by Great Expectations, with its data docs (HTML). Needs the extra `checks`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from catalog_build.checks.conditions import CONDITIONS, DRIFT, EXAMPLES, CheckResult, Condition, Rule, Table
from clinical.icd import CODE_PATTERN

os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at import time: nothing is sent anywhere


def run(tables: Mapping[str, Table], docs: Path | None) -> Iterator[CheckResult]:
    """Validate each table as one suite; results in the order of CONDITIONS. The docs' index is `docs/index.html`."""
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
        for condition in _of(table):
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


def _of(table: str) -> list[Condition]:
    return [condition for condition in CONDITIONS if condition.table == table]


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
