"""Group commit: those who wait to write for the same key share the next transaction, and with it one sync of the disk.

While nobody writes, whoever comes goes at once and alone, so that a single caller waits for nobody. Those that come
while a transaction runs are taken together by the first of them when it ends. Each is answered only after the commit
that holds its own work. One line per process: the organization's lock in the database orders the processes.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")
Work = Callable[[Sequence[Job]], Sequence[Done | Exception]]
"""Does some jobs in one transaction and commits: for each its result, or its own fault. What it raises ends them all.
"""
_LEAD = object()
"""The word to a thread that waits: lead the next transaction. Otherwise it is told what became of its job."""


class Together(Generic[Job, Done]):
    """The line of one process. `most` jobs share a transaction at most, so that the last of them waits little."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: dict[Hashable, list[tuple[Job, Future[Any]]]] = {}  # a key is there while somebody writes for it

    def do(self, key: Hashable, job: Job, work: Work[Job, Done]) -> Done:
        """The result of `job` once it is committed, by this thread's `work` or by that of another that waited for the
        same key. Raises the job's own fault, or what ended the transaction that it was in."""
        told: Future[Any] = Future()
        with self._lock:
            if key in self._waiting:
                self._waiting[key].append((job, told))
            else:
                self._waiting[key] = []
                told.set_result(_LEAD)
        done: Done = told.result()
        return self._lead(key, job, work) if done is _LEAD else done

    def _lead(self, key: Hashable, job: Job, work: Work[Job, Done]) -> Done:
        mine: Future[Done] = Future()
        with self._lock:
            tickets = [(job, mine), *self._waiting[key][: self._most - 1]]
            del self._waiting[key][: self._most - 1]
        results: list[Any] = []
        try:
            results += [one for _, one in zip(tickets, work([job for job, _ in tickets]), strict=True)]
        except BaseException as error:
            results = [error] * len(tickets)
            raise
        finally:
            self._hand_on(key)
            for (_, told), result in zip(tickets, results, strict=True):
                told.set_exception(result) if isinstance(result, BaseException) else told.set_result(result)
        return mine.result()

    def _hand_on(self, key: Hashable) -> None:
        """The next that waits leads; with nobody waiting the line is gone."""
        with self._lock:
            if self._waiting[key]:
                self._waiting[key].pop(0)[1].set_result(_LEAD)
            else:
                del self._waiting[key]
