"""The gunicorn configuration of the webapp: processes for the cores, threads for requests that wait for a vendor.

A client that is slow is waited for by nginx (webapp/proxy.conf), which stands in front wherever others can connect.
A sign-in waits up to 13 s for a vendor that does not answer, so threads are plenty: a silent vendor must not keep
everybody else out. Nothing that counts exactly is held in a process (one-time codes, sessions and attempts are rows),
so several processes are safe; only the coarse per-address limits are per process, unless BEFUND_LIMITS_URL is Redis.

Each process stays on a core of its own (BEFUND_WEB_PIN=off lets the kernel move it). Only one of its threads runs
Python at a time; spread over several cores they hand the interpreter from core to core, which doubled the processor
time of a FHIR search and halved the rate of a process that many clients had connected to.
"""

import gc
import os
from typing import Any

from clinical.loaded import keep_loaded
from clinical.settings import address, settings
from clinical.tracing import end_export, export_to
from webapp.config import processes
from webapp.watching import a_worker_ended, server_ended
from webapp.workbench.plugin import WARM_UP

_settings = settings()
bind = address(_settings.web_host, _settings.web_port)
workers = processes()
worker_class = "webapp.gunicorn_parts.LingeringWorker"
logger_class = "webapp.gunicorn_parts.QuietLogger"
threads = 24
preload_app = True  # one process makes the application, the others share its memory; the code is read anew by a restart
timeout = 60
graceful_timeout = 20
keepalive = 5
control_socket_disable = True  # it would be one file in the home folder, shared by every instance
limit_request_line = 8190  # some vendors' codes are long
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - gunicorn's heartbeat, no data
forwarded_allow_ips = ""  # who may say how a request came is BEFUND_TRUSTED_PROXIES alone, also from loopback
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""
accesslog = None
access_log_format = '%(h)s "%(m)s %(U)s" %(s)s %(b)s %(L)s'  # the path without its query, which holds codes and states


def on_starting(_server: object) -> None:
    """Freezes the objects that the first process has loaded: the garbage collector of its child processes would write
    into each of them and so copy the shared memory; now it leaves them alone."""
    gc.freeze()


def pre_fork(server: Any, worker: Any) -> None:
    """Choose the worker's core: one that no other worker of this server has, while there is one."""
    if hasattr(os, "sched_getaffinity") and _settings.web_pin == "on":
        cores = sorted(os.sched_getaffinity(0))
        first = os.getpid() % len(cores)  # several servers on one machine do not all begin with the same core
        taken = [getattr(other, "befund_core", None) for other in server.WORKERS.values()]
        worker.befund_core = min(cores[first:] + cores[:first], key=taken.count)


def post_fork(_server: object, worker: Any) -> None:
    """Stay on that core, with all threads that are yet to start."""
    if hasattr(worker, "befund_core"):
        os.sched_setaffinity(0, {worker.befund_core})


def post_worker_init(worker: Any) -> None:
    """Warms a new process up before its first call, and freezes its long-lived objects: the garbage collector no longer
    visits them, a sixth of a FHIR search."""
    export_to(_settings.traces_url, "befund-web")
    warm_up = worker.wsgi.extensions.get(WARM_UP)
    if warm_up is not None:  # other applications may be served by these settings too
        warm_up()
    keep_loaded()


def worker_exit(_server: object, _worker: object) -> None:
    """The last spans are sent."""
    end_export()


def child_exit(_server: object, worker: Any) -> None:
    """Removes an ended process's open work from the shared metrics."""
    a_worker_ended(worker.pid)


def on_exit(_server: object) -> None:
    """The counts end with the server."""
    server_ended()
