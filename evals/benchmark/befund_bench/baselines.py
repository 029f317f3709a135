"""Baselines: each takes rows of a task and gives an answer for each; none of them reads a text's answer.

Those of codes rank a code by its best wording and read a text as a bag of words: BM25 by bm25s (Lù 2024, arXiv
2407.03618) over words and over their character 4-grams; TF-IDF by scikit-learn, words or characters, cosine; fuzzy by
rapidfuzz, token set ratio; dense by any model of sentence-transformers, and by vectors of word pieces, random or
learned from the wordings; random codes say what chance gets. Wordings are those of the split train, or of an own
catalog. The libraries are imported where they are used: the package needs numpy alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from .data import DATA, BenchmarkError, TaskRow, texts, words_of
from .tasks import DEPTH

GRAM: Final = 4
SEED: Final = 2026
OVERLAP: Final = 0.6
"""Share of a value's words that stand in a letter which supports it, to this baseline."""
UNKNOWN: Final = "<unk>"
DIMENSIONS, VOCABULARY, EPOCHS = 256, 8_000, 4
PATTERNS: Final = {
    "dokument.datum": re.compile(r"\b(\d\d?\.\d\d?\.20\d\d)"),
    "patient.geburtsdatum": re.compile(r"(?i:geb|\*)\D{0,20}(\d\d?\.\d\d?\.(?:19|20)\d\d)"),
    "patient.geschlecht": re.compile(r"\b(Frau|Herrn?)\b"),
    "absender.email": re.compile(r"([\w.-]+@[\w.-]+\w)"),
    "absender.telefon": re.compile(r"Tel\D{0,10}(\+?[\d /-]{6,}\d)"),
    "absender.plz": re.compile(r"\b(\d{4,5}) [A-ZÄÖÜ]"),
    "absender.ort": re.compile(r"\b\d{4,5} ([A-ZÄÖÜ][\w-]+)"),
}
RANKED: Final = ("wordings", "typed", "lists", "codes")

Baseline = Callable[[Sequence[TaskRow]], Iterator[dict[str, Any]]]
Wordings = Sequence[tuple[str, str]]
"""Pairs of a code and words for it."""


def train_wordings(folder: Path = DATA) -> list[tuple[str, str]]:
    """Code and phrasing of everything in the split train."""
    rows = texts("wordings", "train", folder)
    return [(code, row["text"]) for row in rows for codes in row["answer"]["right"] for code in codes]


def read_wordings(path: Path) -> list[tuple[str, str]]:
    """Code and words of a file with a pair in each line, a tab between them."""
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        code, tab, words = line.partition("\t")
        if not tab or not words.strip():
            raise BenchmarkError(f"{path.name}, line {number}: no code and words with a tab between them")
        found.append((code.strip(), words.strip()))
    return found


def systems_of(task: str, coding: Mapping[str, Baseline], folder: Path = DATA) -> Mapping[str, Baseline]:
    """Name to baseline of a task; `coding`: those of tasks that ask for codes (`of_codes`)."""
    if task in RANKED:
        return coding
    others: dict[str, tuple[str, Baseline]] = {
        "claims": ("always present", always_present),
        "lies": ("overlap of words", overlap),
        "extraction": ("patterns", patterns),
    }
    if task == "notes":
        return {"dictionary of train": dictionary(texts("notes", "train", folder))}
    return dict([others[task]])


def of_codes(wordings: Wordings, encoder: Path | None = None) -> dict[str, Baseline]:
    """Name to baseline of tasks that ask for codes. `encoder`: the folder of a sentence-transformers model."""
    own = CodeTable(wordings)
    found: dict[str, Baseline] = {
        "random codes": lambda rows: _random(own, rows),
        "fuzzy, token set": lambda rows: _fuzzy(own, rows),
        "BM25, words": lambda rows: _bm25(own, words_of, rows),
        "BM25, character 4-grams": lambda rows: _bm25(own, _grams, rows),
        "TF-IDF, words": lambda rows: _tfidf(own, rows, analyzer=words_of),
        "TF-IDF, characters 2-5": lambda rows: _tfidf(own, rows, analyzer="char_wb", ngram_range=(2, 5)),
        "dense, random": lambda rows: _dense(own, _kept(own, 0), rows),
        "dense, own": lambda rows: _dense(own, _kept(own, EPOCHS), rows),
    }
    if encoder is not None:
        found[f"dense, {encoder.name}"] = lambda rows: _dense(own, _loaded(encoder), rows)
    return found


