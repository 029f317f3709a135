"""The searchable wordings of a catalog as arrays: their codes, words and vectors, and three ways to find them.

Wordings lie in the order of their codes, so that "the best wording of every code" is one pass over an array. Both
BM25s (bm25s, Lù 2024) are exact, the vectors are searched by FAISS (`neighbours`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, cast

import faiss
import numpy as np
from numpy.typing import NDArray

from clinical.quantised import quantise
from clinical.search.bm25 import COMMON, Bm25, character_grams
from clinical.search.bounds import ArraySizes, Bound, check, require, text_of
from clinical.search.encoder import Encoder, Vectors, unit
from clinical.search.native.compiled import Comparing, KnownWordings
from clinical.search.native.looking import Looking, Postings
from clinical.search.neighbours import SEARCH_DEPTH, built, graph_of, nearest, read_graph
from clinical.search.runs import Ints
from clinical.search.tensors import map_tensors, write_tensors
from clinical.text import folded_words

BEST_BY_WORDS, BEST_BY_CHARACTERS = 15, 25
"""Codes added from each BM25."""


@dataclass(frozen=True)
class Tables:
    """The arrays of all wordings (N wordings, W distinct words, C codes with a wording, D dimensions)."""

    code: NDArray[np.int32]  # (N,) number of the wording's code in the catalog, ascending
    text: NDArray[np.uint8]  # UTF-8 of all wordings
    text_start: Ints  # (N + 1,) where each begins in `text`, in bytes
    word_start: Ints  # (N + 1,) where the words of each begin in `word`
    word: NDArray[np.int32]  # numbers of the wordings' words
    rows: NDArray[np.int8]  # (N, D) unit vectors of the wordings, quantised
    scales: Vectors  # (N,)
    weight: Vectors  # (N,) length of the encoder's row
    word_text: NDArray[np.uint8]  # the distinct folded words, one a line
    word_rows: NDArray[np.int8]  # (W, D) unit vectors of the words, quantised
    word_scales: Vectors  # (W,)
    word_weight: Vectors  # (W,) length of the encoder's row
    word_idf: Vectors  # (W,) ln((N + 1) / (wordings with the word + 0.5))
    title: Ints  # (C,) number of the wording that is the code's official title, or of its first wording
    centre_rows: NDArray[np.int8]  # (C, D) unit mean of the code's wordings, quantised
    centre_scales: Vectors  # (C,)


BOUNDS: Final = {
    "code": Bound("int32", ("N",), low=0, high="codes", ascending=True),
    "text": Bound("uint8", ("bytes",)),
    "text_start": Bound("int64", ("N+1",), starts="bytes"),
    "word_start": Bound("int64", ("N+1",), starts="words"),
    "word": Bound("int32", ("words",), low=0, high="W"),
    "rows": Bound("int8", ("N", "D")),
    "scales": Bound("float32", ("N",)),
    "weight": Bound("float32", ("N",)),
    "word_text": Bound("uint8", ("letters",)),
    "word_rows": Bound("int8", ("W", "D")),
    "word_scales": Bound("float32", ("W",)),
    "word_weight": Bound("float32", ("W",)),
    "word_idf": Bound("float32", ("W",)),
    "title": Bound("int64", ("C",), low=0, high="N"),
    "centre_rows": Bound("int8", ("C", "D")),
    "centre_scales": Bound("float32", ("C",)),
}


class Wordings:
    """All wordings, their vectors and both BM25s; read-only and shared between threads and workers."""

    def __init__(self, tables: Tables, words_bm25: Bm25, characters_bm25: Bm25, graph: Any) -> None:
        self.tables, self.words_bm25, self.characters_bm25, self.graph = tables, words_bm25, characters_bm25, graph
        self.starts: Ints = np.flatnonzero(np.r_[True, tables.code[1:] != tables.code[:-1]])
        self.ends: Ints = np.r_[self.starts[1:], len(tables.code)]
        self.codes: Ints = tables.code[self.starts].astype(np.int64)  # (C,) catalog numbers
        self.code_row: Ints = np.full(int(self.codes[-1]) + 1, -1, dtype=np.int64)  # catalog number -> row of C
        self.code_row[self.codes] = np.arange(len(self.codes))
        self.row: Ints = np.repeat(np.arange(len(self.codes)), self.ends - self.starts)  # (N,) wording -> row of C
        self._text = memoryview(cast("bytes", tables.text))
        self._word_start, self._word = _numbers(tables.word_start), _numbers(tables.word)
        lines = text_of(tables.word_text, "word_text of wordings.safetensors").split("\n")
        self._spelled = lines
        self.vocabulary = {word: number for number, word in enumerate(lines)}
        self.rarest = float(np.log((len(tables.code) + 1) / 0.5))
        by_word = Postings(words_bm25.indices, words_bm25.data, words_bm25.start, BEST_BY_WORDS)
        by_character = Postings(
            characters_bm25.indices, characters_bm25.data, characters_bm25.start, BEST_BY_CHARACTERS
        )
        self.looking = Looking(by_word, by_character, self.row, self.starts, self.ends)
        known = KnownWordings(
            tables.word_start, tables.word, tables.word_rows, tables.word_scales, tables.word_idf, tables.word_weight,
            tables.rows, tables.scales, tables.weight, tables.title, self.row, tables.centre_rows, tables.centre_scales,
        )  # fmt: skip
        self.comparing = Comparing(known)
        self.links = graph_of(graph, tables.rows, tables.scales)

    def __len__(self) -> int:
        return len(self.tables.code)

    def text(self, number: int) -> str:
        """The wording as the source has it."""
        start, end = self.tables.text_start[number : number + 2].tolist()
        return str(self._text[start:end], "utf-8")

    def folded(self, number: int) -> list[str]:
        """The folded words of the wording, in their order."""
        spelled = self._spelled
        return [spelled[word] for word in self._word[self._word_start[number] : self._word_start[number + 1]]]

    def texts(self, numbers: Ints | range) -> list[str]:
        """These wordings as the source has them."""
        start, first = self.tables.text_start, np.asarray(numbers, dtype=np.int64)
        places = zip(start[first].tolist(), start[first + 1].tolist(), strict=True)
        return [str(self._text[start:end], "utf-8") for start, end in places]

    def of_code(self, code: int) -> range:
        """Numbers of the wordings of a code of the catalog; empty where it has none."""
        row = int(self.code_row[code]) if code < len(self.code_row) else -1
        return range(int(self.starts[row]), int(self.ends[row])) if row >= 0 else range(0)

    def has_words(self, number: int, folded: Sequence[str]) -> bool:
        """True if a wording has these very words, in any order."""
        return self.any_has_words((number,), folded)

    def any_has_words(self, numbers: Sequence[int], folded: Sequence[str]) -> bool:
        """True if one of these wordings has these very words, in any order."""
        start, word, size = self._word_start, self._word, len(folded)
        own: list[int] = []
        for number in numbers:
            first, behind = start[number], start[number + 1]
            if behind - first != size:
                continue
            own = own or sorted(self.vocabulary.get(one, -1) for one in folded)
            if sorted(word[first:behind]) == own:
                return True
        return False

    def nearest(self, vectors: Vectors, count: int, depth: int = SEARCH_DEPTH) -> tuple[Vectors, Ints]:
        """Cosine and numbers of the nearest wordings, shape (queries, count) each; number -1 where there are fewer."""
        return nearest(self.graph, vectors, count, depth)

    def vectors(self, numbers: Ints) -> Vectors:
        """Unit vectors of wordings, shape (numbers, dimensions)."""
        return np.asarray(self.tables.rows[numbers] * self.tables.scales[numbers, None], dtype=np.float32)

    def idf(self, folded: Sequence[str], *more: float) -> Vectors:
        """Inverse document frequency of words, an unknown word counts as the rarest; `more` values behind them."""
        known = [self.vocabulary.get(word) for word in folded]
        values = [self.rarest if number is None else self.tables.word_idf.item(number) for number in known]
        return np.array([*values, *more], dtype=np.float32)

    @classmethod
    def build(cls, texts: Sequence[str], codes: Sequence[int], titles: Sequence[bool], encoder: Encoder) -> Wordings:
        """From wordings in the order of their codes (catalog numbers, ascending); `titles` marks official titles."""
        documents = [folded_words(text) for text in texts]
        code = np.asarray(codes, dtype=np.int32)
        tables = _tables(texts, documents, code, np.asarray(titles), encoder)
        characters = Bm25.build([character_grams(document) for document in documents], COMMON)
        return cls(tables, Bm25.build(documents), characters, _graph(tables))

    def save(self, folder: Path) -> None:
        """Write `wordings.safetensors`, `vectors.faiss`, `words/` and, for the character n-grams, `characters/`."""
        arrays = {field.name: getattr(self.tables, field.name) for field in fields(Tables)}
        write_tensors(folder / "wordings.safetensors", arrays, {})
        faiss.write_index(self.graph, str(folder / "vectors.faiss"))
        self.words_bm25.save(folder / "words")
        self.characters_bm25.save(folder / "characters")

    @classmethod
    def load(cls, folder: Path, codes: int) -> Wordings:
        """Memory-map what `save` wrote, for a catalog of so many codes. Raises ArtifactMismatch where a number leads
        out of its bounds."""
        arrays, _ = map_tensors(folder / "wordings.safetensors")
        sizes = ArraySizes({"codes": codes})
        check("wordings.safetensors", arrays, BOUNDS, sizes)
        tables = Tables(**arrays)
        _check_tables(tables)
        words, characters = (Bm25.load(folder / name, len(tables.code)) for name in ("words", "characters"))
        return cls(tables, words, characters, read_graph(folder / "vectors.faiss", *tables.rows.shape))


def _numbers(some: NDArray[np.integer[Any]]) -> memoryview[int]:
    """The same numbers to be taken one by one, in half of the time that an array takes for it."""
    return memoryview(cast("Any", np.require(some, requirements="A")))


def _check_tables(tables: Tables) -> None:
    """Check what no single array shows: runs of codes and their titles, and texts that are texts."""
    code, title, text = tables.code, tables.title, tables.text
    own = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
    are_titles = len(own) == len(title) and (code[title] == code[own]).all()
    require(are_titles, "a title of wordings.safetensors is of another code", "a wording of each code")
    begins = text[tables.text_start[:-1][np.diff(tables.text_start) > 0]]
    text_of(text, "text of wordings.safetensors")
    require(((begins & 0xC0) != 0x80).all(), "a wording begins within a character", "UTF-8")
    found = int((tables.word_text == ord("\n")).sum()) + 1
    require(found == len(tables.word_rows), f"word_text has {found} words", f"{len(tables.word_rows)}")


def _tables(
    texts: Sequence[str], documents: Sequence[Sequence[str]], code: NDArray[np.int32], titles: Any, encoder: Encoder
) -> Tables:
    vocabulary = sorted({word for document in documents for word in document})
    number = {word: at for at, word in enumerate(vocabulary)}
    raw, raw_words = encoder.encode(texts), encoder.encode(vocabulary)
    vectors = unit(raw)
    starts = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
    centres = unit(np.add.reduceat(vectors, starts, axis=0))
    (rows, scales), (word_rows, word_scales) = quantise(vectors), quantise(unit(raw_words))
    centre_rows, centre_scales = quantise(centres)
    frequency = np.zeros(len(vocabulary), dtype=np.float32)
    for document in documents:
        frequency[[number[word] for word in set(document)]] += 1
    encoded = [text.encode() for text in texts]
    return Tables(
        code=code,
        text=np.frombuffer(b"".join(encoded), dtype=np.uint8),
        text_start=_starts([len(text) for text in encoded]),
        word_start=_starts([len(document) for document in documents]),
        word=np.array([number[word] for document in documents for word in document], dtype=np.int32),
        rows=rows,
        scales=scales,
        weight=np.linalg.norm(raw, axis=1).astype(np.float32),
        word_text=np.frombuffer("\n".join(vocabulary).encode(), dtype=np.uint8),
        word_rows=word_rows,
        word_scales=word_scales,
        word_weight=np.linalg.norm(raw_words, axis=1).astype(np.float32),
        word_idf=np.log((len(texts) + 1) / (frequency + 0.5)).astype(np.float32),
        title=_titles(starts, titles),
        centre_rows=centre_rows,
        centre_scales=centre_scales,
    )


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _titles(starts: Ints, titles: NDArray[np.bool_]) -> Ints:
    """The first title at or behind each start, where it is still of the same code; else the start itself."""
    ends = np.r_[starts[1:], len(titles)]
    return np.array(
        [
            start + (int(np.argmax(titles[start:end])) if titles[start:end].any() else 0)
            for start, end in zip(starts, ends, strict=True)
        ],
        dtype=np.int64,
    )


def _graph(tables: Tables) -> Any:
    return built(np.asarray(tables.rows * tables.scales[:, None], dtype=np.float32))
