"""Request tracing of every server: ids in and out, log lines with their request, OpenTelemetry spans."""

from clinical.tracing.context import Trace, current, outgoing, received
from clinical.tracing.lines import JsonLines, LineRecord, TextLines, formatter, place_of, write_lines
from clinical.tracing.spans import OpenSpan, Serving, check_export, end_export, export_to, note, span

__all__ = [
    "JsonLines",
    "LineRecord",
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
    "place_of",
    "received",
    "span",
    "write_lines",
]
