"""From German texts to vectors: the `Encoder` port and its two adapters.

`StaticEncoder` is a bag of character n-grams and whole words (Bojanowski et al. 2017, "Enriching Word Vectors with
Subword Information"), trained contrastively and kept as int8 rows in one memory-mapped safetensors file: numpy only,
tens of microseconds a query. `TransformerEncoder` is any sentence-transformers model in a folder; an artifact that is
built with one holds a copy of it.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch, SettingError
from clinical.quantised import quantise
from clinical.search.bounds import ArraySizes, Bound, check, require, text_of
from clinical.search.native.compiled import added
from clinical.search.tensors import map_tensors, write_tensors
from clinical.text import folded_words, words

Vectors = NDArray[np.float32]

FORMAT: Final = "befund-static-1"
SHORTEST, LONGEST = 3, 5
"""Lengths of the character n-grams; measured in notebook 03: 3-5 beats 3-4 and 3-6 on held-out synonyms."""

BOUNDS: Final = {
    "rows": Bound("int8", ("V", "D")),
    "scales": Bound("float32", ("V",)),
    "vocabulary": Bound("uint8", ("bytes",)),
}
_MODEL_BATCH: Final = 256
"""Texts that a model reads at once: wordings are short, and a call costs more than a row."""
_LEFT_OUT: Final = (".*", "checkpoint-*")
_CHUNK: Final = 512
"""Texts encoded at once: keeps the gathered n-gram rows under 50 MB."""


class Encoder(Protocol):
    """Texts in, one vector each out (float32, shape (texts, dimensions)); a zero row where nothing is known.

    The direction of a row is the meaning; its length is how much the text weighs (1 where the encoder cannot say).
    """

    name: str
    dimensions: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text. Pure and safe under threads."""
        ...


def grams(word: str) -> list[str]:
    """The whole folded word between its borders, then its character n-grams: `<herk>`, `<he`, `her`, ..."""
    bordered = f"<{word}>"
    length = len(bordered)
    found = [bordered]
    for size in range(SHORTEST, min(LONGEST, length - 1) + 1):
        found += [bordered[start : start + size] for start in range(length - size + 1)]
    return found


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.float32(1e-9))
    return scaled


