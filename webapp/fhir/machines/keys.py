"""Public keys of programs: uploaded, or fetched from their URL, bounded and kept for a while.

A program changes its keys by adding the new one to its set; a signature with a key id that is not known here makes
the set be fetched again, but not more often than a minute apart, and a URL that does not answer is not asked again for
a minute. Each URL is fetched by one thread at a time, for all who ask meanwhile; and of the threads that serve
everybody's pages, AT_ONCE at most are in a fetch or wait for one. So nobody who signs junk can make us ask in a loop,
or wait with all that we have.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from joserfc.jwk import KeySet

from clinical.errors import SettingError
from webapp.fhir.machines.accounts import LARGEST_KEYS, ServiceAccount, checked_keys
from webapp.wire import NoAnswer, deadline, url_problem

KEPT_S = 300.0
AGAIN_S = 60.0
KEPT_AT_MOST = 256  # URLs; one per account that has one
AT_ONCE = 8  # a third of the threads of a process (gunicorn_conf.threads)


class KeysBusy(Exception):
    """So many threads wait for keys that this one must not."""


@dataclass(frozen=True, slots=True)
class _Answered:
    """The last answer of a URL, keys or the reason why not, and when."""

    at: float
    keys: KeySet | None
    reason: str = ""


class PublicKeys:
    """Key sets by their URL, for one process. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._answered: dict[str, _Answered] = {}
        self._turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()  # of the URLs that are asked now
        self._room = threading.Semaphore(AT_ONCE)

    def of(self, account: ServiceAccount, kid: str) -> KeySet:
        """The account's public keys; those at a URL at most KEPT_S old, or AGAIN_S when `kid` is not among them. Raises
        SettingError when there are none or they cannot be had, and KeysBusy."""
        if account.jwks:
            return checked_keys(account.jwks)
        if not account.jwks_url:
            raise SettingError("the account has no keys")
        answered = self._known(account.jwks_url, kid) or self._asked(account.jwks_url, kid)
        if answered.keys is None:
            raise SettingError(answered.reason)
        return answered.keys

    def _known(self, url: str, kid: str) -> _Answered | None:
        """The last answer of the URL, while it holds."""
        with self._lock:
            last = self._answered.get(url)
        if last is None:
            return None
        has = last.keys is not None and kid in {key.kid for key in last.keys.keys}
        return last if self._clock() - last.at < (KEPT_S if has else AGAIN_S) else None

    def _asked(self, url: str, kid: str) -> _Answered:
        """The answer of the URL now: fetched here, or by the thread whose turn was before."""
        if not self._room.acquire(blocking=False):
            raise KeysBusy
        try:
            with self._lock:
                turn = self._turns.setdefault(url, threading.Lock())
            with turn:
                return self._known(url, kid) or self._fetched(url)
        finally:
            self._room.release()

    def _fetched(self, url: str) -> _Answered:
        """Fetch and keep, also that a fetch was ended: whoever comes next does not wait for the same."""
        answered = _Answered(self._clock(), None, "the fetch of the key set was ended")
        try:
            answered = _Answered(self._clock(), _fetch(url))
        except SettingError as error:
            answered = _Answered(self._clock(), None, str(error))
        finally:
            with self._lock:
                if len(self._answered) >= KEPT_AT_MOST:
                    self._answered.clear()
                self._answered[url] = answered
        return answered


public_keys = PublicKeys()


def _fetch(url: str) -> KeySet:
    """One GET: no redirects, no private networks (also not by a name that leads there), at most 64 KB."""
    if wrong := url_problem(url):
        raise SettingError(f"the key set's URL: {wrong}")
    try:
        with deadline() as line:
            answer = line.ask("GET", url)
    except NoAnswer as error:
        raise SettingError(f"the key set cannot be fetched ({error})") from None
    if answer.status != 200 or len(answer.body) > LARGEST_KEYS:
        raise SettingError(f"the key set's URL answers {answer.status} with {len(answer.body)} bytes")
    return checked_keys(answer.body.decode("utf-8", "replace"))
