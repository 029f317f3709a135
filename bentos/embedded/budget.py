"""How long an embedded answer may take, and whether anybody still waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from clinical.errors import ModelTimeout

Item = TypeVar("Item")


class Budget:
    """Seconds of one answer. The thread that works asks between its steps; the one that waits may stop it."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._until = time.monotonic() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Nobody waits any more: the next `check` ends the work."""
        self._stopped.set()

    def check(self) -> None:
        """Raises ModelTimeout when the time is used up or the work was stopped."""
        if self._stopped.is_set() or time.monotonic() > self._until:
            raise ModelTimeout("the embedded rules used up their time or nobody waits for them any more")

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with a check before each."""
        for item in items:
            self.check()
            yield item
