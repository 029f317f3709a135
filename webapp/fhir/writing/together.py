"""Group commit: those who wait to write for the same key share the next transaction, and with it one sync of the disk.

While nobody writes, whoever comes goes at once and alone, so that a single caller waits for nobody. Those that come
while a transaction runs are taken together by the first of them when it ends. Each is answered only after the commit
that holds its own work. One line per process: the organization's lock in the database orders the processes.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")
Work = Callable[[Sequence[Job]], Sequence[Done | Exception]]
"""Does some jobs in one transaction and commits: for each its result, or its own fault. What it raises ends them all.
"""


@dataclass(slots=True)
class _Ticket(Generic[Job, Done]):
    """A waiting job. `called`: it is done (`done` or `fault` are there), or its thread leads the next transaction."""

    job: Job
    called: threading.Event = field(default_factory=threading.Event)
    leads: bool = False
    done: Done | None = None
    fault: BaseException | None = None


class Together(Generic[Job, Done]):
    """The line of one process. `most` jobs share a transaction at most, so that the last of them waits little."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: dict[Hashable, list[_Ticket[Job, Done]]] = {}  # a key is there while somebody writes for it

    def do(self, key: Hashable, job: Job, work: Work[Job, Done]) -> Done:
        """The result of `job` once it is committed, by this thread's `work` or by that of another that waited for the
        same key. Raises the job's own fault, or what ended the transaction that it was in."""
        ticket: _Ticket[Job, Done] = _Ticket(job)
        with self._lock:
            if key in self._waiting:
                self._waiting[key].append(ticket)
            else:
                self._waiting[key], ticket.leads = [], True
        if not ticket.leads:
            ticket.called.wait()
        if ticket.leads:
            self._lead(key, ticket, work)
        if ticket.fault is not None:
            raise ticket.fault
        return ticket.done  # type: ignore[return-value] # there is a fault, or it is done

    def _lead(self, key: Hashable, first: _Ticket[Job, Done], work: Work[Job, Done]) -> None:
        with self._lock:
            others = self._waiting[key][: self._most - 1]
            del self._waiting[key][: self._most - 1]
        tickets = [first, *others]
        try:
            for ticket, result in zip(tickets, work([ticket.job for ticket in tickets]), strict=True):
                if isinstance(result, Exception):
                    ticket.fault = result
                else:
                    ticket.done = result
        except BaseException as error:
            for ticket in tickets:
                ticket.fault = error
            raise
        finally:
            self._hand_on(key)
            for ticket in others:
                ticket.called.set()

    def _hand_on(self, key: Hashable) -> None:
        """The next that waits leads; with nobody waiting the line is gone."""
        with self._lock:
            if self._waiting[key]:
                following = self._waiting[key].pop(0)
                following.leads = True
                following.called.set()
            else:
                del self._waiting[key]
