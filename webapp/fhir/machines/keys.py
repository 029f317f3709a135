"""Public keys of programs: uploaded, or fetched from their URL, bounded and kept for a while.

A program changes its keys by adding the new one to its set; a signature with a key id that is not known here makes
the set be fetched again, but not more often than a minute apart, so that nobody can make us ask in a loop.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import requests
import urllib3
from joserfc.jwk import KeySet

from clinical.errors import SettingError
from webapp.fhir.machines.accounts import LARGEST_KEYS, checked_keys
from webapp.fhir.machines.models import ServiceAccount
from webapp.wire import CONNECT_S, SILENCE_S, AnswerTooLarge, deadline, read_answer, transport, url_problem

KEPT_S = 300.0
AGAIN_S = 60.0
KEPT_AT_MOST = 256  # URLs; one per account that has one


@dataclass(frozen=True, slots=True)
class _Fetched:
    keys: KeySet
    at: float


class PublicKeys:
    """Key sets by their URL, for one process. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._kept: dict[str, _Fetched] = {}

    def of(self, account: ServiceAccount, kid: str) -> KeySet:
        """The account's public keys; those at a URL at most KEPT_S old, or AGAIN_S when `kid` is not among them. Raises
        SettingError when there are none or they cannot be had."""
        if account.jwks:
            return checked_keys(account.jwks)
        if not account.jwks_url:
            raise SettingError("the account has no keys")
        with self._lock:
            kept = self._kept.get(account.jwks_url)
        age = self._clock() - kept.at if kept else KEPT_S
        if kept and age < (KEPT_S if kid in {key.kid for key in kept.keys.keys} else AGAIN_S):
            return kept.keys
        keys = _fetch(account.jwks_url)
        with self._lock:
            if len(self._kept) >= KEPT_AT_MOST:
                self._kept.clear()
            self._kept[account.jwks_url] = _Fetched(keys, self._clock())
        return keys


public_keys = PublicKeys()


def _fetch(url: str) -> KeySet:
    """One GET: no redirects, no private networks (also not by a name that leads there), at most 64 KB."""
    if wrong := url_problem(url):
        raise SettingError(f"the key set's URL: {wrong}")
    with requests.Session() as session, deadline():
        for prefix in ("https://", "http://"):
            session.mount(prefix, transport)
        try:
            answer = session.get(
                url, allow_redirects=False, stream=True, timeout=(CONNECT_S, SILENCE_S),
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            )  # fmt: skip
            body = read_answer(answer)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, AnswerTooLarge) as error:
            raise SettingError(f"the key set cannot be fetched ({type(error).__name__})") from None
    if answer.status_code != 200 or len(body) > LARGEST_KEYS:
        raise SettingError(f"the key set's URL answers {answer.status_code} with {len(body)} bytes")
    return checked_keys(body.decode("utf-8", "replace"))
