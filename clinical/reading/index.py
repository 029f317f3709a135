"""SearchIndex: from German text to ICD-10-GM codes with calibrated probabilities. Writer and reader of the artifact.

A wording by itself is one query. A text is read as a lattice of candidate spans (`lattice`): each is ranked whole, all
in one batch, and the spans that explain the text best give its codes.

The artifact is a folder: `codes.json` (catalog), `wordings.safetensors`, `vectors.faiss`, `words/`, `characters/`
(wordings), `encoder.safetensors`, `ranker.safetensors`, `expansion.json` (word synonyms), `typos.safetensors`
(mending of typos), `suggest.safetensors` (first characters), `answers.safetensors` (what is found for each wording and
word), and `manifest.json`, written last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical import claims as of_claims
from clinical.claims import ClaimReader, Tagger, claims_by_tagger
from clinical.contract import Assertion
from clinical.errors import ArtifactMismatch
from clinical.icd import Catalog
from clinical.loaded import loading
from clinical.reading.candidate import Candidate, Level, Mentioned, Understood
from clinical.reading.claim_stage import ClaimStage, TextSpans
from clinical.reading.confidence import Confidence, columns
from clinical.reading.elapsed import Elapsed
from clinical.reading.experience import Experience
from clinical.reading.general import compared
from clinical.reading.gestation import Gestation
from clinical.reading.kinds import CodeKinds
from clinical.reading.reader import MentionReader
from clinical.reading.rewriting import Asked, Rewriter
from clinical.reading.tagging import compiled
from clinical.search import (
    ANSWERS,
    SUGGEST,
    AnswerTables,
    Encoder,
    Expansion,
    Hits,
    Ints,
    Manifest,
    Ranker,
    Scorer,
    Shortened,
    StaticEncoder,
    Suggester,
    TransformerEncoder,
    Typos,
    Vectors,
    Wordings,
    checksums,
    joined,
    load_answers,
    merged,
    ranges,
    require,
    run_starts,
    save_answers,
    traits_of,
)
from clinical.search import FILES as FILES_OF_BM25
from clinical.text import Part
from clinical.thresholds import TextThresholds

BANDS: Final[dict[Level, int]] = {"high": 0, "medium": 1, "low": 2}
"""The surer band first; within a band of what is shown what relatives have comes last, and all else in the order of the
text, which names the main thing first."""
TOGETHER: Final = 64
"""Texts that a caller hands over at once who goes on with each: with more it waits, with fewer numpy's calls cost
more."""
CHARACTERS: Final = 16_000
"""Characters of the texts that are read at once: of short ones hundreds, which ask the same words again and share the
weights of the tagger; of long ones few, for what is held of a text is a thousand times its length."""
MODEL: Final = "encoder"
"""The folder of an artifact that holds its sentence-transformers model, where it was built with one."""
CONFIDENCE = "confidence.json"
"""Files of an artifact with the models that read texts; an artifact from before there were any has none."""
TAGGER: Final = "claims.safetensors"
"""The tagger of claims of an artifact that was trained on own texts; without it the shipped one reads."""
ENCODER: Final = "encoder.safetensors"
NEEDED: Final = (
    "codes.json", "wordings.safetensors", "vectors.faiss", "ranker.safetensors", "expansion.json", "typos.safetensors",
    *(f"{folder}/{name}" for folder in ("words", "characters") for name in FILES_OF_BM25),
)  # fmt: skip
"""Files without which nothing is found; beside them an artifact has its encoder."""


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
        confidence: Confidence | None = None,
        suggester: Suggester | None = None,
        claims_of: ClaimReader = claims_by_tagger,
        tagger: Tagger | None = None,
        answers: AnswerTables | None = None,
    ) -> None:
        self.catalog, self.wordings, self.encoder = catalog, wordings, encoder
        self.ranker, self.manifest, self.expansion = ranker, manifest, expansion
        self.traits, self.suggester = traits_of(catalog, wordings), suggester
        self.confidence, self.tagger, self.answers = confidence, tagger, answers
        self._scorer = Scorer(wordings, self.traits, ranker, encoder, answers)
        self.kinds = CodeKinds(catalog, None if suggester is None else suggester.tables.commonness)
        self.gestation, self._elapsed = Gestation.of(catalog), Elapsed.of(catalog)
        self.typos = typos or Typos.of(list(wordings.vocabulary))
        shortened = Shortened(wordings)
        self._stage = ClaimStage(catalog, wordings, claims_of)
        by = compiled(tagger or of_claims.tagger())
        self.reader = MentionReader(catalog, wordings, shortened, self._stage, claims_of, by)
        self._rewriter = Rewriter(wordings, expansion, self.typos, shortened)

    def search(self, query: str, limit: int = 10) -> tuple[Candidate, ...]:
        """At most `limit` codes of any confidence, most probable first, none twice; empty when no word is known."""
        return self.search_many([query], limit)[0]

    def search_many(self, queries: Sequence[str], limit: int = 10) -> list[tuple[Candidate, ...]]:
        """Search many queries at once: the results of `search` for each, in less than half of its time.

        Exactly: a text's codes and probabilities are the same to the last bit whatever is searched beside it, with an
        encoder whose rows do not depend on each other (the `StaticEncoder` of the artifact).
        """
        return [found.codes for batch in _batches(queries) for found in self._together(batch, limit)]

    def search_phrases(self, phrases: Sequence[str], limit: int = 10) -> list[tuple[Candidate, ...]]:
        """Search each phrase as one wording, as a coder looks it up: nothing in it is denied, over, or a relative's
        ("Betreuung der Mutter bei Fehlbildung des Fetus")."""
        drafts = ([self.reader.whole(phrase) for phrase in batch] for batch in _batches(phrases))
        return [found.codes for some in drafts for found in self._read(some, limit)]

    def read(self, query: str) -> Understood:
        """Every code of high or medium confidence, and every mention of the text."""
        found = self._together([query], None)[0]
        return found._replace(codes=tuple(code for code in found.codes if code.confidence != "low"))

    def _together(self, queries: Sequence[str], limit: int | None) -> list[Understood]:
        """The spans of all queries are ranked together; what a query makes of its spans is its own. `limit`: codes of
        each, without the mentions; None: those that are sure enough to be shown, however many.

        A text that may be one wording is read as such. One of two names ("Leberzirrhose mit Aszites") that is not sure
        so is also read as a text, which counts where it shows more and all that the wording shows."""
        drafts = self.reader.drafts(queries)
        found = self._read(drafts, limit)
        unsure = [n for n, one in enumerate(found) if not _surety(one)[0] and self.reader.may_name_two(drafts[n])]
        if unsure:
            others = self._read(self.reader.as_texts([drafts[n] for n in unsure]), limit)
            for number, other in zip(unsure, others, strict=True):
                if _surety(other) > _surety(found[number]) and _shown(found[number]) <= _shown(other):
                    found[number] = other
        return found

    def _read(self, drafts: Sequence[TextSpans], limit: int | None) -> list[Understood]:
        hits = self._searched(drafts)
        return [self._understood(draft, own, limit) for draft, own in zip(drafts, hits, strict=True)]

    def _searched(self, drafts: Sequence[TextSpans]) -> list[Hits]:
        """The hits of each draft's spans, span by span; `part` is the number of the span."""
        asked = [(place, *own) for place, draft in enumerate(drafts) for own in self._stage.spots(draft)]
        spots = [spot for _, _, spot in asked]
        hits = self._stage.weighed(*self._rewriter.hits(spots, self._hits), spots)
        numbers = np.array([number for _, number, _ in asked], dtype=np.int64)
        if len(drafts) == 1:
            return [hits._replace(part=numbers[hits.part])]
        places = np.array([place for place, _, _ in asked], dtype=np.int64)
        ends = np.searchsorted(hits.part, np.searchsorted(places, np.arange(len(drafts) + 1))).tolist()
        runs = (hits.at(slice(start, end)) for start, end in pairwise(ends))
        return [own._replace(part=numbers[own.part]) for own in runs]

    def _understood(self, draft: TextSpans, hits: Hits, limit: int | None) -> Understood:
        """The codes of the spans that explain the text, and of the week of pregnancy that it states."""
        text = draft.reading.text
        chosen, hits = self._chosen(draft, hits)
        if self.confidence is not None:
            hits = self.confidence.served(hits, *self._columns(draft, hits))
        parts, claims = [span.part for span in draft.spans], [*draft.assertions]
        stated = list(self.gestation.codes(text))
        if stated:
            parts += [Part(text[at.start : at.end], at.start, at.end) for _, at in stated]
            claims += ["present"] * len(stated)
            hits = joined([self._gestation([code for code, _ in stated], len(parts)), hits])
        bounds, best = self._bounds(draft), merged(hits)
        best = best.at(_are_shown(best.probability, bounds) if limit is None else slice(limit))
        worded = _levels(best.probability, bounds), self.wordings.texts(best.wording)
        rows = zip(*worded, best.part.tolist(), best.code.tolist(), best.probability.tolist(), strict=True)
        found = [
            self._candidate((parts[n], claims[n]), code, chance, text, level) for level, text, n, code, chance in rows
        ]
        beside = compared(found, self.catalog)
        codes = sorted(
            beside.codes,
            key=lambda one: (
                BANDS[one.confidence],
                *((one.claim == "family", one.start) if one.confidence != "low" else ()),
            ),
        )
        mentions = self._mentioned(draft, chosen, hits, bounds) if limit is None else ()
        if beside.instead:
            mentions = tuple(beside.told(one) for one in mentions)
        return Understood(tuple(codes), mentions, draft.reading, beside.general)

    def _chosen(self, draft: TextSpans, hits: Hits) -> tuple[list[int], Hits]:
        """The numbers of the spans that explain the text, and their hits in the order that the text as a whole says, by
        the time since where it tells that."""
        chosen, hits = self.reader.chosen(draft, hits)
        hits = self._elapsed.dated(draft, hits)
        reranker = None if self.confidence is None else self.confidence.reranker
        return chosen, hits if reranker is None else reranker.ordered(draft, hits, self.wordings, self.kinds)

    def _mentioned(
        self, draft: TextSpans, chosen: Sequence[int], hits: Hits, bounds: TextThresholds
    ) -> tuple[Mentioned, ...]:
        """The mentions of the chosen spans. `hits`: the rows of each span lie together."""
        starts = run_starts(hits.part).tolist()
        places = dict(zip(hits.part[starts].tolist(), pairwise([*starts, len(hits.part)]), strict=True))
        shown, code = _are_shown(hits.probability, bounds).tolist(), hits.code.tolist()
        wording, chance = hits.wording.tolist(), hits.probability.tolist()
        found = []
        for number in chosen:
            first, end = places.get(number, (0, 0))
            span, claim = draft.spans[number], draft.assertions[number]
            codes = tuple(self.catalog.codes[code[at]].code for at in range(first, end) if shown[at])
            # what the catalog has word for word is a mention, however it is marked
            verbatim = self.wordings.any_has_words(wording[first:end], draft.said[number])
            sure, best = 1.0 if verbatim else span.chance, max(chance[first:end], default=0.0)
            found.append(Mentioned(span.part.start, span.part.end, claim, sure, codes, best, draft.claims[number]))
        return tuple(found)

    def ranked(self, query: str) -> tuple[TextSpans, Hits]:
        """The candidate spans of a text and what search finds for each, before a cover is chosen (`reader.chosen`)."""
        return self.ranked_together([query])[0]

    def ranked_together(self, queries: Sequence[str]) -> list[tuple[TextSpans, Hits]]:
        """The same of several texts, whose spans are ranked together."""
        drafts = self.reader.drafts(queries)
        return list(zip(drafts, self._searched(drafts), strict=True))

    def first_codes(self, queries: Sequence[str]) -> list[list[tuple[int, int, str, Vectors]]]:
        """Of each text's mentions (start, end) the first code and what the second stage of calibration sees of it; the
        spans of all texts are ranked together."""
        return [self._first(draft, hits) for draft, hits in self.ranked_together(queries)]

    def _first(self, draft: TextSpans, hits: Hits) -> list[tuple[int, int, str, Vectors]]:
        chosen, hits = self._chosen(draft, hits)
        own = hits.at(np.isin(hits.part, chosen))
        first, rows = self._columns(draft, own)
        own = own.at(first)
        parts = [draft.spans[number].part for number in own.part.tolist()]
        names = [self.catalog.codes[code].code for code in own.code.tolist()]
        return [(part.start, part.end, name, row) for part, name, row in zip(parts, names, rows, strict=True)]

    def _columns(self, draft: TextSpans, hits: Hits) -> tuple[Ints, Vectors]:
        """The row of each span's first hit, and what the second stage of calibration sees of it."""
        experience = Experience() if self.confidence is None else self.confidence.experience
        return columns(draft, hits, self.wordings, self.kinds, experience)

    def _gestation(self, codes: Sequence[int], parts: int) -> Hits:
        """The week of pregnancy that the text states has a code of its own; its places are the last of the parts."""
        numbers = np.array(codes, dtype=np.int64)
        share = np.full(len(codes), self.reader.weights.stated, dtype=np.float32)
        title = self.wordings.tables.title[self.wordings.code_row[numbers]]
        return Hits(np.arange(parts - len(codes), parts), numbers, share, share, title)

    def _hits(self, asked: Sequence[Asked]) -> Hits:
        """The hits of each text for the part of that place; texts of the same words are ranked once."""
        number = {own: at for at, own in enumerate(dict.fromkeys(own for own, _ in asked))}
        hits = self._scorer.of_words(list(number))
        places = np.array([place for _, place in asked], dtype=np.int64)
        if len(number) == len(asked):  # no two are the same
            return hits._replace(part=places[hits.part])
        starts = np.searchsorted(hits.part, np.arange(len(number) + 1))
        texts = np.array([number[own] for own, _ in asked], dtype=np.int64)
        sizes = starts[texts + 1] - starts[texts]
        rows, _ = ranges(starts[texts], sizes)
        return hits.at(rows)._replace(part=np.repeat(places, sizes))

    def _bounds(self, draft: TextSpans) -> TextThresholds:
        """From where on a code is high and medium: of wordings by themselves as the ranking model was calibrated, of
        texts as the second stage was, where less is asked of the most probable one."""
        plain = self.manifest.thresholds
        if draft.plain or self.confidence is None:
            return TextThresholds(plain.high, plain.medium, best=plain.medium)
        return self.confidence.bounds

    def _candidate(
        self, said: tuple[Part, Assertion], code: int, probability: float, wording: str, level: Level
    ) -> Candidate:
        """A code that leaves open what its siblings say is at most medium: somebody has to look. A single word that a
        note adds to a category with codes below it widens the title and is no diagnosis: "Knöchel" at S82, fractures.
        """
        (part, claim), found = said, self.catalog.codes[code]
        widens = not found.terminal and wording != found.title and wording.isalpha()
        unsure = level == "high" and self.kinds.open[code]
        confidence: Level = "low" if widens else "medium" if unsure else level
        return Candidate(found.code, probability, confidence, wording, part.start, part.end, claim)

    def save(self, folder: Path) -> None:
        """Write all files into an existing folder, the manifest with their checksums last."""
        self.catalog.save(folder / "codes.json")
        self.wordings.save(folder)
        self.ranker.save(folder / "ranker.safetensors")
        self.expansion.save(folder / "expansion.json")
        self.typos.save(folder / "typos.safetensors")
        if self.confidence is not None:
            self.confidence.save(folder / CONFIDENCE)
        if self.suggester is not None:
            self.suggester.save(folder)
        if self.answers is not None:
            save_answers(self.answers, folder)
        if self.tagger is not None:
            self.tagger.save(folder / TAGGER)
        if isinstance(self.encoder, StaticEncoder):
            self.encoder.save(folder / ENCODER)
        elif isinstance(self.encoder, TransformerEncoder):
            self.encoder.save(folder / MODEL)
        replace(self.manifest, files=checksums(folder)).save(folder)

    @classmethod
    def load(cls, folder: Path, beside: Sequence[SearchIndex] = ()) -> SearchIndex:
        """Read what `save` wrote, after comparing every checksum; every number that leads somewhere is looked at once.
        The encoder is shared with the indexes of other years `beside` it, where it is the same file. Raises
        ArtifactMissing or ArtifactMismatch."""
        manifest = Manifest.load(folder)
        manifest.require(*NEEDED)
        manifest.require(*NEEDED, _encoder_file(folder, manifest))
        manifest.verify(folder)
        with loading():
            catalog = Catalog.load(folder / "codes.json")
            wordings = Wordings.load(folder, len(catalog))
            same = (other.encoder for other in beside if _shares_encoder(other.manifest, manifest))
            encoder = next(same, None) or _encoder_of(folder, manifest)
            widths = encoder.dimensions, wordings.tables.rows.shape[1]
            require(widths[0] == widths[1], f"encoder and wordings have {widths} numbers a vector", "as many")
            ranker, expansion = Ranker.load(folder / "ranker.safetensors"), Expansion.load(folder / "expansion.json")
            typos = Typos.load(folder / "typos.safetensors", list(wordings.vocabulary))
            sure = Confidence.load(folder / CONFIDENCE) if CONFIDENCE in manifest.files else None
            begun = Suggester.load(folder, catalog, wordings, encoder) if SUGGEST in manifest.files else None
            own = _tagger(folder / TAGGER) if TAGGER in manifest.files else None
            known = load_answers(folder, wordings) if ANSWERS in manifest.files else None
            parts = (catalog, wordings, encoder, ranker, manifest, expansion, typos, sure, begun)
            return cls(*parts, tagger=own, answers=known)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in runs of at most CHARACTERS, or of one text."""
    first = size = 0
    for at, text in enumerate(texts):
        if first < at and size + len(text) > CHARACTERS:
            yield texts[first:at]
            first, size = at, 0
        size += len(text)
    if first < len(texts):
        yield texts[first:]


def _tagger(path: Path) -> Tagger:
    """The tagger of claims that an artifact was trained with. Raises ArtifactMismatch."""
    try:
        return Tagger.load(path)
    except ValueError as error:
        raise ArtifactMismatch(str(error), "a tagger of this version", "train the texts again") from None


def _encoder_file(folder: Path, manifest: Manifest) -> str:
    """The file that tells the kind of encoder. Raises ArtifactMismatch for an artifact from before models were copied
    into it."""
    if ENCODER in manifest.files or (folder / ENCODER).exists():
        return ENCODER
    if not (folder / MODEL).is_dir():
        found = f"the artifact in {folder} only names its encoder, {manifest.encoder}"
        raise ArtifactMismatch(found, f"the model in {MODEL}/", "build it again: python -m catalog_build build")
    return f"{MODEL}/modules.json"


def _shares_encoder(one: Manifest, other: Manifest) -> bool:
    return ENCODER in one.files and one.files[ENCODER] == other.files.get(ENCODER)


def _encoder_of(folder: Path, manifest: Manifest) -> Encoder:
    if ENCODER in manifest.files:
        return StaticEncoder.load(folder / ENCODER)
    return TransformerEncoder(folder / MODEL, manifest.encoder)


def _surety(found: Understood) -> tuple[int, int]:
    """The number of codes of high confidence, and of those that are shown."""
    return sum(code.confidence == "high" for code in found.codes), len(_shown(found))


def _shown(found: Understood) -> set[str]:
    return {code.code for code in found.codes if code.confidence != "low"}


def _are_shown(chance: Vectors, bounds: TextThresholds) -> NDArray[np.bool_]:
    """Mark the probabilities of one text that are high or medium."""
    least = np.where(chance == chance.max(initial=0), bounds.best, bounds.medium)
    shown: NDArray[np.bool_] = chance >= np.minimum(least, bounds.high)
    return shown


def _levels(chance: Vectors, bounds: TextThresholds) -> list[Level]:
    """Confidence level of each probability of one text; its highest probability is among them."""
    shown = zip(chance.tolist(), _are_shown(chance, bounds).tolist(), strict=True)
    return ["high" if one >= bounds.high else "medium" if medium else "low" for one, medium in shown]
