"""Looks for things in a text only as far as somebody asks: most of what is asked stands near its beginning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
SOME: Final = 16
"""Items that are taken at a time: to stop after each costs as much as to find it."""


class LookedFor(Generic[Item]):
    """The items of an iterator, each taken once, some at a time, when somebody first goes so far."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._known: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        return self.behind(0)

    def behind(self, place: int) -> Iterator[Item]:
        """The items from this place on."""
        known = self._known
        while True:
            if place >= len(known):
                known += islice(self._items, place - len(known) + SOME)
                if place >= len(known):
                    return
            yield known[place]
            place += 1
