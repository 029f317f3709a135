"""The three tiers on texts with statements: what each shows, how much of it is right, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catalog_build.training.authors import FOLDER as AUTHORS
from catalog_build.training.authors import authors
from clinical.coding import SearchQueue
from clinical.errors import SettingError
from clinical.llm import LanguageModel
from clinical.progress import progress
from clinical.reading import SearchIndex
from evals.coding.costs import CHOOSING, CodedText, coded
from evals.exchange import gathered
from evals.measures.intervals import share
from evals.measures.results import Row, row
from evals.measures.texts import EVERY
from evals.reading.inputs import WRITTEN, read_inputs, statements

Inputs = Sequence[Mapping[str, Any]]


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


async def coded_together(
    index: SearchIndex, model: LanguageModel, texts: Sequence[str], at_once: int
) -> list[CodedText]:
    """Every text through the stream as it is served, so many at once."""
    queue = SearchQueue()
    bar = progress(None, "texts", "texts coded", total=len(texts))
    return await gathered(lambda text: coded(text, index, model, queue), texts, at_once, bar)


def offered_rows(name: str, inputs: Inputs, texts: Sequence[CodedText]) -> Iterator[Row]:
    """The share of the statements of which a right code was on offer to a tier's model, where it came to a choice."""
    for tier in CHOOSING:
        right = [
            bool(said.codes & text.offered[tier])
            for given, text in zip(inputs, texts, strict=True)
            for said in statements(given)
            if text.offered[tier]
        ]
        yield from row("offered", f"{name}, tier {tier}: {EVERY}", len(right), share(sum(right), len(right)))
