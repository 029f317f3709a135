"""Attributes an error to the dependency that failed: such a request can be sent again, so it is a 503."""

import errno

from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

RETRY_SECONDS = 5
"""As Retry-After: a database that is started anew takes about as long."""
_DATABASE = (OperationalError, InterfaceError, InternalError, PoolTimeout)
_DRIVERS = ("psycopg", "sqlite3")
_OF_DRIVERS = ("OperationalError", "InterfaceError", "InternalError")
"""Names, since the settings decide on the installed driver (`fhir.searching.reading` uses it directly)."""
_DISK = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG))
_LIBRARIES = {"redis": "limits", "limits": "limits", "botocore": "files"}
"""By name: each of them takes time to load, and is loaded only where the settings ask for it."""


def part_of(error: BaseException) -> str:
    """`database`, `limits` or `files`; "" for an error that says nothing about them."""
    if isinstance(error, _DATABASE) or any(_is_of_a_driver(kind) for kind in type(error).__mro__):
        return "database"
    if isinstance(error, OSError) and error.errno in _DISK:
        return "files"
    return _LIBRARIES.get(type(error).__module__.partition(".")[0], "")


def _is_of_a_driver(kind: type) -> bool:
    return kind.__name__ in _OF_DRIVERS and kind.__module__ in _DRIVERS
