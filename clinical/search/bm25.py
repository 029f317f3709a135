"""BM25 over the words of the wordings and over their character n-grams, as the sums of the library's postings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import orjson
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch
from clinical.search.bounds import REMEDY, ArraySizes, Bound, check, check_numbers, require
from clinical.search.encoder import Vectors
from clinical.search.runs import Ints

GRAM: Final = 4
"""Length of the n-grams of the character BM25: 4 alone is as good as 3-5 together, at a third of the time."""
BOUNDS: Final = {
    "data": Bound("float32", ("postings",)),
    "indices": Bound("int32", ("postings",), low=0, high="N"),
    "indptr": Bound("int64", ("T+1",), starts="postings"),
}
FILES: Final = (
    "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy", "params.index.json", "vocab.index.json",
)  # fmt: skip
"""The library's own."""
_SETTINGS, _VOCABULARY = FILES[-2:]
_PARAMETERS: Final = ("k1", "b", "delta", "method", "idf_method", "dtype", "int_dtype")
COMMON: Final = 0.05
"""A token in more than this share of all wordings says little and has the longest posting list: left out."""


def character_grams(folded: Sequence[str]) -> list[str]:
    """The character n-grams of folded words, with `<` before the first character and `>` behind the last."""
    bordered = [f"<{word}>" for word in folded]
    return [word[at : at + GRAM] for word in bordered for at in range(max(1, len(word) - GRAM + 1))]


class Bm25:
    """bm25s over tokens, scored against every wording.

    Its index is the library's; who asks adds up the postings, since what is wanted are the best codes, not the best
    wordings. The library's numba backend is as fast, compiles for seconds in each worker and takes 50 MB. Only a build
    imports the library, which takes a tenth of a second and scipy with it.
    """

    def __init__(
        self, vocabulary: dict[str, int], arrays: Mapping[str, NDArray[Any]], parameters: Mapping[str, Any]
    ) -> None:
        self.vocabulary, self._arrays, self._parameters = vocabulary, arrays, parameters
        self.start: Ints = np.ascontiguousarray(arrays["indptr"], dtype=np.int64)
        self.indices: NDArray[np.int32] = arrays["indices"]
        """The number of the wording of each posting, token by token."""
        self.data: Vectors = arrays["data"]
        """Score that each posting adds to its wording."""

    @classmethod
    def build(cls, documents: Sequence[Sequence[str]], common: float = 1.0) -> Self:
        """Index tokenised documents; tokens in more than the share `common` of them are left out."""
        import bm25s

        frequency: dict[str, int] = {}
        for document in documents:
            for token in set(document):
                frequency[token] = frequency.get(token, 0) + 1
        most = max(20.0, common * len(documents))
        kept = sorted(token for token, count in frequency.items() if count <= most)
        vocabulary = {token: number for number, token in enumerate(kept)}
        numbers = [[vocabulary[token] for token in document if token in vocabulary] for document in documents]
        index = bm25s.BM25(backend="numpy")
        index.index((numbers, vocabulary), show_progress=False)
        index.vocab_dict.pop("", None)  # the library adds it, with a number that has no postings
        parameters = {name: getattr(index, name) for name in _PARAMETERS} | {"num_docs": len(documents)}
        return cls(index.vocab_dict, {name: index.scores[name] for name in BOUNDS}, parameters)

    def numbers(self, tokens: Iterable[str]) -> list[int]:
        """The numbers of the known ones of these tokens."""
        found = map(self.vocabulary.get, tokens)
        return [number for number in found if number is not None]

    def wordings_of(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Numbers of the wordings that hold a token, token by token from `first` to before `last` in the order of the
        alphabet; and how many each token has."""
        bounds = self.start[first : last + 1]
        return self.indices[bounds[0] : bounds[-1]].astype(np.int64), bounds[1:] - bounds[:-1]

    def save(self, folder: Path) -> None:
        """Write bm25s's own files."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in self._arrays.items():
            np.save(folder / f"{name}.csc.index.npy", array)
        (folder / _VOCABULARY).write_bytes(orjson.dumps(self.vocabulary))
        (folder / _SETTINGS).write_text(json.dumps(self._parameters, indent=4))

    @classmethod
    def load(cls, folder: Path, wordings: int) -> Self:
        """Memory-map what `save` wrote, of so many wordings. Raises ArtifactMismatch where a number leads nowhere."""
        try:
            parameters = orjson.loads((folder / _SETTINGS).read_bytes())
            vocabulary = orjson.loads((folder / _VOCABULARY).read_bytes())
            files = {name: folder / f"{name}.csc.index.npy" for name in BOUNDS}
            arrays = {name: np.load(file, mmap_mode="r").view(np.ndarray) for name, file in files.items()}
            documents = parameters["num_docs"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ArtifactMismatch(
                f"{folder.name}/ cannot be read ({type(error).__name__})", ", ".join(FILES), REMEDY
            ) from None
        require(documents == wordings, f"{folder.name}/ is of {documents} wordings", f"{wordings}")
        sizes = ArraySizes({"N": wordings})
        check(f"{folder.name}/", arrays, BOUNDS, sizes)
        require(_are_ascending(arrays), f"the wordings of a token of {folder.name}/ fall", "ascending numbers")
        require(isinstance(vocabulary, dict), f"the tokens of {folder.name}/ have no numbers", "an object")
        vocabulary.pop("", None)
        check_numbers(vocabulary.values(), sizes.known["T"], f"the vocabulary of {folder.name}/")
        return cls(vocabulary, arrays, parameters)


def _are_ascending(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """True if the wordings of each token are ascending; those of the next token begin anew."""
    numbers, starts = arrays["indices"], arrays["indptr"]
    rising = numbers[1:] > numbers[:-1]
    begins = starts[(starts > 0) & (starts < len(numbers))]
    rising[begins - 1] = True
    return bool(rising.all())