class StaticEncoder:
    """A table of n-gram vectors: int8 rows with one float32 scale each, summed over the n-grams of a text."""

    def __init__(
        self, vocabulary: Sequence[str], rows: NDArray[np.int8], scales: NDArray[np.float32], name: str
    ) -> None:
        self.name = name
        self.dimensions = int(rows.shape[1])
        self._rows, self._scales = rows, np.asarray(scales, dtype=np.float32)
        self.vocabulary: Mapping[str, int] = {gram: number for number, gram in enumerate(vocabulary)}

    def numbers(self, text: str) -> list[int]:
        """The table rows of a text's n-grams, repeated as often as they occur."""
        known = self.vocabulary
        return [known[gram] for word in words(text) for gram in grams(word.text) if gram in known]

    @property
    def table(self) -> tuple[NDArray[np.int8], Vectors]:
        """The rows of the n-grams, and their scales."""
        return self._rows, self._scales

    def drawn(self, folded: str) -> Vectors | None:
        """For a folded text of which no n-gram is known ("WPW"): a vector drawn from its characters, near only to
        itself."""
        if not folded:
            return None
        seed = int.from_bytes(hashlib.blake2b(folded.encode(), digest_size=8).digest(), "little")
        drawn = np.random.default_rng(seed).standard_normal((1, self.dimensions))
        row: Vectors = unit(np.asarray(drawn, dtype=np.float32))[0]
        return row

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimensions), sums of n-gram vectors; a text without a word gives a zero row."""
        folds: dict[str, str] = {}
        chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
        parts = [self._sums([folded_words(text, folds) for text in chunk]) for chunk in chunks]
        if not parts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def encode_words(self, spelled: Sequence[Sequence[str]]) -> Vectors:
        """The rows that `encode` gives texts of these folded words, which it would look for and fold again."""
        folds: dict[str, str] = {}
        folded_words(" ".join(dict.fromkeys(word for own in spelled for word in own)), folds)
        return self._sums([[again for word in own if (again := folds[word])] for own in spelled])

    def _sums(self, spelled: Sequence[Sequence[str]]) -> Vectors:
        """The rows of texts by their folded words. Each distinct word is looked up once: parts of one text share most
        of theirs."""
        row_of, numbers, starts = dict[str, int](), list[int](), [0]
        for word in dict.fromkeys(word for own in spelled for word in own):
            known = [row for row in map(self.vocabulary.get, grams(word)) if row is not None]
            if known:
                row_of[word] = len(row_of)
                numbers += known
                starts.append(len(numbers))
        sums = _added(self._rows, self._scales, numbers, starts)
        of_text = [[row_of[word] for word in own if word in row_of] for own in spelled]
        filled = [number for number, own in enumerate(of_text) if own]
        rows = [row for own in of_text for row in own]
        found = _added(sums, None, rows, [0, *accumulate(len(of_text[number]) for number in filled)])
        if len(filled) == len(spelled):
            return found
        result = np.zeros((len(spelled), self.dimensions), dtype=np.float32)
        result[filled] = found
        for number in (number for number, own in enumerate(of_text) if not own):
            drawn = self.drawn(" ".join(spelled[number]))
            if drawn is not None:
                result[number] = drawn
        return result

    @classmethod
    def from_floats(cls, vocabulary: Sequence[str], table: Vectors) -> StaticEncoder:
        """Quantise a trained table (float32) to int8 with one scale per row; costs no measurable accuracy."""
        rows, scales = quantise(table)
        digest = hashlib.sha256(rows.tobytes() + "\n".join(vocabulary).encode()).hexdigest()[:12]
        return cls(vocabulary, rows, scales, f"static-{table.shape[1]}-{digest}")

    def save(self, path: Path) -> None:
        """Write one safetensors file: `rows` int8, `scales` float32, `vocabulary` (UTF-8, one n-gram a line)."""
        blob = np.frombuffer("\n".join(self.vocabulary).encode(), dtype=np.uint8)
        tensors: dict[str, NDArray[Any]] = {
            "rows": np.ascontiguousarray(self._rows),
            "scales": self._scales,
            "vocabulary": blob,
        }
        write_tensors(path, tensors, {"format": FORMAT, "name": self.name})

    @classmethod
    def load(cls, path: Path) -> StaticEncoder:
        """Memory-map what `save` wrote. Raises ArtifactMissing, or ArtifactMismatch for another format."""
        tensors, metadata = map_tensors(path)
        if metadata.get("format") != FORMAT:
            remedy = "train it again: python -m catalog_build train SOURCE --out FILE"
            raise ArtifactMismatch(f"{path.name} has the format {metadata.get('format')!r}", FORMAT, remedy)
        check(path.name, tensors, BOUNDS, ArraySizes())
        vocabulary = text_of(tensors["vocabulary"], f"the vocabulary of {path.name}").split("\n")
        fits = len(vocabulary) == len(tensors["rows"]) and bool(metadata.get("name"))
        require(fits, f"{path.name} has {len(vocabulary)} n-grams", f"{len(tensors['rows'])}, and a name")
        return cls(vocabulary, tensors["rows"], tensors["scales"], metadata["name"])


def _added(rows: NDArray[Any], scales: Vectors | None, numbers: Sequence[int], starts: Sequence[int]) -> Vectors:
    """The sums of rows that `added` gives, of lists."""
    return added(rows, scales, np.array(numbers, dtype=np.int64), np.array(starts, dtype=np.int64))


class TransformerEncoder:
    """A sentence-transformers model in a folder of this machine; no hub is ever asked. Needs the extra `quality`.

    `name`: by which the manifest knows it; without one, folder, dimensions and a checksum of its files. Raises
    SettingError for a folder that holds no such model.
    """

    def __init__(self, folder: Path, name: str = "") -> None:
        self.folder = folder.resolve()
        if not (self.folder / "modules.json").is_file():
            remedy = "save the model there with SentenceTransformer(...).save(FOLDER), and name that folder"
            raise SettingError(f"{folder} holds no sentence-transformers model", "a folder with modules.json", remedy)
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError:
            remedy = "install the extra: pip install 'befund[quality]'"
            raise SettingError(f"the encoder {folder} needs sentence-transformers", "it installed", remedy) from None
        try:
            self._model = SentenceTransformer(str(self.folder), local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            said = str(error).splitlines()[0][:160] if str(error) else type(error).__name__
            found = f"the model in {folder} cannot be loaded: {said}"
            raise SettingError(found, "a whole model", "save it again") from None
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self.name = name or f"{self.folder.name}-{self.dimensions}-{self._digest()[:12]}"

    def _digest(self) -> str:
        found = hashlib.sha256()
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            inside = path.relative_to(self.folder)
            if not _left_out(inside):
                found.update(inside.as_posix().encode() + path.read_bytes())
        return found.hexdigest()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimensions), unit rows."""
        if not len(texts):
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows = self._model.encode(
            list(texts), batch_size=_MODEL_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(rows, dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Copy the model's files, without hidden ones and checkpoints of a training."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(*_LEFT_OUT))


def _left_out(path: Path) -> bool:
    return any(fnmatch(part, pattern) for part in path.parts for pattern in _LEFT_OUT)


def vocabulary_of(texts: Iterable[str], size: int, minimum: int = 2) -> list[str]:
    """The `size` most frequent n-grams of the texts, most frequent first, ties in the order of the alphabet."""
    counts: dict[str, int] = {}
    of_word: dict[str, int] = {}
    for text in texts:
        for word in words(text):
            of_word[word.text] = of_word.get(word.text, 0) + 1
    for word_text, times in of_word.items():
        for gram in set(grams(word_text)):
            counts[gram] = counts.get(gram, 0) + times
    frequent = sorted((-count, gram) for gram, count in counts.items() if count >= minimum)
    return [gram for _, gram in frequent[:size]]
