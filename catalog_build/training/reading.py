"""Fit the second stage of calibration anew for the tagger that is shipped, on what people wrote.

How far a code can be believed is learned from texts that are read as a stranger's will be: the authors are dealt into
two halves, and each is read by networks that learned from the other half alone, a quarter of it at a time, without
the wordings that only this quarter gave the index. Where it was fitted on texts that the networks knew, it believed
them too much: of what unread authors were shown two points less were right (evals/LOG.md). Bounds of the bands,
weights of the columns and order of codes are fitted; what is said of wordings by themselves stays, for texts tell
nothing of these.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple

from catalog_build.own_synonyms import index_without, load_authored
from catalog_build.training.authors import WrittenInput, read, written_inputs
from catalog_build.training.claims import Material, Recipe, train_claims
from catalog_build.training.confidence import (
    FoundMentions,
    compared,
    fitted_on,
    joined,
    reranker_of,
    unfitted,
    written_examples,
)
from catalog_build.training.suggesting import ComparedCodes
from clinical.claims import Tagger
from clinical.errors import SettingError
from clinical.reading import Confidence, Reranker, SearchIndex

HALVES: Final = 2
NETS: Final = 2
"""Networks of each half's tagger."""
FOLDS: Final = 4
"""Lots of authors in a half, each read without the words that only this lot gave the index: without those of the whole
half its words were strange to search, which to a stranger's reader they are not."""


def train_reading(artifact: Path) -> Confidence:
    """The artifact's second stage, fitted anew. Deterministic; twenty minutes on two cores with the full catalog.
    Raises SettingError for an artifact without one."""
    index = SearchIndex.load(artifact)
    if index.confidence is None:
        remedy = "build the artifact again: python -m catalog_build build SOURCE --out DIR"
        raise SettingError(
            f"{artifact} has no second stage to be fitted anew", "an artifact with confidence.json", remedy
        )
    taggers = [train_claims(material(index, _half(1 - number)), Recipe(nets=NETS)) for number in range(HALVES)]
    with ProcessPoolExecutor(HALVES, get_context("spawn")) as pool:
        asked = [_Asked(artifact, taggers[half], half, fold) for half in range(HALVES) for fold in range(FOLDS)]
        choices = [choice for own in pool.map(_choices, asked) for choice in own]
        reranker = reranker_of(choices) or index.confidence.reranker
        found = joined(list(pool.map(_found, [one._replace(reranker=reranker) for one in asked])))
    return fitted_on(index.confidence, found, reranker)


def material(index: SearchIndex, names: frozenset[str] | None = None) -> Material:
    """Material of a tagger: the texts of the authors to learn from, or of those of these names, and the wordings
    of the index."""
    texts = [text for name, own in read("train").items() if names is None or name in names for text in own]
    codes = index.wordings.tables.code.tolist()
    return Material(texts, [(index.wordings.text(n), index.catalog.codes[code].code) for n, code in enumerate(codes)])


def read_by(index: SearchIndex, tagger: Tagger | None, confidence: Confidence | None) -> SearchIndex:
    """An index like this one that reads with another tagger (None: the shipped one) and second stage."""
    parts = (index.catalog, index.wordings, index.encoder, index.ranker, index.manifest, index.expansion, index.typos)
    return SearchIndex(*parts, confidence, index.suggester, tagger=tagger, answers=index.answers)


class _Asked(NamedTuple):
    artifact: Path
    tagger: Tagger
    half: int
    fold: int
    reranker: Reranker | None = None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(sorted(_half(self.half))[self.fold :: FOLDS])

    @property
    def inputs(self) -> list[WrittenInput]:
        return [one for one in written_inputs() if one.source in self.names]

    def blind(self) -> SearchIndex:
        """The artifact's index that has learned nothing from these authors."""
        theirs = [one for one in load_authored(self.artifact) if one.authors <= self.names]
        return read_by(index_without(SearchIndex.load(self.artifact), theirs), self.tagger, unfitted(self.reranker))


def _choices(asked: _Asked) -> list[ComparedCodes]:
    return list(compared(asked.blind(), asked.inputs))


def _found(asked: _Asked) -> FoundMentions:
    return written_examples(asked.blind(), asked.inputs)


@cache
def _half(number: int) -> frozenset[str]:
    """Every other author; asked of each word of the index, and every author's file is read for it."""
    return frozenset(sorted(read("train"))[number::HALVES])
