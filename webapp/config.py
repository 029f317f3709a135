"""Settings of the webapp: read once from `BEFUND_*`, frozen, and refused in words where they are unsafe."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from flask import current_app

from clinical.errors import SettingError

ENVIRONMENTS = ("development", "production")
SHORTEST_SECRET = 32


@dataclass(frozen=True, slots=True)
class Settings:
    """One field per `BEFUND_*` variable the webapp reads, named like it in lower case without the prefix."""

    env: str = "production"
    secret_key: str = ""
    database_url: str = ""
    storage: str = ""
    limits_url: str = "memory://"
    mail_url: str = ""
    mail_from: str = ""
    public_url: str = ""
    trusted_proxies: int = 0
    api_port: int = 3000
    web_host: str = "127.0.0.1"
    web_port: int = 5000
    web_pin: str = "on"  # or "off": whether gunicorn keeps each process on a core of its own
    presign: str = "own"  # or "storage": presigned URLs of the S3 storage itself
    presign_window: int = 0
    var: str = "var"

    @property
    def development(self) -> bool:
        """Whether conveniences that are unsafe in the open (mail to a folder, plain HTTP on loopback) are allowed."""
        return self.env == "development"

    @property
    def folder(self) -> Path:
        """The folder for everything the server writes when no URL says otherwise; made when needed."""
        return Path(self.var).resolve()


def load_settings(overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the environment, with `overrides` (field name -> value) on top.

    Raises SettingError when a value is malformed, or missing or unsafe in production.
    """
    values: dict[str, Any] = {}
    for field in fields(Settings):
        text = environ.get(f"BEFUND_{field.name.upper()}", "").strip()
        if text:
            values[field.name] = _number(field.name, text) if field.type in (int, "int") else text
    values.update(overrides or {})
    return _completed(values)


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["BEFUND"])


def _number(name: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise SettingError(f"BEFUND_{name.upper()} is {text!r}", "a whole number of 0 or more", "correct it")
    return number


def _completed(values: dict[str, Any]) -> Settings:
    given = Settings(**values)
    if given.env not in ENVIRONMENTS:
        raise SettingError(f"BEFUND_ENV is {given.env!r}", " or ".join(ENVIRONMENTS), "correct it")
    if given.public_url:
        _check_public_url(given)
    if given.mail_url and urlsplit(given.mail_url).scheme not in ("smtp", "smtps"):
        raise SettingError("BEFUND_MAIL_URL is no mail server", "smtp://... or smtps://...", "correct it")
    folder = given.folder
    values.setdefault("database_url", f"sqlite:///{folder / 'webapp.sqlite3'}")
    values.setdefault("storage", f"file://{folder / 'files'}")
    values["database_url"] = _with_driver(values["database_url"])
    values["secret_key"] = given.secret_key or _development_secret(given)
    if not given.development and len(values["secret_key"]) < SHORTEST_SECRET:
        raise SettingError(
            f"BEFUND_SECRET_KEY has {len(values['secret_key'])} characters",
            f"at least {SHORTEST_SECRET} random ones",
            'make one with: python -c "import secrets; print(secrets.token_urlsafe(48))"',
        )
    return Settings(**values)


def _check_public_url(given: Settings) -> None:
    parts = urlsplit(given.public_url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise SettingError(
            f"BEFUND_PUBLIC_URL is {given.public_url!r}", "an absolute http(s) URL without query", "correct it"
        )
    if parts.scheme == "http" and not given.development:
        raise SettingError("BEFUND_PUBLIC_URL is plain http", "https in production", "put TLS in front and say https")


def _with_driver(url: str) -> str:
    """`postgresql://` and `postgres://` name the installed driver, psycopg 3, explicitly."""
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url


def _development_secret(given: Settings) -> str:
    """A secret made once and kept in the var folder, so that restarts in development keep sessions and secrets."""
    if not given.development:
        raise SettingError(
            "BEFUND_SECRET_KEY is not set",
            "a secret in production",
            'make one with: python -c "import secrets; print(secrets.token_urlsafe(48))"',
        )
    path = given.folder / "secret_key"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        secret = secrets.token_urlsafe(48)
        file.write(secret)
    return secret
