"""The full 2026 catalog with the shipped weights, and evals coding on a practitioner's queries."""

import json
from pathlib import Path

import pytest

from catalog_build.build import build_artifact
from catalog_build.options import BuildOptions
from clinical.search.manifest import Manifest
from evals.coding.measure import main


@pytest.fixture(scope="module")
def full_artifact(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("full") / "catalog"
    build_artifact(shared_data / "icd10gm/2026-reconstructed", out, BuildOptions())
    return out


@pytest.mark.timeout(900)
def test_the_full_catalog_finds_most_of_a_practitioners_queries(
    full_artifact: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = Manifest.load(full_artifact)
    assert (manifest.codes, manifest.terminal_codes, manifest.synonyms) == (16_903, 14_369, 85_676)
    queries = shared_data / "eval-dev/gp_queries.tsv"
    assert main(["--catalog", str(full_artifact), "--queries", str(queries), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["measure"]: row for row in found["rows"] if row["set"] == "all"}
    assert (rows["top_10"]["n"], rows["failed"]["value"]) == (404, 0)
    assert rows["top_10"]["value"] > 0.6  # far below what is reached: this catches a broken build, not a worse one
