"""Spans for OpenTelemetry (extra `otel`, BEFUND_TRACES_URL): how long what took, never what was in it.

A span here has a fixed name, a route's template, a status, counts and outcomes. The instrumentations that the libraries
have would send addresses, headers and the texts of exceptions; none of them is used, and neither is OpenTelemetry's own
context: parent and child go by `context.current()`, which is there without the extra too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from clinical import __version__
from clinical.errors import SettingError
from clinical.tracing.context import SAMPLED, Trace, current, enter, received

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

Value = str | int | float | bool
WAIT_SECONDS = 2
"""For one batch of spans, tries included, in a thread of its own; a server that ends waits as long for the last one."""
NEEDED = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class _Export:
    provider: Any
    tracer: Tracer


_export: list[_Export] = []
_open: ContextVar[Span | None] = ContextVar("befund_span", default=None)


def check_export(url: str) -> None:
    """Raises SettingError where spans are to be sent to `url` and could not be made here."""
    if not url:
        return
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        raise SettingError("BEFUND_TRACES_URL is set, and OTEL_SDK_DISABLED=true turns traces off", "one of them")
    if not all(_is_there(module) for module in NEEDED):
        raise SettingError(
            "BEFUND_TRACES_URL is set, and the extra for traces is not installed", "", "pip install 'befund[otel]'"
        )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def export_to(url: str, service: str) -> None:
    """Send spans from now on to a collector (OTLP over HTTP, `http://host:4318/v1/traces`); nothing when `url` is "".

    Raises SettingError where the extra is not installed, or OpenTelemetry is turned off by its own setting.
    """
    check_export(url)
    if not url or _export:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": service, "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url, timeout=WAIT_SECONDS)))
    _export.append(_Export(provider, provider.get_tracer("befund", __version__)))


def end_export() -> None:
    """Send what is left, within WAIT_SECONDS, and stop."""
    while _export:
        provider = _export.pop().provider
        provider.force_flush(WAIT_SECONDS * 1_000)
        provider.shutdown()


class Serving:
    """One request that is being served: `current()` is its trace from here to `end`.

    `headers` go into the answer.
    """

    def __init__(self, request_id: str | None, traceparent: str | None) -> None:
        trace, has_parent = received(request_id, traceparent)
        self._span = _started("request", trace if has_parent else None, "server")
        if self._span is None and has_parent:
            trace = replace(trace, span_id=os.urandom(8).hex())
        self.trace = _placed(trace, self._span)
        enter(self.trace)
        _open.set(self._span)

    @property
    def headers(self) -> dict[str, str]:
        """The ids of this request as response headers."""
        return {"X-Request-ID": self.trace.request_id, "traceparent": self.trace.traceparent}

    def end(self, method: str, route: str, status: int) -> None:
        """The answer is complete, or the client left; `route` is the template, never the path."""
        enter(None)
        _open.set(None)
        if self._span is not None:
            method = method if method in _METHODS else "_OTHER"
            self._span.update_name(f"{method} {route}")
            said = {"http.request.method": method, "http.route": route, "befund.request_id": self.trace.request_id}
            _end(self._span, {**said, "http.response.status_code": status}, failed=status >= 500)


class OpenSpan:
    """Open span inside a request, which takes outcomes and counts until it ends."""

    def __init__(self) -> None:
        self.said: dict[str, Value] = {}
        self.failed = False

    def tell(self, failed: bool = False, **said: Value) -> None:
        """Outcomes and counts; names get the prefix `befund.`. `failed` makes the span an error."""
        self.said |= {f"befund.{name}": value for name, value in said.items()}
        self.failed = failed


@contextmanager
def span(name: str, kind: Literal["client", "internal"] = "internal") -> Iterator[OpenSpan]:
    """A part of the current request, in the task or thread that it is entered in; `outgoing()` inside names it."""
    before, above, call = current(), _open.get(), OpenSpan()
    opened = _started(name, before, kind) if before else None
    if opened is None or before is None:
        yield call
        return
    enter(_placed(before, opened))
    _open.set(opened)
    try:
        yield call
    finally:
        enter(before)
        _open.set(above)
        _end(opened, call.said, call.failed)


def note(name: str) -> None:
    """A moment in the current span: a fixed name, and when."""
    if (opened := _open.get()) is not None:
        opened.add_event(name)


def _started(name: str, parent: Trace | None, kind: str) -> Span | None:
    if not _export:
        return None
    from opentelemetry import trace as otel
    from opentelemetry.context import Context

    context = Context()
    if parent is not None:
        ids = int(parent.trace_id, 16), int(parent.span_id, 16)
        above = otel.SpanContext(*ids, is_remote=kind == "server", trace_flags=otel.TraceFlags(int(parent.flags, 16)))
        context = otel.set_span_in_context(otel.NonRecordingSpan(above), context)
    return _export[0].tracer.start_span(name, context, otel.SpanKind[kind.upper()])


def _placed(trace: Trace, opened: Span | None) -> Trace:
    """The trace with the span's place in it."""
    if opened is None:
        return trace
    ids = opened.get_span_context()
    flags = SAMPLED if ids.trace_flags.sampled else "00"
    return replace(trace, trace_id=f"{ids.trace_id:032x}", span_id=f"{ids.span_id:016x}", flags=flags)


def _end(opened: Span, said: Mapping[str, Value], failed: bool) -> None:
    from opentelemetry.trace import StatusCode

    opened.set_attributes(dict(said))
    if failed:
        opened.set_status(StatusCode.ERROR)
    opened.end()
