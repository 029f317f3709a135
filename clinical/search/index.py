"""SearchIndex: from German text to ICD-10-GM codes with calibrated probabilities. Writer and reader of the artifact.

A short text is one query. A longer one is cut into overlapping parts (`parts`); the vectors of all parts are searched
at once, the parts that lie nearest to any wording are ranked in full, and the codes are merged.

The artifact is a folder: `codes.json` (catalog), `wordings.safetensors`, `vectors.faiss`, `words/`, `letters/`
(wordings), `encoder.safetensors`, `ranker.safetensors`, `expansion.json` (word synonyms), `typos.safetensors`
(mending of typos), and `manifest.json`, written last.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np

from clinical.catalog import Catalog
from clinical.language import Part, Reading, cut
from clinical.search import hits as mentions
from clinical.search.encoder import Encoder, StaticEncoder, TransformerEncoder, unit
from clinical.search.expansion import Expansion
from clinical.search.features import candidates
from clinical.search.gestation import Gestation
from clinical.search.hits import Hits
from clinical.search.manifest import Manifest, checksums
from clinical.search.ranking import Ranker
from clinical.search.retrieval import read_queries
from clinical.search.rewriting import Asked, Rewriter, Spot
from clinical.search.runs import lengths, ranges
from clinical.search.terms import Wordings
from clinical.search.traits import traits_of
from clinical.search.typos import Typos

Confidence = Literal["high", "medium", "low"]

TOGETHER: Final = 64
"""Queries searched at once: with more the arrays leave the processor's cache, with fewer numpy's calls cost more."""
RANKED_PARTS: Final = 40
"""Parts of a long text that are ranked in full: bounds its time; more find nothing more on the vignettes."""
PART_SIMILARITY: Final = 0.55
"""A part farther than this (cosine) from every wording is about something else."""
PART_DEPTH: Final = 24
"""HNSW candidates in that first look: whether a part is near to anything needs no exact neighbour."""
KEPT: Final = 20
"""Codes kept of each ranked text."""
STATED: Final = mentions.MENTION
"""Probability of the code of a stated week: the rule is exact, that the code is wanted is not."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A code that may be meant. `start`, `end`: the part of the query it was found by, in code points."""

    code: str
    probability: float
    confidence: Confidence
    text: str
    start: int
    end: int


