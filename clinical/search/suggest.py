"""Suggestions of codes for the first characters that somebody types, in a fraction of a millisecond.

Every wording is entered under each of its words, and under the known words that a compound ends in ("Herzinsuffizienz"
under "insuffizienz"), as far as the words behind go. The entries are sorted, so that all that begin like the typed
characters are one run of an array. Where hardly any do, the same characters with one slip mended are looked up, and
then the wordings that share the most character n-grams with them (the search's own BM25). From some characters on the
wordings whose vectors are nearest join, which knows other words and other orders. A code's score is how common it is
(`commonness`, learned at the build) plus how well its wordings match; both are linear, with the weights in the artifact
(`catalog_build.training.suggesting`).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.icd import Catalog, Code, Sex
from clinical.search.bm25 import character_grams
from clinical.search.bounds import ArraySizes, Bound, check
from clinical.search.cosines import whole
from clinical.search.encoder import Encoder, StaticEncoder, Vectors
from clinical.search.retrieval import nearest_wordings
from clinical.search.runs import Ints
from clinical.search.tensors import map_tensors, write_tensors
from clinical.search.terms import Wordings
from clinical.text import folded_words

FILE: Final = "suggest.safetensors"
KEY: Final = 24
"""Bytes of an entry that are sorted and compared; what is typed beyond them decides nothing."""
FEW: Final = 8
"""Codes below which slips and n-grams join: where a page has none to show otherwise."""
SHORTEST_SLIP: Final = 4
"""Characters from which a slip is thought of, and n-grams compared."""
LONGEST_SLIP: Final = 20
"""Characters up to which a slip is thought of: the time grows with the length."""
NEAR: Final = 0.6
"""Share of the best wording's n-gram score that another needs; from 0.5 to 0.8 the same is found."""
MOST_NEAR: Final = 60
"""Wordings taken by n-grams."""
SHORTEST_CLOSE: Final = 8
"""Characters from which vectors are compared: those of shorter beginnings say little, from 6 on it is no better."""
MOST_CLOSE: Final = 100
"""Wordings taken by vectors; finding them takes 0.2 ms."""
SHARPNESS: Final = 10.0
"""Of the votes: a wording counts exp(SHARPNESS x cosine)."""
TAIL, COMMON_TAIL = 4, 3
"""Characters of the shortest word that a compound is entered under, and of its beginning; wordings such a word needs to
be in."""
FIRST, WORD, INSIDE = range(3)
"""Place of an entry: at the beginning of its wording, of a word, inside a compound."""
MATCH: Final = (
    "cover", "first", "title", "begins", "matched", "share", "typed", "slip", "likeness", "likeness_cover", "closeness",
    "votes",
)  # fmt: skip
"""Columns of a match: share of the wording's characters that are typed; it begins the wording; the wording is the
title; it begins a word; log(1 + wordings of the code that match, as typed or with the slip mended); share of the code's
wordings that do; any matches as typed; any with a slip mended; the best n-gram score as a share of the best of all
codes; the same times the share of characters; the greatest cosine of the code's wordings among the nearest; log(1 + sum
of exp(SHARPNESS x cosine) of them)."""
_OF_ENTRY: Final = 4
"""The columns that an entry has by itself; the best entry of a code is chosen by them."""
_LETTERS: Final = [letter for letter in string.ascii_lowercase if letter not in "cyz"]
"""Letters that folded words hold."""
_LAST: Final = b"\xff"
_CODE: Final = re.compile(r"\s*([A-Za-z])\s?(\d{1,2})\s?[.,]?\s?(\d{0,2})\s?[-+*!†]?\s*", re.ASCII)

Bools = NDArray[np.bool_]


class Suggestion(NamedTuple):
    """A code, and the wording by which it was found; empty where the code itself was typed."""

    code: Code
    wording: str


class KnownPatient(NamedTuple):
    """Sex and age in days of the patient, as far as they are known: codes of others come last."""

    sex: Sex | None = None
    age_days: int | None = None


ANYBODY: Final = KnownPatient()


@dataclass(frozen=True)
class EntryTables:
    """The arrays of the entries (E entries, M columns of a match, one commonness for each code of the catalog)."""

    key: NDArray[np.uint8]  # (E, KEY) folded words, one space between them, filled up with zeros, ascending
    wording: NDArray[np.int32]  # (E,)
    place: NDArray[np.uint8]  # (E,) FIRST, WORD or INSIDE
    length: NDArray[np.uint16]  # (N,) characters of each folded wording
    commonness: Vectors  # (codes,)
    weights: Vectors  # (M,) of the columns of a match


