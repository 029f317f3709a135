"""Limit on the open workbench calls of one process: each takes a thread, and the others must stay free."""

import uuid
from collections import Counter
from collections.abc import Iterator
from threading import Lock

PER_PERSON = 4  # a tab has one; the one it left a moment ago may not be over yet


class Slots:
    """A bounded number of open calls, and of one person's."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[uuid.UUID] = Counter()
        self._lock = Lock()

    def take(self, person: uuid.UUID) -> bool:
        """Take a slot; False when none is left for the process or the person. It is given back with `free`."""
        with self._lock:
            if self._open.total() >= self.most or self._open[person] >= PER_PERSON:
                return False
            self._open[person] += 1
            return True

    def free(self, person: uuid.UUID) -> None:
        """Give a place back."""
        with self._lock:
            self._open[person] -= 1
            self._open += Counter()  # drops those who hold none

    @property
    def taken(self) -> int:
        """The number of calls open now."""
        with self._lock:
            return self._open.total()


class Held(Iterator[bytes]):
    """An iterator that holds a place until it is closed, also when it is never begun."""

    def __init__(self, slots: Slots, person: uuid.UUID, chunks: Iterator[bytes]) -> None:
        self._slots, self._person, self._chunks, self._held = slots, person, chunks, True

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """End the call and give its place back."""
        try:
            self._chunks.close()  # type: ignore[attr-defined] # a generator
        finally:
            if self._held:
                self._held = False
                self._slots.free(self._person)
