"""Texts as numbers of words, and what a catalog knows of words, for a search in one call (`texts.c`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from clinical.search.native.compiled import (
    BYTE,
    FLOAT,
    INT,
    LETTER,
    LONG,
    Comparing,
    Floats,
    Ints,
    address_of,
    all_at,
    fields_of,
    loops,
)
from clinical.search.native.ranked import Ranked, Ranking, Room


class _Lexicon(ctypes.Structure):
    _fields_ = fields_of("letters start slot", "entries slots")


class _Language(ctypes.Structure):
    _fields_ = fields_of("words characters grams idf token rows scales", "dimensions")


class _Answers(ctypes.Structure):
    _fields_ = fields_of("start wording share slot", "wordings slots")


class _Spoken(ctypes.Structure):
    _fields_ = fields_of("text text_start start again letters", "texts words longest")


class Lexicon:
    """Words with their numbers, below `size`, that are found by their letters; none is empty or holds a line end."""

    def __init__(self, numbers: Mapping[str, int], size: int) -> None:
        words = [""] * size
        for word, number in numbers.items():
            words[number] = word
        letters = np.frombuffer("\n".join([*words, ""]).encode(), dtype=LETTER)
        start = np.append(0, np.flatnonzero(letters == ord("\n")) + 1)
        slots = 1 << (2 * size).bit_length()
        slot = np.full(slots, -1, dtype=np.int32)
        self._kept = (letters, start, slot)
        addresses = address_of(letters, LETTER), address_of(start, LONG), address_of(slot, INT)
        loops().fill_slots(*addresses[:2], size, addresses[2], slots)
        self._struct = _Lexicon(*addresses, size, slots)
        self.address = ctypes.addressof(self._struct)


class Language:
    """Everything a catalog knows of words: those of its wordings, their rarity (and, last, that of an unknown word) and
    their tokens in the BM25 over words (-1: none), the tokens of the BM25 over characters, and the encoder's n-grams
    with its table. The arrays are kept with their addresses."""

    def __init__(
        self,
        words: Lexicon,
        characters: Lexicon,
        grams: Lexicon,
        idf: Floats,
        token: Ints,
        table: tuple[NDArray[np.int8], Floats],
    ) -> None:
        rows, scales = table
        self._kept = (words, characters, grams, idf, token, table)
        self._struct = _Language(
            words.address, characters.address, grams.address, address_of(idf, FLOAT), address_of(token, LONG),
            address_of(rows, BYTE), address_of(scales, FLOAT), rows.shape[1],
        )  # fmt: skip
        self.address, self.dimensions = ctypes.addressof(self._struct), rows.shape[1]


class AnswerTables(NamedTuple):
    """The answers to each of N wordings and, behind them, to each of W words by itself: the wordings of each from
    its `start` to before the next one's, best first, with their shares; none of what stands elsewhere too."""

    start: Ints  # (N + W + 1,)
    wording: NDArray[np.int32]
    share: Floats


class Answers:
    """The answers of a catalog, found by the words that are asked. The arrays are kept with their addresses."""

    def __init__(self, tables: AnswerTables, comparing: Comparing, wordings: int) -> None:
        entries = len(tables.start) - 1
        slots = 1 << (2 * entries).bit_length()
        slot = np.full(slots, -1, dtype=np.int32)
        self.tables, self._kept = tables, (comparing, slot)
        places = (*all_at(tables, (LONG, INT, FLOAT)), address_of(slot, INT))
        self._struct = _Answers(*places, wordings, slots)
        self.address = ctypes.addressof(self._struct)
        loops().fill_answers(comparing.address, self.address, entries, places[-1])


class Spoken(NamedTuple):
    """Texts by their folded words: `texts` as numbers of the distinct ones, and `again`: which of `words` each is for
    the encoder, which folds what is folded already (-1: none). `words` holds those, too."""

    texts: list[list[int]]
    words: list[str]
    again: list[int]

    @classmethod
    def of(cls, folded: Iterable[Sequence[str]], fold: Callable[[str], dict[str, str]]) -> Self:
        """From the words of each text, none empty; `fold`: the folded form of each word of a text."""
        number: dict[str, int] = {}
        texts = [[number.setdefault(word, len(number)) for word in own] for own in folded]
        distinct = list(number)
        folds = fold(" ".join(distinct))
        again = [number.setdefault(other, len(number)) if (other := folds[word]) else -1 for word in distinct]
        again += range(len(distinct), len(number))
        return cls(texts, list(number), again)

    def words_of(self, number: int) -> list[int]:
        """The words for the encoder of a text or, counted on behind the texts, of a single word."""
        own = self.texts[number] if number < len(self.texts) else [number - len(self.texts)]
        return [again for word in own if (again := self.again[word]) >= 0]


class TextRanking:
    """A search of one catalog in one call for some texts. What has one of the `answers` is not searched."""

    def __init__(self, ranking: Ranking, language: Language, nears: int, answers: Answers | None = None) -> None:
        self._ranking, self._language, self._nears, self._answers = ranking, language, nears, answers

    def best(self, some: Spoken, room: Room, drawn: Callable[[str], Floats | None]) -> Ranked:
        """The best codes of each text. `drawn`: the vector of a text of which no n-gram is known."""
        texts, spelled = some.texts, [word.encode() for word in some.words]
        sizes = [len(own) for own in texts]
        parts = (
            [*chain.from_iterable(texts)], [0, *accumulate(sizes)], [0, *accumulate(map(len, spelled))], some.again,
        )  # fmt: skip
        numbers = np.array([*chain.from_iterable(parts)], dtype=np.int64)
        letters = np.frombuffer(b"".join(spelled), dtype=LETTER)
        sizes_of_parts = (LONG.itemsize * len(part) for part in parts[:-1])
        places = accumulate(sizes_of_parts, initial=address_of(numbers, LONG))
        asked = _Spoken(*places, address_of(letters, LETTER), len(texts), len(spelled), max(sizes))
        lacking = np.empty(len(texts) + len(spelled), dtype=np.int64)
        out = self._ranking.room_for(len(texts))
        answers = None if self._answers is None else self._answers.address

        def ask(vectors: Floats | None) -> int:
            found: int = loops().search(
                self._ranking.address, self._language.address, answers, ctypes.addressof(asked), room.address,
                self._nears, address_of(lacking, LONG), None if vectors is None else address_of(vectors, FLOAT),
                address_of(out.counts, LONG), out.address,
            )  # fmt: skip
            return found

        missing = ask(None)
        if missing > 0:
            rows = np.zeros((missing, self._language.dimensions), dtype=np.float32)
            for row, number in zip(rows, np.flatnonzero(lacking).tolist(), strict=True):
                own = drawn(" ".join(some.words[word] for word in some.words_of(number)))
                row[:] = 0 if own is None else own
            missing = ask(rows)
        if missing:
            raise MemoryError("no memory for the candidates of a text")
        return out.filled()
