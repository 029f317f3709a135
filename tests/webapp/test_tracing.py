"""Ids of a request in the webapp: in, out, in lines and spans, on to the text API; never anything else of it."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clinical.tracing import current, end_export, export_to, outgoing
from tests.collector import CANARY, IDS, PARENT, REQUEST, attributes, collector
from tests.webapp.conftest import make_app
from webapp.watching import Watched

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def app(tmp_path):
    return make_app(f"sqlite:///{tmp_path / 'webapp.sqlite3'}", tmp_path)


def test_ids_come_back_with_every_answer(app):
    known = app.test_client().get("/accounts/login/", headers=IDS, buffered=True)
    assert known.headers["X-Request-ID"] == REQUEST
    assert known.headers["traceparent"].split("-")[1] == PARENT.split("-")[1]
    for path in ("/accounts/login/", "/nowhere", f"/{CANARY}"):
        answer = app.test_client().get(path, headers={"X-Request-ID": CANARY, "traceparent": CANARY}, buffered=True)
        assert len(answer.headers["X-Request-ID"]) == 32
    assert current() is None


def test_lines_that_a_request_causes_name_it(app, capsys, request):
    app.config["BEFUND"] = app.config["BEFUND"].model_copy(update={"log_format": "json"})
    from webapp import logs

    before = logging.getLogger().handlers[:]
    logs.init_app(app)
    request.addfinalizer(lambda: setattr(logging.getLogger(), "handlers", before))

    @app.get("/fails")
    def fails():
        raise ValueError(CANARY)

    assert app.test_client().get("/fails", headers=IDS).status_code == 500
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert any(line["request_id"] == REQUEST and line["level"] == "ERROR" for line in said)
    assert CANARY not in json.dumps(said)


def test_every_line_of_a_process_is_json_whoever_says_it():
    """Those of `befund` and of libraries had no handler: Python's last resort wrote them as they were."""
    code = "import logging, warnings; from webapp import create_app; create_app()\n"
    code += (
        "[logging.getLogger(name).warning('said') for name in ('befund.web', 'befund', 'webapp', 'sqlalchemy.pool')]\n"
    )
    code += "warnings.warn('said')"
    settings = {"BEFUND_ENV": "development", "BEFUND_LOG_FORMAT": "json", "BEFUND_SECRET_KEY": "x" * 40}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    said = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["logger"] for line in said] == ["befund.web", "befund", "webapp", "sqlalchemy.pool", "py.warnings"]


def test_a_stream_is_inside_its_request_to_its_end_and_its_span_too(monkeypatch):
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)
    told = []

    def application(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])

        def body():
            for _ in range(2):
                told.append(outgoing())
                yield b"x"

        return body()

    heads = []
    with collector() as found:
        export_to(found.url, "befund-web")
        environ = {"REQUEST_METHOD": "GET", "HTTP_X_REQUEST_ID": REQUEST, "HTTP_TRACEPARENT": PARENT}
        environ |= {"PATH_INFO": f"/{CANARY}", "QUERY_STRING": CANARY, "HTTP_USER_AGENT": CANARY}
        body = Watched(application)(environ, lambda line, headers, *_: heads.append(dict(headers)))
        assert list(body) == [b"x", b"x"]
        body.close()
        end_export()
    assert current() is None
    assert [call["X-Request-ID"] for call in told] == [REQUEST, REQUEST]
    (span,) = found.spans
    assert span.name == "GET other"
    assert span.parent_span_id.hex() == PARENT.split("-")[2]
    assert attributes(span)["http.response.status_code"] == 200
    assert told[0]["traceparent"].split("-")[2] == span.span_id.hex() == heads[0]["traceparent"].split("-")[2]
    assert CANARY.encode() not in b"".join(found.bodies)
