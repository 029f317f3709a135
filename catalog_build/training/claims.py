"""Training of the tagger of claims (`clinical.claims.Tagger`) on the texts of many authors and on framed texts.

Several networks are trained alike from other seeds on the authors' texts and on freshly written ones; their averaged
answers are served: one network of the same size, taught by four, keeps a fifth of what they gain. Verdicts of the table
are hidden from a part of the mentions, so that the text itself is read. Measured by `python -m evals claims --split
tune`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catalog_build.training.authors import LabelledText
from catalog_build.training.framed import FramedWriter
from catalog_build.training.texts import TextWriter
from clinical.claims import BESIDES, LABELS, PLACES, Reading, Tagger
from clinical.icd import HEALTH_FACTORS
from clinical.progress import progress
from clinical.quantised import quantise
from clinical.text import BUCKETS, DENSE, GAPS, folded_words

BATCH, BETWEEN = 32, 8
"""Texts of a step, width of the table of gaps."""
WORDS_DROPPED, STATES_DROPPED, DECAY = 0.35, 0.3, 1e-2
"""Shares of the n-grams' and the last layer's outputs that are dropped, and the decay of weights."""
TABLE_HIDDEN, NAMES_HIDDEN = 0.2, 0.5
"""Share of mentions whose verdict of the table is hidden, and the greatest share of a text's whose own words are."""
WIDENED, TRIMMED, BEFORE = 0.12, 0.06, 3
"""Shares of mentions that are read with up to BEFORE words before them, and by their last word alone: nobody marks as
exactly as the authors do."""
NO_MATTER: Final = -100
"""Place of a word that counts nowhere (`torch`'s)."""
LONGEST_STEP: Final = 5.0
"""Norm of the longest gradient."""
LONGEST: Final = 5
"""Words of the longest wording that is looked for where nobody marked anything."""
REPLAYED: Final = 3_000
"""Written texts that are seen again in each round when a tagger is trained further."""
TRAINED_FURTHER: Final = 2
"""Networks of a tagger that learn from own texts; the others would only hold them back, and cost their time."""


States = frozenset[tuple[str, ...]]
"""Folded words of wordings of states that nobody marks."""


class ClaimLesson(NamedTuple):
    """A text as the tagger sees it, the place of each word, and of each mention: first and last word, verdict of the
    table, right claims."""

    grams: NDArray[np.int64]
    sizes: NDArray[np.int64]
    dense: NDArray[np.float32]
    gaps: NDArray[np.int64]
    places: NDArray[np.int64]  # (words,)
    spans: NDArray[np.int64]  # (mentions, 3)
    right: NDArray[np.float32]  # (mentions, 7)


def lesson(text: LabelledText, states: States = frozenset()) -> ClaimLesson | None:
    """A labelled text as a lesson, where `states` that nobody marked count nowhere; None where it has no word."""
    read, spans, right = Reading.of(text.text), [], []
    for mention in text.mentions:
        first, last = read.words_in(mention.start, mention.end)
        if first <= last:
            spans.append((first, last, LABELS.index(read.ruled(mention.start, mention.end).label)))
            right.append([claim in (mention.claim, mention.second) for claim in LABELS])
    return _lesson(read, spans, right, states)


def marked_lesson(text: str, marks: Iterable[tuple[int, int]], states: States = frozenset()) -> ClaimLesson | None:
    """The same of a text that tells where its mentions stand (start, end in code points), and not what it claims of
    them."""
    read = Reading.of(text)
    return _lesson(read, [(*read.words_in(*mark), 0) for mark in marks], [], states)


