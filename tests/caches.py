"""The calls that process-wide caches of functions hold, those of Python and of packages among them."""

import functools
import gc
from collections.abc import Iterator
from typing import Any


def caches() -> Iterator[Any]:
    """Every function of the process with a cache of `functools`."""
    gc.unfreeze()  # what was loaded before is else not told
    return (one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper))


def kept_by_caches(word: str) -> list[str]:
    """The functions with a cache that holds a call with that word in an argument."""
    return [
        f"{one.__module__}.{one.__qualname__}"
        for one in caches()
        if any(word in repr(key) for held in gc.get_referents(one) if type(held) is dict for key in held)
    ]
