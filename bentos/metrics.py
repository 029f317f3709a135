"""Prometheus metrics: counts and times per route, stream, tier and model call; nothing of a text or a key in a label.

All names are in docs/operate.md, "What to watch"; a test compares the two.
"""

from __future__ import annotations

import os
from functools import lru_cache

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 180)
"""Up to the time in which the server around the application ends a request itself."""

REQUESTS = Counter("befund_requests", "Requests answered", ["route", "method", "status"])
RESPONSE_START = Histogram(
    "befund_response_start_seconds", "Seconds to the first byte of the answer", ["route"], buckets=SECONDS
)
STREAMS = Counter("befund_streams", "Streams ended, by outcome: result, error, left", ["outcome"])
STREAMS_OPEN = Gauge("befund_streams_open", "Streams under way", multiprocess_mode="livesum")
TIERS = Histogram(
    "befund_tier_seconds", "Seconds from the opening of a stream to a tier's codes", ["tier"], buckets=SECONDS
)
TIERS_ENDED = Counter(
    "befund_tiers", "Tiers ended, by outcome: answered, failed (a client that left ends none)", ["tier", "outcome"]
)
MODEL_CALLS = Counter(
    "befund_model_calls",
    "Calls of the language model, by outcome: answered, truncated, malformed, timeout, unavailable, busy, too_long, "
    "left",
    ["outcome"],
)
MODEL_UNUSABLE = Counter(
    "befund_model_unusable",
    "Answers of the language model that came and could not be used (wrong form, cut, empty), by what followed: "
    "asked_again, given_up",
    ["outcome"],
)
FALLBACKS = Counter(
    "befund_fallbacks",
    "With BEFUND_LLM_FALLBACK=rules: letters read by rules, by the error of the language model",
    ["error"],
)
CANARY_CALLS = Counter(
    "befund_canary_calls", "With BEFUND_LLM_CANARY: calls by model (main, canary) and outcome", ["model", "outcome"]
)
MODEL_SECONDS = Histogram(
    "befund_model_call_seconds", "Seconds of a call, waiting included", ["outcome"], buckets=SECONDS
)
MODEL_TOKENS = Counter("befund_model_tokens", "Tokens as the model server counts them", ["direction"])
MODEL_OPEN = Gauge("befund_model_calls_open", "Calls under way or waiting", multiprocess_mode="livesum")
MODEL_WAITING = Gauge("befund_model_calls_waiting", "Calls waiting for a place", multiprocess_mode="livesum")
FILES = Counter(
    "befund_files", "Files in requests, by outcome: read, recognised (a scan), or the reason of a refusal", ["outcome"]
)
FILE_SECONDS = Histogram("befund_file_seconds", "Seconds from a file to its text", buckets=SECONDS)
REFUSED = Counter("befund_refused", "Requests answered with 5xx, by the kind of error", ["error"])
FAILURES = Counter(
    "befund_failures",
    "Failures of what the server rests on: start, catalog, keys, limits, disk, connections (too many are open), "
    "model (its probe), stream, request",
    ["part"],
)
QUOTA_WARNINGS = Counter("befund_quota_warnings", "Keys that used four fifths of their requests of a day")
RESTARTS = Counter("befund_worker_restarts", "Workers that died and were started again")
READY = Gauge("befund_ready", "1 when all is there that a request needs, else 0", multiprocess_mode="livemostrecent")
MODEL_UP = Gauge(
    "befund_model_up",
    "0 when the language model that is set up is not well, else 1",
    multiprocess_mode="livemostrecent",
)

FROM_ZERO: dict[Counter, tuple[str, ...]] = {
    MODEL_CALLS: ("answered", "truncated", "malformed", "timeout", "unavailable", "busy", "too_long", "left"),
    MODEL_UNUSABLE: ("asked_again", "given_up"),
    FALLBACKS: ("ModelNotConfigured", "ModelTimeout", "ModelUnavailable"),
    STREAMS: ("result", "error", "left"),
    FAILURES: ("start", "catalog", "keys", "limits", "disk", "connections", "model", "stream", "request"),
}
for counter, values in FROM_ZERO.items():
    for value in values:
        counter.labels(value)  # a series that starts at its first failure shows no increase, and no alert


def answered(route: str, method: str, status: int, seconds: float) -> None:
    """Count an answer that began after so many seconds; `route` is a template."""
    count, times = _series(route, method, status)
    count.inc()
    times.observe(seconds)


@lru_cache(maxsize=1024)
def _series(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    """The two series of an answer: finding them takes longer than counting."""
    return REQUESTS.labels(route, method, str(status)), RESPONSE_START.labels(route)


def exposition() -> bytes:
    """All metrics in the text format; with several workers summed over them, by the files they share."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
