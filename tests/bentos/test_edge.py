"""The edge: order of refusals, one shape of error, and nothing of a request in any log."""

import asyncio
import logging
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from fastapi import Request
from fastapi.openapi.utils import get_openapi
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

from bentos.api import coding, terminology
from bentos.api.app import contract_paths, create_app, internal_paths
from bentos.api.edge import Edge, OnlyContractPaths
from bentos.api.problems import ANSWERS, of_error
from bentos.keys.keys import KeyLimits, Keys
from clinical.errors import BefundError
from tests.bentos.conftest import CLOSED, ROOT, ask, running
from tests.serving import served, wait_until

SECRET = "Mustermann"
PATH = "/api/deep-research"


def _kinds(kind: type[BefundError]) -> set[type[BefundError]]:
    return {kind}.union(*(_kinds(child) for child in kind.__subclasses__())) if kind else set()


def test_every_error_of_the_tree_has_its_answer():
    ours = {kind for kind in _kinds(BefundError) if kind.__module__.split(".")[0] in {"clinical", "bentos"}}
    assert ours == set(ANSWERS)


def test_an_answer_never_repeats_the_words_of_the_error():
    assert SECRET.encode() not in of_error(BefundError(SECRET, SECRET, SECRET)).body


def test_no_key_comes_before_everything_else(api):
    for given, error in (
        ("", ""),
        ("Bearer", ""),
        ("Basic eA==", ""),
        ("Bearer bfd_x", ', error="invalid_token"'),
        ("bearer anything", ', error="invalid_token"'),
    ):
        headers = {"Authorization": given} if given else {}
        answer = httpx2.post(f"{api.base_url}{PATH}", content=b"no JSON", headers=headers, trust_env=False)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == f'Bearer realm="Befund"{error}', "RFC 6750, section 3.1"
        assert answer.json() == {
            "type": "about:blank",
            "title": "Nicht angemeldet",
            "status": 401,
            "detail": "API-Schlüssel fehlt oder ist ungültig.",
        }


def test_the_scheme_is_read_in_any_case(api, key):
    headers = {"Authorization": f"bearer {key}"}
    assert api.post(PATH, json={"query": "Husten"}, headers=headers).status_code == 200


def test_the_limit_comes_before_the_body_and_says_when_to_retry(api, keys):
    headers = {"Authorization": f"Bearer {keys.create('x', KeyLimits(1, 0))}"}
    assert api.post(PATH, content=b"no JSON", headers=headers).status_code == 422
    answer = api.post(PATH, content=b"no JSON", headers=headers)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60


def test_the_body_comes_before_the_readiness(settings, key):
    with running(settings, None, key) as client:
        assert client.post(PATH, content=b"no JSON").status_code == 422
        assert client.post(PATH, json={"query": "Husten"}).status_code == 503


@pytest.fixture
def broken(settings, index, key):
    """The application with a route that fails in a way nobody foresaw."""
    holder = running(settings, index, key)

    @holder.app.get("/broken")
    async def broken(request: Request) -> None:
        raise ValueError(f"{SECRET}: {request.url}")

    with holder as client:
        yield client


def test_an_unforeseen_error_is_a_generic_500_and_the_next_request_works(broken, caplog):
    answer = broken.get("/broken", params={"q": SECRET})
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert answer.json()["detail"] == "Interner Fehler."
    assert SECRET not in answer.text
    assert "ValueError at test_edge.py" in caplog.text
    assert SECRET not in caplog.text
    assert ask(broken, "Husten")


def test_an_answer_that_does_not_begin_is_ended_and_one_that_has_begun_is_not():
    async def slow(scope, receive, send):
        if scope["type"] != "http":
            return
        if scope["path"] == "/begun":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(2)
        await send({"type": "http.response.body", "body": b"done"})

    with served(Edge(slow, seconds=0.5)) as base:
        late, begun = (httpx2.get(f"{base}/{path}", timeout=60, trust_env=False) for path in ("late", "begun"))
    assert (late.status_code, late.headers["content-type"]) == (504, "application/problem+json")
    assert (begun.status_code, begun.text) == (200, "done")


