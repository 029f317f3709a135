"""The workbench without a browser: who may, how many at once, and what of the catalog the text API is asked for."""

import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, g

from clinical.contract import ResearchRequest
from clinical.reading.index import SearchIndex
from clinical.sse import PING
from tests.serving import wait_until
from tests.webapp.conftest import add_organization, add_user, login, make_app
from tests.webapp.workbench.conftest import text_api
from webapp.workbench import catalog, relay
from webapp.workbench.calls import PER_PERSON, Held, Slots, stream
from webapp.workbench.catalog import CodeBook, open_book
from webapp.workbench.failures import FAILURES, kind_of, wait_of
from webapp.workbench.plugin import WARM_UP
from webapp.workbench.relay import ApiCall, event, relayed

PAGES = ("/coding/", "/extraction/", "/drafting/")
DEAD = "http://127.0.0.1:9"  # discard: nothing listens there


@pytest.fixture
def small(tmp_path: Path, sqlite_url: str, starter_artifact: Path) -> Any:
    """Makes applications on one database with the starter catalog."""

    def make(**settings: Any) -> Flask:
        app = make_app(sqlite_url, tmp_path, catalog=starter_artifact, **{"workbench_api_url": DEAD, **settings})
        app.config["WTF_CSRF_ENABLED"] = False
        return app

    return make


@pytest.fixture(scope="module")
def book(starter_artifact: Path) -> CodeBook:
    found = open_book(starter_artifact)
    assert found
    return found


def test_pages_are_for_members(small: Any) -> None:
    app = small()
    client = app.test_client()
    assert [client.get(path).status_code for path in PAGES] == [302, 302, 302]
    erika = add_user(app)
    login(client, erika)
    assert [client.get(path).status_code for path in PAGES] == [403, 403, 403]
    add_organization(app, member=erika)
    assert [client.get(path).status_code for path in PAGES] == [200, 200, 200]


def test_a_code_says_what_changed_since_an_earlier_year(small: Any, starter_artifact: Path, tmp_path: Path) -> None:
    raw = json.loads((starter_artifact / "codes.json").read_bytes())
    code, title = raw["columns"].index("code"), raw["columns"].index("title")
    then = [list(row) for row in raw["codes"] if row[code] != "E11.90"]
    then.append([*then[0][:code], "E11.99", *then[0][code + 1 :]])
    then[-1][raw["columns"].index("parent")] = "E11.9"
    next(row for row in then if row[code] == "I10")[title] = "Hochdruck"
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "codes.json").write_text(json.dumps({**raw, "version": "2025", "codes": then}))
    (tmp_path / "earlier" / "manifest.json").write_bytes((starter_artifact / "manifest.json").read_bytes())
    client = small(workbench_catalog="everybody", workbench_earlier=tmp_path / "earlier").test_client()
    pages = {name: client.get(f"/catalog/{name}/").text for name in ("E11.90", "E11.9", "I10", "I10.90")}
    assert "Geändert seit 2025" in pages["E11.90"]
    assert "Der Kode ist neu." in pages["E11.90"]
    assert "Gestrichen:" in pages["E11.9"]
    assert "E11.99" in pages["E11.9"]
    assert "Titel damals: Hochdruck" in pages["I10"]
    assert "Geändert seit" not in pages["I10.90"]


def test_the_catalog_opens_to_everybody_only_where_the_operator_says_so(small: Any) -> None:
    app = small()
    client, erika = app.test_client(), add_user(app)
    paths = ("", "E11.90/", "chapters/04/", "groups/E10-E14/")
    assert {client.get(f"/catalog/{path}").status_code for path in paths} == {302}
    login(client, erika)
    for answer in (
        *(client.get(f"/catalog/{path}") for path in paths),
        client.post("/catalog/search/", data={"q": "diabetes"}),
        client.post("/catalog/lookup/", json={"codes": ["I10.90"]}),
    ):
        assert answer.status_code == 403, "who belongs to no organization is no member"
        assert "keiner Organisation" in answer.text
        assert "Diabetes" not in answer.text
    add_organization(app, member=erika)
    assert {client.get(f"/catalog/{path}").status_code for path in paths} == {200}
    client = small(workbench_catalog="everybody").test_client()
    for path in (
        "/catalog/",
        "/catalog/E11.90/",
        "/catalog/e119/",
        "/catalog/chapters/04/",
        "/catalog/groups/E10-E14/",
    ):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "Set-Cookie" not in answer.headers
    assert client.get("/catalog/Q99.99/").status_code == 404
    assert client.post("/catalog/search/", data={"q": "diabetes"}).status_code == 503, "there is no text API here"
    found = client.post("/catalog/lookup/", json={"codes": ["I10.90", "nonsense", 7]}).get_json()
    assert list(found) == ["I10.90"]
    assert found["I10.90"]["above"][0]["code"] == "I10"


