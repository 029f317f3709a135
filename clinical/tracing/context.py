"""The ids of a request: `X-Request-ID`, and `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context/).

A caller's ids are kept only where they can hold nothing else: hexadecimal, long, of the standard's form. A word that a
caller writes there, a name or a number of a patient, would otherwise stand in every line of the log. `tracestate` and
`baggage`, which are free text, are neither read nor sent on.
"""

from __future__ import annotations

import os
import re
from contextvars import ContextVar
from dataclasses import dataclass

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_REQUEST_ID = re.compile(r"(?=.{16,64}\Z)[0-9a-fA-F]+(-[0-9a-fA-F]+)*")
"""UUIDs and what proxies make; long enough that no number of a person or a case has its form."""
FEWEST_DIGITS = 16
SAMPLED = "01"


@dataclass(frozen=True, slots=True)
class Trace:
    """Trace context: the request as its first server named it, the trace, and the current span in it."""

    request_id: str
    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits; what is sent on as the parent of whatever comes next."""
    flags: str = SAMPLED

    @property
    def traceparent(self) -> str:
        """As a header."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


_current: ContextVar[Trace | None] = ContextVar("befund_trace", default=None)


def current() -> Trace | None:
    """The request that is being served here, if any."""
    return _current.get()


def enter(trace: Trace | None) -> None:
    """From here on, in this task or thread, `current()` is this trace."""
    _current.set(trace)


def received(request_id: str | None, traceparent: str | None) -> tuple[Trace, bool]:
    """The trace of a request that came with these headers, with a place of our own; whether its caller had one.

    What is missing or has another form is made anew; nobody is refused for it.
    """
    match = _TRACEPARENT.fullmatch(traceparent.strip().lower()) if traceparent else None
    if match and match[4] and traceparent and traceparent.startswith("00"):
        match = None  # version 00 has four parts
    given = request_id.strip() if request_id else ""
    digits = len(given.replace("-", ""))
    fresh = os.urandom(40).hex()  # all that may be needed, by one call of the system
    name = given if digits >= FEWEST_DIGITS and _REQUEST_ID.fullmatch(given) else fresh[:32]
    if match is None:
        return Trace(name, fresh[32:64], fresh[64:]), False
    return Trace(name, match[1], match[2], match[3]), True


def outgoing() -> dict[str, str]:
    """The headers for a call that is made for the current request; none outside of one."""
    trace = current()
    return {"X-Request-ID": trace.request_id, "traceparent": trace.traceparent} if trace else {}
