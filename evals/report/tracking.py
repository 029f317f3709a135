"""Results in MLflow as well, where MLFLOW_TRACKING_URI is set; without it the JSON files are the record.

A run gets what was measured on what as parameters; the rows over the whole set as metrics (all others are in the
result); and as artifacts the result without any text, the report as a page, and each of its plots. A file store
(`MLFLOW_TRACKING_URI=file:///...`) and SQLite (`sqlite:///...`) need no server; artifacts lie beside them, never in the
folder that the command happens to run in.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from clinical.errors import SettingError
from evals.measures.results import ALL, MeasuredResult

URI = "MLFLOW_TRACKING_URI"
EXPERIMENT = "befund"
WITH_INTERVALS: Final = ("top_1", "top_10", "mrr")
"""Measures of which the ends of the 95 % interval are metrics of their own."""
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


def logged(result: MeasuredResult, report: str = "") -> int:
    """One run, if MLFLOW_TRACKING_URI is set. The exit status of a command whose result is complete: 1 where MLflow did
    not take it."""
    if not os.environ.get(URI):
        return 0
    mlflow = loaded()
    try:
        experiment(mlflow, str(result.about["kind"]))
        with mlflow.start_run(run_name=name_of(result)), tempfile.TemporaryDirectory() as folder:
            mlflow.log_params(params(result))
            mlflow.log_metrics(metrics(result))
            result.write(Path(folder) / "result.json")
            mlflow.log_artifacts(folder)
            if report:
                mlflow.log_text(report, "report.txt")
            for name, text in pages(result).items():
                mlflow.log_text(text, name)
    except (mlflow.exceptions.MlflowException, OSError) as error:
        found = f"MLflow did not take the run: {str(error).splitlines()[0][:200]}"
        fault = SettingError(found, f"a tracking server at {URI}", "the result itself is complete")
        print(f"error: {fault}", file=sys.stderr)
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


def pages(result: MeasuredResult) -> dict[str, str]:
    """The report of one result as a page, and its plots (SVG); none without the extra."""
    from evals.report.page import Found, page, plots

    try:
        found = {"report.html": page([Found("result.json", result)], name_of(result))}
    except SettingError:
        return {}
    for caption, picture in plots([result]).items() if result.about["kind"] == "coding" else ():
        name = re.sub(r"[^a-z0-9]+", "-", caption.lower().partition(":")[0]).strip("-")
        found[f"plots/{name}.svg"] = base64.b64decode(picture.partition(",")[2]).decode()
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


def name_of(result: MeasuredResult) -> str:
    """Kind, data set and variant."""
    about = result.about
    parts = (about["kind"], about.get("dataset", {}).get("name"), about.get("variant"))
    return " ".join(str(part) for part in parts if part)


def params(result: MeasuredResult) -> dict[str, str]:
    """Every text of what the result says of itself, and of its data set and code."""
    flat = {key: value for key, value in result.about.items() if isinstance(value, str) or key == "seed"}
    for part in ("dataset", "code"):
        flat |= {f"{part}_{key}": value for key, value in result.about.get(part, {}).items() if value is not None}
    return {key: str(value)[:500] for key, value in flat.items()}


def metrics(result: MeasuredResult) -> dict[str, float]:
    """The rows over everything, some with the ends of their intervals; of a result without such rows, all of them."""
    whole = result.rows[result.rows["set"] == ALL]
    found = {}
    for row in (whole if len(whole) else result.rows).to_dict("records"):
        name = row["measure"] if row["set"] == ALL else re.sub(r"[^\w.-]+", "_", f"{row['measure']}_{row['set']}")
        found[name] = float(row["value"])
        if row["measure"] in WITH_INTERVALS:
            found |= {f"{name}_low": row["low"], f"{name}_high": row["high"]}
    return found | {f"per_text_{key}": float(value) for key, value in (result.about.get("per_text") or {}).items()}