def test_no_log_of_any_library_holds_content(api, keys, caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # the client of this test, not the server
    logging.getLogger("httpcore").setLevel(logging.WARNING)
    ask(api, SECRET)
    ask(api, f"{SECRET} Husten " * 50, rerank=True)
    api.post(PATH, content=f'{{"query": "{SECRET}'.encode())
    api.post(f"{PATH}?{SECRET}", json={"query": ["x", SECRET]})
    api.get(f"/api/{SECRET}", headers={"X-Name": SECRET})
    wait_until(lambda: "GET other 404" in caplog.text, "the log line of the last request did not come", 5)
    text = caplog.text
    assert "POST /api/deep-research 200" in text
    assert SECRET not in text
    assert api.headers["authorization"][-20:] not in text


TRACED = """
import logging, sys
from fastapi.testclient import TestClient
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from bentos.api.app import create_app
from clinical.settings import Settings

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
trace.get_tracer("test").start_span("the provider works").end()
settings = Settings(_env_file=None, api_database_url=sys.argv[1], catalog=sys.argv[2])
with TestClient(create_app(settings)) as client:
    client.post("/api/deep-research?q=Mustermann", json={"query": "Mustermann"})
    client.get("/api/health")
print([span.name for span in exporter.get_finished_spans()])
"""


def test_the_framework_writes_no_traces_even_where_tracing_is_set_up(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = [sys.executable, "-c", TRACED, f"sqlite:///{tmp_path / 'api.sqlite'}", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "['the provider works']", done.stderr[-2000:]


def test_only_contract_and_internal_paths_are_routed(settings, index):
    app = create_app(settings, index)
    routed = set(get_openapi(title="", version="", routes=app.routes)["paths"])
    routed |= {route.path for route in (*coding.ROUTES, *terminology.ROUTES)}
    begun = tuple(path for path in contract_paths() if path.endswith("/"))
    others = {path for path in routed if not path.startswith(begun)}
    assert others <= {*contract_paths(), *internal_paths(settings)}
    assert {"/api/deep-research", "/api/health", "/api/llm/health", *internal_paths(settings)} <= routed


def test_the_allow_list_closes_every_other_path(settings, index):
    async def everything(scope, receive, send):
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"open"})

    with served(OnlyContractPaths(everything, frozenset(contract_paths()))) as base:
        assert httpx2.get(f"{base}/api/health").status_code == 200
        for path in CLOSED:
            assert httpx2.get(f"{base}{path}").status_code == 404, path


def test_the_layers_of_the_server_around_see_no_request():
    async def ours(scope, receive, send):
        await PlainTextResponse("ours")(scope, receive, send)

    class Around:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            seen.append(scope["type"])
            await self.app(scope, receive, send)

    seen: list[str] = []
    inner = Middleware(OnlyContractPaths, paths=frozenset(contract_paths()), direct=ours)
    with served(Starlette(middleware=[Middleware(Around), inner])) as base:
        assert httpx2.get(f"{base}/api/health", trust_env=False).text == "ours"
        assert httpx2.get(f"{base}/", trust_env=False).status_code == 404
    assert seen == ["lifespan"]


def test_any_host_is_served_unless_narrowed(make_settings, index, key):
    for allowed, status in (("*", 200), ("api.example.org", 400), ("api.example.org,*.alt.example", 400)):
        with running(make_settings(allowed_hosts=allowed), index, key) as client:
            assert client.get("/api/health", headers={"Host": "old.example.org"}).status_code == status
            assert client.get("/api/health", headers={"Host": "api.example.org"}).status_code == 200


def test_keys_are_checked_again_on_every_request(api, keys: Keys, key):
    keys.revoke(key.split("_")[1])
    assert api.post(PATH, json={"query": "Husten"}).status_code == 401


def test_of_callers_that_come_together_the_quota_admits_exactly_as_many_as_are_left(api, keys: Keys):
    limited, revoked = keys.create("Praxis", KeyLimits(0, 20)), keys.create("früher", KeyLimits(0, 0))
    keys.revoke(revoked.split("_")[1])

    def asked(number: int) -> tuple[bool, int]:
        headers = {"Authorization": f"Bearer {revoked if number % 3 == 0 else limited}"}
        path = "/api/fhir/r4/CodeSystem/$lookup?system=http://fhir.de/CodeSystem/bfarm/icd-10-gm&code=I10.90"
        return number % 3 == 0, api.get(path, headers=headers).status_code

    with ThreadPoolExecutor(16) as callers:
        answers = Counter(callers.map(asked, range(60)))
    assert answers == {(True, 401): 20, (False, 200): 20, (False, 429): 20}
