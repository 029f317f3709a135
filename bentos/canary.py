"""A second language model for a share of the requests, to be compared before it takes over (BEFUND_LLM_CANARY).

A request is answered by one of the two from its first call to its last; how the calls of each end is counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Literal

from bentos.language_model import OpenAIModel
from bentos.metrics import CANARY_CALLS
from clinical.errors import LanguageModelError
from clinical.llm import Completion, JsonSchema, LanguageModel, Limits, Message, tell_unusable

Which = Literal["main", "canary"]

_chosen: ContextVar[Which] = ContextVar("befund_canary")
"""Of the request that runs; its tasks take it over. Holds nothing of the request."""


class CanaryModel:
    """A LanguageModel that is one of two, drawn when a request asks whether it is taken on."""

    def __init__(
        self, main: LanguageModel, canary: LanguageModel, share: float, draw: Callable[[], float] = random.random
    ) -> None:
        self._models: dict[Which, LanguageModel] = {"main": main, "canary": canary}
        self._share, self._draw = share, draw

    def _drawn(self) -> Which:
        which: Which = "canary" if self._draw() < self._share else "main"
        _chosen.set(which)
        return which

    def _of_this_request(self) -> Which:
        return _chosen.get(None) or self._drawn()

    @property
    def name(self) -> str:
        """The name of the model that answers this request; outside of one, of the main model."""
        return self._models[_chosen.get("main")].name

    @property
    def busy(self) -> bool:
        """True when this request's model is busy; asked once as each request begins, so the model is drawn here."""
        return self._models[self._drawn()].busy

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """As the model of this request."""
        which, outcome = self._of_this_request(), "left"
        try:
            answer = await self._models[which].complete(messages, schema=schema, limits=limits)
            outcome = "truncated" if answer.truncated else "answered"
            return answer
        except LanguageModelError as error:
            outcome = type(error).__name__
            raise
        finally:
            CANARY_CALLS.labels(which, outcome).inc()

    def unusable(self, given_up: bool) -> None:
        """As the model of this request."""
        tell_unusable(self._models[self._of_this_request()], given_up)

    async def health(self) -> bool:
        """Return True when the main model can answer; a failing canary shows in its counts."""
        return await self._models["main"].health()

    async def close(self) -> None:
        """Close the connections of both."""
        for model in self._models.values():
            if isinstance(model, OpenAIModel):
                await model.close()
