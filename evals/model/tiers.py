"""The three tiers on texts with statements: what each shows, how much of it is right, and what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from catalog_build.training.authors import authors
from catalog_build.training.authors.labelled import FOLDER as AUTHORS
from clinical.coding import SearchQueue, research
from clinical.contract import QUERY_MAX, ResearchRequest
from clinical.errors import SettingError
from clinical.llm import LanguageModel
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.coding.costs import CHOOSING, QUESTIONS, Call, Metered
from evals.coding.targets import Coded, codes_of
from evals.measures.intervals import share
from evals.measures.results import Row, row
from evals.reading.inputs import WRITTEN, read_inputs, statements

TIERS: Final = (1, 2, 3)
Inputs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CodedText:
    """One text after all tiers: the codes of each (None: it failed), the calls of the model, the codes on offer to the
    tiers that choose, and answers that were not in the form."""

    found: Mapping[int, tuple[Coded, ...] | None]
    calls: Sequence[Call]
    offered: Mapping[int, frozenset[str]]
    malformed: int

    def calls_of(self, tier: int) -> list[Call]:
        """The calls that a tier needed: the finding of terms counts for 2 and 3, which share it."""
        return [call for call in self.calls if tier in QUESTIONS[call.question]]


def public_inputs() -> dict[str, Inputs]:
    """Befund's own written inputs, and the texts of the authors with codes that are kept for choosing (`tune`)."""
    coded = [one.ident for one in authors() if one.split == "tune" and one.coded != "no"]
    theirs = [row for name in coded for row in read_inputs(AUTHORS / f"{name}.txt")]
    return {"written inputs": read_inputs(WRITTEN), "coded authors": theirs}


def own_inputs(file: Path) -> dict[str, Inputs]:
    """The texts of a file. Raises SettingError for an author kept for reporting, SourceError for what is no input."""
    kept = {one.ident for one in authors() if one.split == "report"}
    if file.resolve().parent == AUTHORS and file.stem in kept:
        found = f"{file.name} is kept for reporting: nothing is chosen on it, and no answers to it are kept"
        raise SettingError(found, "texts to choose a model by", "name another file")
    return {file.stem: read_inputs(file)}


async def coded(index: SearchIndex, model: LanguageModel, texts: Sequence[str], at_once: int) -> list[CodedText]:
    """Every text through the stream as it is served, so many at once; a text beyond the contract's length fails."""
    queue, room = SearchQueue(), asyncio.Semaphore(at_once)
    bar = progress(None, "texts", "texts coded", total=len(texts))

    async def one(text: str) -> CodedText:
        metered = Metered(model)
        async with room:
            stream = research(ResearchRequest(query=text), index, metered, queue) if len(text) <= QUERY_MAX else None
            events = [event async for event in stream] if stream is not None else []
        bar.update()
        offered = {tier: metered.offered.get(question, frozenset()) for tier, question in CHOOSING.items()}
        found = {tier: codes_of(events, tier) for tier in TIERS}
        return CodedText(found, metered.calls, offered, metered.malformed)

    with bar:
        return list(await asyncio.gather(*map(one, texts)))


def offered_rows(name: str, inputs: Inputs, texts: Sequence[CodedText]) -> Iterator[Row]:
    """The share of the statements of which a right code was on offer to a tier's model, where it came to a choice."""
    for tier in CHOOSING:
        right = [
            bool(said.codes & text.offered[tier])
            for given, text in zip(inputs, texts, strict=True)
            for said in statements(given)
            if text.offered[tier]
        ]
        yield from row("offered", f"{name}, tier {tier}", len(right), share(sum(right), len(right)))
