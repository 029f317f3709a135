"""Tagger of claims: small networks that read a whole text once and say of any mention what the text claims of it, and
of each word whether it stands in a mention.

Each is a convolutional network with growing dilation (Yu and Koltun 2016; residual as in van den Oord et al. 2016) over
each word by itself and its character n-grams, both hashed (Bojanowski et al. 2017), its shape, the marks and gaps
around it, the section, and the triggers of the table that govern it. A mention is judged by the states of its first
and last word and by the verdict of the table; a word's state alone says whether it stands outside, begins or continues
one (Ramshaw and Marcus 1995). The networks differ by the chance of their training alone, and their answers are averaged
(Hansen and Salamon 1990): of claims the logits, of places the probabilities. Their weights are part of the package, as
the table is: they know the language, no catalog. Training is in `catalog_build.training.claims`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from clinical.claims.governing import Governed
from clinical.claims.triggers import AXES, VALUES
from clinical.quantised import LARGEST, quantise
from clinical.text import BUCKETS, DENSE, GAPS, Section, Seen, full_year

Numbers = NDArray[np.float32]

LABELS: Final = ("present", "suspected", "excluded", "history", "family", "other", "hypothetical")
"""Claims of a mention, in the order of the network's outputs."""
WEIGHTS: Final = "tagger.safetensors"
FORMAT: Final = "befund-claims-4"
PLACES: Final = 3
"""Places of a word: outside, beginning, continuing a mention."""
SECTIONS: Final = (
    *("diagnoses", "history", "past", "family", "findings"),
    *("medication", "procedures", "plan", "question"),
)
MARKED: Final = tuple((axis, value) for axis in AXES for value in VALUES[axis][1:])
"""Values of triggers that may govern a word: a column each."""
DATES: Final = ("day", "year", "newest", "older", "long ago")
"""A word of a date: exact to the day, or not; of the newest year that the text names, of the two years before it, or of
earlier ones."""
BESIDES: Final = len(MARKED) + len(SECTIONS) + len(DATES) + 1
"""Columns of a word beside those of `Seen`: governing triggers, the section, dates, beginning a line."""
RECENT: Final = 2
"""Years before the newest one that are not long ago."""
_LINE_END: Final = re.compile(r"\n")
_DATE: Final = re.compile(
    r"(?<![\d.,/])(?:(\d\d?\.\s?(?:0?[1-9]|1[0-2])\.)\s?(\d{4}|\d\d)?|(?:\d\d?[/.])?((?:19|20)\d\d)|"
    r"(?:0[1-9]|1[0-2])/(\d\d))(?!\d|[./,]\d)"
)


def besides(text: str, starts: Sequence[int], seen: Seen, known: Governed, sections: Sequence[Section]) -> Numbers:
    """Columns of each word: values of the triggers that govern it, its section, its date, whether it begins a line;
    shape (words, BESIDES). `starts`: where the tokens begin of which `known` speaks."""
    columns = np.zeros((len(seen.places), BESIDES), dtype=np.float32)
    if not len(columns) or not starts:
        return columns
    places = seen.places[:, 0]
    tokens = np.maximum(np.searchsorted(np.array(starts), places, side="right") - 1, 0)
    for axis in AXES if known.triggers else ():
        numbers = known.by_axis[axis]
        for row, token in enumerate(tokens.tolist()):
            if numbers[token] >= 0 and (axis, value := known.triggers[numbers[token]].row.value) in _COLUMN:
                columns[row, _COLUMN[axis, value]] = 1
    for section in sections:
        if section.kind in SECTIONS:
            inside = (places >= section.start) & (places < section.end)
            columns[inside, len(MARKED) + SECTIONS.index(section.kind)] = 1
    for start, end, kinds in _dates(text):
        first, behind = np.searchsorted(places, [start, end])
        for kind in kinds:
            columns[first:behind, len(MARKED) + len(SECTIONS) + DATES.index(kind)] = 1
    begins = np.searchsorted(places, [0, *(line.start() for line in _LINE_END.finditer(text))])
    columns[begins[begins < len(places)], -1] = 1
    return columns