def always_present(rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    """Claims: everything is there, as most things are."""
    yield from ({"claims": ["present"] * len(row["mentions"])} for row in rows)


def overlap(rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    """Lies: a letter supports a value when OVERLAP of its words stand somewhere in it."""
    for row in rows:
        words, there = words_of(row["value"]), set(words_of(row["text"]))
        yield {"supported": bool(words) and sum(word in there for word in words) >= OVERLAP * len(words)}


def dictionary(named: Sequence[TaskRow]) -> Baseline:
    """Notes: every place where a text has the words of a mention of `named` (rows with answers), the longest first."""
    known = {
        tuple(words_of(row["text"][int(start) : int(end)]))
        for row in named
        for start, end in (span.split("-") for span in row["answer"]["spans"])
    }
    longest = min(6, max(map(len, known), default=0))
    return lambda rows: ({"mentions": list(_known_places(row["text"], known, longest))} for row in rows)


def _known_places(text: str, known: set[tuple[str, ...]], longest: int) -> Iterator[list[int]]:
    words = [(match.group().casefold(), *match.span()) for match in re.finditer(r"\w+", text)]
    at = 0
    while at < len(words):
        sizes = range(min(longest, len(words) - at), 0, -1)
        size = next((n for n in sizes if tuple(word for word, *_ in words[at : at + n]) in known), 0)
        if size:
            yield [words[at][1], words[at + size - 1][2]]
        at += size or 1


def patterns(rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    """Extraction: the first words of a letter that look like a value of a field, and nothing of its lists."""
    for row in rows:
        found = {path: pattern.search(row["text"]) for path, pattern in PATTERNS.items()}
        fields: dict[str, Any] = {path: match[1] for path, match in found.items() if match}
        for path in ("dokument.datum", "patient.geburtsdatum"):
            if path in fields:
                day, month, year = fields[path].split(".")
                fields[path] = f"{year}-{int(month):02}-{int(day):02}"
        if "patient.geschlecht" in fields:
            fields["patient.geschlecht"] = "w" if fields["patient.geschlecht"] == "Frau" else "m"
        yield {"fields": fields}


class CodeTable:
    """Wordings in the order of their codes."""

    def __init__(self, wordings: Wordings) -> None:
        by_code: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for code, words in wordings:
            by_code[code][words] = None
        if not by_code:
            raise BenchmarkError("no wordings to search; name a file with a code and its words in each line")
        self.pairs = sorted((code, list(words)) for code, words in by_code.items())
        self.codes = np.array([code for code, _ in self.pairs])
        self.texts = [one for _, words in self.pairs for one in words]
        self.starts = np.cumsum([0, *(len(words) for _, words in self.pairs[:-1])])
        self.static: Mapping[int, Any] = {}
        """Dense models that have been made, by the epochs that they were taught."""

    def best(self, scores: Any) -> dict[str, Any]:
        """The codes of the best wordings; a wording that scores nothing is no find."""
        of_code = np.maximum.reduceat(np.asarray(scores, dtype=np.float64), self.starts)
        order = np.argsort(-of_code, kind="stable")[:DEPTH]
        return {"codes": self.codes[[place for place in order if of_code[place] > 0]].tolist()}


def _grams(text: str) -> list[str]:
    bordered = [f"<{word}>" for word in words_of(text)]
    return [word[at : at + GRAM] for word in bordered for at in range(max(1, len(word) - GRAM + 1))]


def _bm25(own: CodeTable, tokens: Callable[[str], list[str]], rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    import bm25s

    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(token, len(vocabulary)) for token in tokens(text)] for text in own.texts]
    found = bm25s.BM25(backend="numpy")
    found.index((numbers, vocabulary), show_progress=False)
    for row in rows:
        known = [token for token in tokens(row["text"]) if token in vocabulary]
        yield own.best(found.get_scores(known)) if known else {"codes": []}


def _random(own: CodeTable, rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    chance = np.random.default_rng(SEED)
    size = min(DEPTH, len(own.codes))
    yield from ({"codes": chance.choice(own.codes, size, replace=False).tolist()} for _ in rows)


def _fuzzy(own: CodeTable, rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    from rapidfuzz import fuzz, process

    folded = [" ".join(words_of(text)) for text in own.texts]
    for row in rows:
        asked = " ".join(words_of(row["text"]))
        yield own.best(process.cdist([asked], folded, scorer=fuzz.token_set_ratio)[0]) if asked else {"codes": []}


def _tfidf(own: CodeTable, rows: Sequence[TaskRow], **how: Any) -> Iterator[dict[str, Any]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(**how)
    table = vectoriser.fit_transform(own.texts)
    for row in rows:
        yield own.best(np.asarray((table @ vectoriser.transform([row["text"]]).T).todense()).ravel())


def _dense(own: CodeTable, model: Any, rows: Sequence[TaskRow]) -> Iterator[dict[str, Any]]:
    how = {"normalize_embeddings": True, "show_progress_bar": False, "batch_size": 256}
    every = model.encode(own.texts, **how)
    asked = model.encode([row["text"] for row in rows], **how)
    yield from (own.best(every @ row) for row in asked)


def _loaded(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), local_files_only=True, device="cpu")


def _kept(own: CodeTable, epochs: int) -> Any:
    if epochs not in own.static:
        own.static = {**own.static, epochs: static_model(own, epochs)}
    return own.static[epochs]


def static_model(own: CodeTable, epochs: int) -> Any:
    """Vectors of word pieces, random, or taught for so many `epochs` that wordings of one code are near each other."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    torch.manual_seed(SEED)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.UnigramTrainer(
        vocab_size=VOCABULARY, unk_token=UNKNOWN, special_tokens=[UNKNOWN], show_progress=False
    )
    tokenizer.train_from_iterator(own.texts, trainer)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=DIMENSIONS)], device="cpu")
    pairs = [pair for _, words in own.pairs for pair in pairwise(words)]
    optimiser, order = torch.optim.Adam(model.parameters(), lr=0.01), np.random.default_rng(SEED)
    for _ in range(epochs if pairs else 0):
        for batch in _batches(order.permutation(len(pairs)), 256):
            sides = [[pairs[at][side] for at in batch] for side in (0, 1)]
            first, second = (_embedded(model, texts) for texts in sides)
            loss = torch.nn.functional.cross_entropy(20 * first @ second.T, torch.arange(len(batch)))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return model


def _embedded(model: Any, some: Sequence[str]) -> Any:
    import torch

    return torch.nn.functional.normalize(model(model.preprocess(some))["sentence_embedding"], dim=-1)


def _batches(order: Any, size: int) -> Iterable[Any]:
    return (order[at : at + size] for at in range(0, len(order), size))
