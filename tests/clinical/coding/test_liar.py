"""A model that names any code it likes: nothing comes through that is not in the catalog or that it was not shown."""

import asyncio
import json
import random
from collections.abc import Sequence

from clinical.coding import research
from clinical.contract import PartialEvent, ResearchRequest, ResultEvent
from clinical.icd import Catalog
from clinical.llm import Completion, JsonSchema, Limits, Message
from clinical.reading import SearchIndex
from evals.load.bench import notes
from evals.rules_model import RulesModel
from tests.fakes import tiny_catalog

SEED = 2026
CATALOG = tiny_catalog()


class Liar:
    """Finds what the rules find, then names random codes of the catalog, random strings, and some that it was shown."""

    name, busy = "liar", False

    def __init__(self, catalog: Catalog) -> None:
        self._honest, self._codes = RulesModel(), [code.code for code in catalog]
        self._chance = random.Random(SEED)
        self.shown: set[str] = set()

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        """Findings as they are; choices as it pleases."""
        if schema is None or schema.name not in ("Selection", "Recommendation"):
            return await self._honest.complete(messages, schema=schema, limits=limits)
        shown = schema.schema["$defs"]["Choice"]["properties"]["code"]["enum"]
        self.shown |= set(shown)
        pool = [
            *self._chance.sample(self._codes, 6),
            *self._chance.sample(shown, min(3, len(shown))),
            "X99.99",
            "",
            "E11",
        ]
        choices = [
            {"finding": self._chance.randint(-1, 14), "reasoning": "x", "code": code, "confidence": "high"}
            for code in pool
        ]
        return Completion(json.dumps({"codes": choices, "summary": "x"}), 1, 1)

    async def health(self) -> bool:
        """Always there."""
        return True


def lies(index: SearchIndex, text: str) -> tuple[int, int]:
    """(codes of tiers 2 and 3, those of them that are neither in the catalog nor shown nor a rule's own addition)."""
    model = Liar(index.catalog)

    async def events():
        return [event async for event in research(ResearchRequest(query=text), index, model)]

    later = (event for event in asyncio.run(events()) if isinstance(event, PartialEvent | ResultEvent))
    codes = [entry.code for event in later if event.layer > 1 for entry in event.codes]
    return len(codes), sum(not allowed(index.catalog, code, model.shown) for code in codes)


def allowed(catalog: Catalog, code: str, shown: set[str]) -> bool:
    """In the catalog, and shown; or the terminal child or the pair partner, by rule, of a code that was shown."""
    if code not in catalog:
        return False
    partners = {ref for name in shown if (own := catalog.get(name)) for note in own.notes for ref in note.references}
    return code in shown or code in partners or any(code.startswith(name) for name in shown)


def test_no_lie_comes_through(index):
    counts = [lies(index, text) for text in notes(index.catalog, 60)]
    assert sum(wrong for _, wrong in counts) == 0
    assert sum(codes for codes, _ in counts) > 60


def test_the_liar_lies(index):
    liar = Liar(index.catalog)
    schema = {"$defs": {"Choice": {"properties": {"code": {"enum": ["R05"]}}}}}
    answer = asyncio.run(liar.complete([], schema=JsonSchema("Selection", schema), limits=Limits(1, 1)))
    said = {choice["code"] for choice in json.loads(answer.text)["codes"]}
    assert len(said - {"R05"}) > 3
    assert liar.shown == {"R05"}


def test_a_lie_is_told_from_a_rules_own_addition():
    assert allowed(CATALOG, "R05", {"R05"})
    assert allowed(CATALOG, "E11.90", {"E11.9"})
    assert allowed(CATALOG, "N77.1", {"B37.3"})
    assert not allowed(CATALOG, "J18.9", {"R05"})
    assert not allowed(CATALOG, "X99", {"X99"})
