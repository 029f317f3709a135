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
from clinical.claims import BESIDES, LABELS, Reading, Tagger
from clinical.progress import progress
from clinical.text import BUCKETS, DENSE, GAPS

BATCH, BETWEEN = 32, 8
"""Texts of a step, width of the table of gaps."""
WORDS_DROPPED, STATES_DROPPED, DECAY = 0.35, 0.3, 1e-2
"""Shares of the n-grams' and the last layer's outputs that are dropped, and the decay of weights."""
TABLE_HIDDEN, NAMES_HIDDEN = 0.2, 0.5
"""Share of mentions whose verdict of the table is hidden, and the greatest share of a text's whose own words are."""
WIDENED, TRIMMED, BEFORE = 0.12, 0.06, 3
"""Shares of mentions that are read with up to BEFORE words before them, and by their last word alone: nobody marks as
exactly as the authors do."""
LONGEST_STEP: Final = 5.0
"""Norm of the longest gradient."""
TRAINED_FURTHER: Final = 2
"""Networks of a tagger that learn from own texts; the others would only hold them back, and cost their time."""


class ClaimLesson(NamedTuple):
    """A text as the tagger sees it, and of each mention: first and last word, verdict of the table, right claims."""

    grams: NDArray[np.int64]
    sizes: NDArray[np.int64]
    dense: NDArray[np.float32]
    gaps: NDArray[np.int64]
    spans: NDArray[np.int64]  # (mentions, 3)
    right: NDArray[np.float32]  # (mentions, 7)


