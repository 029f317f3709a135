"""A text to ICD-10-GM codes in three tiers, as a stream of events.

Tier 1 is the search index alone and comes within milliseconds. A query that is nothing but a code is looked up in the
catalog, in all three layers, without a model (contract, section 4, "Code-only query").
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from clinical.coding.code_query import looked_up
from clinical.coding.instant import instant, tier_one
from clinical.coding.model_tiers import model_tiers, searching
from clinical.coding.rules_only import rules_tiers
from clinical.coding.search_queue import SearchQueue
from clinical.contract import Event, ResearchRequest, StatusEvent

if TYPE_CHECKING:
    from clinical.llm import LanguageModel
    from clinical.reading import SearchIndex

NO_MODEL = "Kein Sprachmodell eingerichtet: nur die Sofortsuche (Stufe 1) steht zur Verfügung."


async def research(
    request: ResearchRequest,
    index: SearchIndex,
    model: LanguageModel | None = None,
    search_queue: SearchQueue | None = None,
    by_rules: bool = False,
) -> AsyncGenerator[Event]:
    """The events of one request in order; ends with a `result`, or with a `status` of `error` without a model.

    `search_queue` is shared by all requests of an event loop. `by_rules`: fixed rules answer where no model is given.
    """
    code = index.catalog.parse(request.query)
    if code is not None:
        for event in looked_up(code, request, index.catalog):
            yield event
        return
    yield searching(1)
    found = await instant(request, index, search_queue or SearchQueue())
    yield tier_one(request, index.catalog, found)
    if model is None and not by_rules:
        yield StatusEvent(status="error", message=NO_MODEL)
        return
    answered = (
        model_tiers(request, index, model, found.codes, search_queue)
        if model is not None
        else rules_tiers(request, index, found.codes, search_queue)
    )
    async with aclosing(answered) as later:
        async for event in later:
            yield event
