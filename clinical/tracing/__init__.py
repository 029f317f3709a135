"""Which request a line of the log and a span belong to, on every server: ids in and out, log lines, OpenTelemetry."""

from clinical.tracing.context import Trace, current, outgoing, received
from clinical.tracing.lines import JsonLines, TextLines, formatter, write_lines
from clinical.tracing.spans import OpenSpan, Serving, check_export, end_export, export_to, note, span

__all__ = [
    "JsonLines",
    "OpenSpan",
    "Serving",
    "TextLines",
    "Trace",
    "check_export",
    "current",
    "end_export",
    "export_to",
    "formatter",
    "note",
    "outgoing",
    "received",
    "span",
    "write_lines",
]