def _lesson(
    read: Reading, spans: Sequence[tuple[int, int, int]], right: Sequence[Sequence[bool]], states: States
) -> ClaimLesson | None:
    seen = read.seen
    if not len(seen.words):
        return None
    places = np.zeros(len(seen.words), dtype=np.int64)
    for first, last, _ in spans:
        if first <= last:
            places[first : last + 1] = 2
            places[first] = 1
    said = [tuple(folded_words(read.text[start:end])) for start, end in seen.places.tolist()] if states else []
    for first in np.flatnonzero(places[: len(said)] == 0).tolist():
        for last in range(first + 1, min(len(said), first + LONGEST) + 1):
            if not places[first:last].any() and tuple(word for own in said[first:last] for word in own) in states:
                places[first:last] = NO_MATTER
    grams, begins = seen.grams
    sizes = np.diff(begins, append=len(grams))
    dense = np.concatenate([seen.dense, read.columns], axis=1)
    claimed = np.array(spans[: len(right)], dtype=np.int64).reshape(-1, 3)
    labels = np.array(right, dtype=np.float32).reshape(-1, len(LABELS))
    return ClaimLesson(grams, sizes, dense, seen.gaps, places, claimed, labels)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyperparameters of a training of `nets` networks: `framed` texts are written from frames and as many from the
    wordings of a catalog, of which `mixed` and `worded` are read in an epoch: with more from wordings the claims are
    read worse (evals/LOG.md)."""

    nets: int = 4
    width: int = 32
    hidden: int = 128
    layers: int = 5
    epochs: int = 10
    framed: int = 30_000
    mixed: int = 6_500
    worded: int = 2_500
    rate: float = 2e-3
    seed: int = 0


class Network(nn.Module):
    """The tagger as torch trains it."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        hidden = recipe.hidden
        self.grams = nn.EmbeddingBag(BUCKETS, recipe.width, mode="mean")
        self.words = nn.Embedding(BUCKETS, recipe.width)
        self.gaps = nn.Embedding(2 * GAPS, BETWEEN)
        for table, spread in ((self.grams, 0.3), (self.words, 0.1), (self.gaps, 0.3)):
            nn.init.normal_(table.weight, std=spread)
        self.words_dropped, self.states_dropped = nn.Dropout(WORDS_DROPPED), nn.Dropout(STATES_DROPPED)
        self.entry = nn.Linear(2 * recipe.width + DENSE + BESIDES + 2 * BETWEEN, hidden)
        self.layers = nn.ModuleList(
            nn.Conv1d(hidden, hidden, 3, padding=1 << number, dilation=1 << number) for number in range(recipe.layers)
        )
        self.joint = nn.Linear(2 * hidden + len(LABELS), hidden)
        self.last = nn.Linear(hidden, len(LABELS))
        self.mark = nn.Linear(hidden, PLACES)

    @classmethod
    def of(cls, tagger: Tagger, number: int = 0) -> Network:
        """With the weights of one network of a tagger, to be trained further."""
        _, deep, _, hidden = tagger.layers.shape
        net = cls(Recipe(width=tagger.grams.shape[2], hidden=hidden, layers=deep))
        own = {
            "grams.weight": tagger.grams[number] * tagger.grams_scale[number],
            "words.weight": tagger.words[number] * tagger.words_scale[number],
            "gaps.weight": tagger.gaps[number],
        }
        for name in ("entry", "joint", "last", "mark"):
            own |= {
                f"{name}.weight": getattr(tagger, name)[number].T,
                f"{name}.bias": getattr(tagger, f"{name}_bias")[number],
            }
        for layer in range(deep):
            rows = tagger.layers[number, layer].reshape(3, hidden, hidden)
            own[f"layers.{layer}.weight"] = rows.transpose(2, 1, 0)
            own[f"layers.{layer}.bias"] = tagger.layers_bias[number, layer]
        net.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in own.items()})
        return net

    def forward(self, batch: _Batch) -> tuple[Any, Any]:
        """Logits of the claims of every mention of the batch, and of the places of every word: (texts, words, 3)."""
        spelled = torch.zeros(*batch.real.shape, 2 * self.words.embedding_dim)
        whole = self.words(batch.grams[batch.first])
        spelled[batch.real] = torch.cat([self.grams(batch.grams, batch.first), whole], -1)
        spelled = self.words_dropped(spelled * ~batch.hidden[..., None])
        between = self.gaps(batch.gaps + torch.tensor([0, GAPS])).flatten(2)
        there = batch.real[:, None].float()
        known = torch.cat([spelled, batch.dense, between], -1)
        state = torch.relu(self.entry(known)).transpose(1, 2) * there
        for layer in self.layers:
            state = (torch.relu(layer(state)) + state) * there
        state = state.transpose(1, 2)
        row, first, last = batch.spans
        both = torch.cat([state[row, first], state[row, last], batch.told], -1)
        claims = self.last(self.states_dropped(torch.relu(self.joint(both))))
        return claims, self.mark(self.states_dropped(state))

    def served(self) -> Tagger:
        """The weights as numpy reads them: a tagger of this network alone."""
        own = {name: value.detach().numpy() for name, value in self.named_parameters()}
        deep = [own[f"layers.{number}.weight"].transpose(2, 1, 0) for number in range(len(self.layers))]
        (grams, grams_scale), (words, words_scale) = (quantise(own[f"{one}.weight"].T) for one in ("grams", "words"))
        return Tagger(
            grams=grams.T[None].copy(),
            grams_scale=grams_scale[None],
            words=words.T[None].copy(),
            words_scale=words_scale[None],
            gaps=own["gaps.weight"][None],
            entry=own["entry.weight"].T[None].copy(),
            entry_bias=own["entry.bias"][None],
            layers=np.stack([one.reshape(-1, one.shape[2]) for one in deep])[None],
            layers_bias=np.stack([own[f"layers.{number}.bias"] for number in range(len(deep))])[None],
            joint=own["joint.weight"].T[None].copy(),
            joint_bias=own["joint.bias"][None],
            last=own["last.weight"].T[None].copy(),
            last_bias=own["last.bias"][None],
            mark=own["mark.weight"].T[None].copy(),
            mark_bias=own["mark.bias"][None],
        )


