"""The webapp under gunicorn, as it is shipped."""

import psutil
import pytest

from tests.serving import free_port, wait_until
from tests.webapp.sso import live
from webapp import gunicorn_conf


@pytest.mark.skipif(not hasattr(psutil.Process, "cpu_affinity"), reason="processes cannot be kept on a core here")
@pytest.mark.parametrize("pin", ["on", "off"])
def test_each_process_stays_on_a_core_of_its_own_and_shares_what_was_loaded_before(tmp_path, pin):
    cores = len(psutil.Process().cpu_affinity())
    port = free_port()
    with live.webapp(port, f"sqlite:///{tmp_path}/a.sqlite3", tmp_path, BEFUND_WEB_PIN=pin):
        wait_until(lambda: len(live.gunicorn(port).children()) == 2, "there are not two workers")
        workers = live.gunicorn(port).children()
        kept = [worker.cpu_affinity() for worker in workers]
        held = [worker.memory_full_info() for worker in workers]
        assert {worker.environ()["MALLOC_ARENA_MAX"] for worker in workers} == {"2"}
    assert len(kept) == 2
    assert all(len(own) == (1 if pin == "on" else cores) for own in kept)
    assert pin == "off" or cores == 1 or kept[0] != kept[1]
    # What the first process loaded is shared: a quarter is a worker's own, two thirds if its collector wrote into all.
    assert all(own.uss < 0.5 * (own.rss - own.shared) for own in held)


def test_a_worker_that_is_replaced_takes_the_core_that_became_free(monkeypatch):
    monkeypatch.setenv("BEFUND_WEB_PIN", "on")
    server, cores = type("Server", (), {"WORKERS": {}})(), len(psutil.Process().cpu_affinity())
    for pid in range(cores):
        server.WORKERS[pid] = type("Worker", (), {})()
        gunicorn_conf.pre_fork(server, server.WORKERS[pid])
    freed = server.WORKERS.pop(0).befund_core
    replacement = type("Worker", (), {})()
    gunicorn_conf.pre_fork(server, replacement)
    assert replacement.befund_core == freed