BOUNDS: Final = {
    "key": Bound("uint8", ("E", KEY)),
    "wording": Bound("int32", ("E",), low=0, high="N"),
    "place": Bound("uint8", ("E",), low=0, high=3),
    "length": Bound("uint16", ("N",), low=1, high=1 << 16),
    "commonness": Bound("float32", ("codes",)),
    "weights": Bound("float32", (len(MATCH),)),
}


class Matches(NamedTuple):
    """Codes that match what was typed (n catalog numbers, ascending), their columns (`MATCH`, (n, M)), and the best
    wording of each."""

    codes: Ints
    columns: Vectors
    wording: Ints


class _Found(NamedTuple):
    """Wordings found by likeness, and how like each is."""

    wordings: Ints
    likeness: Vectors


_NOTHING: Final = _Found(np.zeros(0, np.int64), np.zeros(0, np.float32))


class Suggester:
    """Suggestions from the wordings of one catalog. Read-only, safe under threads.

    Vectors join only where the encoder is a table of n-grams: a transformer takes longer than a key.
    """

    def __init__(self, catalog: Catalog, wordings: Wordings, encoder: Encoder, tables: EntryTables) -> None:
        self._catalog, self._wordings, self.tables = catalog, wordings, tables
        self._encoder = encoder if isinstance(encoder, StaticEncoder) else None
        self._keys = tables.key.reshape(-1).view(f"S{KEY}")
        self._code = wordings.tables.code.astype(np.int64)
        self._count = np.bincount(self._code, minlength=len(catalog)).astype(np.float32)
        self._titles = np.zeros(len(wordings), dtype=bool)
        self._titles[wordings.tables.title] = True
        bare = np.array([code.code.replace(".", "").encode() for code in catalog], dtype="S5")
        self._by_code = np.argsort(bare, kind="stable")
        self._bare = bare[self._by_code]
        self._terminal = np.array([code.terminal for code in catalog])

    def suggest(
        self, typed: str, limit: int = 8, patient: KnownPatient = ANYBODY, within: Bools | None = None
    ) -> tuple[Suggestion, ...]:
        """The likeliest codes, none twice; `within` marks the codes of the catalog that may be suggested."""
        found = self._codes_begun(typed, limit, within)
        if len(found) < limit:
            matches = self.matches(typed, within)
            score = matches.columns @ self.tables.weights + self.tables.commonness[matches.codes]
            if patient != ANYBODY:
                score -= 100 * self._of_others(matches.codes, patient)
            best = _best(score, limit + len(found))
            ranked = zip(matches.codes[best].tolist(), matches.wording[best].tolist(), strict=True)
            known = set(found)
            worded = [(code, self._wordings.text(word)) for code, word in ranked if code not in known]
        else:
            worded = []
        every = [*((code, "") for code in found), *worded][:limit]
        return tuple(Suggestion(self._catalog.codes[code], wording) for code, wording in every)

    def _codes_begun(self, typed: str, limit: int, within: Bools | None) -> list[int]:
        """Codes that begin like the typed one: terminal ones first, the most common of them first."""
        match = _CODE.fullmatch(typed)
        if match is None:
            return []
        begun = "".join(match.groups()).upper().encode()
        low, high = np.searchsorted(self._bare, np.array([begun, begun + b"~"], dtype="S6"))
        numbers = self._by_code[low:high]
        if within is not None:
            numbers = numbers[within[numbers]]
        order = np.lexsort((-self.tables.commonness[numbers], ~self._terminal[numbers]))
        found: list[int] = numbers[order[:limit]].tolist()
        return found

    def matches(self, typed: str, within: Bools | None = None) -> Matches:
        """All codes with a wording that matches, and how; slips and n-grams only where few do otherwise."""
        words = folded_words(typed)
        text = " ".join(words)
        if not words:
            return Matches(np.zeros(0, np.int64), np.zeros((0, len(MATCH)), np.float32), np.zeros(0, np.int64))
        entries = self._entries(_begun(text))
        counted = np.bincount(self._code[self.tables.wording[entries]], minlength=len(self._catalog))
        mended, near, close = np.zeros(0, np.int64), _NOTHING, _NOTHING
        if len(text) >= SHORTEST_SLIP and np.count_nonzero(counted) < FEW:
            if len(text) <= LONGEST_SLIP:
                mended = self._entries(_with_a_slip(text))
                mended = mended[counted[self._code[self.tables.wording[mended]]] == 0]
            near = self._near(words)
        if len(text) >= SHORTEST_CLOSE:
            close = self._close(text)
        return self._matches(len(text), entries, mended, near, close, within)

    def _entries(self, keys: Sequence[bytes]) -> Ints:
        """Numbers of the entries that begin with one of the keys."""
        cut = sorted(key[:KEY] for key in keys)
        begin = np.array(cut, dtype=f"S{KEY}")
        end = np.array([key + _LAST if len(key) < KEY else key for key in cut], dtype=f"S{KEY}")  # no entry is longer
        low = np.searchsorted(self._keys, begin)
        some = self._keys[np.minimum(low, len(self._keys) - 1)] <= end  # most slips mended begin nothing
        some &= low < len(self._keys)
        low, high = low[some], np.searchsorted(self._keys, end[some], side="right")
        runs = [np.arange(first, last) for first, last in zip(low, high, strict=True)]
        return np.unique(np.concatenate(runs)) if len(runs) > 1 else runs[0] if runs else np.zeros(0, np.int64)

    def _near(self, words: Sequence[str]) -> _Found:
        """Wordings that share the most n-grams with the words, the last of which may go on; and how much each does,
        1 for the best."""
        bm25 = self._wordings.characters_bm25
        grams = [gram for word in words[:-1] for gram in character_grams([word])]
        grams += [gram for gram in character_grams([words[-1]]) if not gram.endswith(">")]
        numbers = bm25.numbers(dict.fromkeys(grams))
        if not numbers:
            return _NOTHING
        runs = [slice(*bm25.start[number : number + 2]) for number in numbers]
        wordings = np.concatenate([bm25.indices[run] for run in runs])
        added = np.concatenate([bm25.data[run] for run in runs])
        score = np.bincount(wordings, weights=added, minlength=len(self._wordings)).astype(np.float32)
        best = np.flatnonzero(score >= NEAR * score.max())
        best = best[_best(score[best], MOST_NEAR)]
        return _Found(best, score[best] / score[best].max())

    def _close(self, text: str) -> _Found:
        """The wordings with the nearest vectors, and their cosines."""
        if self._encoder is None:
            return _NOTHING
        row = self._encoder.encode([text])
        size = float(np.linalg.norm(row))
        if size < 1e-6:
            return _NOTHING
        near = nearest_wordings(row / size, whole(row).numbers, self._wordings, MOST_CLOSE, MOST_CLOSE)[0]
        near = near[near >= 0]
        cosine = self._wordings.vectors(near) @ row[0] / np.float32(size)
        some = cosine > 0
        return _Found(near[some], cosine[some])

    def _matches(
        self, typed: int, entries: Ints, mended: Ints, near: _Found, close: _Found, within: Bools | None
    ) -> Matches:
        tables, weights, size = self.tables, self.tables.weights, len(self._catalog)
        both = np.concatenate([entries, mended])
        wording = tables.wording[both].astype(np.int64)
        code, place = self._code[wording], tables.place[both]
        cover = np.minimum(typed / tables.length[wording], 1).astype(np.float32)
        own = np.stack([cover, place == FIRST, self._titles[wording], place != INSIDE], axis=1).astype(np.float32)
        as_typed = np.bincount(code[: len(entries)], minlength=size)
        counted = np.bincount(code, minlength=size) if len(mended) else as_typed
        score = own @ weights[:_OF_ENTRY]
        order = np.argsort(score, kind="stable") if len(score) < 4_096 else np.argsort(score.astype(np.float16))
        best = np.full(size, -1, dtype=np.int64)
        best[code[order]] = order  # the last one written is the best
        like, by_likeness = self._best_of(near)
        closeness, by_closeness = self._best_of(close)
        kept = (best >= 0) | (like > 0) | (closeness > 0)
        codes = np.flatnonzero(kept if within is None else kept & within)
        at = best[codes]
        votes = np.bincount(self._code[close.wordings], weights=np.exp(SHARPNESS * close.likeness), minlength=size)
        cover_of_like = np.minimum(typed / tables.length[by_likeness[codes]], 1)
        columns = np.zeros((len(codes), len(MATCH)), dtype=np.float32)
        columns[at >= 0, :_OF_ENTRY] = own[at[at >= 0]]
        columns[:, _OF_ENTRY:] = np.stack(
            [
                np.log1p(counted[codes]),
                counted[codes] / np.maximum(self._count[codes], 1),
                as_typed[codes] > 0,
                (as_typed[codes] == 0) & (at >= 0),
                like[codes],
                like[codes] * cover_of_like,
                closeness[codes],
                np.log1p(votes[codes]),
            ],
            axis=1,
        )
        words = np.where(like[codes] > 0, by_likeness[codes], by_closeness[codes])
        words[at >= 0] = wording[at[at >= 0]]
        return Matches(codes, columns, words)

    def _best_of(self, found: _Found) -> tuple[Vectors, Ints]:
        """The greatest likeness of the wordings of each code, 0 where none was found, and the wording that has it."""
        size = len(self._catalog)
        like, wording = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.int64)
        order = np.argsort(found.likeness, kind="stable")
        of_code = self._code[found.wordings[order]]
        like[of_code], wording[of_code] = found.likeness[order], found.wordings[order]  # the last one is the greatest
        return like, wording

    def _of_others(self, codes: Ints, patient: KnownPatient) -> Vectors:
        """1 for codes that are unusual for the patient's sex or age, 0 for the others."""
        rows = (self._catalog.codes[number] for number in codes.tolist())
        return np.array([not row.fits(patient.sex, patient.age_days) for row in rows], dtype=np.float32)

    @classmethod
    def build(
        cls,
        catalog: Catalog,
        wordings: Wordings,
        encoder: Encoder,
        commonness: Vectors,
        weights: Mapping[str, float],
    ) -> Suggester:
        """Enter all wordings of a catalog. `commonness`: of each code; `weights`: of the columns of `MATCH`."""
        documents = [folded_words(wordings.text(number)) for number in range(len(wordings))]
        rows = sorted(_entered(documents))
        keys = np.array([key for key, _, _ in rows], dtype=f"S{KEY}")
        tables = EntryTables(
            key=keys.view(np.uint8).reshape(-1, KEY),
            wording=np.array([wording for _, wording, _ in rows], dtype=np.int32),
            place=np.array([place for _, _, place in rows], dtype=np.uint8),
            length=np.array([max(1, len(" ".join(words))) for words in documents], dtype=np.uint16),
            commonness=np.asarray(commonness, dtype=np.float32),
            weights=np.array([weights[name] for name in MATCH], dtype=np.float32),
        )
        return cls(catalog, wordings, encoder, tables)

    def save(self, folder: Path) -> None:
        """Write `suggest.safetensors`."""
        write_tensors(folder / FILE, {each.name: getattr(self.tables, each.name) for each in fields(EntryTables)}, {})

    @classmethod
    def load(cls, folder: Path, catalog: Catalog, wordings: Wordings, encoder: Encoder) -> Suggester:
        """Memory-map what `save` wrote. Raises ArtifactMismatch where a number leads out of its bounds."""
        arrays, _ = map_tensors(folder / FILE)
        check(FILE, arrays, BOUNDS, ArraySizes({"N": len(wordings), "codes": len(catalog)}))
        return cls(catalog, wordings, encoder, EntryTables(**arrays))


