"""Request tracing of every server: ids in and out, log lines with their request, OpenTelemetry spans."""

from clinical.tracing.context import current, outgoing, received
from clinical.tracing.lines import JsonLines, LineRecord, TextLines, place_of, write_lines
from clinical.tracing.spans import OpenSpan, Serving, check_export, end_export, export_to, note, span
