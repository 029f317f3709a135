"""Tiers 2 and 3 as one stream: understood once, then selected and researched side by side, sent in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from clinical.coding import deep_research as tier_deep
from clinical.coding import selection as tier_smart
from clinical.coding.search_queue import SearchQueue
from clinical.contract import Event, ResearchRequest, StatusEvent
from clinical.errors import LanguageModelError, ModelBusy, ModelContextTooSmall, ModelMalformed, ModelTimeout
from clinical.llm import LanguageModel

if TYPE_CHECKING:
    from clinical.reading import Candidate, SearchIndex

SEARCHING = {
    1: "Katalog wird durchsucht.",
    2: "Schlüsselbegriffe werden ermittelt und Kodes ausgewählt.",
    3: "Katalog wird vertieft recherchiert.",
}
_FAILURES: tuple[tuple[type[LanguageModelError], str], ...] = (
    (ModelTimeout, "Das Sprachmodell hat nicht rechtzeitig geantwortet. Bisherige Ergebnisse bleiben gültig."),
    (ModelMalformed, "Das Sprachmodell gab keine verwertbare Antwort. Bisherige Ergebnisse bleiben gültig."),
    (ModelContextTooSmall, "Der Text ist zu lang für das Sprachmodell. Bisherige Ergebnisse bleiben gültig."),
    (ModelBusy, "Das Sprachmodell ist ausgelastet. Bisherige Ergebnisse bleiben gültig."),
    (LanguageModelError, "Das Sprachmodell ist nicht erreichbar. Bisherige Ergebnisse bleiben gültig."),
)


def searching(tier: int) -> StatusEvent:
    """The status event that precedes a tier."""
    return StatusEvent(status="searching", message=SEARCHING[tier])


async def model_tiers(
    request: ResearchRequest,
    index: SearchIndex,
    model: LanguageModel,
    instant: Sequence[Candidate] = (),
    search_queue: SearchQueue | None = None,
) -> AsyncGenerator[Event]:
    """Events after tier 1, which found `instant`. A LanguageModelError becomes a `status` event `error`, the last one.

    Closing the iterator cancels every call that is still under way.
    """
    yield searching(2)
    work: list[asyncio.Task[Any]] = []
    try:
        case = await tier_smart.understand(model, index, request.query, instant, search_queue)
        smart = asyncio.create_task(tier_smart.select(model, index.catalog, case, request.details))
        deep = asyncio.create_task(
            tier_deep.research_deeply(model, index, case, request.details, search_queue=search_queue)
        )
        work = [smart, deep]
        yield await smart
        yield searching(3)
        yield await deep
    except LanguageModelError as error:
        yield StatusEvent(status="error", message=_in_words(error))
    finally:
        await _stop(work)


def _in_words(error: LanguageModelError) -> str:
    return next(words for kind, words in _FAILURES if isinstance(error, kind))


async def _stop(work: list[asyncio.Task[Any]]) -> None:
    """Cancel what still runs and wait until it has ended, so that nothing outlives the stream."""
    for task in work:
        task.cancel()
    await asyncio.gather(*work, return_exceptions=True)
