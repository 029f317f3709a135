"""The settings of the text API: `BEFUND_*` from the environment, else from `.env`, else the default.

The table of all settings is `.env.example`; a test compares the two. Relative paths given by an operator are relative
to the working folder, the default of `BEFUND_VAR` is `var/` beside the packages.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from clinical.errors import SettingError

ROOT = Path(__file__).resolve().parents[1]


def _default_host() -> str:
    """Loopback, except in the image of a Bento, where loopback reaches nobody."""
    return "0.0.0.0" if os.environ.get("BENTOML_CONTAINERIZED") == "true" else "127.0.0.1"  # noqa: S104


class Settings(BaseSettings):
    """One field per setting; `Settings.read()` turns a bad value into a sentence that names the setting."""

    model_config = SettingsConfigDict(
        env_prefix="BEFUND_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    env: Literal["development", "production"] = "production"
    var: Path = ROOT / "var"
    catalog: Path = Field(default_factory=lambda earlier: earlier["var"] / "catalog")
    api_host: str = Field(default_factory=_default_host)
    api_port: int = Field(default=3000, ge=1, le=65_535)
    web_port: int = Field(default=5000, ge=1, le=65_535)
    workers: int = Field(default=1, ge=1, le=256)
    api_database_url: str = Field(default_factory=lambda earlier: f"sqlite:///{earlier['var'] / 'api.sqlite'}")
    limits_url: str = "memory://"
    internal_path: str = "/internal"
    allowed_hosts: str = "*"
    llm: Literal["rehearsal"] | None = None
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_concurrency: int = Field(default=64, ge=1, le=10_000)
    llm_queue: int = Field(default=256, ge=0, le=100_000)

    @field_validator("internal_path")
    @classmethod
    def _a_path_or_off(cls, value: str) -> str:
        if value == "off":
            return value
        if not value.startswith("/") or value.rstrip("/") in {"", "/api"}:
            raise ValueError("must be 'off' or a path such as /internal")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _limits_hold_across_workers(self) -> Self:
        """Counted in memory, a key's rate would be multiplied by the number of workers."""
        if self.env == "production" and self.workers > 1 and self.limits_url.startswith("memory:"):
            raise ValueError(
                "BEFUND_LIMITS_URL: memory:// counts per worker; with BEFUND_WORKERS > 1 set redis://host:port"
            )
        return self

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        """The rehearsal model is never used silently, and never beside a real one."""
        if self.llm and self.llm_base_url:
            raise ValueError("BEFUND_LLM=rehearsal and BEFUND_LLM_BASE_URL are both set; keep one")
        return self

    @field_validator("llm_base_url")
    @classmethod
    def _a_base_url(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must be an http(s) URL up to and including /v1")
        return value

    @property
    def hosts(self) -> list[str]:
        """The names this server answers to; `*` is any."""
        return [host.strip() for host in self.allowed_hosts.split(",") if host.strip()]

    @classmethod
    def read(cls) -> Settings:
        """Read and check all settings. Raises SettingError naming the first bad one, never its value."""
        try:
            return cls()
        except ValidationError as error:
            raise SettingError(_sentence(error), remedy="see .env.example") from None


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    return f"BEFUND_{str(first['loc'][0]).upper()}: {message}" if first["loc"] else message


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings.read()
