"""python -m evals register --catalog DIR [--name befund]: an artifact as a model in MLflow, to be loaded and served.

MLFLOW_TRACKING_URI says where. What is logged holds the artifact, a copy of the package `clinical`, and the packages it
needs: `mlflow.pyfunc.load_model("models:/befund/1").predict(texts)`, or, where `uvicorn` is found as a command (in the
activated environment), `mlflow models serve -m models:/befund/1 --env-manager local`.
"""

from __future__ import annotations

import importlib
import os
import re
import warnings
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any, Final

import click

from clinical.command_line import paragraphs
from clinical.errors import SettingError
from clinical.search import Manifest
from evals.command import CATALOG, main_of
from evals.report import tracking

ROOT: Final = Path(__file__).resolve().parents[2]
LIMIT: Final = 10
"""Codes of a text where nobody asks for fewer."""
MODEL: Final = Path(__file__).with_name("served_model.py")


@click.command(help=paragraphs(__doc__))
@CATALOG
@click.option("--name", default="befund", help="of the registered model (befund)")
def command(catalog: Path, name: str) -> None:
    """Log and register; prints what to load."""
    if not os.environ.get(tracking.URI):
        remedy = f"set it, for instance {tracking.URI}=sqlite:///mlflow.db"
        raise SettingError(f"{tracking.URI} is not set", "where models are registered", remedy)
    print(f"registered as {registered(catalog, name)}")


main = main_of(command, "register")


def registered(catalog: Path, name: str) -> str:
    """Log the artifact of a folder; the URI of the registered version. Raises SettingError where MLflow refuses."""
    manifest = Manifest.load(catalog)
    manifest.verify(catalog)
    mlflow = tracking.loaded()
    pyfunc = importlib.import_module("mlflow.pyfunc")
    try:
        tracking.experiment(mlflow, "models")
        with mlflow.start_run(run_name=f"{name} {manifest.year}"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # advice on examples; the signature says it all
            mlflow.log_params({"year": manifest.year, "encoder": manifest.encoder, "manifest": manifest.digest})
            logged = pyfunc.log_model(
                name=name,
                python_model=str(MODEL),
                artifacts={"catalog": str(catalog.resolve())},
                code_paths=[str(ROOT / "clinical")],
                pip_requirements=requirements(),
                signature=with_limit(),
                registered_model_name=name,
            )
    except (mlflow.exceptions.MlflowException, OSError) as error:
        found = f"MLflow did not take the model: {str(error).splitlines()[0][:200]}"
        raise SettingError(found, f"a tracking store at {tracking.URI}", "mend it and run again") from None
    return f"models:/{name}/{logged.registered_model_version}"


def with_limit() -> Any:
    """The model's signature: any texts, and `limit`, the most codes of each."""
    models, types = importlib.import_module("mlflow.models"), importlib.import_module("mlflow.types.schema")
    return models.ModelSignature(params=types.ParamSchema([types.ParamSpec("limit", "long", LIMIT)]))


def requirements() -> list[str]:
    """The requirements of `clinical`, pinned to the installed versions: the project's own without those of extras."""
    named = [re.split(r"[<>=!~; \[]", line)[0] for line in requires("befund") or () if "extra ==" not in line]
    return [f"{package}=={version(package)}" for package in named]
