"""Results in MLflow as well, where MLFLOW_TRACKING_URI is set; without it the JSON files are the record.

A run gets what was measured on what as parameters; some thirty named figures as metrics (all others are in the result);
and as artifacts the result without any text, the report as a page, and each of its plots. A file store
(`MLFLOW_TRACKING_URI=file:///...`) and SQLite (`sqlite:///...`) need no server; artifacts lie beside them, never in the
folder that the command happens to run in.
"""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from clinical.errors import SettingError
from evals.reports.files import readable

URI = "MLFLOW_TRACKING_URI"
EXPERIMENT = "befund"
FIGURES: Final = ("top_1", "top_3", "top_10", "top_1_category", "mrr", "recall_10", "f1", "distance")
WITH_INTERVALS: Final = ("top_1", "top_10", "mrr")
"""Whose ends of the 95 % interval are metrics of their own."""
NO_FIGURES = frozenset({"queries", "dataset", "code", "schema", "seed"})
SQLITE: Final = "sqlite:///"
QUIET = {
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
"""Its own defaults report its use to its makers, draw a bar for each file into a log, wait minutes for a server that is
down, and refuse a file store."""


def check() -> None:
    """Before a long measurement: raises SettingError where runs are to be logged and the package is missing."""
    if os.environ.get(URI):
        loaded()


def log(result: Mapping[str, Any], report: str = "") -> None:
    """One run, if MLFLOW_TRACKING_URI is set. Raises SettingError where MLflow does not take it."""
    if not os.environ.get(URI):
        return
    mlflow = loaded()
    try:
        experiment(mlflow, str(result["kind"]))
        with mlflow.start_run(run_name=name_of(result)):
            mlflow.log_params(params(result))
            mlflow.log_metrics(metrics(result))
            mlflow.log_text(readable(without_texts(result)), "result.json")
            if report:
                mlflow.log_text(report, "report.txt")
            for name, text in pages(without_texts(result)).items():
                mlflow.log_text(text, name)
    except (mlflow.exceptions.MlflowException, OSError) as error:
        found = f"MLflow did not take the run: {str(error).splitlines()[0][:200]}"
        raise SettingError(found, f"a tracking server at {URI}", "the result itself is complete") from None


def logged(result: Mapping[str, Any], report: str = "") -> int:
    """The exit status of a command whose result is complete: 1 where MLflow did not take it."""
    try:
        log(result, report)
    except SettingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def experiment(mlflow: Any, kind: str) -> None:
    """The experiment of a kind of result. With SQLite its artifacts lie beside the database: MLflow's default is a
    folder `mlruns` wherever one happens to be."""
    name, uri = f"{EXPERIMENT}-{kind}", os.environ[URI]
    if uri.startswith(SQLITE) and mlflow.get_experiment_by_name(name) is None:
        beside = Path(uri.removeprefix(SQLITE)).resolve().parent / "mlflow-artifacts" / name
        mlflow.create_experiment(name, artifact_location=beside.as_uri())
    mlflow.set_experiment(name)


def pages(result: Mapping[str, Any]) -> dict[str, str]:
    """The report of one result as a page, and its plots (SVG); empty where it has none, or without the extra."""
    if result["kind"] != "coding" or not result.get("answered"):
        return {}
    try:
        from evals.reports import report, report_plots

        own = dict(result) | {"file": "result.json"}
        found = {"report.html": report.page([own], name_of(result))}
        for caption, picture in report.section(name_of(result), [own], report_plots)["pictures"]:
            name = re.sub(r"[^a-z0-9]+", "-", caption.lower().partition(":")[0]).strip("-")
            found[f"plots/{name}.svg"] = base64.b64decode(picture.partition(",")[2]).decode()
    except (ModuleNotFoundError, SettingError):
        return {}
    return found


def loaded() -> Any:
    """The package, set up to be quiet. Raises SettingError where it is missing."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import mlflow
        import mlflow.exceptions
    except ModuleNotFoundError:
        found = f"{URI} is set and the package mlflow is not installed"
        raise SettingError(found, "it or no such variable", "install the extra: pip install 'befund[mlflow]'") from None
    return mlflow


def name_of(result: Mapping[str, Any]) -> str:
    """Kind, data set and variant."""
    parts = (result["kind"], result.get("dataset", {}).get("name"), result.get("variant"))
    return " ".join(str(part) for part in parts if part)


def params(result: Mapping[str, Any]) -> dict[str, str]:
    """Every text of the result, and what the data set and the code say of themselves."""
    flat = {key: value for key, value in result.items() if isinstance(value, str) or key == "seed"}
    for part in ("dataset", "code"):
        flat |= {f"{part}_{key}": value for key, value in result.get(part, {}).items() if value is not None}
    return {key: str(value)[:500] for key, value in flat.items()}


def metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """The named figures. Coding: FIGURES, calibration, precision and coverage of high and medium, what is not verbatim
    in the index, calls and tokens of a model; any other kind: its own numbers, and sums over each of its parts."""
    found = {key: float(result[key]) for key in ("n", "answered", "failed") if _number(result.get(key))}
    if result["kind"] != "coding":
        return found | dict(_sums(result))
    found |= dict(_measure(result, FIGURES, WITH_INTERVALS))
    found |= {
        f"not_verbatim_{name}": value for name, value in _measure(result.get("not_verbatim", {}), ("top_1", "top_10"))
    }
    for band in ("high", "medium"):
        own = result.get("confidence", {}).get(band, {})
        found |= {f"{band}_{name}": value for name, value in _measure(own, ("precision", "coverage"))}
    found |= dict(_measure(result.get("calibration", {}), ("ece", "aurc")))
    return found | {f"per_text_{key}": float(value) for key, value in (result.get("per_text") or {}).items()}


def _measure(tree: Mapping[str, Any], names: Sequence[str], ends: Sequence[str] = ()) -> Iterator[tuple[str, float]]:
    for name in names:
        if tree.get(name):
            value, low, high = map(float, tree[name])
            yield name, value
            if name in ends:
                yield from ((f"{name}_low", low), (f"{name}_high", high))


def _sums(result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """`lies_passed`: the sum of `passed` over all parts of `lies`; numbers at the top as they are."""
    for name, tree in result.items():
        if name in NO_FIGURES:
            continue
        if _number(tree):
            yield name, float(tree)
        elif isinstance(tree, Mapping):
            parts = [part for part in tree.values() if isinstance(part, Mapping)] or [tree]
            for key in dict.fromkeys(key for part in parts for key, value in part.items() if _number(value)):
                yield f"{name}_{key}", float(sum(part.get(key) or 0 for part in parts))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def without_texts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as it may be shared: no query in it."""
    rows = [{key: value for key, value in row.items() if key != "text"} for row in result.get("queries", ())]
    return {**result, "queries": rows} if rows else dict(result)
