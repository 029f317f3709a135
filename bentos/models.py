"""The language model that the settings name: an OpenAI-compatible server, or none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clinical.errors import ModelBusy, ModelNotConfigured
from clinical.settings import Settings

if TYPE_CHECKING:
    from fastapi import Request

    from bentos.language_model import Endpoint
    from clinical.llm import LanguageModel


def model_of(settings: Settings) -> LanguageModel | None:
    """None when no server is named: then rules answer where BEFUND_LLM says so, or nothing does."""
    if settings.llm_base_url is None:
        return None
    from bentos.language_model import OpenAIModel

    main = OpenAIModel(endpoint_of(settings, settings.llm_base_url))
    if not settings.llm_canary:
        return main
    from bentos.canary import CanaryModel

    where = endpoint_of(settings, settings.llm_canary_base_url or settings.llm_base_url)
    return CanaryModel(main, OpenAIModel(replace(where, model=settings.llm_canary_model)), settings.llm_canary)


def endpoint_of(settings: Settings, base_url: str) -> Endpoint:
    """The endpoint of the model at one or several base URLs, as the settings configure it."""
    from bentos.language_model import Endpoint

    return Endpoint(
        base_url,
        settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
        settings.llm_model,
        settings.llm_concurrency,
        settings.llm_queue,
        settings.llm_context,
        settings.llm_thinking_tokens,
        extra_body(settings),
        settings.limits_url if settings.limits_url.startswith(("redis://", "rediss://")) else "",
    )


def extra_body(settings: Settings) -> dict[str, Any]:
    """The fields that the settings add to every call; what is written in BEFUND_LLM_EXTRA_BODY wins."""
    body: dict[str, Any] = {}
    if settings.llm_template_args:
        body["chat_template_kwargs"] = json.loads(settings.llm_template_args)
    if settings.llm_reasoning_effort:
        body["reasoning_effort"] = settings.llm_reasoning_effort
    if settings.llm_seed is not None:
        body["seed"] = settings.llm_seed
    return {**body, **json.loads(settings.llm_extra_body or "{}")}


def model_for(request: Request) -> LanguageModel:
    """The model for one request that cannot do without. Raises ModelNotConfigured or ModelBusy."""
    model: LanguageModel | None = request.app.state.model
    if model is None:
        raise ModelNotConfigured("no language model is set up", remedy="set BEFUND_LLM_BASE_URL")
    if model.busy:
        raise ModelBusy("the queue towards the language model is full")
    return model
