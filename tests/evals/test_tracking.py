"""MLflow gets the figures and no text; a store in SQLite is a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from evals.measures.results import MeasuredResult, Row
from evals.report.tracking import metrics, params

QUERIES = "query\tcodes\nBluthochdruck\tI10.90\nHerpes zoster\tB02.9\n"


@pytest.fixture
def command(starter_artifact, tmp_path):
    (tmp_path / "mine.tsv").write_text(QUERIES)
    run = [sys.executable, "-m", "evals", "coding", "--catalog", str(starter_artifact), "--queries", "mine.tsv"]

    def go(uri: str, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
        where = os.environ | {"MLFLOW_TRACKING_URI": uri, "PYTHONPATH": os.getcwd()} | environment
        return subprocess.run([*run, *more], cwd=tmp_path, env=where, capture_output=True, text=True, timeout=200)

    return go


def test_a_run_is_logged_with_parameters_metrics_and_the_result(command, tmp_path):
    done = command(f"sqlite:///{tmp_path}/runs.db", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/runs.db")
    experiment = client.get_experiment_by_name("befund-coding")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    (top,) = [row for row in printed["rows"] if (row["measure"], row["set"]) == ("top_10", "all")]
    assert run.data.metrics["top_10"] == top["value"] == 1.0
    assert run.data.metrics["top_10_low"] == top["low"]
    assert run.data.params["manifest"] == printed["about"]["manifest"]
    assert run.data.params["dataset_sha256"] == printed["about"]["dataset"]["sha256"]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "mine.tsv"]
    assert {"result.json", "report.txt", "report.html", "runs.db"} <= {path.name for path in written}
    assert {path.name for path in tmp_path.iterdir()} == {"mine.tsv", "runs.db", "mlflow-artifacts"}
    assert 10 <= len(run.data.metrics) <= 40
    assert any(path.suffix == ".svg" for path in written)
    assert not any(b"Bluthochdruck" in path.read_bytes() for path in written)


def test_a_server_that_is_down_costs_no_result(command, tmp_path):
    done = command("http://127.0.0.1:9", "--out", "a.json", MLFLOW_HTTP_REQUEST_MAX_RETRIES="0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: MLflow did not take the run")
    assert (tmp_path / "a.json").is_file()
    assert "top_10" in done.stdout


def test_a_missing_package_is_said_before_anything_is_measured(command, tmp_path):
    (tmp_path / "mlflow.py").write_text("raise ModuleNotFoundError('mlflow')")
    done = command("sqlite:///runs.db", PYTHONPATH=f"{tmp_path}:{os.getcwd()}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "befund[mlflow]" in done.stderr


def test_metrics_are_the_rows_over_everything_and_of_other_kinds_all():
    rows = [Row("top_1", "all", 3, 0.5, 0.2, 0.8), Row("top_1", "chapter 09", 1, 1.0)]
    result = MeasuredResult.of("coding", "a test", rows, seed=1, dataset={"name": "mine", "version": None})
    assert metrics(result) == {"top_1": 0.5, "top_1_low": 0.2, "top_1_high": 0.8}
    assert {"kind": "coding", "seed": "1", "dataset_name": "mine"}.items() <= params(result).items()
    letters = MeasuredResult.of("letters", "a test", [Row("lies_kept", "near name", 60, 0.0, 0.0, 0.06)])
    assert metrics(letters) == {"lies_kept_near_name": 0.0}


def test_an_artifact_is_registered_in_a_file_store_and_loads_as_a_model(starter_artifact, index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    import mlflow
    import pandas as pd

    from evals.report.register import registered

    mlflow.set_tracking_uri(os.environ["MLFLOW_TRACKING_URI"])
    mlflow.set_registry_uri(os.environ["MLFLOW_TRACKING_URI"])
    uri = registered(starter_artifact, "befund")
    assert uri == "models:/befund/1"
    model = mlflow.pyfunc.load_model(uri)
    codes, nothing = model.predict(pd.DataFrame({"text": ["Bluthochdruck", ""]}))
    (one,) = model.predict(["Bluthochdruck"], params={"limit": 1})
    assert one == codes[:1]
    found = index.search("Bluthochdruck")[0]
    assert (codes[0]["code"], codes[0]["confidence"], nothing) == (found.code, found.confidence, [])
    assert found.code == "I10.90"
    assert {path.name for path in tmp_path.iterdir()} == {"store"}