def _best(score: Vectors, most: int) -> Ints:
    """Places of the highest scores, the highest first."""
    if len(score) > most:
        part = np.argpartition(-score, most)[:most]
        return part[np.argsort(-score[part], kind="stable")]
    return np.argsort(-score, kind="stable")


def _begun(text: str) -> list[bytes]:
    """The typed text as keys: what ends in p may go on as ph, which is folded to f."""
    return [text.encode(), *([f"{text[:-1]}f".encode()] if text.endswith("p") else [])]


def _with_a_slip(text: str) -> list[bytes]:
    """All texts one edit away (Damerau 1964) that have the same first character, or the first two exchanged."""
    cuts = [(text[:at], text[at:]) for at in range(1, len(text) + 1)]
    swapped = [text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in range(len(text) - 1)]
    left_out = [before + behind[1:] for before, behind in cuts if behind]
    changed = [before + letter + behind[1:] for before, behind in cuts if behind for letter in _LETTERS]
    put_in = [before + letter + behind for before, behind in cuts[:-1] for letter in _LETTERS]
    return [each.encode() for each in {*swapped, *left_out, *changed, *put_in} - {text}]


def _entered(documents: Sequence[Sequence[str]]) -> Iterator[tuple[bytes, int, int]]:
    """Key, wording and place of every entry."""
    frequency = Counter(word for words in documents for word in set(words))
    tails: dict[str, list[int]] = {}
    for number, words in enumerate(documents):
        for at, word in enumerate(words):
            text = " ".join(words[at : at + KEY // 2])
            yield text.encode()[:KEY], number, FIRST if at == 0 else WORD
            inside = tails.get(word)
            if inside is None:
                inside = tails[word] = [
                    cut for cut in range(TAIL, len(word) - TAIL + 1) if frequency[word[cut:]] >= COMMON_TAIL
                ]
            for cut in inside:
                yield text[cut:].encode()[:KEY], number, INSIDE
