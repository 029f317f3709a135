"""Workers of batch coding: processes of this machine, or actors of a Ray cluster. Both stream.

Tables go in as they are read and come out as they are coded, in any order; only a few are held at once. The index is
mapped read-only by every process, so its arrays are in memory once. Workers end with the process that started them,
however that ends.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final

import pyarrow as pa

from batch.coder import Coder
from clinical.errors import SettingError

AHEAD: Final = 2
"""Tables that wait for each worker: it never runs dry, and memory stays what it is."""
OBJECT_STORE: Final = 200_000_000
"""Bytes of a local Ray's object store; the tables under way take a hundredth of it."""

SAID: Final = 200
"""Characters kept of what Ray says of a failed start: its texts are long."""

_coder: Coder
"""The coder of a worker process."""


def in_processes(coder: Coder, tables: Iterable[pa.Table], workers: int) -> Generator[pa.Table]:
    """Code in `workers` processes of this machine. Raises SettingError where one of them died."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # inherited: a worker is one core
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, context, _begin, (coder,)) as pool:
        try:
            _without_interrupts(lambda: pool.submit(int).result())
            yield from _streamed(pool, iter(tables), AHEAD * workers)
        except BrokenProcessPool:
            remedy = "start it again with fewer --workers; what is done is kept"
            raise SettingError("a worker process died, perhaps for want of memory", "it to live", remedy) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()


def _streamed(pool: ProcessPoolExecutor, tables: Iterator[pa.Table], ahead: int) -> Iterator[pa.Table]:
    under_way: set[Future[pa.Table]] = set()
    for table in tables:
        under_way.add(pool.submit(_step, table))
        if len(under_way) >= ahead:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while under_way:
        done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def _without_interrupts(start: Callable[[], object]) -> None:
    """Started processes inherit that Ctrl-C is ignored: it is for the parent to say what becomes of them."""
    if threading.current_thread() is not threading.main_thread():
        start()
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        start()
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(coder: Coder) -> None:
    global _coder
    _coder = coder
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    """A killed parent cannot stop its workers: they would wait for it for ever."""
    parent.join()
    os._exit(1)


def _step(table: pa.Table) -> pa.Table:
    return _coder(table)


def cores() -> int:
    """Number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_ray(
    coder: Coder, tables: Callable[[], Iterable[pa.Table]], workers: int | None, address: str
) -> Generator[pa.Table]:
    """Code in `workers` actors of a Ray cluster; `local` starts one of that many cores on this machine and ends it.

    `workers` None: one for each core, of a cluster for each that is free. `tables` is called on a node of the cluster,
    and the coder maps the catalog on each: both must be under the same path everywhere. Raises SettingError where Ray
    is not installed, cannot be started or reached, or has no room.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise SettingError("Ray is not installed", "the extra ray", "pip install 'befund[ray]'") from None
    from batch.ray import coded

    try:
        if address == "local":
            ray.init(
                address="local",
                num_cpus=workers or cores(),
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        else:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # noqa: BLE001 - Ray says with a plain Exception that its node did not come up
        raise _unstarted(address, error) from None
    try:
        yield from coded(coder, tables, workers)
    finally:
        ray.shutdown()


def _unstarted(address: str, error: Exception) -> SettingError:
    """One sentence for all that keeps Ray from starting or from being reached."""
    said = " ".join(str(error).split())[:SAID] or type(error).__name__
    if address == "local":
        remedy = "code without --ray, which takes as many --workers; or free memory and the disk that Ray works on"
        return SettingError(f"Ray did not start on this machine: {said}", "a machine on which it starts", remedy)
    remedy = "name the address of a running cluster; or code without --ray"
    return SettingError(f"there is no Ray at {address}: {said}", "a running cluster", remedy)
