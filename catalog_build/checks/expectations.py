"""Checks on the tables before anything is built from them: one list of `conditions`, two runners.

With Great Expectations installed (extra `checks`) it runs them and writes its data docs (HTML); without it the
same conditions run in plain Python and no docs are written. A failed fatal condition stops the build.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from catalog_build.checks.conditions import CONDITIONS, CheckResult, Table, run_plain
from catalog_build.official import Source, Synonym
from catalog_build.synonyms import NEVER_HELD_OUT
from clinical.errors import ArtifactMismatch, ArtifactMissing, CheckFailed


@dataclass(frozen=True)
class CheckReport:
    """All results; `engine` says who ran them, `docs` whether the HTML was written."""

    engine: str
    docs: bool
    results: tuple[CheckResult, ...]

    def summary(self) -> dict[str, Any]:
        """The report as plain JSON values, for the manifest."""
        return asdict(self)


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
        report = CheckReport("plain", False, tuple(run_plain(tables)))
    else:
        from catalog_build.checks.data_docs import run

        report = CheckReport("great_expectations", docs is not None, tuple(run(tables, docs)))
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