def _dates(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Places of the dates of a text, with what of DATES they are. A day without a year is as new as any.

    Rougher than `clinical.text.dates_of`, which knows no bare years: the weights were learned with these places.
    """
    found = [(match, match[2] or match[3] or match[4]) for match in _DATE.finditer(text)]
    years = [
        None if year is None else int(year) if len(year) == 4 else full_year(int(year), birth=False)
        for _, year in found
    ]
    newest = max((year for year in years if year is not None), default=0)
    for (match, _), year in zip(found, years, strict=True):
        back = newest - year if year is not None else 0
        age = "newest" if back == 0 else "older" if back <= RECENT else "long ago"
        yield *match.span(), ("day" if match[1] else "year", age)


_COLUMN: Final[Mapping[tuple[str, str], int]] = {name: number for number, name in enumerate(MARKED)}


class WeightsInBytes(NamedTuple):
    """Matrices whose outputs each have a scale: bytes times it are the weights."""

    layers: NDArray[np.int8]  # (N, L, 3 * H, H)
    layers_scale: Numbers  # (N, L, H)
    joint: NDArray[np.int8]  # (N, 2, H, H): of the first and of the last word of a mention
    joint_scale: Numbers  # (N, 2, H)


@dataclass(frozen=True)
class Tagger:
    """The weights of N networks, float32 but for both tables, whose rows are bytes times the scale of their column;
    E: width of a word and of its n-grams, G: of the table of gaps, H: hidden width, L: layers, each of which sees the
    word and one on either side, 1, 2, 4, ... words away."""

    grams: NDArray[np.int8]  # (N, BUCKETS, E): n-grams, of which a word has the mean
    grams_scale: Numbers  # (N, E)
    words: NDArray[np.int8]  # (N, BUCKETS, E): words by themselves
    words_scale: Numbers  # (N, E)
    gaps: Numbers  # (N, 2 * GAPS, G): before a word, behind a word
    entry: Numbers  # (N, 2 * E + DENSE + BESIDES + 2 * G, H)
    entry_bias: Numbers  # (N, H)
    layers: Numbers  # (N, L, 3 * H, H)
    layers_bias: Numbers  # (N, L, H)
    joint: Numbers  # (N, 2 * H + LABELS, H)
    joint_bias: Numbers  # (N, H)
    last: Numbers  # (N, H, LABELS)
    last_bias: Numbers  # (N, LABELS)
    mark: Numbers  # (N, H, PLACES)
    mark_bias: Numbers  # (N, PLACES)

    def read(self, seen: Seen, columns: Numbers) -> TaggedText:
        """Read a text: its words as they are seen and their columns (`besides`). Linear in the words."""
        nets, words = len(self.grams), len(seen.words)
        grams, first = seen.grams
        spelled = np.add.reduceat(self.grams[:, grams].astype(np.float32), first, axis=1)
        spelled *= self.grams_scale[:, None] / np.diff(first, append=len(grams)).astype(np.float32)[:, None]
        whole = self.words[:, grams[first]] * self.words_scale[:, None]
        between = self.gaps[:, seen.gaps + np.array([0, GAPS])].reshape(nets, words, 2 * self.gaps.shape[2])
        told = np.concatenate([seen.dense, columns], axis=1)
        known = np.concatenate([spelled, whole, np.broadcast_to(told, (nets, *told.shape)), between], axis=2)
        state = np.maximum(known @ self.entry + self.entry_bias[:, None], 0)
        layers, joint = self._rounded
        for number in range(self.layers.shape[1]):
            reached = _reached(_in_steps(state), 1 << number)
            state = state + np.maximum(reached @ layers[:, number] + self.layers_bias[:, number, None], 0)
        begin, last = (_in_steps(state) @ joint[:, place] for place in range(2))
        return TaggedText(self, begin + self.joint_bias[:, None], last, state)

    @cached_property
    def in_bytes(self) -> WeightsInBytes:
        """The matrices behind the entry as a text is read with them: in bytes, which with steps of the states (`read`)
        takes half of the time and costs one of ten thousand claims (evals/LOG.md)."""
        nets, _, _, hidden = self.layers.shape
        both = self.joint[:, : 2 * hidden].reshape(nets, 2, hidden, hidden)
        return WeightsInBytes(*quantise(self.layers, axis=-2), *quantise(both, axis=-2))

    @cached_property
    def _rounded(self) -> tuple[Numbers, Numbers]:
        """The same as numbers."""
        layers, layers_scale, joint, joint_scale = self.in_bytes
        return layers * layers_scale[..., None, :], joint * joint_scale[..., None, :]

    def read_all(self, some: Sequence[tuple[Seen, Numbers]]) -> list[TaggedText]:
        """Read several texts."""
        return [self.read(seen, columns) for seen, columns in some]

    def save(self, path: Path) -> None:
        """Write one safetensors file, in bytes and half precision."""
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        written = {name: own if own.dtype == np.int8 else own.astype(np.float16) for name, own in arrays.items()}
        save_file({name: np.ascontiguousarray(own) for name, own in written.items()}, path, {"format": FORMAT})

    @classmethod
    def load(cls, path: Path) -> Tagger:
        """Read what `save` wrote. Raises ValueError for weights of another shape."""
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            written = (file.metadata() or {}).get("format")
        arrays = {name: own if own.dtype == np.int8 else own.astype(np.float32) for name, own in arrays.items()}
        found = cls(**arrays) if written == FORMAT and set(arrays) == {one.name for one in fields(cls)} else None
        if found is None or not found._fits():
            remedy = "train it again: python -m catalog_build tagger"
            raise ValueError(f"{path.name} was trained for another reading; {remedy}")
        return found

    def _fits(self) -> bool:
        """True if the arrays have the shapes that the reading asks for."""
        nets, _, wide = self.grams.shape
        between, hidden = self.gaps.shape[2], self.entry.shape[2]
        entered, judged = 2 * wide + DENSE + BESIDES + 2 * between, 2 * hidden + len(LABELS)
        return (
            all(len(getattr(self, one.name)) == nets for one in fields(self))
            and self.grams.shape[1:] == self.words.shape[1:] == (BUCKETS, wide)
            and self.grams_scale.shape[1:] == self.words_scale.shape[1:] == (wide,)
            and (self.gaps.shape[1], self.entry.shape[1]) == (2 * GAPS, entered)
            and self.layers.shape[2:] == (3 * hidden, hidden)
            and (self.joint.shape[1], self.last.shape[1:]) == (judged, (hidden, len(LABELS)))
            and self.mark.shape[1:] == (hidden, PLACES)
        )

    @classmethod
    def joined(cls, taggers: Sequence[Tagger]) -> Tagger:
        """The networks of several taggers, which have one shape, as one tagger."""
        return cls(**{one.name: np.concatenate([getattr(each, one.name) for each in taggers]) for one in fields(cls)})


@dataclass(frozen=True)
class TaggedText:
    """A text as the tagger has read it: of each word, its share in the judgement as the first and as the last of a
    mention, and its state, shape (N, words, H) each."""

    tagger: Tagger
    first: Numbers
    last: Numbers
    state: Numbers

    @cached_property
    def marks(self) -> Numbers:
        """Probability of each place of each word, shape (words, PLACES); a wording by itself is not asked for it."""
        net = self.tagger
        shares: Numbers = _softmax(self.state @ net.mark + net.mark_bias[:, None]).mean(axis=0)
        return shares

    def shares(self, first: int, last: int, told: str) -> Numbers:
        """Probability of each of LABELS for the mention from the first to the last word, of which the table says
        `told`; shape (LABELS,)."""
        own: Numbers = self.all_shares([first], [last], [told])[0]
        return own

    def all_shares(self, first: Sequence[int], last: Sequence[int], told: Sequence[str]) -> Numbers:
        """The same of many mentions at once; shape (mentions, LABELS)."""
        net = self.tagger
        verdict = net.joint[:, [2 * self.first.shape[2] + LABELS.index(one) for one in told]]
        hidden = np.maximum(self.first[:, first] + self.last[:, last] + verdict, 0)
        return _softmax((hidden @ net.last + net.last_bias[:, None]).mean(axis=0))


def _in_steps(state: Numbers) -> Numbers:
    """States, none of which is below 0, in LARGEST steps up to the largest of their word; `quantise` would round halves
    to even numbers, the compiled loops do not."""
    most = np.maximum(state.max(axis=-1, keepdims=True), np.float32(1e-9))
    found: Numbers = np.floor(state * (LARGEST / most) + np.float32(0.5)) * (most / LARGEST)
    return found


def _softmax(logits: Numbers) -> Numbers:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Numbers = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _reached(state: Numbers, away: int) -> Numbers:
    """Each row with those `away` rows before and behind it, zeros beyond the text: shape (N, words, 3 * H)."""
    nets, words, wide = state.shape
    found = np.zeros((nets, words, 3 * wide), dtype=np.float32)
    found[:, :, wide : 2 * wide] = state
    if away < words:
        found[:, away:, :wide] = state[:, :-away]
        found[:, :-away, 2 * wide :] = state[:, away:]
    return found


@cache
def tagger() -> Tagger:
    """The tagger as it is shipped, read once."""
    with as_file(files("clinical.claims").joinpath(WEIGHTS)) as path:
        return Tagger.load(path)
