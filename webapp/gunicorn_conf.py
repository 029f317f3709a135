"""How gunicorn runs the webapp: processes for the cores, threads for requests that wait for a vendor.

A sign-in waits up to 13 s for a vendor that does not answer, so threads are plenty: a silent vendor must not keep
everybody else out. Nothing that counts exactly is held in a process (one-time codes, sessions and attempts are rows),
so several processes are safe; only the coarse per-address limits are per process, unless BEFUND_LIMITS_URL is Redis.
"""

import gc
import os

bind = f"{os.environ.get('BEFUND_WEB_HOST') or '127.0.0.1'}:{os.environ.get('BEFUND_WEB_PORT') or '5000'}"
workers = int(os.environ.get("WEB_CONCURRENCY") or min(4, os.cpu_count() or 1))
worker_class = "gthread"
threads = 24
timeout = 60
graceful_timeout = 20
keepalive = 5
control_socket_disable = True  # it would be one file in the home folder, shared by every instance
limit_request_line = 8190  # some vendors' codes are long
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - gunicorn's heartbeat, no data
accesslog = None
access_log_format = '%(h)s "%(m)s %(U)s" %(s)s %(b)s %(L)s'  # the path without its query, which holds codes and states


def post_worker_init(_worker: object) -> None:
    """What lives as long as the process is taken out of the garbage collector's rounds: a sixth of a FHIR search."""
    gc.collect()
    gc.freeze()
