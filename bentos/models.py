"""The language model that the settings name: an OpenAI-compatible server, the rehearsal model, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinical.errors import ModelBusy, ModelNotConfigured
from clinical.settings import Settings

if TYPE_CHECKING:
    from fastapi import Request

    from clinical.llm import LanguageModel


def model_of(settings: Settings) -> LanguageModel | None:
    """None when nothing is set: the production default is `not_configured`, never a stand-in."""
    if settings.llm == "rehearsal":
        from bentos.embedded import RehearsalModel

        return RehearsalModel()
    if settings.llm_base_url is None:
        return None
    from bentos.language_model import Endpoint, OpenAIModel

    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    endpoint = Endpoint(settings.llm_base_url, key, settings.llm_model, settings.llm_concurrency, settings.llm_queue)
    return OpenAIModel(endpoint)


def model_for(request: Request) -> LanguageModel:
    """The model for one request that cannot do without. Raises ModelNotConfigured or ModelBusy."""
    model: LanguageModel | None = request.app.state.model
    if model is None:
        raise ModelNotConfigured("no language model is set up", remedy="set BEFUND_LLM_BASE_URL")
    if model.busy:
        raise ModelBusy("the queue towards the language model is full")
    return model
