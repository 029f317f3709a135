"""Ids of a request: what is taken from a caller, what is made anew, and how a line of the log says it."""

from __future__ import annotations

import json
import logging
import sys
from contextvars import Context
from datetime import datetime

import pytest

from clinical.errors import SettingError
from clinical.tracing import JsonLines, Serving, TextLines, check_export, current, outgoing, received, span, write_lines

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UUID = "f058ebd6-02f7-4d3f-942e-904344e8cde5"


@pytest.mark.parametrize("given", [UUID, UUID.upper(), "0123456789abcdef", "a" * 64])
def test_an_id_that_can_be_nothing_else_is_kept(given):
    assert received(given, None)[0].request_id == given


@pytest.mark.parametrize(
    "given",
    [
        *(None, "", "Müller", "Mustermann-1945-03-12", "12.03.1945", "7561234567897", "A123456789"),
        *("a" * 65, "0123456789abcde", "----------------", "0123456789abcdef\nx", "0123456789abcdeg"),
    ],
)
def test_what_might_be_a_patient_is_replaced(given):
    made = received(given, None)[0].request_id
    assert made != given
    assert len(made) == 32
    assert int(made, 16) >= 0


def test_a_trace_goes_on_and_keeps_its_flags():
    trace, has_parent = received(None, PARENT)
    assert has_parent
    assert trace.traceparent == PARENT
    unsampled, _ = received(None, PARENT[:-2] + "00")
    assert unsampled.flags == "00"
    later, has_parent = received(None, "01" + PARENT[2:] + "-more")
    assert (has_parent, later.traceparent) == (True, PARENT), "a later version of the standard is read as this one"


@pytest.mark.parametrize(
    "given",
    [
        *("", "00", PARENT + "-more", "ff" + PARENT[2:], PARENT.replace("00f067aa0ba902b7", "0" * 16)),
        *(PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32), PARENT.replace("a3ce", "g3ce"), PARENT[:-1]),
    ],
)
def test_a_traceparent_of_another_form_begins_a_new_trace(given):
    trace, has_parent = received(None, given)
    assert not has_parent
    assert "4bf92f3577b34da6" not in trace.trace_id


def test_inside_a_request_the_next_call_is_told_and_outside_nothing_is():
    Context().run(_inside_and_outside)  # an answer that another test never closed is a request still


def _inside_and_outside():
    assert outgoing() == {}
    serving = Serving(UUID, PARENT)
    told = outgoing()
    assert told == serving.headers
    assert told["X-Request-ID"] == UUID
    assert told["traceparent"].split("-")[1] == PARENT.split("-")[1]
    assert told["traceparent"].split("-")[2] != PARENT.split("-")[2], "our own place, not our caller's"
    with span("a part") as call:
        call.tell(outcome="well")
        assert outgoing() == told, "without OpenTelemetry a part has no place of its own"
    serving.end("GET", "/", 200)
    assert outgoing() == {}
    assert current() is None


def _record(message: str, *arguments: object, failed: bool = False) -> logging.LogRecord:
    info = None
    if failed:
        try:
            raise ValueError("Frau Mustermann")
        except ValueError:
            info = sys.exc_info()
    return logging.LogRecord("befund.x", logging.WARNING, "f.py", 1, message, arguments, info)


def test_a_line_as_json_says_when_what_and_which_request():
    serving = Serving(UUID, PARENT)
    said = json.loads(JsonLines().format(_record("two\nlines of %s", "größe")))
    serving.end("GET", "/", 200)
    assert datetime.fromisoformat(said.pop("time")).utcoffset().total_seconds() == 0
    assert said == {
        "level": "WARNING",
        "logger": "befund.x",
        "message": "two\nlines of größe",
        "request_id": UUID,
        "trace_id": PARENT.split("-")[1],
        "span_id": serving.trace.span_id,
    }
    assert "request_id" not in json.loads(JsonLines().format(_record("outside")))


def test_of_an_exception_json_says_kind_and_place_and_not_its_words():
    line = JsonLines().format(_record("failed", failed=True))
    assert "Mustermann" not in line
    assert json.loads(line)["exception"]["kind"] == "ValueError"


def test_a_line_of_text_ends_with_the_request():
    serving = Serving(UUID, None)
    assert TextLines().format(_record("said")).endswith(f"WARNING befund.x said request={UUID}")
    serving.end("GET", "/", 200)
    assert TextLines().format(_record("said")).endswith("WARNING befund.x said")


def test_lines_are_written_once_in_the_form_that_was_asked_for_last(capsys, monkeypatch):
    name = "befund-test-lines"
    # the webapp writes what reaches the root logger: a test that made one leaves its handler in this process
    monkeypatch.setattr(logging.getLogger(name), "propagate", False)
    write_lines("text", name)
    write_lines("json", name)
    logging.getLogger(f"{name}.below").warning("hello")
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "hello" in line]  # libraries may warn
    assert json.loads(line)["message"] == "hello"


def test_spans_that_could_not_be_sent_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    check_export("")
    with pytest.raises(SettingError, match="OTEL_SDK_DISABLED"):
        check_export("http://127.0.0.1:4318/v1/traces")
    monkeypatch.delenv("OTEL_SDK_DISABLED")
    check_export("http://127.0.0.1:4318/v1/traces")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [])
    for module in [name for name in sys.modules if name.startswith("opentelemetry.exporter")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(SettingError, match="befund\\[otel\\]"):
        check_export("http://127.0.0.1:4318/v1/traces")
