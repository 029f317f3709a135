"""Prometheus metrics of the webapp: nothing of a request but its route, its method and how it ended.

All names are in docs/operate.md, "What to watch"; a test compares the two. The processes of one server keep their
counts in a folder that the one that becomes gunicorn makes: the library reads its name once, when it is loaded, so it
is in the environment before gunicorn loads anything. What was there already is another server's.
"""

import os
import shutil
import tempfile

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_BEGINS = "befund-web-"
CONTENT_TYPE = CONTENT_TYPE_LATEST

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
"""Up to the time after which gunicorn ends a worker that says nothing."""

REQUESTS = Counter("befund_web_requests", "Requests answered", ["route", "method", "status"])
RESPONSE_START = Histogram(
    "befund_web_response_start_seconds", "Seconds to the head of the answer", ["route"], buckets=SECONDS
)
REQUESTS_OPEN = Gauge("befund_web_requests_open", "Requests in a thread", multiprocess_mode="livesum")
SIGN_INS = Counter(
    "befund_web_sign_ins",
    "Sign-ins that came back from a vendor: signed_in, address (one must be proven), or the outcome that was shown",
    ["outcome"],
)
DOCUMENTS_STORED = Counter("befund_web_documents_stored", "Documents stored, when their transaction is committed")
DOCUMENTS_SERVED = Counter("befund_web_documents_served", "Files of documents handed out, parts and 304 included")
FAILURES = Counter(
    "befund_web_failures",
    "Requests and probes that failed of database, limits, files, keys, disk or connections; unforeseen errors: request",
    ["part"],
)
RESTARTS = Counter("befund_web_worker_restarts", "Processes that ended and were started again")
READY = Gauge(
    "befund_web_ready", "1 when all is there that a request needs, else 0", multiprocess_mode="livemostrecent"
)
BACKUP = Gauge(
    "befund_web_backup_timestamp_seconds",
    "When the newest backup in BEFUND_BACKUPS ended; 1 where there is none, 0 where none is looked for",
    multiprocess_mode="livemostrecent",
)
CERTIFICATE = Gauge(
    "befund_web_certificate_expiry_timestamp_seconds",
    "When the certificate in BEFUND_TLS_CERTIFICATE expires; 1 where it cannot be read, 0 where none is looked at",
    multiprocess_mode="livemostrecent",
)
for part in ("database", "limits", "files", "keys", "disk", "connections", "request"):
    FAILURES.labels(part)  # a series that starts at its first failure shows no increase, and no alert


def exposition() -> bytes:
    """All metrics in the text format, summed over the processes by the files they share."""
    if FOLDER not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def a_worker_ended(pid: int) -> None:
    """Counts an ended worker, and removes its gauges from the shared metrics; its counters stay."""
    RESTARTS.inc()
    if FOLDER in os.environ:
        mark_process_dead(pid)  # type: ignore[no-untyped-call]


def in_a_folder() -> None:
    """Name a new folder in the environment of the server that this process is about to become."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=_BEGINS)


def server_ended() -> None:
    """Remove the folder, if it is one of ours."""
    folder = os.environ.get(FOLDER, "")
    if os.path.basename(folder).startswith(_BEGINS):
        shutil.rmtree(folder, ignore_errors=True)