def test_a_bad_body_is_refused_and_a_full_house_says_when_to_come_back(small: Any) -> None:
    app = small(workbench_streams=1)
    erika = add_user(app)
    add_organization(app, member=erika)
    client = app.test_client()
    login(client, erika)
    for body in ({}, {"query": ""}, {"query": "x" * 2001}, {"query": 7}, []):
        answer = client.post("/coding/events/", json=body)
        assert (answer.status_code, answer.get_json()["kind"]) == (422, "refused")
    slots = app.extensions["befund_workbench_slots"]
    assert slots.take(uuid.uuid4())
    answer = client.post("/coding/events/", json={"query": "Gicht"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "3")
    assert answer.get_json()["kind"] == "busy"
    slots._open.clear()
    answer = client.post("/coding/events/", json={"query": "Gicht"})
    assert answer.mimetype == "text/event-stream"
    assert json.loads(answer.data.strip().removeprefix(b"data: "))["kind"] == "dead"
    answer.close()
    assert slots.taken == 0
    with app.test_request_context("/coding/events/", method="POST", json={"query": "Gicht"}):
        g._login_user = erika
        never_begun = stream("/api/deep-research", ResearchRequest, {}, streams=True)
    assert slots.taken == 1
    never_begun.close()
    assert slots.taken == 0


def test_a_place_is_given_back_once_also_when_nothing_was_read() -> None:
    slots, one, other = Slots(PER_PERSON + 1), uuid.uuid4(), uuid.uuid4()
    assert [slots.take(one) for _ in range(PER_PERSON + 1)] == [True] * PER_PERSON + [False]
    assert [slots.take(other), slots.take(other)] == [True, False]
    held = Held(slots, one, iter_of(b"x"))
    held.close()
    held.close()
    assert slots.taken == PER_PERSON


def iter_of(*chunks: bytes) -> Iterator[bytes]:
    yield from chunks


def test_a_browser_that_is_gone_ends_the_call_before_it_begins() -> None:
    words = {kind: {"type": "failure", "kind": kind} for kind in FAILURES}
    assert list(relayed(ApiCall(DEAD, "", {}), words, lambda: True)) == []
    assert list(relayed(ApiCall(DEAD, "", {}), words, lambda: False)) == [event(words["dead"])]


def test_waiting_for_an_answer_that_never_comes_has_an_end(index: SearchIndex, tmp_path: Path) -> None:
    words = {kind: {"type": "failure", "kind": kind} for kind in FAILURES}
    with text_api(index, tmp_path) as (url, key, behind):
        behind.mode = "silent"
        call = ApiCall(f"{url}/api/deep-research", key, {"query": "Gicht"}, streams=True)
        *before, last = relayed(call, words, lambda: False, longest=1.0)
        assert last == event(words["slow"])
        assert set(before) <= {PING}
        wait_until(lambda: behind.open == 0, "the call to the text API did not end")


def test_every_status_of_the_contract_has_words() -> None:
    assert {kind_of(status) for status in (401, 413, 422, 429, 502, 503, 500)} <= set(FAILURES)
    assert [wait_of(text) for text in ("17", "999999", "soon", None, "-1")] == [17, 86_400, None, None, None]


def test_codes_are_found_by_the_first_characters_where_the_text_api_is(
    small: Any, index: SearchIndex, tmp_path: Path
) -> None:
    with text_api(index, tmp_path) as (url, key, behind):
        client = small(workbench_catalog="everybody", workbench_api_key=key, workbench_api_url=url).test_client()
        page = client.post("/catalog/search/", data={"q": "diab"})
        assert "/catalog/E11.90/" in page.text
        told = client.post("/catalog/search/", data={"q": "zuckerkr"}, headers={"Accept": "application/json"})
        assert told.get_json()[0].keys() == {"code", "mark", "title", "terminal", "wording"}
        assert client.post("/catalog/search/", data={"q": " "}).status_code == 200
        assert "Zuckerkrankheit" in client.get("/catalog/E11.90/").text, "synonyms come from the text API"
        assert "Gilt auch: von E11" in client.get("/catalog/E11.90/").text, "notes of the codes above hold below"
        behind.mode = "dead"
        assert client.post("/catalog/search/", data={"q": "diab"}).status_code == 503
        assert client.get("/catalog/E11.90/").status_code == 200


def test_codes_are_found_however_they_are_spelt(book: CodeBook) -> None:
    assert {book.find(text).code for text in ("e1190", "E11.90", "E11.90-", " e11.90")} == {"E11.90"}
    assert book.find("") is None
    assert [code.code for code in book.path(book.get("M17.1"))] == ["M17"]
    assert "M17.1" not in {code.code for code in book.siblings("M17.1")} > {"M17.9"}


def test_a_catalog_is_read_once_for_all_who_ask_at_the_same_time(starter_artifact: Path, tmp_path: Path) -> None:
    (tmp_path / "codes.json").write_bytes((starter_artifact / "codes.json").read_bytes())
    before = catalog._read.cache_info().misses
    with ThreadPoolExecutor(6) as pool:
        books = list(pool.map(open_book, [tmp_path] * 6))
    assert len({id(book) for book in books}) == 1
    assert catalog._read.cache_info().misses == before + 1


def test_a_process_is_warm_before_its_first_call(small: Any, starter_artifact: Path) -> None:
    catalog._read.cache_clear()
    small().extensions[WARM_UP]()
    assert relay._tls.cache_info().currsize == 1
    assert catalog._read.cache_info().misses == 1
    assert open_book(starter_artifact)
    assert catalog._read.cache_info().misses == 1
