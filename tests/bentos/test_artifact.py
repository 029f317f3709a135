"""Artifacts that the server cannot use, and those that are put in their place."""

import json
import shutil

import pytest

from tests.bentos.conftest import ask, running
from tests.serving import wait_until


@pytest.fixture
def folder(starter_artifact, tmp_path):
    """A copy of the starter artifact that may be spoilt."""
    return shutil.copytree(starter_artifact, tmp_path / "artifact")


def _cut_off(folder):
    largest = max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    with largest.open("r+b") as file:
        file.truncate(largest.stat().st_size - 1)


def _flip(folder):
    path = folder / "codes.json"
    path.write_bytes(path.read_bytes().replace(b"Diabetes", b"Diabetis", 1))


def _other_schema(folder):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 999}))


def _no_manifest(folder):
    (folder / "manifest.json").unlink()


@pytest.mark.parametrize("spoil", [_cut_off, _flip, _other_schema, _no_manifest])
def test_an_artifact_that_cannot_be_used_is_said_once_and_requests_are_503(spoil, folder, make_settings, key, caplog):
    spoil(folder)
    with running(make_settings(catalog=folder), None, key) as client:
        wait_until(lambda: "not ready" in caplog.text, "nothing was said of the artifact")
        assert client.post("/api/deep-research", json={"query": "Husten"}).status_code == 503
        assert client.get("/api/health").json()["status"] == "starting"
    said = [record.getMessage() for record in caplog.records if "not ready" in record.getMessage()]
    assert len(said) == 1
    assert "build it again" in said[0]


def test_no_connection_is_taken_before_the_artifact_is_there(starter_artifact, make_settings, key):
    """Workers share a port: one that still loads would refuse what another could answer."""
    with running(make_settings(catalog=starter_artifact), None, key) as client:
        assert client.get("/internal/readyz").status_code == 200
        assert ask(client, "Essentielle Hypertonie")[1].codes


def test_a_good_artifact_put_in_its_place_is_taken_up_without_a_restart(starter_artifact, make_settings, key, tmp_path):
    folder = tmp_path / "later"
    with running(make_settings(catalog=folder), None, key) as client:
        assert client.get("/api/health").json()["status"] == "starting"
        shutil.copytree(starter_artifact, folder)
        wait_until(lambda: client.get("/api/health").json()["status"] == "ok", "the artifact was not taken up")
        assert ask(client, "Essentielle Hypertonie")[1].codes
