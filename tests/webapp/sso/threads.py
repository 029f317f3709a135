"""Several things at the same moment."""

import threading
from collections.abc import Callable
from typing import Any


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run all works in threads that start together; their results in order. An exception is raised here."""
    barrier = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)

    def go(number: int, work: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[number] = work()
        except Exception as error:  # noqa: BLE001 - shown to the test below
            results[number] = error

    threads = [threading.Thread(target=go, args=item) for item in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    raised = [result for result in results if isinstance(result, Exception)]
    if raised:
        raise raised[0]
    return results
