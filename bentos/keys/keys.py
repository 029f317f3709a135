"""API keys, the rate per minute and the quota per day.

A key is `bfd_<8 hex id>_<secret>`; the secret is 32 random bytes, URL-safe. Kept are the SHA-256 of the secret and the
number of requests per key and UTC day, nothing else. A fast hash is enough: the secret has 256 bits of entropy, there
is nothing to guess (OWASP Password Storage Cheat Sheet speaks of passwords, not of random keys).

Everything here is synchronous and safe to call from several threads and processes; the server calls it in a thread.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import storage_from_string
from limits.strategies import MovingWindowRateLimiter
from sqlalchemy import Engine, and_, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from bentos.keys.database import Prepared, changing, count_request, keys, open_at_once, open_database, usage
from bentos.metrics import FAILURES, QUOTA_WARNINGS
from clinical.errors import BefundError, cause_of
from clinical.settings import Settings

log = logging.getLogger("befund")

PER_MINUTE = 60
PER_DAY = 10_000
WRITTEN_BACK: Final = 100
"""Of the calls of `admit_at_once` each of this number is left to `admit_all`: after some of them SQLite writes its log
back into the file and waits for the disk, for which no other request should wait."""
DAY: Final = 86_400
"""Seconds; days are those of UTC."""
NEARLY: Final = 0.8
"""Share of a day's quota at which the log and `befund_quota_warnings_total` say that it will soon be used up."""

