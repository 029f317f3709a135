"""The answers of the webapp that the README shows are real ones, shortened."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, urlsplit

from tests import docs
from tests.test_docs import README


def test_the_search_for_documents(app, client):
    runner = app.test_cli_runner()
    added = runner.invoke(args=["demo"]).output
    organization = re.search(r"organization (\S+):", added)[1]
    token = runner.invoke(args=["tokens", "create", "--user", "erika@example.org"]).stdout.split()[-1]
    _, shown = docs.example(README, "/fhir/r4/DocumentReference")
    url = f"/{organization}/fhir/r4/DocumentReference?_count=1"
    assert url.replace(organization, "$ORGANIZATION") in README.read_text("utf-8")
    real = client.get(url, headers={"Authorization": f"Bearer {token}"}).json
    assert docs.shortened(json.loads(shown.text), real), real


def test_the_way_to_a_vendor(app, client):
    app.test_cli_runner().invoke(args=["demo"])
    _, shown = docs.example(README, "/accounts/vendor_oauth2/login/")
    answer = client.get("/accounts/vendor_oauth2/login/?provider_id=demo")
    status, location = shown.text.splitlines()
    assert status == f"HTTP/1.1 {answer.status}"
    said, real = (urlsplit(url.removesuffix("&...")) for url in (location.removeprefix("Location: "), answer.location))
    assert said.path == real.path
    assert set(parse_qsl(said.query)) <= set(parse_qsl(real.query))
