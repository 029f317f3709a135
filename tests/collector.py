"""A collector of OpenTelemetry spans on a free port: keeps what it is sent, as bytes and read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.serving import serving

CANARY = "kanarienvogel-4711"
"""A word that no line and no span may hold."""
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
REQUEST = "f058ebd6-02f7-4d3f-942e-904344e8cde5"
IDS = {"X-Request-ID": REQUEST, "traceparent": PARENT}


class Collector:
    """Spans that arrived. `url` is where to send them."""

    def __init__(self, url: str) -> None:
        self.url, self.bodies = url, []

    @property
    def spans(self) -> list[Any]:
        """Every span, as OTLP has it."""
        read = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [s for one in read for r in one.resource_spans for scope in r.scope_spans for s in scope.spans]

    def named(self, name: str) -> list[Any]:
        """The spans of that name."""
        return [span for span in self.spans if span.name == name]


def attributes(span: Any) -> dict[str, object]:
    """Name -> value."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@contextmanager
def collector() -> Iterator[Collector]:
    """A running collector."""

    class Taken(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taken)
    found = Collector(f"http://127.0.0.1:{server.server_port}/v1/traces")
    with serving(server):
        yield found
