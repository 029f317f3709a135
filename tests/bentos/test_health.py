"""The two health endpoints, the operator's paths, and artifacts that the server cannot use until they are put right."""

import asyncio
import json
import shutil
import time

import httpx2
import pytest

from bentos.api import health
from bentos.api.health import ModelProbe
from bentos.server_folder import METRICS as METRICS_FOLDER
from clinical import __version__
from tests.bentos.conftest import ask, running
from tests.full_disk import small_disk
from tests.serving import wait_until

METRICS = {"Authorization": "Bearer nur-fuer-die-messung"}


class Probed:
    """A language model that counts how often it was asked for its health."""

    name = "befund-test"
    busy = False

    def __init__(self, well: bool = True, delay: float = 0.0) -> None:
        self.well, self.delay, self.asked = well, delay, 0

    async def health(self) -> bool:
        self.asked += 1
        await asyncio.sleep(self.delay)
        return self.well


def test_health_tells_the_loaded_catalog_and_needs_no_key(api, index):
    answer = httpx2.get(f"{api.base_url}/api/health", trust_env=False).json()
    assert answer == {
        "status": "ok",
        "version": __version__,
        "catalog": {
            "system": "ICD-10-GM",
            "version": "2026",
            "codes": len(index.catalog),
            "terminal_codes": sum(code.terminal for code in index.catalog),
            "synonyms": index.manifest.synonyms,
            "encoder": index.manifest.encoder,
            "built_at": index.manifest.built_at,
        },
    }


def test_model_health_is_probed_once_for_many_callers(settings, index, key):
    model = Probed()
    with running(settings, index, key, model) as client:
        for _ in range(5):
            assert client.get("/api/llm/health").json() == {"status": "ok", "model": "befund-test"}
    assert model.asked == 1


@pytest.mark.parametrize("well", [True, False])
def test_the_metrics_say_whether_the_model_is_well_and_the_server_ready(well, settings, index, key):
    with running(settings, index, key, Probed(well=well)) as client:
        text = client.get("/internal/metrics", headers=METRICS).text
    assert f"befund_model_up {float(well)}" in text
    assert "befund_ready 1.0" in text


def test_a_model_that_hangs_is_down_after_two_seconds_for_all_callers_at_once():
    async def both() -> tuple[bool, bool]:
        probe, model = ModelProbe(), Probed(delay=60)
        one, other = await asyncio.gather(probe.alive(model), probe.alive(model))
        assert model.asked == 1
        return one, other

    begun = time.monotonic()
    assert asyncio.run(both()) == (False, False)
    assert time.monotonic() - begun < 3


def test_a_caller_that_leaves_does_not_end_the_probe_of_the_others():
    async def leave() -> bool:
        probe, model = ModelProbe(), Probed(delay=0.2)
        leaving = asyncio.create_task(probe.alive(model))
        staying = asyncio.create_task(probe.alive(model))
        await asyncio.sleep(0.05)
        leaving.cancel()
        return await staying

    assert asyncio.run(leave())


@pytest.mark.parametrize("which", ["the keys", "the counts"])
def test_a_full_disk_is_not_ready_until_there_is_room(which, tmp_path, make_settings, index, key, monkeypatch, caplog):
    """Every folder that the server writes to; the answer names none of them."""
    monkeypatch.setattr(health, "STORES_SHARED_SECONDS", 0.0)
    with small_disk(tmp_path / "disk") as disk:
        given = {"api_database_url": f"sqlite:///{disk.folder}/api.sqlite"} if which == "the keys" else {}
        with running(make_settings(**given), index, key) as client:
            if which == "the counts":
                monkeypatch.setenv(METRICS_FOLDER, str(disk.folder))
            assert client.get("/internal/readyz").status_code == 200
            disk.fill()
            answer = client.get("/internal/readyz")
            assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
            assert str(tmp_path) not in answer.text
            assert f"not ready: disk: nothing can be written into {disk.folder}" in caplog.text
            assert client.get("/internal/livez").status_code == 200
            disk.free()
            assert client.get("/internal/readyz").status_code == 200


def test_the_internal_path_can_be_moved_and_switched_off(make_settings, index, key):
    with running(make_settings(internal_path="/ops/"), index, key) as client:
        assert client.get("/ops/livez").status_code == 200
        assert client.get("/internal/livez").status_code == 404
    with running(make_settings(internal_path="off"), index, key) as client:
        assert {client.get(f"/{prefix}livez").status_code for prefix in ("internal/", "off/", "")} == {404}


@pytest.fixture
def settings(make_settings):
    return make_settings(internal_key="nur-fuer-die-messung")


def test_in_production_metrics_are_closed_or_keyed(make_settings, index, key):
    with running(make_settings(), index, key) as client:
        assert client.get("/internal/metrics").status_code == 404
        assert client.get("/internal/metrics", headers={"Authorization": "Bearer"}).status_code == 404
    with running(make_settings(internal_key="nur-fuer-die-messung"), index, key) as client:
        assert client.get("/internal/metrics").status_code == 404, "a key of the API is none for the metrics"
        assert client.get("/internal/metrics", headers={"Authorization": "Bearer nur-f"}).status_code == 404
        assert client.get("/internal/metrics", headers=METRICS).status_code == 200
    with running(make_settings(env="development"), index, key) as client:
        assert client.get("/internal/metrics").status_code == 200


def test_metrics_count_by_route_and_hold_no_content(api):
    ask(api, "Mustermann")
    api.get("/api/Mustermann", params={"q": "Mustermann"})
    text = httpx2.get(f"{api.base_url}/internal/metrics", headers=METRICS, trust_env=False).text
    assert 'befund_requests_total{method="POST",route="/api/deep-research",status="200"}' in text
    assert 'route="other",status="404"' in text
    assert "Mustermann" not in text


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
