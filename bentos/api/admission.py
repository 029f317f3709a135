"""Checks that every request passes before its router: the key, its limits, then the body.

The framework would read and parse a body before it asks for the key; here the order is 401, 429, 413, 422, 503.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor
from itertools import islice
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError

from bentos.api.edge import say
from bentos.api.problems import BodyTooLarge, BodyTooSlow, InvalidBody
from bentos.keys import KeyInfo, Keys, KeysUnavailable, LimitReached, Standing
from bentos.metrics import FAILURES

log = logging.getLogger("befund")

BODY_MAX = 1024 * 1024
BODY_SECONDS = 30.0
STORE_SECONDS = 5.0
"""Longest wait of a request for the key store, in seconds; then it is answered 503."""

IGNORED = "Befund-Ignored"
"""Header that names the fields of a body that were not understood, as the documents' API does for parameters."""
IGNORED_MAX = 20
NAME_MAX = 64

Model = TypeVar("Model", bound=BaseModel)


def bearer(request: Request) -> str | None:
    """The token of the Authorization header; None when there is none of the scheme Bearer."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


_Waiting = list[tuple[str | None, asyncio.Future[KeyInfo]]]


class Admissions:
    """Requests on their way to the key store: those that come while it is asked are asked together afterwards."""

    def __init__(self, pool: Executor, at_once: int) -> None:
        self._pool, self._free = pool, at_once
        self._waiting: _Waiting = []
        self._asking = set[asyncio.Task[None]]()

    async def admit(self, keys: Keys, token: str | None) -> KeyInfo:
        """The key of a token, with this request counted. Raises Unauthorized, LimitReached, KeysUnavailable, and
        TimeoutError after STORE_SECONDS."""
        loop = asyncio.get_running_loop()
        place: asyncio.Future[KeyInfo] = loop.create_future()
        self._waiting.append((token, place))
        if self._free and len(self._waiting) == 1:
            loop.call_soon(self._ask, keys)  # behind the requests that are read in the same turn of the loop
        limit = loop.call_later(STORE_SECONDS, _tell, place, TimeoutError())
        try:
            return await place
        finally:
            limit.cancel()

    def _ask(self, keys: Keys) -> None:
        """At once where nobody has to wait for it, else in a thread: a locked database must not stop the others."""
        taken = self._take()
        answers: Sequence[KeyInfo | Exception] | None
        try:
            answers = keys.admit_at_once([token for token, _ in taken])
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait are told
            answers = [error] * len(taken)
        if answers is not None:
            _tell_all(taken, answers)
            return
        self._free -= 1
        task = asyncio.create_task(self._ask_in_thread(keys, taken))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask_in_thread(self, keys: Keys, taken: _Waiting) -> None:
        loop = asyncio.get_running_loop()
        while taken:
            tokens = [token for token, _ in taken]
            answers: Sequence[KeyInfo | Exception]
            try:
                answers = await loop.run_in_executor(self._pool, keys.admit_all, tokens)
            except Exception as error:  # noqa: BLE001 - as above
                answers = [error] * len(taken)
            _tell_all(taken, answers)
            taken = self._take()
        self._free += 1

    def _take(self) -> _Waiting:
        taken, self._waiting = self._waiting, []
        return taken


def _tell_all(taken: _Waiting, answers: Sequence[KeyInfo | Exception]) -> None:
    for (_, place), answer in zip(taken, answers, strict=True):
        _tell(place, answer)


def _tell(place: asyncio.Future[KeyInfo], answer: KeyInfo | Exception) -> None:
    if place.done():  # its client left, or waited too long
        return
    if isinstance(answer, Exception):
        place.set_exception(answer)
    else:
        place.set_result(answer)


async def admitted(request: Request) -> KeyInfo:
    """Check the key and count the request; the answer says what is left of the key's limits."""
    state = request.app.state
    if state.keys is None:
        raise KeysUnavailable("keys", "the key store is not open")
    return await _standing_said(request, state.admissions.admit(state.keys, bearer(request)))


async def spend(request: Request, key: KeyInfo, requests: int) -> None:
    """Count `requests` more of an admitted key, all or none. Raises LimitReached."""
    if requests:
        state = request.app.state
        work = asyncio.get_running_loop().run_in_executor(state.pool, state.keys.spend, key, requests)
        await _standing_said(request, asyncio.wait_for(work, STORE_SECONDS))


async def _standing_said(request: Request, counted: Awaitable[KeyInfo]) -> KeyInfo:
    try:
        key = await counted
    except LimitReached as error:
        _say_standing(request, error.standing)
        raise
    except TimeoutError:
        FAILURES.labels("keys").inc()
        log.error("the key store does not answer within %.0f s", STORE_SECONDS)
        raise KeysUnavailable("keys", "the key store does not answer") from None
    _say_standing(request, key.standing)
    return key


def _say_standing(request: Request, standing: tuple[Standing, ...]) -> None:
    """`RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10); none for a key without limits."""
    if standing:
        say(request, "RateLimit-Policy", ", ".join(f'"{one.name}";q={one.quota};w={one.window}' for one in standing))
        say(request, "RateLimit", ", ".join(f'"{one.name}";r={one.left};t={one.reset}' for one in standing))


Admitted = Annotated[KeyInfo, Depends(admitted)]


def understood(request: Request, model: type[Model], given: bytes | dict[str, Any]) -> Model:
    """A body, JSON or the parts of a form, as `model`; unknown fields are named in a header, and refused where the
    caller asks for `Prefer: handling=strict` (RFC 7240). Raises InvalidBody."""
    validate: Callable[..., Model] = model.model_validate_json if isinstance(given, bytes) else model.model_validate
    try:
        found = validate(given, extra="allow")
        unknown = [path[:NAME_MAX] for path in islice(_unknown(found), IGNORED_MAX)]
        if not unknown:
            return found
        if is_strict(request):
            places = [(path.split("."), "extra_forbidden") for path in unknown]
            raise InvalidBody("fields that are not known", places, remedy="or no Prefer: handling=strict")
        say(request, IGNORED, ", ".join(dict.fromkeys(quote(path, safe="._-") for path in unknown)))
        return validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidBody("a body that does not fit", [(one["loc"], one["type"]) for one in faults]) from None


def is_strict(request: Request) -> bool:
    """True if the caller wants to be refused rather than half understood."""
    said = ",".join(request.headers.getlist("prefer")).lower().replace(" ", "").replace('"', "")
    return "handling=strict" in said.replace(";", ",").split(",")


def _unknown(found: BaseModel, before: str = "") -> Iterator[str]:
    """The paths of fields that the model does not know, those of models inside it too."""
    yield from (f"{before}{name}" for name in found.model_extra or ())
    for name in type(found).model_fields:
        if isinstance(inner := getattr(found, name), BaseModel):
            yield from _unknown(inner, f"{before}{name}.")


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