_KEY = re.compile(r"bfd_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_BY_ID = select(keys).where(keys.c.id == bindparam("key_id"))


class Unauthorized(BefundError):
    """No key (`shown` is false), or none that is valid now."""

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        super().__init__("no valid API key", "Authorization: Bearer bfd_...", "python -m bentos keys create")


@dataclass(frozen=True, slots=True)
class Standing:
    """A limit of a key: `quota` requests in `window` seconds, of which `left` are left until `reset` seconds from now.

    Names: draft-ietf-httpapi-ratelimit-headers.
    """

    name: str
    quota: int
    window: int
    left: int
    reset: int


class LimitReached(BefundError):
    """The rate or the quota of the key is used up (`standing`, as far as it is known); `retry_after` in whole
    seconds."""

    def __init__(self, found: str, retry_after: int, standing: tuple[Standing, ...] = ()) -> None:
        self.retry_after, self.standing = retry_after, standing
        super().__init__(found, remedy=f"retry after {retry_after} s")


SETTING_OF: Final = {"keys": "BEFUND_API_DATABASE_URL", "limits": "BEFUND_LIMITS_URL"}
"""The setting that names the URL of each of the two stores."""


class KeysUnavailable(BefundError):
    """The key database (`part` is keys) or the counter of the rate limit (limits) does not answer."""

    def __init__(self, part: str, found: str, remedy: str = "") -> None:
        self.part = part
        super().__init__(found, remedy=remedy)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """Requests per minute and per UTC day; 0 is unlimited."""

    per_minute: int = PER_MINUTE
    per_day: int = PER_DAY


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A key without its secret, and how many requests it made today."""

    id: str
    name: str
    limits: KeyLimits
    created_at: str
    revoked_at: str | None
    expires_at: str | None
    today: int = 0
    standing: tuple[Standing, ...] = ()
    """The rest of the limits after an admitted request."""

    @property
    def state(self) -> str:
        """State of the key for a list: `active`, `80 %` (of today's quota is used) or more, `expired`, `revoked`."""
        if self.revoked_at or _is_over(self.expires_at):
            return "revoked" if self.revoked_at else "expired"
        used = self.today / self.limits.per_day if self.limits.per_day else 0.0
        return f"{used:.0%}".replace("%", " %") if used >= NEARLY else "active"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _now(later: timedelta = timedelta()) -> str:
    return (datetime.now(UTC) + later).isoformat(timespec="seconds")


def _is_over(until: str | None) -> bool:
    return until is not None and until <= _now()


def _seconds_to_midnight() -> int:
    return DAY - int(time.time()) % DAY


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


@contextmanager
def _answering(logged: bool = True, driver: type[Exception] = SQLAlchemyError) -> Iterator[None]:
    """A locked or unreachable store becomes KeysUnavailable; the driver's text may hold values and is dropped."""
    try:
        yield
    except (SQLAlchemyError, StorageError, driver) as error:
        part = "limits" if isinstance(error, StorageError) else "keys"
        FAILURES.labels(part).inc()
        unavailable = KeysUnavailable(
            part, f"the store of the {part} does not answer: {cause_of(error)}", remedy=f"see {SETTING_OF[part]}"
        )
        if logged:
            log.error("%s", unavailable)
        raise unavailable from None


Answers = list[KeyInfo | BefundError]


class Keys:
    """Make, list, rotate and revoke keys; admit requests."""

    def __init__(self, engine: Engine, limits_url: str = "memory://") -> None:
        self._engine = engine
        storage = storage_from_string(limits_url, wrap_exceptions=True, **_timeouts(limits_url))
        self._driver: type[Exception] = engine.dialect.loaded_dbapi.Error
        self._by_id = Prepared(_BY_ID, engine.dialect)
        count = {limited: count_request(engine.dialect.name, limited) for limited in (False, True)}
        self._count = {limited: Prepared(statement, engine.dialect) for limited, statement in count.items()}
        self._rate, self._storage = MovingWindowRateLimiter(storage), storage
        self._at_once = open_at_once(engine) if limits_url.startswith("memory:") else None
        self._turn = 0

    @property
    def folders(self) -> list[Path]:
        """The folder that is written to: SQLite's; none where a database server keeps the keys."""
        url = self._engine.url
        return [Path(url.database).parent] if self._engine.dialect.name == "sqlite" and url.database else []

    def create(self, name: str, limits: KeyLimits = KeyLimits(), good_for: timedelta | None = None) -> str:
        """Make a key, which ends after `good_for` (None: never), and return it in full, the only time it is seen."""
        while True:
            key_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
            row = {
                "id": key_id,
                "name": name,
                "secret_sha256": _digest(secret),
                "per_minute": limits.per_minute,
                "per_day": limits.per_day,
                "created_at": _now(),
                "expires_at": None if good_for is None else _now(good_for),
            }
            try:
                with changing(self._engine) as connection:
                    connection.execute(insert(keys).values(row))
            except IntegrityError:
                continue
            return f"bfd_{key_id}_{secret}"

    def list(self) -> list[KeyInfo]:
        """All keys, oldest first."""
        joined = keys.outerjoin(usage, and_(usage.c.key_id == keys.c.id, usage.c.day == _today()))
        query = select(keys, usage.c.requests).select_from(joined).order_by(keys.c.created_at, keys.c.id)
        with _answering(), self._engine.connect() as connection:
            return [_info(row) for row in connection.execute(query)]

    def rotate(self, key_id: str, overlap: timedelta = timedelta()) -> str | None:
        """A new secret for a key that is not revoked; the old one is good for `overlap` more. None: there is no such
        key. Of three secrets the first ends: two rotations within the overlap are one too many."""
        secret = secrets.token_urlsafe(32)
        previous = {"previous_sha256": keys.c.secret_sha256, "previous_until": _now(overlap)}
        changed = self._change(key_id, secret_sha256=_digest(secret), **previous)
        return f"bfd_{key_id}_{secret}" if changed else None

    def revoke(self, key_id: str) -> bool:
        """End a key at once; False: there is no such key, or it is revoked already."""
        return self._change(key_id, revoked_at=_now())

    def _change(self, key_id: str, **values: object) -> bool:
        statement = update(keys).where(keys.c.id == key_id, keys.c.revoked_at.is_(None)).values(**values)
        with _answering(), changing(self._engine) as connection:
            return bool(connection.execute(statement).rowcount)

    def check(self, token: str | None) -> KeyInfo:
        """The key of a bearer token. Raises Unauthorized or KeysUnavailable."""
        with self._asked() as cursor:
            return self._known(cursor, token)

    def admit_all(self, tokens: Sequence[str | None]) -> Answers:
        """Admit requests that wait together, in their order: first the rate is counted, then the quota, what each key
        needs asked and counted once. A refused request does not count towards the quota; an error (Unauthorized,
        LimitReached, KeysUnavailable) stands in the place of its key. Raises KeysUnavailable where the database does
        not answer at all."""
        with self._asked() as cursor:
            return self._admitted_all(cursor, tokens)

    def admit_at_once(self, tokens: Sequence[str | None]) -> Answers | None:
        """The same without waiting for anybody, in a tenth of a millisecond; None where that cannot be done now and
        nothing is counted: another writes, the store is not on this machine, or it is time to write the log back. To
        be called by one thread alone."""
        self._turn += 1
        if self._at_once is None or self._turn % WRITTEN_BACK == 0:
            return None
        try:
            self._at_once.execute("BEGIN IMMEDIATE")
        except self._driver:
            return None
        answers = self._admitted_all(self._at_once.cursor(), tokens)
        done = not any(isinstance(answer, KeysUnavailable) for answer in answers)
        try:
            self._at_once.execute("COMMIT" if done else "ROLLBACK")
        except self._driver:
            with suppress(self._driver):
                self._at_once.execute("ROLLBACK")
            return None
        return answers if done else None

    def _admitted_all(self, cursor: Any, tokens: Sequence[str | None]) -> Answers:
        answers: dict[str | None, Iterator[KeyInfo | BefundError]] = {}
        for token in dict.fromkeys(tokens):
            answers[token] = iter(self._admitted(cursor, token, tokens.count(token)))
        return [next(answers[token]) for token in tokens]

    def spend(self, key: KeyInfo, requests: int) -> KeyInfo:
        """Count `requests` more of an admitted key towards its quota, all or none. Raises LimitReached,
        KeysUnavailable."""
        rate = key.standing[:-1] if key.limits.per_day else key.standing
        with self._asked() as cursor, _answering(driver=self._driver):
            used = self._spend_quota(cursor, key, requests)
        if used is None:
            quota = key.limits.per_day
            raise _quota_reached(key, 0 if requests == 1 else max(0, quota - key.today), rate)
        return _standing_at(key, used, rate)

    def missing(self) -> tuple[str, ...]:
        """The stores that do not answer, of the database (`keys`) and the rate counter (`limits`): every request needs
        both. Raises nothing."""
        found = []
        for asked in (self._ask_the_database, self._ask_the_counter):
            try:
                asked()
            except KeysUnavailable as error:
                found.append(error.part)
        return tuple(found)

    def require(self) -> None:
        """Raise KeysUnavailable with the reason where one of the stores does not answer."""
        with _answering(logged=False), self._engine.connect() as connection:
            connection.execute(_BY_ID, {"key_id": ""})
            self._storage.get("readyz")

    def _ask_the_database(self) -> None:
        with self._asked() as cursor, _answering(driver=self._driver):
            self._by_id(cursor, key_id="")

    def _ask_the_counter(self) -> None:
        with _answering():
            self._storage.get("readyz")  # its own `check` says no without a reason

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """A cursor of the driver: what every request asks is made once and runs without the layers above it, which
        would take ten times as long."""
        with _answering(driver=self._driver):
            connection = self._engine.raw_connection()
        try:
            yield connection.cursor()
        finally:
            connection.close()

    def _known(self, cursor: Any, token: str | None) -> KeyInfo:
        match = _KEY.fullmatch(token or "")
        rows = []
        if match:
            with _answering(driver=self._driver):
                rows = self._by_id(cursor, key_id=match.group(1))
        row = _KeyRow._make(rows[0]) if rows else None
        given = _digest(match.group(2)) if match else b""
        if row is None or not _opens(row, given) or row.revoked_at or _is_over(row.expires_at):
            raise Unauthorized(shown=bool(token))
        return _info(row)

    def _admitted(self, cursor: Any, token: str | None, requests: int) -> Answers:
        """The answers to `requests` of one token."""
        try:
            key = self._known(cursor, token)
            allowed, rate = self._spend_rate(key, requests)
            with _answering(driver=self._driver):
                counted = self._spend_quotas(cursor, key, allowed)
        except (Unauthorized, KeysUnavailable) as error:
            return [error] * requests
        rates = [tuple(replace(one, left=one.left + allowed - 1 - at) for one in rate) for at in range(allowed)]
        answers: Answers = [_standing_at(key, used, at) for used, at in zip(counted, rates, strict=False)]
        answers += [_quota_reached(key, 0, at) for at in rates[len(counted) :]]
        if allowed < requests:
            answers += [LimitReached("rate limit reached", rate[0].reset, rate)] * (requests - allowed)
        return answers

    def _spend_rate(self, key: KeyInfo, requests: int) -> tuple[int, tuple[Standing, ...]]:
        """Count as many of these requests as the rate allows (all, without a rate); their number, and the standing."""
        if not key.limits.per_minute:
            return requests, ()
        rate = RateLimitItemPerMinute(key.limits.per_minute)
        with _answering():
            if self._rate.hit(rate, key.id, cost=requests):
                allowed = requests
            else:
                singly = (self._rate.hit(rate, key.id) for _ in range(requests if requests > 1 else 0))
                allowed = sum(takewhile(bool, singly))
            window = self._rate.get_window_stats(rate, key.id)
        reset = max(1, ceil(window.reset_time - time.time()))
        return allowed, (Standing("minute", key.limits.per_minute, 60, max(0, window.remaining), reset),)

    def _spend_quotas(self, cursor: Any, key: KeyInfo, requests: int) -> Sequence[int]:
        """Count as many of these requests as the quota has left; what is used of it after each."""
        if not requests:
            return []
        if requests <= (key.limits.per_day or requests) and (used := self._spend_quota(cursor, key, requests)):
            return range(used - requests + 1, used + 1)
        singly = (self._spend_quota(cursor, key, 1) for _ in range(requests if requests > 1 else 0))
        return [used for used in takewhile(bool, singly) if used]

    def _spend_quota(self, cursor: Any, key: KeyInfo, requests: int) -> int | None:
        """Count all of these requests or none (None); what is used of the quota then."""
        quota = key.limits.per_day
        values: dict[str, object] = {"key_id": key.id, "day": _today(), "n": requests}
        if quota:
            values["quota"] = quota
        rows = self._count[quota > 0](cursor, **values)
        if not rows:
            return None
        used, nearly = int(rows[0][0]), ceil(NEARLY * quota)
        if used - requests < nearly <= used:  # once a day: each count comes back once
            QUOTA_WARNINGS.inc()
            log.warning("key %s used %.0f %% of its %d requests a day", key.id, 100 * NEARLY, quota)
        return used


class _KeyRow(NamedTuple):
    """A row of `api_keys`, in the order of its columns."""

    id: str
    name: str
    secret_sha256: bytes
    per_minute: int
    per_day: int
    created_at: str
    revoked_at: str | None
    expires_at: str | None
    previous_sha256: bytes | None
    previous_until: str | None


def _quota_reached(key: KeyInfo, left: int, rate: tuple[Standing, ...]) -> LimitReached:
    midnight = _seconds_to_midnight()
    standing = Standing("day", key.limits.per_day, DAY, left, midnight)
    return LimitReached("daily quota reached", midnight, (*rate, standing))


def _standing_at(key: KeyInfo, used: int, rate: tuple[Standing, ...]) -> KeyInfo:
    """The key after the request that was the `used`th of its day."""
    quota = key.limits.per_day
    if not quota:
        return replace(key, standing=rate) if rate else key
    standing = Standing("day", quota, DAY, max(0, quota - used), _seconds_to_midnight())
    return replace(key, today=used, standing=(*rate, standing))


def _opens(row: _KeyRow, given: bytes) -> bool:
    """True for the secret's hash, and for that of the secret before while both are good."""
    before = row.previous_sha256 if row.previous_until and not _is_over(row.previous_until) else None
    return hmac.compare_digest(row.secret_sha256, given) or (before is not None and hmac.compare_digest(before, given))


def _timeouts(url: str) -> dict[str, float]:
    """Redis that hangs must not hang a request; memory takes no options."""
    return {} if url.startswith("memory:") else {"socket_timeout": 2.0, "socket_connect_timeout": 2.0}


def _info(row: Any) -> KeyInfo:
    limits = KeyLimits(row.per_minute, row.per_day)
    today = getattr(row, "requests", None) or 0
    return KeyInfo(row.id, row.name, limits, row.created_at, row.revoked_at, row.expires_at, today)


def open_keys(settings: Settings) -> Keys:
    """The key store that the settings name."""
    return Keys(open_database(settings.api_database_url), settings.limits_url)