class SearchIndex:
    """Everything tier 1 needs; read-only, safe under threads, one memory mapping for all workers."""

    def __init__(
        self,
        catalog: Catalog,
        wordings: Wordings,
        encoder: Encoder,
        ranker: Ranker,
        manifest: Manifest,
        expansion: Expansion,
        typos: Typos | None = None,
    ) -> None:
        self.catalog, self.wordings, self.encoder = catalog, wordings, encoder
        self.ranker, self.manifest, self.expansion = ranker, manifest, expansion
        self.traits, self._seldom = traits_of(catalog, wordings), mentions.seldom_meant(catalog)
        self.gestation = Gestation.of(catalog)
        self.typos = typos or Typos.of(list(wordings.vocabulary))
        self._rewriter = Rewriter(catalog, wordings, expansion, self.typos)

    def search(self, query: str, limit: int = 10) -> tuple[Candidate, ...]:
        """At most `limit` codes of any confidence, most probable first, none twice; empty when no word is known."""
        return self.search_many([query], limit)[0]

    def search_many(self, queries: Sequence[str], limit: int = 10) -> list[tuple[Candidate, ...]]:
        """What `search` gives for each of them, in less than half of its time for each.

        Exactly: a text's codes and probabilities are the same to the last bit whatever is searched beside it, with an
        encoder whose rows do not depend on each other (the `StaticEncoder` of the artifact).
        """
        batches = (queries[start : start + TOGETHER] for start in range(0, len(queries), TOGETHER))
        return [found for batch in batches for found in self._together(batch, limit)]

    def _together(self, queries: Sequence[str], limit: int) -> list[tuple[Candidate, ...]]:
        """The parts of all queries are ranked together; what a query makes of its parts is its own."""
        cuts, readings = [cut(query) for query in queries], [Reading.of(query) for query in queries]
        parts = [own if len(own) == 1 else self._nearest(own) for own in cuts]
        spots = [Spot(reading, part) for reading, own in zip(readings, parts, strict=True) for part in own]
        hits = self._rewriter.hits(spots, self._hits)
        ends = np.cumsum([0, *map(len, parts)])
        rows = np.searchsorted(hits.part, ends).tolist()
        found = []
        for place, query in enumerate(queries):
            some = hits.at(slice(rows[place], rows[place + 1]))
            some = some._replace(part=some.part - ends[place])
            if len(cuts[place]) > 1:
                some = mentions.weighed(readings[place], parts[place], some, self._seldom)
            found.append(self._best(query, parts[place], some, limit))
        return found

    def _best(self, query: str, parts: Sequence[Part], hits: Hits, limit: int) -> tuple[Candidate, ...]:
        """Over all parts, and with the week of pregnancy that the text states."""
        stated = list(self.gestation.codes(query))
        if stated:
            parts = [*parts, *(Part(query[at.start : at.end], at.start, at.end) for _, at in stated)]
            hits = mentions.joined([self._gestation([code for code, _ in stated], len(parts)), hits])
        best = mentions.merged(hits).at(slice(limit))
        rows = zip(*(column.tolist() for column in best), strict=True)
        return tuple(self._candidate(parts[part], code, chance, word) for part, code, _, chance, word in rows)

    def _gestation(self, codes: Sequence[int], parts: int) -> Hits:
        """The week of pregnancy that the text states has a code of its own; its places are the last of the parts."""
        numbers = np.array(codes, dtype=np.int64)
        share = np.full(len(codes), STATED, dtype=np.float32)
        title = self.wordings.tables.title[self.wordings.code_row[numbers]]
        return Hits(np.arange(parts - len(codes), parts), numbers, share, share, title)

    def _nearest(self, parts: Sequence[Part]) -> list[Part]:
        """The parts nearest to any wording, at most RANKED_PARTS of them."""
        vectors = unit(self.encoder.encode([part.text for part in parts]))
        similarity = self.wordings.nearest(vectors, 1, PART_DEPTH)[0][:, 0]
        order = np.argsort(-similarity, kind="stable")[:RANKED_PARTS]
        return [parts[place] for place in order if similarity[place] >= PART_SIMILARITY]

    def _hits(self, asked: Sequence[Asked]) -> Hits:
        """The hits of each text for the part of that place; a text that several parts share is ranked once."""
        number = {text: at for at, text in enumerate(dict.fromkeys(text for text, _ in asked))}
        hits = self._ranked_texts(list(number))
        starts = np.searchsorted(hits.part, np.arange(len(number) + 1))
        texts = np.array([number[text] for text, _ in asked], dtype=np.int64)
        sizes = np.diff(starts)[texts]
        rows, _ = ranges(starts[texts], sizes)
        return hits.at(rows)._replace(part=np.repeat(np.array([place for _, place in asked], dtype=np.int64), sizes))

    def _ranked_texts(self, texts: Sequence[str]) -> Hits:
        """The best KEPT codes of each text, text by text; `part` is the place of the text."""
        found = []
        for queries in read_queries(texts, self.encoder, self.wordings):
            some = candidates(queries, self.wordings, self.traits)
            probability, share = self.ranker.probabilities(some)
            of = np.repeat(np.arange(len(some.first)), lengths(some.first, len(some.codes)))
            order = np.lexsort((-share, of))
            order = order[np.arange(len(order)) - some.first[of] < KEPT]
            found.append(
                Hits(
                    queries.number[of[order]], some.codes[order], share[order], probability[order], some.wordings[order]
                )
            )
        hits = mentions.joined(found)
        return hits.at(np.argsort(hits.part, kind="stable"))

    def _candidate(self, part: Part, code: int, probability: float, wording: int) -> Candidate:
        bounds = self.manifest.thresholds
        confidence: Confidence = (
            "high" if probability >= bounds.high else "medium" if probability >= bounds.medium else "low"
        )
        text = self.wordings.text(wording)
        return Candidate(self.catalog.codes[code].code, probability, confidence, text, part.start, part.end)

    def save(self, folder: Path) -> None:
        """Write all files into an existing folder, the manifest with their checksums last."""
        self.catalog.save(folder / "codes.json")
        self.wordings.save(folder)
        self.ranker.save(folder / "ranker.safetensors")
        self.expansion.save(folder / "expansion.json")
        self.typos.save(folder / "typos.safetensors")
        if isinstance(self.encoder, StaticEncoder):
            self.encoder.save(folder / "encoder.safetensors")
        replace(self.manifest, files=checksums(folder)).save(folder)

    @classmethod
    def load(cls, folder: Path) -> SearchIndex:
        """Read what `save` wrote, after comparing every checksum. Raises ArtifactMissing or ArtifactMismatch."""
        manifest = Manifest.load(folder)
        manifest.verify(folder)
        collecting = gc.isenabled()
        gc.disable()  # a hundred thousand small objects that all stay: looking for garbage among them costs as much
        try:
            catalog, wordings = Catalog.load(folder / "codes.json"), Wordings.load(folder)
            static = folder / "encoder.safetensors"
            encoder: Encoder = StaticEncoder.load(static) if static.is_file() else TransformerEncoder(manifest.encoder)
            ranker, expansion = Ranker.load(folder / "ranker.safetensors"), Expansion.load(folder / "expansion.json")
            typos = Typos.load(folder / "typos.safetensors", list(wordings.vocabulary))
            return cls(catalog, wordings, encoder, ranker, manifest, expansion, typos)
        finally:
            if collecting:
                gc.enable()