class _Batch(NamedTuple):
    grams: Any
    first: Any
    dense: Any
    gaps: Any
    real: Any
    hidden: Any
    spans: Any
    told: Any
    right: Any
    places: Any


class Material(NamedTuple):
    """Material of a tagger: labelled texts, and wordings (text, code) of a catalog, from which more texts are written
    of which only the marks are known."""

    texts: Sequence[LabelledText]
    wordings: Sequence[tuple[str, str]] = ()


def train_claims(material: Material, recipe: Recipe, begun: Tagger | None = None) -> Tagger:
    """Train from these texts, deterministic for a seed; ten minutes for fifty authors on two cores. `begun`: a tagger
    of as many networks, which are trained further."""
    numbers, at_once = range(recipe.nets), min(recipe.nets, os.cpu_count() or 1)
    if at_once == 1:
        lessons = _lessons_of(material, recipe)
        return Tagger.joined([_numbered(number, lessons, recipe, begun) for number in numbers])
    # Started anew, since a fork of a process that has used torch's threads hangs; each writes the lessons for itself.
    with ProcessPoolExecutor(at_once, get_context("spawn"), _prepare, (material, recipe, begun)) as pool:
        return Tagger.joined(list(pool.map(_network, numbers)))


def retrained_claims(
    tagger: Tagger, own: Sequence[LabelledText], others: Material, recipe: Recipe, weight: int
) -> Tagger:
    """A tagger whose first TRAINED_FURTHER networks were trained further on own texts, each seen `weight` times in a
    round beside the `others` that they have learned from, and written ones, so that what they knew stays. Deterministic
    for a seed."""
    states = _states(others.wordings)
    lessons = _lessons_of(others, recipe)
    lessons = lessons._replace(real=[*lessons.real, *weight * _labelled(own, states)])
    if not lessons.real:
        return tagger
    numbers = range(min(TRAINED_FURTHER, len(tagger.grams)))
    return Tagger.joined([_numbered(number, lessons, recipe, tagger) for number in numbers])


class _Lessons(NamedTuple):
    """Those of texts that people wrote, read in every round, and of those that are drawn from: written from frames and
    from wordings."""

    real: Sequence[ClaimLesson]
    framed: Sequence[ClaimLesson] = ()
    worded: Sequence[ClaimLesson] = ()


def _lessons_of(material: Material, recipe: Recipe) -> _Lessons:
    states = _states(material.wordings)
    real = _labelled(material.texts, states)
    frames: Sequence[ClaimLesson] = ()
    words: Sequence[ClaimLesson] = ()
    if recipe.mixed:
        frames_of = FramedWriter(material.texts, recipe.seed)
        frames = _labelled(frames_of.write() for _ in progress(range(recipe.framed), "claims", "texts written"))
    if material.wordings:
        words_of, count = TextWriter(material.wordings, recipe.seed), min(recipe.framed, 3 * len(material.wordings))
        written = (words_of.write() for _ in progress(range(count), "mentions", "texts written"))
        marked = (marked_lesson(one.text, [(said.start, said.end) for said in one.said]) for one in written)
        words = [one for one in marked if one is not None]
    return _Lessons(real, frames, words)


_prepared: tuple[_Lessons, Recipe, Tagger | None]
"""Lessons, recipe and begun tagger from which the networks of a process learn."""


def _prepare(material: Material, recipe: Recipe, begun: Tagger | None) -> None:
    global _prepared
    torch.set_num_threads(1)
    _prepared = _lessons_of(material, recipe), recipe, begun


def _network(number: int) -> Tagger:
    return _numbered(number, *_prepared)


def _numbered(number: int, lessons: _Lessons, recipe: Recipe, begun: Tagger | None) -> Tagger:
    net = Network.of(begun, number) if begun else None
    return _trained(lessons, recipe, recipe.seed + number, net).served()


def _states(wordings: Sequence[tuple[str, str]]) -> States:
    """Words of the wordings of operations, devices and other states of chapter XXI: nobody was asked to mark them."""
    return frozenset(tuple(folded_words(text)) for text, code in wordings if code in HEALTH_FACTORS)