def lesson(text: LabelledText) -> ClaimLesson | None:
    """A labelled text as a lesson; None where it has no word or no mention."""
    read, spans, right = Reading.of(text.text), [], []
    seen, columns = read.seen, read.columns
    for mention in text.mentions:
        first, last = read.words_in(mention.start, mention.end)
        if first <= last:
            spans.append((first, last, LABELS.index(read.ruled(mention.start, mention.end).label)))
            right.append([claim in (mention.claim, mention.second) for claim in LABELS])
    if not spans:
        return None
    sizes = np.diff(seen.first, append=len(seen.grams))
    dense = np.concatenate([seen.dense, columns], axis=1)
    labels = np.array(right, dtype=np.float32)
    return ClaimLesson(seen.grams, sizes, dense, seen.gaps, np.array(spans, dtype=np.int64), labels)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyperparameters of a training of `nets` networks: `framed` texts are written, of which `mixed` are read in each
    epoch."""

    nets: int = 4
    width: int = 32
    hidden: int = 128
    layers: int = 5
    epochs: int = 13
    framed: int = 30_000
    mixed: int = 6_500
    rate: float = 2e-3
    seed: int = 0


class Network(nn.Module):
    """The tagger as torch trains it."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        hidden = recipe.hidden
        self.table = nn.EmbeddingBag(BUCKETS, recipe.width, mode="mean")
        self.gaps = nn.Embedding(2 * GAPS, BETWEEN)
        for table in (self.table, self.gaps):
            nn.init.normal_(table.weight, std=0.3)
        self.words_dropped, self.states_dropped = nn.Dropout(WORDS_DROPPED), nn.Dropout(STATES_DROPPED)
        self.entry = nn.Linear(recipe.width + DENSE + BESIDES + 2 * BETWEEN, hidden)
        self.layers = nn.ModuleList(
            nn.Conv1d(hidden, hidden, 3, padding=1 << number, dilation=1 << number) for number in range(recipe.layers)
        )
        self.joint = nn.Linear(2 * hidden + len(LABELS), hidden)
        self.last = nn.Linear(hidden, len(LABELS))

    @classmethod
    def of(cls, tagger: Tagger, number: int = 0) -> Network:
        """With the weights of one network of a tagger, to be trained further."""
        _, deep, _, hidden = tagger.layers.shape
        net = cls(Recipe(width=tagger.table.shape[2], hidden=hidden, layers=deep))
        own = {"table.weight": tagger.table[number], "gaps.weight": tagger.gaps[number]}
        for name in ("entry", "joint", "last"):
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

    def forward(self, batch: _Batch) -> Any:
        """Logits of every mention of the batch."""
        spelled = torch.zeros(*batch.real.shape, self.table.embedding_dim)
        spelled[batch.real] = self.table(batch.grams, batch.first)
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
        return self.last(self.states_dropped(torch.relu(self.joint(both))))

    def served(self) -> Tagger:
        """The weights as numpy reads them: a tagger of this network alone."""
        own = {name: value.detach().numpy() for name, value in self.named_parameters()}
        deep = [own[f"layers.{number}.weight"].transpose(2, 1, 0) for number in range(len(self.layers))]
        return Tagger(
            table=own["table.weight"][None],
            gaps=own["gaps.weight"][None],
            entry=own["entry.weight"].T[None].copy(),
            entry_bias=own["entry.bias"][None],
            layers=np.stack([one.reshape(-1, one.shape[2]) for one in deep])[None],
            layers_bias=np.stack([own[f"layers.{number}.bias"] for number in range(len(deep))])[None],
            joint=own["joint.weight"].T[None].copy(),
            joint_bias=own["joint.bias"][None],
            last=own["last.weight"].T[None].copy(),
            last_bias=own["last.bias"][None],
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


def train_claims(texts: Sequence[LabelledText], recipe: Recipe | None = None) -> Tagger:
    """Train from authors' texts, deterministic for a seed; twenty minutes for forty authors on two cores."""
    recipe = recipe or Recipe()
    seeds, at_once = range(recipe.seed, recipe.seed + recipe.nets), min(recipe.nets, os.cpu_count() or 1)
    if at_once == 1:
        lessons = _lessons_of(texts, recipe)
        return Tagger.joined([_trained(*lessons, recipe, seed).served() for seed in seeds])
    # Started anew, since a fork of a process that has used torch's threads hangs; each writes the lessons for itself.
    with ProcessPoolExecutor(at_once, get_context("spawn"), _prepare, (texts, recipe)) as pool:
        return Tagger.joined(list(pool.map(_network, seeds)))


def retrained_claims(
    tagger: Tagger,
    own: Sequence[LabelledText],
    others: Sequence[LabelledText],
    *,
    rounds: int,
    rate: float,
    weight: int,
    seed: int = 0,
) -> Tagger:
    """A tagger whose first TRAINED_FURTHER networks were trained further on own texts, each seen `weight` times in a
    round beside the `others` that they have learned from, so that what they knew stays. Deterministic for a seed."""
    recipe = Recipe(epochs=rounds, rate=rate, mixed=0, seed=seed)
    lessons = weight * _lessons(own) + _lessons(others)
    if not lessons:
        return tagger
    begun = [Network.of(tagger, number) for number in range(min(TRAINED_FURTHER, len(tagger.table)))]
    return Tagger.joined(
        [_trained(lessons, (), recipe, seed + number, net).served() for number, net in enumerate(begun)]
    )


def _lessons_of(texts: Sequence[LabelledText], recipe: Recipe) -> tuple[list[ClaimLesson], list[ClaimLesson]]:
    """Lessons of the authors' texts and of those that are written."""
    writer = FramedWriter(texts, recipe.seed)
    return _lessons(texts), _lessons(writer.write() for _ in progress(range(recipe.framed), "claims", "texts written"))


_prepared: tuple[list[ClaimLesson], list[ClaimLesson], Recipe]
"""Lessons of the authors' texts, framed lessons and recipe from which the networks of a process learn."""


def _prepare(texts: Sequence[LabelledText], recipe: Recipe) -> None:
    global _prepared
    torch.set_num_threads(1)
    _prepared = (*_lessons_of(texts, recipe), recipe)


def _network(seed: int) -> Tagger:
    return _trained(*_prepared, seed).served()


def _lessons(texts: Iterable[LabelledText]) -> list[ClaimLesson]:
    return [one for text in texts if (one := lesson(text)) is not None]


def _trained(
    real: Sequence[ClaimLesson], framed: Sequence[ClaimLesson], recipe: Recipe, seed: int, begun: Network | None = None
) -> Network:
    """`begun`: a network to be trained further, instead of a new one."""
    torch.manual_seed(seed)
    chance, net = np.random.default_rng(seed), begun or Network(recipe)
    mixed = min(recipe.mixed, len(framed))
    optimiser = torch.optim.AdamW(net.parameters(), lr=recipe.rate, weight_decay=DECAY)
    steps = recipe.epochs * -(-(len(real) + mixed) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, total_steps=steps + 1)
    net.train()
    for _ in progress(range(recipe.epochs), f"claims, network {seed + 1}", "rounds of training"):
        lessons = [*real, *(framed[at] for at in chance.choice(len(framed), mixed, replace=False))]
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
    """Either of two defensible claims is right."""
    shares = torch.log_softmax(net(batch), -1)
    return -torch.logsumexp(shares + torch.log(batch.right + 1e-9), -1).mean()


def batch_of(some: Sequence[ClaimLesson], chance: np.random.Generator | None = None) -> _Batch:
    """Several texts side by side; with `chance`, as they are learned from: words and verdicts hidden at random."""
    longest = max(len(one.sizes) for one in some)
    real, hidden = (np.zeros((len(some), longest), dtype=bool) for _ in range(2))
    dense = np.zeros((len(some), longest, DENSE + BESIDES), dtype=np.float32)
    gaps = np.zeros((len(some), longest, 2), dtype=np.int64)
    for row, one in enumerate(some):
        words = len(one.sizes)
        real[row, :words], dense[row, :words], gaps[row, :words] = True, one.dense, one.gaps
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
    )


def _as_found(spans: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """The mentions of a text as somebody else might mark them: with words before them that are no mention's, or by
    their last word alone."""
    found, drawn = spans.copy(), chance.random(len(spans))
    free = spans[:, 0] - np.r_[0, spans[:-1, 1] + 1]
    wider = np.minimum(chance.integers(1, BEFORE + 1, len(spans)), np.maximum(free, 0))
    found[:, 0] -= np.where(drawn < WIDENED, wider, 0)
    found[:, 0] = np.where(drawn > 1 - TRIMMED, found[:, 1], found[:, 0])
    return found
