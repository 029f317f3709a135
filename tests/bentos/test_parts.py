"""The parts of the API apart, and together again behind one address: nginx with the configuration we ship."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from bentos.api.app import PARTS, contract_paths, create_app
from tests.bentos.conftest import ask
from tests.nginx import in_front_of
from tests.serving import answers, served, wait_until

LETTER = {"text": "Husten.", "prompt": "Fasse zusammen."}


@pytest.fixture
def apart(server, make_settings, index) -> Iterator[dict[str, str]]:
    """Base URL of each part; only Coding has the catalog."""
    with ExitStack() as stack:
        settings = make_settings(llm_base_url=server.base_url)
        apps = {part: create_app(settings, index if part == "coding" else None, parts=(part,)) for part in PARTS}
        bases = {part: stack.enter_context(served(app)) for part, app in apps.items()}
        for app in apps.values():
            wait_until(lambda app=app: app.state.keys is not None, "the key store did not open")
        yield bases


@pytest.fixture
def proxy(apart: dict[str, str], tmp_path: Path, key: str) -> Iterator[httpx2.Client]:
    ports = {
        shipped: [int(apart[name].rpartition(":")[2])]
        for name, shipped in (("coding", 3001), ("extraction", 3002), ("generation", 3003))
    }
    headers = {"Authorization": f"Bearer {key}"}
    with (
        in_front_of("bentos", ports, tmp_path) as base,
        httpx2.Client(base_url=base, headers=headers, trust_env=False, timeout=20) as client,
    ):
        yield client


def test_each_part_answers_its_own_paths_and_is_ready_without_what_it_does_not_need(apart, key):
    assert apart
    for part, base in apart.items():
        assert answers(f"{base}/api/health"), part
        assert answers(f"{base}/internal/readyz"), part
        foreign = set(contract_paths()) - set(contract_paths((part,)))
        assert foreign
        for path in foreign:
            assert httpx2.post(f"{base}{path}", json={}, trust_env=False).status_code == 404, (part, path)


def test_behind_one_address_it_is_one_api(proxy, server):
    events = ask(proxy, "Husten")
    assert [event.type for event in events][-1] == "result"
    assert proxy.post("/api/llm/generate", json=LETTER).json()["model"] == "test/model-1b"
    extract = proxy.post("/api/documents/extract", json={"document_type": "zuweisung", "text": "Husten."})
    assert extract.status_code in (200, 502)
    assert proxy.get("/api/health").json()["catalog"]["system"] == "ICD-10-GM"
    assert proxy.get("/api/llm/health").json()["status"] == "ok"
    assert proxy.get("/internal/metrics").status_code == 404
    assert proxy.get("/").status_code == 404


def test_tier_1_comes_through_the_proxy_at_once_and_leaving_reaches_the_model(proxy, server):
    server.mode = "stall"
    with proxy.stream("POST", "/api/deep-research", json={"query": "Husten"}) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        chunks = answer.iter_bytes()
        assert b'"layer":1' in next(chunks) + next(chunks, b"")
        wait_until(lambda: server.running == 1, "no call was made", 3)
    wait_until(lambda: server.running == 0, "the call went on for nobody", 2)


def test_leaving_a_draft_reaches_the_model_through_the_proxy(proxy, server):
    server.mode = "stall"
    with pytest.raises(httpx2.ReadTimeout):
        proxy.post("/api/llm/generate", json=LETTER, timeout=0.5)
    wait_until(lambda: server.running == 0 and server.given_up == 1, "the call went on for nobody", 2)


def test_a_body_over_1_mib_is_refused_and_twenty_thousand_characters_pass(proxy):
    assert proxy.post("/api/llm/generate", content=b"x" * (1024 * 1024 + 1)).status_code == 413
    body = {"text": "ä" * 20_000, "prompt": "p"}
    assert proxy.post("/api/llm/generate", json=body).status_code == 200
