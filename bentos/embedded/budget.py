"""How long an embedded answer may take, and whether anybody still waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from clinical.errors import ModelTimeout

Item = TypeVar("Item")

CHECKED = 16
"""Steps between two looks at the clock: looking takes as long as a line of one character (`evals slow-texts`)."""


class Budget:
    """Seconds of one answer. The thread that works asks between its steps; the one that waits may stop it."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._until = time.monotonic() + seconds
        self._stopped = False  # set once by another thread, read before each step

    def stop(self) -> None:
        """Nobody waits any more: the next `check` ends the work."""
        self._stopped = True

    def check(self) -> None:
        """Raises ModelTimeout when the time is used up or the work was stopped."""
        if self._stopped or time.monotonic() > self._until:
            raise ModelTimeout("the embedded rules used up their time or nobody waits for them any more")

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with a check before the first and every CHECKED-th: lines and sentences, microseconds each."""
        for n, item in enumerate(items):
            if not n % CHECKED:
                self.check()
            yield item
