"""Checks that every request passes before its router: the key, its limits, then the body.

The framework would read and parse a body before it asks for the key; here the order is 401, 429, 413, 422, 503.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from bentos.api.problems import BodyTooLarge, BodyTooSlow, InvalidBody
from bentos.keys import KeyInfo, KeysUnavailable
from bentos.metrics import FAILURES

log = logging.getLogger("befund")

BODY_MAX = 1024 * 1024
BODY_SECONDS = 30.0
STORE_SECONDS = 5.0
"""Longest wait of a request for the key store, in seconds; then it is answered 503."""

Model = TypeVar("Model", bound=BaseModel)


def bearer(request: Request) -> str | None:
    """The token of the Authorization header; None when there is none of the scheme Bearer."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def admitted(request: Request) -> KeyInfo:
    """Check the key and count the request, in a thread: a locked database must not stop the others."""
    state = request.app.state
    if state.keys is None:
        raise KeysUnavailable("keys", "the key store is not open")
    work = asyncio.get_running_loop().run_in_executor(state.pool, state.keys.admit, bearer(request))
    try:
        return await asyncio.wait_for(work, STORE_SECONDS)
    except TimeoutError:
        FAILURES.labels("keys").inc()
        log.error("the key store does not answer within %.0f s", STORE_SECONDS)
        raise KeysUnavailable("keys", "the key store does not answer") from None


Admitted = Annotated[KeyInfo, Depends(admitted)]


def body_of(model: type[Model]) -> Callable[..., Awaitable[Model]]:
    """A dependency that reads the body of an admitted request as `model`."""

    async def read(request: Request, _key: Admitted) -> Model:
        raw = await read_body(request)
        try:
            return model.model_validate_json(raw)
        except ValidationError as error:
            raise InvalidBody(error) from None

    return read


async def read_body(request: Request, seconds: float = BODY_SECONDS, most: int = BODY_MAX) -> bytes:
    """The whole body, at most `most` bytes and within `seconds`; a longer one is not read, or not read on."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > most:
        raise BodyTooLarge(f"a body over {most} bytes")
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise BodyTooLarge(f"a body over {most} bytes")
                parts.append(part)
    except TimeoutError:
        raise BodyTooSlow("a body that does not end") from None
    return b"".join(parts)
