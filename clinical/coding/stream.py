"""A text to ICD-10-GM codes in three tiers, as a stream of events.

Tier 1 is the search index alone and comes within milliseconds. A query that is nothing but a code is looked up in the
catalog, in all three layers, without a model (contract, section 4, "Code-only query").
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from clinical.coding.code_query import looked_up
from clinical.coding.instant import tier_one
from clinical.coding.model_tiers import model_tiers, searching
from clinical.coding.rules_only import rules_tiers
from clinical.coding.search_queue import SearchQueue
from clinical.contract import Event, ResearchRequest, StatusEvent

if TYPE_CHECKING:
    from clinical.llm import LanguageModel
    from clinical.reading import SearchIndex, Understood

NO_MODEL = "Kein Sprachmodell eingerichtet: nur die Sofortsuche (Stufe 1) steht zur Verfügung."

SHORT_QUERY: Final = 60
"""Code points up to which a search is over before a thread could have been woken (about 2 ms)."""


class Research:
    """One request on its way through the tiers: first the events that wait for nothing, then the others.

    `search_queue` is shared by all requests of an event loop. `by_rules`: fixed rules answer where no model is given.
    """

    def __init__(
        self,
        request: ResearchRequest,
        index: SearchIndex,
        model: LanguageModel | None = None,
        search_queue: SearchQueue | None = None,
        by_rules: bool = False,
    ) -> None:
        self._request, self._index, self._model, self._by_rules = request, index, model, by_rules
        self._search_queue = search_queue or SearchQueue()
        self._found: Understood | None = None
        self.is_over = False
        """True once no event is left: `later` has none."""

    def at_once(self) -> Iterator[Event]:
        """All events of a code, tier 1 of a short text, the first event of a long one."""
        query, catalog = self._request.query, self._index.catalog
        code = catalog.parse(query)
        if code is not None:
            yield from looked_up(code, self._request, catalog)
            self.is_over = True
            return
        yield searching(1)
        if len(query) <= SHORT_QUERY:
            yield from self._tier_one(self._index.read(query))

    async def later(self) -> AsyncGenerator[Event]:
        """The events behind those of `at_once`: tier 1 of a long text, then the tiers of the model."""
        if self._found is None and not self.is_over:
            for event in self._tier_one(await self._search_queue.first(self._index.read, self._request.query)):
                yield event
        if self._found is None or self.is_over:
            return
        shown = self._found.codes
        answered = (
            model_tiers(self._request, self._index, self._model, shown, self._search_queue)
            if self._model is not None
            else rules_tiers(self._request, self._index, shown, self._search_queue)
        )
        async with aclosing(answered) as events:
            async for event in events:
                yield event

    def _tier_one(self, found: Understood) -> Iterator[Event]:
        self._found = found
        yield tier_one(self._request, self._index.catalog, found)
        if self._model is None and not self._by_rules:
            yield StatusEvent(status="error", message=NO_MODEL)
            self.is_over = True


async def research(
    request: ResearchRequest,
    index: SearchIndex,
    model: LanguageModel | None = None,
    search_queue: SearchQueue | None = None,
    by_rules: bool = False,
) -> AsyncGenerator[Event]:
    """The events of one request in order; ends with a `result`, or with a `status` of `error` without a model."""
    work = Research(request, index, model, search_queue, by_rules)
    for event in work.at_once():
        yield event
    async with aclosing(work.later()) as later:
        async for event in later:
            yield event
