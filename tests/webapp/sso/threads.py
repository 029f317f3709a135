"""Several things at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run all works in threads that start together; their results in order. An exception is raised here."""
    barrier = threading.Barrier(len(works))

    def go(work: Callable[[], Any]) -> Any:
        barrier.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(go, works))
