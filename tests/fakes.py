"""The fakes of the two ports, and a small catalog with a word-overlap index for tests that need no real search."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clinical.claims import Reading
from clinical.icd import Catalog, Code, Note, parent_of
from clinical.llm import Completion, JsonSchema, Limits, Message
from clinical.reading.index import SearchIndex, Understood
from clinical.search.encoder import Vectors, grams
from clinical.search.manifest import Manifest
from clinical.search.ranking import Ranker
from clinical.search.terms import Wordings
from clinical.search.words.expansion import Expansion
from clinical.text import folded_words

Reply = str | dict[str, Any] | Exception | Callable[[Sequence[Message], JsonSchema | None], Any]


class FakeModel:
    """A language model that answers by the name of the schema (None: free text), and keeps what it was asked.

    A reply is a string, a JSON-ready dict, an exception to raise, or a function of the messages and the schema that
    gives one of these. A list gives its replies in turn and repeats the last.
    """

    name = "fake-model"

    def __init__(self, delay: float = 0.0, busy: bool = False, **replies: Reply | list[Reply]) -> None:
        self.replies, self.delay, self.busy = replies, delay, busy
        self.asked: list[tuple[str, Sequence[Message], JsonSchema | None]] = []
        self.running = 0
        self.cancelled = 0

    async def complete(self, messages: Sequence[Message], *, schema: JsonSchema | None, limits: Limits) -> Completion:
        kind = schema.name if schema else "text"
        self.asked.append((kind, tuple(messages), schema))
        self.running += 1
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        reply = self._next(kind)
        if callable(reply):
            reply = reply(messages, schema)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply if isinstance(reply, str) else json.dumps(reply), tokens_in=100, tokens_out=20)

    def _next(self, kind: str) -> Any:
        reply = self.replies[kind]
        if isinstance(reply, list):
            return reply.pop(0) if len(reply) > 1 else reply[0]
        return reply

    async def health(self) -> bool:
        return True


def finding(quote: str, assertion: str = "present", phrase: str | None = None) -> dict[str, str]:
    """One finding as a model says it."""
    return {"quote": quote, "phrase": phrase or quote, "assertion": assertion}


def choice(code: str, number: int = 1, confidence: str = "high", reasoning: str = "Im Text belegt.") -> dict[str, Any]:
    """One choice as a model says it."""
    return {"finding": number, "reasoning": reasoning, "code": code, "confidence": confidence}


def chosen(*choices: dict[str, Any], summary: str = "Kodierung nach Textlage.") -> dict[str, Any]:
    """A selection or recommendation as a model says it."""
    return {"codes": list(choices), "summary": summary}


def step(*searches: str, open: Sequence[str] = (), done: bool = False) -> dict[str, Any]:
    """One round of research as a model says it."""
    return {"thought": "", "searches": list(searches), "open": list(open), "done": done}


_ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("B37", "Kandidose", {}),
    ("B37.3", "Kandidose der Vulva und der Vagina", {"kind": "dagger", "sex": "W"}),
    ("C50", "Bösartige Neubildung der Brustdrüse [Mamma]", {}),
    ("C50.4", "Bösartige Neubildung: Oberer äußerer Quadrant der Brustdrüse", {}),
    ("C50.9", "Bösartige Neubildung: Brustdrüse, nicht näher bezeichnet", {}),
    ("E11", "Diabetes mellitus, Typ 2", {"notes": (Note("exclusion", "Schwangerschaftsdiabetes", ("O24.-",)),)}),
    ("E11.4", "Diabetes mellitus, Typ 2: Mit neurologischen Komplikationen", {}),
    ("E11.40", "Diabetes mellitus, Typ 2: Mit neurologischen Komplikationen: Nicht als entgleist bezeichnet", {}),
    ("E11.41", "Diabetes mellitus, Typ 2: Mit neurologischen Komplikationen: Als entgleist bezeichnet", {}),
    ("E11.9", "Diabetes mellitus, Typ 2: Ohne Komplikationen", {}),
    ("E11.90", "Diabetes mellitus, Typ 2: Ohne Komplikationen: Nicht als entgleist bezeichnet", {}),
    ("E11.91", "Diabetes mellitus, Typ 2: Ohne Komplikationen: Als entgleist bezeichnet", {}),
    ("G63", "Polyneuropathie bei anderenorts klassifizierten Krankheiten", {"kind": "asterisk"}),
    ("G63.2", "Diabetische Polyneuropathie", {"kind": "asterisk"}),
    ("I10", "Essentielle (primäre) Hypertonie", {}),
    ("I10.0", "Benigne essentielle Hypertonie", {}),
    ("I10.00", "Benigne essentielle Hypertonie: Ohne Angabe einer hypertensiven Krise", {}),
    ("I10.9", "Essentielle Hypertonie, nicht näher bezeichnet", {}),
    ("I10.90", "Essentielle Hypertonie, nicht näher bezeichnet: Ohne Angabe einer hypertensiven Krise", {}),
    ("I21", "Akuter Myokardinfarkt", {"notes": (Note("exclusion", "Alter Myokardinfarkt", ("I25.2-",)),)}),
    ("I21.9", "Akuter Myokardinfarkt, nicht näher bezeichnet", {}),
    ("I25", "Chronische ischämische Herzkrankheit", {}),
    ("I25.2", "Alter Myokardinfarkt", {}),
    ("I25.22", "Alter Myokardinfarkt: 1 Jahr und länger zurückliegend", {"age_low": "j015"}),
    ("J18", "Pneumonie, Erreger nicht näher bezeichnet", {}),
    ("J18.0", "Bronchopneumonie, nicht näher bezeichnet", {}),
    ("J18.9", "Pneumonie, nicht näher bezeichnet", {}),
    ("J20", "Akute Bronchitis", {}),
    ("J20.9", "Akute Bronchitis, nicht näher bezeichnet", {}),
    ("N40", "Prostatahyperplasie", {"sex": "M", "age_low": "j015"}),
    ("N77", "Vulvovaginale Ulzeration bei anderenorts klassifizierten Krankheiten", {"kind": "asterisk"}),
    ("N77.1", "Vaginitis bei anderenorts klassifizierten Krankheiten", {"kind": "asterisk", "sex": "W"}),
    ("O24", "Diabetes mellitus in der Schwangerschaft", {"sex": "W"}),
    ("O24.4", "Diabetes mellitus, während der Schwangerschaft auftretend", {"sex": "W"}),
    ("P21", "Asphyxie unter der Geburt", {"age_high": "t027"}),
    ("P21.9", "Asphyxie unter der Geburt, nicht näher bezeichnet", {"age_high": "t027"}),
    ("R05", "Husten", {}),
    ("Z80", "Bösartige Neubildung in der Familienanamnese", {}),
    ("Z80.3", "Bösartige Neubildung der Brustdrüse in der Familienanamnese", {}),
    ("Z85", "Bösartige Neubildung in der Eigenanamnese", {}),
    ("Z85.3", "Bösartige Neubildung der Brustdrüse in der Eigenanamnese", {}),
)
_SYNONYMS = (
    ("Mammakarzinom", "C50.9"),
    ("Mammakarzinom in der Eigenanamnese", "Z85.3"),
    ("Mammakarzinom in der Familienanamnese", "Z80.3"),
    ("Herzinfarkt", "I21.9"),
    ("Zustand nach Herzinfarkt", "I25.22"),
    ("Zuckerkrankheit", "E11.90"),
    ("Candida-Vaginitis", "B37.3"),
    ("arterielle Hypertonie", "I10.90"),
    ("Lungenentzündung", "J18.9"),
    ("Schwangerschaftsdiabetes", "O24.4"),
)
_PAIRS = (
    ("B37.3", "N77.1", "Candida-Vaginitis\nKandidose der Vulva und der Vagina"),
    ("E11.40", "G63.2", "Diabetische Polyneuropathie bei Typ-2-Diabetes"),
    ("E11.41", "G63.2", "Entgleister Diabetes mit Polyneuropathie"),
)


def tiny_catalog() -> Catalog:
    """Some forty real codes, enough for every rule of the tiers."""
    parents = {parent_of(code) for code, _, _ in _ROWS}
    return Catalog("2026", [_code(code, title, extra, code in parents) for code, title, extra in _ROWS], {}, {})


def _code(code: str, title: str, extra: dict[str, Any], parent: bool) -> Code:
    pairs = tuple(
        Note("pair", text, (partner,))
        for one, two, text in _PAIRS
        for own, partner in ((one, two), (two, one))
        if own == code
    )
    fields = {"kind": "plain", "use_295": "V" if parent else "P", "use_301": "V" if parent else "P", **extra}
    fields["notes"] = (*extra.get("notes", ()), *pairs)
    return Code(
        code=code,
        title=title,
        level={3: 3, 5: 4, 6: 5}[len(code)],
        terminal=not parent,
        parent=parent_of(code),
        block=code[0],
        chapter=code[0],
        **fields,
    )


@dataclass(frozen=True)
class FakeCandidate:
    """Same fields as clinical.reading.Candidate."""

    code: str
    probability: float
    confidence: str
    text: str
    start: int
    end: int
    claim: str = "present"


@dataclass
class FakeIndex:
    """Word overlap over the titles and some synonyms of `tiny_catalog`; same interface as SearchIndex."""

    catalog: Catalog = field(default_factory=tiny_catalog)
    searched: list[str] = field(default_factory=list)

    def search(self, query: str, limit: int = 10) -> tuple[FakeCandidate, ...]:
        self.searched.append(query)
        words = _words(query)
        best: dict[str, FakeCandidate] = {}
        texts = [(code.title, code.code) for code in self.catalog if code.terminal] + list(_SYNONYMS)
        for text, code in texts:
            score = len(words & _words(text)) / max(1, len(words | _words(text)))
            if score > 0.1 and (code not in best or best[code].probability < score):
                level = "high" if score > 0.6 else "medium" if score > 0.3 else "low"
                best[code] = FakeCandidate(code, score, level, text, 0, len(query))
        return tuple(sorted(best.values(), key=lambda hit: -hit.probability)[:limit])

    def read(self, query: str) -> Understood:
        return Understood(
            tuple(hit for hit in self.search(query, 1_000) if hit.confidence != "low"), (), Reading.of(query)
        )

    def search_many(self, queries: Sequence[str], limit: int = 10) -> list[tuple[FakeCandidate, ...]]:
        return [self.search(query, limit) for query in queries]

    def search_phrases(self, phrases: Sequence[str], limit: int = 10) -> list[tuple[FakeCandidate, ...]]:
        return self.search_many(phrases, limit)


_STOP = {"und", "der", "in", "nach", "mit", "die", "zustand", "nicht", "näher", "bezeichnet", "eigenanamnese"}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold())) - _STOP


Payload = Mapping[str, Any]


def payload(messages: Sequence[Message]) -> Payload:
    """The JSON object of the last user message of a question."""
    value: Payload = json.loads(messages[-1].content)
    return value


class HashEncoder:
    """An encoder that has learnt nothing: letter trigrams hashed to plus or minus one; similar spelling is near."""

    name = "hash-64"
    dimensions = 64

    def __init__(self, fails_on: str | None = None) -> None:
        self.fails_on = fails_on

    def encode(self, texts: Sequence[str]) -> Vectors:
        if self.fails_on is not None and any(self.fails_on in text for text in texts):
            raise ValueError("an encoder that fails")
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for gram in (gram for word in folded_words(text) for gram in grams(word)):
                number = zlib.crc32(gram.encode())
                row[number % self.dimensions] += 1 if number & 1024 else -1
        return rows


def hash_index(manifest: Manifest, ranker: Ranker, fails_on: str | None = None) -> SearchIndex:
    """The real index code over `tiny_catalog` and a `HashEncoder`."""
    catalog = tiny_catalog()
    pairs = [(code.title, code.code, True) for code in catalog] + [(text, code, False) for text, code in _SYNONYMS]
    pairs.sort(key=lambda pair: (catalog.number(pair[1]), not pair[2]))
    texts, codes, titles = zip(*pairs, strict=True)
    wordings = Wordings.build(texts, [catalog.number(code) for code in codes], titles, HashEncoder())
    return SearchIndex(catalog, wordings, HashEncoder(fails_on), ranker, manifest, Expansion({}))
