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

from clinical import history, mentions
from clinical.catalog import Catalog
from clinical.encoder import Encoder, StaticEncoder, TransformerEncoder, unit
from clinical.expansion import Expansion
from clinical.features import CodeTraits, candidates, read_query
from clinical.gestation import Gestation
from clinical.manifest import Manifest, checksums
from clinical.mentions import Hit
from clinical.parts import Part, cut
from clinical.ranking import Ranker
from clinical.typos import Typos
from clinical.wordings import Wordings

Confidence = Literal["high", "medium", "low"]

RANKED_PARTS: Final = 40
"""Parts of a long text that are ranked in full: bounds its time; more find nothing more on the vignettes."""
PART_SIMILARITY: Final = 0.55
"""A part farther than this (cosine) from every wording is about something else."""
PART_DEPTH: Final = 24
"""HNSW candidates in that first look: whether a part is near to anything needs no exact neighbour."""
KEPT: Final = 20
"""Codes kept of each ranked text."""
MENDED: Final = 0.9
"""What hits for a mended word are multiplied with: an unknown word may also be right as it is."""

STATED: Final = mentions.MENTION
"""Probability of the code of a stated week: the rule is exact, that the code is wanted is not."""
SETTLED: Final = 0.9
"""From which share the words of the text itself have found what is over, its time included ("vor drei Jahren")."""
PRESENT: Final = 0.5
"""What a code of a present disease is multiplied with where the text says that it is over."""

KINDS: Final = {"plain": 0.0, "dagger": 0.0, "star": 1.0, "exclamation": 2.0}


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
        self.traits = traits_of(catalog, wordings)
        self.gestation = Gestation.of(catalog)
        self.typos = typos or Typos.of(list(wordings.vocabulary))

    def search(self, query: str, limit: int = 10) -> tuple[Candidate, ...]:
        """At most `limit` codes of any confidence, most probable first, none twice; empty when no word is known."""
        parts = cut(query)
        hits = self._ranked(parts[0], query) if len(parts) == 1 else self._mentioned(query, parts)
        return tuple(self._candidate(hit) for hit in self._with_gestation(query, hits)[:limit])

    def _with_gestation(self, query: str, hits: list[Hit]) -> list[Hit]:
        """The week of pregnancy that the text states has a code of its own, beside all others."""
        stated = []
        for code, at in self.gestation.codes(query):
            title = int(self.wordings.tables.title[self.wordings.code_row[code]])
            stated.append(Hit(code, STATED, STATED, title, Part(query[at.start : at.end], at.start, at.end)))
        return mentions.merged([stated, hits]) if stated else hits

    def search_many(self, queries: Sequence[str], limit: int = 10) -> list[tuple[Candidate, ...]]:
        """What `search` gives for each of them."""
        return [self.search(query, limit) for query in queries]

    def _mentioned(self, text: str, parts: Sequence[Part]) -> list[Hit]:
        """The codes of a long text, most probable first."""
        lists = [self._ranked(part, text) for part in self._nearest(parts)]
        return mentions.merged(mentions.weighed(text, lists, self.catalog))

    def _nearest(self, parts: Sequence[Part]) -> list[Part]:
        """The parts nearest to any wording, at most RANKED_PARTS of them."""
        vectors = unit(self.encoder.encode([part.text for part in parts]))
        similarity = self.wordings.nearest(vectors, 1, PART_DEPTH)[0][:, 0]
        order = np.argsort(-similarity, kind="stable")[:RANKED_PARTS]
        return [parts[place] for place in order if similarity[place] >= PART_SIMILARITY]

    def _ranked(self, part: Part, text: str) -> list[Hit]:
        """The part as it is written, as the catalog words it, as something that is over where the text says so, and
        with its slips of the keyboard mended."""
        lists = [self._ranked_text(part.text, part)]
        expanded = self.expansion.expanded(part.text)
        if expanded is not None:
            lists.append(self._ranked_text(expanded, part))
        past = history.past_of(text, part.start, part.end)
        if past is not None:
            lists = self._in_the_past(past, part, lists)
        mended = self.typos.mended(part.text, self.wordings.vocabulary)
        if mended is not None:
            lists.append([hit.weighed(MENDED) for hit in self._ranked_text(mended, part)])
        return lists[0] if len(lists) == 1 else mentions.merged(lists)

    def _in_the_past(self, past: history.Past, part: Part, lists: list[list[Hit]]) -> list[list[Hit]]:
        """Also the hits of the part as something that is over; codes of what is there now count less."""
        if past.written != part.text:
            lists = [*lists, self._ranked_text(past.written, part)]
        if not any(hit.share >= SETTLED and self._is_past(hit) for hits in lists for hit in hits):
            lists = lists + [self._ranked_text(form, part) for form in past.forms]
        return [[hit if self._is_past(hit) else hit.weighed(PRESENT) for hit in hits] for hits in lists]

    def _is_past(self, hit: Hit) -> bool:
        title = self.catalog.codes[hit.code].title
        return history.says_past(self.wordings.text(hit.wording)) or history.says_past(title)

    def _ranked_text(self, text: str, part: Part) -> list[Hit]:
        query = read_query(text, self.encoder, self.wordings)
        if query is None:
            return []
        found = candidates(query, self.wordings, self.traits)
        probability, share = self.ranker.probabilities(found)
        order = np.argsort(-share, kind="stable")[:KEPT]
        return [
            Hit(int(found.codes[n]), float(probability[n]), float(share[n]), int(found.wordings[n]), part)
            for n in order
        ]

    def _candidate(self, hit: Hit) -> Candidate:
        bounds = self.manifest.thresholds
        confidence: Confidence = (
            "high" if hit.probability >= bounds.high else "medium" if hit.probability >= bounds.medium else "low"
        )
        code, text = self.catalog.codes[hit.code].code, self.wordings.text(hit.wording)
        return Candidate(code, hit.probability, confidence, text, hit.part.start, hit.part.end)

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


def traits_of(catalog: Catalog, wordings: Wordings) -> CodeTraits:
    """Columns of the codes, see `features.COLUMNS`: terminal, level, kind, wordings, unspecified, other."""
    counts = np.zeros(len(catalog), dtype=np.float32)
    counts[wordings.codes] = wordings.ends - wordings.starts
    categories: dict[str, int] = {}
    parents: dict[str, int] = {}
    rows, category, parent = [], [], []
    for code, count in zip(catalog.codes, counts, strict=True):
        unspecified, other = "nicht näher bez" in code.title, "onstige" in code.title or "ndere" in code.title
        rows.append((code.terminal, code.level, KINDS[code.kind], np.log1p(count), unspecified, other))
        category.append(categories.setdefault(code.code[:3], len(categories)))
        parent.append(parents.setdefault(code.parent or code.code, len(parents)))
    return CodeTraits(np.array(rows, dtype=np.float32), np.array(category), np.array(parent))
