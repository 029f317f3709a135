"""Prometheus metrics: counts and times per route, no content and nothing of a key in the labels."""

from __future__ import annotations

import os

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST

REQUESTS = Counter("befund_requests", "Requests answered", ["route", "method", "status"])
RESPONSE_START = Histogram(
    "befund_response_start_seconds",
    "Seconds to the first byte of the answer",
    ["route"],
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30),
)


def exposition() -> bytes:
    """All metrics in the text format; with several workers summed over them, by the files they share."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
