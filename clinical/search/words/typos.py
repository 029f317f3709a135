"""Slips of the keyboard: for a word that no wording has, the known word one edit away.

Symmetric deletion (Garbe's SymSpell): two words one edit apart (insertion, deletion, replacement, transposition; the
optimal string alignment distance) share a form that is either of them with at most one character left out. The forms of
all known words are kept as sorted 64-bit hashes, memory-mapped: 6 MB and 30 us a word, where the library symspellpy
builds a dictionary of half a million strings in every worker. rapidfuzz decides on the few words whose forms meet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from safetensors.numpy import save_file

from clinical.search.bounds import ArraySizes, Bound, check
from clinical.search.tensors import map_tensors
from clinical.text import Token, replaced, words

BOUNDS: Final = {
    "hashes": Bound("uint64", ("forms",), ascending=True),
    "numbers": Bound("int32", ("forms",), low=0, high="W"),
}
SHORTEST: Final = 5
"""Characters from which a word is mended: abbreviations and short words have too many neighbours."""


class Typos:
    """Known words by the hashes of their forms. `frequency` decides between two known words, the more common wins."""

    def __init__(self, vocabulary: Sequence[str], hashes: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        self._vocabulary, self._hashes, self._numbers = vocabulary, hashes, numbers

    @classmethod
    def of(cls, vocabulary: Sequence[str]) -> Typos:
        """From the known folded words; the order of the vocabulary is kept as its numbering."""
        pairs = [
            (_hash(form), number)
            for number, word in enumerate(vocabulary)
            if _mendable(word)
            for form in set(_forms(word))
        ]
        hashes = np.array([value for value, _ in pairs], dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        numbers = np.array([number for _, number in pairs], dtype=np.int32)
        return cls(vocabulary, hashes[order], numbers[order])

    def nearest(self, word: str) -> str | None:
        """The one known word an edit away from a folded word; None when there is none or it is known itself."""
        if not _mendable(word):
            return None
        values = np.array([_hash(form) for form in _forms(word)], dtype=np.uint64)
        starts, ends = (np.searchsorted(self._hashes, values, side).tolist() for side in ("left", "right"))
        found = {int(n) for start, end in zip(starts, ends, strict=True) for n in self._numbers[start:end]}
        near = [self._vocabulary[number] for number in sorted(found)]
        near = [other for other in near if OSA.distance(word, other, score_cutoff=1) <= 1]
        if not near or word in near:
            return None
        same_start = [other for other in near if other[0] == word[0]]
        return (same_start or near)[0]

    def mended(
        self,
        query: str,
        known: Sequence[str] | dict[str, int],
        unknown: Sequence[Token] | None = None,
        slips: dict[str, str | None] | None = None,
    ) -> str | None:
        """The query with each unknown word replaced by its nearest known one; None when nothing is to be mended.

        `unknown`: its unknown words, where the caller has them. `slips` is filled with what each is a slip of: for a
        caller that reads overlapping pieces of one text, and drops it with them.
        """
        slips = {} if slips is None else slips
        unknown = [word for word in words(query) if word.text not in known] if unknown is None else unknown
        for word in unknown:
            if word.text not in slips:
                slips[word.text] = self.nearest(word.text)
        mended = [(word, other) for word in unknown if (other := slips[word.text]) is not None]
        return replaced(query, mended) if mended else None

    def save(self, path: Path) -> None:
        """Write one safetensors file; the words themselves are the vocabulary of the wordings."""
        save_file({"hashes": self._hashes, "numbers": self._numbers}, path)

    @classmethod
    def load(cls, path: Path, vocabulary: Sequence[str]) -> Typos:
        """Memory-map what `save` wrote, for the same vocabulary."""
        tensors, _ = map_tensors(path)
        check(path.name, tensors, BOUNDS, ArraySizes({"W": len(vocabulary)}))
        return cls(vocabulary, tensors["hashes"], tensors["numbers"])


def _mendable(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha()


def _forms(word: str) -> Iterator[str]:
    """The word, and the word without each of its characters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _hash(form: str) -> int:
    return int.from_bytes(hashlib.blake2b(form.encode(), digest_size=8).digest(), "little")
