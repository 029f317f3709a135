"""The settings of the current application; `clinical.settings` reads them."""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlsplit

from flask import current_app

from clinical.errors import SettingError
from clinical.settings import Settings

PROFILES = {  # a working day and a week; or, on shared machines, half an hour and a working day (NIST SP 800-63B, AAL2)
    "day": (timedelta(hours=12), timedelta(days=7)),
    "strict": (timedelta(minutes=30), timedelta(hours=12)),
}


MOST_PROCESSES = 256
"""As many as BEFUND_WORKERS may be."""


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings with `overrides` (field name -> value) on top, and with the secret that a webapp needs.

    Raises SettingError when a value is malformed, or missing or unsafe in production.
    """
    found = Settings.read(**(overrides or {})).with_secret()
    if not found.development and not found.public_url:
        raise SettingError(
            "BEFUND_PUBLIC_URL is not set",
            "in production the https address people use; else whoever sends a Host header decides where links lead",
            "set it, for example to https://befund.example",
        )
    return found


def processes() -> int:
    """The number of gunicorn processes: WEB_CONCURRENCY (gunicorn's own variable), else one per core, at most four.

    Raises SettingError for what is no such number: gunicorn itself would end in a traceback.
    """
    given = os.environ.get("WEB_CONCURRENCY", "").strip()
    if not given:
        return min(4, os.cpu_count() or 1)
    if not (given.isascii() and given.isdigit() and 1 <= int(given[:4]) <= MOST_PROCESSES):
        found = "WEB_CONCURRENCY is no number of processes"
        raise SettingError(found, f"a whole number from 1 to {MOST_PROCESSES}", "correct or unset it")
    return int(given)


def trusted_hosts(given: Settings) -> list[str] | None:
    """The names the webapp answers to: those of BEFUND_ALLOWED_HOSTS and its own; None for any."""
    if given.hosts == ["*"]:
        return None
    own = urlsplit(given.public_url).hostname
    return [*given.hosts, *([own] if own else [])]


def session_times(given: Settings) -> tuple[timedelta, timedelta]:
    """The idle and the absolute lifetime of a session (OWASP ASVS 5, V7.3: a documented decision)."""
    idle, longest = PROFILES[given.session_profile]
    return timedelta(minutes=given.session_idle) if given.session_idle else idle, longest


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["BEFUND"])
