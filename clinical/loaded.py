"""The loaded parts of a process stay for its life: the garbage collector need not go through them again and again."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

MANY: Final = 20_000
"""Objects made and not yet freed before the young ones are looked through for what only refers to itself. A letter of
20,000 characters makes some thousands that all go when it is done: at Python's 700, looking took a seventh of the time
of grounding it."""


@contextmanager
def loading(*, keep: bool = False) -> Iterator[None]:
    """Look for no garbage while much is loaded that stays: looking through a hundred thousand small
    objects of a catalog costs as much as loading them. `keep` also leaves it to itself then (`keep_loaded`), before
    anything looks."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
        if keep:
            keep_loaded()
    finally:
        if was:
            gc.enable()


def keep_loaded() -> None:
    """Leave everything that is loaded now to itself, and look for garbage seldom from now on. There is hardly any yet:
    a thousand objects among three hundred thousand, and to look for them takes a tenth of a second."""
    gc.freeze()
    gc.set_threshold(MANY)


def loaded_later(door: str) -> Callable[[str], Any]:
    """The `__getattr__` of a door: its module `later` names what is loaded with the first of these names that is asked
    for. A server is then ready without what few requests need."""

    def found(name: str) -> Any:
        later = import_module(f"{door}.later")
        try:
            return vars(later)[name]
        except KeyError:
            raise AttributeError(f"module {door!r} has no attribute {name!r}") from None

    return found
