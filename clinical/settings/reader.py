"""The settings of both servers and of every command, `BEFUND_*`, read in one place.

The environment counts first, then `.env`, then what a `make up` that runs beside was started with, then the default.
`.env` is the nearest one from the working folder upwards. `make up` leaves what it was started with in `up.env` of the
folder `BEFUND_VAR` while it runs, so that a command in a second terminal means the same servers; a process for which
`BEFUND_ENV` is set takes nothing from it. A name that is no setting is refused: a typo would silently be the default.
The table of all settings is `.env.example`; a test compares the two.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from dotenv import find_dotenv
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from clinical.errors import SettingError
from clinical.running import is_made_up, secret_made_once
from clinical.settings.ports import check_port
from clinical.settings.sources import (
    FROM_FILES,
    NO_SETTINGS,
    NO_SETTINGS_BEGIN,
    PREFIX,
    ROOT,
    from_files,
    given,
    running,
    without,
    written,
)

SHORTEST_SECRET: Final = 32
HOW_TO_MAKE_ONE: Final = (
    'make one with: python -c "import secrets; print(secrets.token_urlsafe(48))"; to try things out on this machine '
    "run make up, or set BEFUND_ENV=development"
)
_AT_IN_PASSWORD: Final = re.compile(r"[\w+]+://[^:/]*+:[^@]*+@[^?]*@")
"""A database URL as SQLAlchemy reads it: it ends the password at its first @, takes the rest of it for the host or the
port, and an error about that would quote it."""


def base_urls(text: str) -> list[str]:
    """The base URLs in a setting that may name several, with commas between."""
    return [url.strip() for url in text.split(",") if url.strip()]


def _default_host() -> str:
    """Loopback, except in the image of a Bento, where loopback reaches nobody."""
    return "0.0.0.0" if os.environ.get("BENTOML_CONTAINERIZED") == "true" else "127.0.0.1"  # noqa: S104


def _in_a_bento() -> bool:
    """True if this code lies in a built Bento: what is written beside it would be exported with it."""
    return (ROOT.parent / "bento.yaml").is_file()


def _default_var() -> Path:
    return Path.home() / ".befund" if _in_a_bento() else ROOT / "var"


def _default_catalog(earlier: dict[str, Any]) -> Path:
    """That of the Bento, or of the folder for everything that is written."""
    folder: Path = ROOT / "var" if _in_a_bento() else earlier["var"]
    return folder / "catalog"


class Settings(BaseSettings):
    """One field per setting. `Settings.read()` turns a bad value into a sentence that names the setting."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        str_strip_whitespace=True,
        validate_default=False,
    )

    llm: Literal["rules"] | None = None
    llm_fallback: Literal["error", "rules"] = "error"
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_concurrency: int = Field(default=64, ge=1, le=10_000)
    llm_queue: int = Field(default=256, ge=0, le=100_000)
    llm_context: int | None = Field(default=None, ge=2_048)
    llm_thinking_tokens: int = Field(default=0, ge=0, le=100_000)
    llm_reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    llm_seed: int | None = None
    llm_canary: float = Field(default=0.0, ge=0, le=1)
    llm_canary_model: str | None = None
    llm_canary_base_url: str | None = None
    llm_template_args: str = ""
    llm_extra_body: str = ""
    env: Literal["development", "production"] = "production"
    var: Path = Field(default_factory=_default_var)
    catalog: Path = Field(default_factory=_default_catalog)
    catalogs: str = ""
    api_host: str = Field(default_factory=_default_host)
    api_port: int = Field(default=3000, ge=1, le=65_535)
    web_host: str = "127.0.0.1"
    web_port: int = Field(default=5000, ge=1, le=65_535)
    web_pin: Literal["on", "off"] = "on"
    workers: int = Field(default=1, ge=1, le=256)
    log_format: Literal["text", "json"] = "text"
    traces_url: str = Field(default="", repr=False)
    ocr: Literal["auto", "off"] = "auto"
    drain_seconds: int = Field(default=4, ge=0, le=600)
    secret_key: SecretStr | None = None
    secret_key_previous: SecretStr | None = None
    api_database_url: str = Field(
        default_factory=lambda earlier: f"sqlite:///{earlier['var'] / 'api.sqlite'}", repr=False
    )
    database_url: str = Field(
        default_factory=lambda earlier: f"sqlite:///{earlier['var'] / 'webapp.sqlite3'}", repr=False
    )
    database_wait: int = Field(default=10, ge=1, le=50)  # below gunicorn's 60 s for a worker
    storage: str = Field(default_factory=lambda earlier: f"file://{earlier['var'] / 'files'}")
    limits_url: str = Field(default="memory://", repr=False)
    internal_path: str = "/internal"
    internal_key: SecretStr | None = None
    allowed_hosts: str = "*"
    mail_url: str = Field(default="", repr=False)
    mail_from: str = ""
    public_url: str = ""
    trusted_proxies: int = Field(default=0, ge=0, le=100)
    private_vendors: Literal["refuse", "allow"] = "refuse"
    session_profile: Literal["day", "strict"] = "day"
    session_idle: int | None = Field(default=None, ge=1, le=7 * 24 * 60)
    presign: Literal["own", "storage"] = "own"
    presign_window: int = Field(default=0, ge=0)
    storage_link: int = Field(default=60, ge=5, le=3600)
    workbench_api_url: str = ""
    workbench_api_key: SecretStr | None = None
    workbench_streams: int = Field(default=8, ge=1, le=20)
    workbench_catalog: Literal["members", "everybody"] = "members"
    workbench_earlier: Path | None = None
    backups: Path | None = None
    tls_certificate: Path | None = None

    @field_validator("var", "catalog", "workbench_earlier", "backups", "tls_certificate")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        """Resolve an operator's path against the working folder."""
        return value and value.resolve()

    @field_validator("workbench_earlier")
    @classmethod
    def _a_catalog(cls, value: Path | None) -> Path | None:
        if value and not (value / "manifest.json").is_file():
            raise ValueError("names no folder of a catalog: there is no manifest.json in it")
        return value

    @field_validator("internal_path")
    @classmethod
    def _a_path_or_off(cls, value: str) -> str:
        if value == "off":
            return value
        if not value.startswith("/") or value.rstrip("/") in {"", "/api"}:
            raise ValueError("must be 'off' or a path such as /internal")
        return value.rstrip("/")

    @field_validator("mail_url")
    @classmethod
    def _a_mail_server(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("smtp", "smtps") or not parts.hostname):
            raise ValueError("is no mail server; expected smtp://... or smtps://...")
        return check_port(value)

    @field_validator("database_url", "api_database_url")
    @classmethod
    def _a_database(cls, value: str) -> str:
        if not value.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://", "postgres://")):
            raise ValueError("must be sqlite:///path or postgresql://user:password@host/name")
        if value.startswith("sqlite"):
            return value
        if _AT_IN_PASSWORD.match(value):
            raise ValueError("holds an @ behind that of the host; write %40 for one that belongs to the password")
        return check_port(value)

    @field_validator("allowed_hosts")
    @classmethod
    def _host_names(cls, value: str) -> str:
        if not re.fullmatch(r"[\w.*:\[\]-]+( *, *[\w.*:\[\]-]+)*,?", value):
            raise ValueError("must be host names with commas between, such as befund.example, or *")
        return value

    @field_validator("limits_url")
    @classmethod
    def _a_counter(cls, value: str) -> str:
        kind, marks, _ = value.partition("://")
        if not marks or not (kind == "memory" or kind.startswith("redis")):
            raise ValueError("must be memory:// or redis://host:port/0")
        return check_port(value)

    @field_validator("public_url", "workbench_api_url", "traces_url")
    @classmethod
    def _an_absolute_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
            raise ValueError("must be an absolute http(s) URL without query")
        return check_port(value)

    @field_validator("llm_base_url", "llm_canary_base_url")
    @classmethod
    def _a_base_url(cls, value: str | None) -> str | None:
        urls = base_urls(value or "")
        if value and not (urls and all(url.startswith(("http://", "https://")) for url in urls)):
            raise ValueError("must be an http(s) URL up to and including /v1, or several with commas between")
        for url in urls:
            check_port(url)
        return value

    @field_validator("llm_template_args", "llm_extra_body")
    @classmethod
    def _a_json_object(cls, value: str) -> str:
        with contextlib.suppress(ValueError):
            if not value or isinstance(json.loads(value), dict):
                return value
        raise ValueError('must be a JSON object such as {"enable_thinking": false}')

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        """Rules never answer silently, and never beside a language model."""
        if self.llm and self.llm_base_url:
            raise ValueError("BEFUND_LLM=rules and BEFUND_LLM_BASE_URL are both set; keep one")
        return self

    @model_validator(mode="after")
    def _a_second_model(self) -> Self:
        if self.llm_canary and not (self.llm_base_url and (self.llm_canary_model or self.llm_canary_base_url)):
            raise ValueError(
                "BEFUND_LLM_CANARY: needs BEFUND_LLM_BASE_URL and BEFUND_LLM_CANARY_MODEL or BEFUND_LLM_CANARY_BASE_URL"
            )
        return self

    @model_validator(mode="after")
    def _public_over_tls(self) -> Self:
        if self.public_url.startswith("http:") and not self.development:
            raise ValueError("BEFUND_PUBLIC_URL is plain http; in production put TLS in front and say https")
        return self

    @model_validator(mode="after")
    def _limits_hold_across_workers(self) -> Self:
        """Counted in memory, a key's rate would be multiplied by the number of workers."""
        if self.env == "production" and self.workers > 1 and self.limits_url.startswith("memory:"):
            raise ValueError(
                "BEFUND_LIMITS_URL: memory:// counts per worker; with BEFUND_WORKERS > 1 set redis://host:port"
            )
        return self

    @property
    def development(self) -> bool:
        """True if conveniences that are unsafe in the open (mail to a folder, plain HTTP on loopback) are allowed."""
        return self.env == "development"

    @property
    def other_catalogs(self) -> list[Path]:
        """Artifact folders of other years that are served beside the catalog."""
        return [Path(name.strip()).resolve() for name in self.catalogs.split(",") if name.strip()]

    @property
    def hosts(self) -> list[str]:
        """The names the text API answers to; `*` is any."""
        return [host.strip() for host in self.allowed_hosts.split(",") if host.strip()]

    @property
    def secret(self) -> str:
        """The secret key in clear, "" when none is set; see `with_secret`."""
        return self.secret_key.get_secret_value() if self.secret_key else ""

    @property
    def previous_secret(self) -> str:
        """The secret key before the last change, "" when none is set: what it sealed and signed is still read."""
        return self.secret_key_previous.get_secret_value() if self.secret_key_previous else ""

    @classmethod
    def read(cls, **overrides: Any) -> Settings:
        """Read and check all settings; `overrides` are fields that win over everything that is written somewhere.

        Raises SettingError naming the first bad one, never its value.
        """
        if strange := set(overrides) - set(cls.model_fields):
            raise TypeError(f"no settings: {', '.join(sorted(strange))}")
        env_file = find_dotenv(usecwd=True)
        values = given()
        beside = None
        if f"{PREFIX}ENV" not in values and "env" not in overrides:
            beside = running(Path(values.get(f"{PREFIX}VAR") or overrides.get("var") or ROOT / "var"))
            values = {**without(written(beside), values), **values}
        _refuse_typos(values)
        files = tuple(str(file) for file in (beside, env_file) if file)  # the later one wins
        try:
            return cls(_env_file=files or None, **{**from_files(values), **overrides})  # type: ignore[call-arg]
        except ValidationError as error:
            raise SettingError(_sentence(error), remedy="see .env.example") from None

    def with_secret(self) -> Settings:
        """These settings with a secret key that is good enough; in development it is made once and kept in `var`.

        Raises SettingError when production has none or a short one, and when this process would have another one than
        the `make up` that runs beside it: what one of them encrypts the other could not read.
        """
        if self.development:
            servers = written(running(self.var)).get(f"{PREFIX}SECRET_KEY")
            if servers and self.secret and servers != self.secret:
                raise SettingError(
                    "BEFUND_SECRET_KEY is not the one of the running `make up`", "the same or none", "unset it"
                )
            return self.model_copy(update={"secret_key": SecretStr(self.secret or secret_made_once(self.var))})
        _refuse_weak(self.secret)
        return self


