"""Stop the work of an ordinary (not streaming) request when its client has left.

The framework cancels a stream whose reader is gone, but lets an ordinary handler run to its end: a language model
would go on writing for nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive

from clinical.errors import BefundError

Result = TypeVar("Result")


class ClientLeft(BefundError):
    """The client closed the connection before it had its answer; nobody will read what is sent now."""


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`; it is cancelled, and ClientLeft raised, as soon as the client disconnects.

    The request's body must have been read before: what comes after it can only be the disconnect.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(left(request.receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientLeft("the client left before the answer")
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def left(receive: Receive) -> None:
    """Return when the client has left, whose request has been read to its end."""
    while (await receive())["type"] != "http.disconnect":
        pass