def _labelled(texts: Iterable[LabelledText], states: States = frozenset()) -> list[ClaimLesson]:
    return [one for text in texts if (one := lesson(text, states)) is not None]


def _trained(known: _Lessons, recipe: Recipe, seed: int, begun: Network | None = None) -> Network:
    """`begun`: a network to be trained further, instead of a new one."""
    torch.manual_seed(seed)
    chance, net = np.random.default_rng(seed), begun or Network(recipe)
    ready = (known.framed, recipe.mixed), (known.worded, recipe.worded)
    drawn = [(some, min(most, len(some))) for some, most in ready]
    optimiser = torch.optim.AdamW(net.parameters(), lr=recipe.rate, weight_decay=DECAY)
    steps = recipe.epochs * -(-(len(known.real) + sum(count for _, count in drawn)) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, total_steps=steps + 1)
    net.train()
    for _ in progress(range(recipe.epochs), f"claims, network {seed + 1}", "rounds of training"):
        lessons = [*known.real]
        for some, count in drawn:
            lessons += [some[at] for at in chance.choice(len(some), count, replace=False).tolist()]
        lengths = np.array([len(one.sizes) for one in lessons])
        order = np.argsort(lengths + chance.random(len(lessons)) * 20)  # texts of about one length are read together
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        for number in chance.permutation(len(batches)):
            batch = batch_of([lessons[at] for at in batches[number]], chance)
            optimiser.zero_grad()
            _loss(net, batch).backward()
            nn.utils.clip_grad_norm_(net.parameters(), LONGEST_STEP)
            optimiser.step()
            schedule.step()
    return net.eval()


def _loss(net: Network, batch: _Batch) -> Any:
    """Either of two defensible claims is right; and each word is at its place."""
    claims, places = net(batch)
    shares = torch.log_softmax(claims, -1)
    claimed = -torch.logsumexp(shares + torch.log(batch.right + 1e-9), -1).sum() / max(1, len(batch.right))
    return claimed + nn.functional.cross_entropy(places.flatten(0, 1), batch.places.flatten(), ignore_index=NO_MATTER)


def batch_of(some: Sequence[ClaimLesson], chance: np.random.Generator | None = None) -> _Batch:
    """Several texts side by side; with `chance`, as they are learned from: words and verdicts hidden at random."""
    longest = max(len(one.sizes) for one in some)
    real, hidden = (np.zeros((len(some), longest), dtype=bool) for _ in range(2))
    places = np.full((len(some), longest), NO_MATTER)
    dense = np.zeros((len(some), longest, DENSE + BESIDES), dtype=np.float32)
    gaps = np.zeros((len(some), longest, 2), dtype=np.int64)
    for row, one in enumerate(some):
        words = len(one.sizes)
        real[row, :words], dense[row, :words], gaps[row, :words] = True, one.dense, one.gaps
        places[row, :words] = one.places
        if chance is not None:
            drawn = chance.random(len(one.spans)) < chance.random() * NAMES_HIDDEN
            for first, last, _ in one.spans[drawn]:
                hidden[row, first : last + 1] = True
    sizes = np.concatenate([one.sizes for one in some])
    spans = np.concatenate([one.spans if chance is None else _as_found(one.spans, chance) for one in some])
    rows = np.repeat(np.arange(len(some)), [len(one.spans) for one in some])
    told = np.eye(len(LABELS), dtype=np.float32)[spans[:, 2]]
    if chance is not None:
        told = told * (chance.random(len(spans)) >= TABLE_HIDDEN)[:, None]
    tensor = torch.from_numpy
    return _Batch(
        tensor(np.concatenate([one.grams for one in some])),
        tensor(np.cumsum(sizes) - sizes),
        tensor(dense),
        tensor(gaps),
        tensor(real),
        tensor(hidden),
        (tensor(rows), tensor(spans[:, 0]), tensor(spans[:, 1])),
        tensor(told.astype(np.float32)),
        tensor(np.concatenate([one.right for one in some])),
        tensor(np.where(hidden, NO_MATTER, places)),
    )


def _as_found(spans: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """The mentions of a text as somebody else might mark them: with words before them that are no mention's, or by
    their last word alone."""
    found, drawn = spans.copy(), chance.random(len(spans))
    free = spans[:, 0] - np.r_[0, spans[:, 1] + 1][: len(spans)]
    wider = np.minimum(chance.integers(1, BEFORE + 1, len(spans)), np.maximum(free, 0))
    found[:, 0] -= np.where(drawn < WIDENED, wider, 0)
    found[:, 0] = np.where(drawn > 1 - TRIMMED, found[:, 1], found[:, 0])
    return found