def _refuse_weak(secret: str) -> None:
    """Raises SettingError for a key that is missing, short or easily guessed; the message never holds the key."""
    found = ""
    if not secret:
        found = "is not set"
    elif len(secret) < SHORTEST_SECRET:
        found = f"has {len(secret)} characters"
    elif is_made_up(secret):
        found = "repeats itself"
    if found:
        expected = f"at least {SHORTEST_SECRET} random characters in production"
        raise SettingError(f"BEFUND_SECRET_KEY {found}", expected, HOW_TO_MAKE_ONE)


def address(host: str, port: int) -> str:
    """`host:port`, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refuse_typos(values: Mapping[str, str]) -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    known |= {f"{PREFIX}{name.upper()}_FILE" for name in FROM_FILES} | set(NO_SETTINGS)
    for name in sorted(values):
        if name not in known and not name.startswith(NO_SETTINGS_BEGIN):
            near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0)[0]
            raise SettingError(f"{name} is no setting", f"perhaps {near}", "correct or remove it; see .env.example")


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    return f"{PREFIX}{str(first['loc'][0]).upper()}: {message}" if first["loc"] else message


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings.read()


def server_settings() -> Settings:
    """The settings of a server, read once: of a `make up` beside it, it takes nothing unless that one started it.

    Raises SettingError.
    """
    if f"{PREFIX}ENV" not in given():
        os.environ[f"{PREFIX}ENV"] = "production"
    return settings()
