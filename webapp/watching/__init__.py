"""Monitoring of the webapp: counts, probes, and failures of the services it depends on."""

from webapp.watching.metrics import (
    DOCUMENTS_SERVED,
    DOCUMENTS_STORED,
    FAILURES,
    SIGN_INS,
    a_worker_ended,
    in_a_folder,
    server_ended,
)
from webapp.watching.outages import RETRY_SECONDS, part_of
from webapp.watching.probes import Probes, need, need_room, unanswered
from webapp.watching.requests import Watched
