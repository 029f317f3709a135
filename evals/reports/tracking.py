"""Results in MLflow as well, where MLFLOW_TRACKING_URI is set; without it the JSON files are the record.

A run gets what was measured on what as parameters, every figure with its interval as metrics (`top_10`, `top_10_low`,
`top_10_high`, parts of it as `by_overlap/0.0-0.2/top_10`), and the result without any text as an artifact.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from clinical.errors import SettingError
from evals.reports.files import readable

URI = "MLFLOW_TRACKING_URI"
EXPERIMENT = "befund"
NO_FIGURES = frozenset({"queries", "dataset", "code", "schema", "seed", "reliability", "risk_coverage"})
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
"""Its own defaults report its use to its makers, and wait minutes for a server that is down."""


def check() -> None:
    """Before a long measurement: raises SettingError where runs are to be logged and the package is missing."""
    if os.environ.get(URI):
        _mlflow()


def log(result: Mapping[str, Any], report: str = "") -> None:
    """One run, if MLFLOW_TRACKING_URI is set. Raises SettingError where MLflow does not take it."""
    if not os.environ.get(URI):
        return
    mlflow = _mlflow()
    try:
        mlflow.set_experiment(f"{EXPERIMENT}-{result['kind']}")
        with mlflow.start_run(run_name=name_of(result)):
            mlflow.log_params(params(result))
            mlflow.log_metrics(dict(metrics(result)))
            mlflow.log_text(readable(without_texts(result)), "result.json")
            if report:
                mlflow.log_text(report, "report.txt")
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


def _mlflow() -> Any:
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


def metrics(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """(name, value) of every number of a result; a measure gives three."""
    for key, value in tree.items():
        name = f"{above}{key}".replace("(", "").replace(")", "")
        if key in NO_FIGURES:
            continue
        if isinstance(value, Mapping):
            yield from metrics(value, f"{name}/")
        elif isinstance(value, list | tuple) and len(value) == 3:
            yield from zip((name, f"{name}_low", f"{name}_high"), map(float, value), strict=True)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, float(value)


def without_texts(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as it may be shared: no query in it."""
    rows = [{key: value for key, value in row.items() if key != "text"} for row in result.get("queries", ())]
    return {**result, "queries": rows} if rows else dict(result)
