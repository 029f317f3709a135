"""The settings of the language model, `BEFUND_LLM_*`: where it is, how much is asked of it at once, how it is asked."""

from __future__ import annotations

import contextlib
import json
from typing import Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings

from clinical.settings.ports import check_port


def base_urls(text: str) -> list[str]:
    """The base URLs in a setting that may name several, with commas between."""
    return [url.strip() for url in text.split(",") if url.strip()]


class LanguageModelSettings(BaseSettings):
    """The part of `Settings` that says which language model answers."""

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
