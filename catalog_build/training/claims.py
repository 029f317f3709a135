"""A tagger of claims, trained on the texts of many authors and measured by `python -m evals claims --learned`.

A small convolutional network with growing dilation (Yu and Koltun 2016; residual as in van den Oord et al. 2016) reads
a text once: hashed character n-grams of each word, shape and marks, the section, and the triggers of the table that
govern the word. A mention is judged by the states of its first and last word and by the verdict of the table. Several
networks, trained alike from other seeds, are averaged (Hansen and Salamon 1990). The mention's own words are hidden
in a part of the training, so that the words around it decide. Nothing is served by it until it is better than the
table on authors that it has not seen (`evals/LOG.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catalog_build.training.authors import CLAIMS, LabelledText, label_of
from clinical.claims import Reading
from clinical.progress import progress
from clinical.reading import BUCKETS, DENSE, see

WIDTH, HIDDEN, LAYERS, NETS = 32, 64, 5, 3
EPOCHS, BATCH, RATE = 12, 32, 3e-3
DROPPED: Final = 0.2
"""Share of the n-grams' and the last layer's outputs that are dropped."""
TABLE_HIDDEN: Final = 0.15
"""Share of mentions whose verdict of the table is hidden, so that the text itself is read."""
LEAST_HIDDEN: Final = 0.3
"""Share of the mentions of a text at least whose own words are hidden, so that the words around them decide."""
AXES: Final = (
    ("negation", ("denied", "excluded")),
    ("certainty", ("suspected", "questioned")),
    ("temporality", ("past", "hypothetical")),
    ("experiencer", ("family", "other")),
)
"""Values by axis of the triggers that may govern a word: a column each."""
SECTIONS: Final = (
    *("diagnoses", "history", "past", "family", "findings"),
    *("medication", "procedures", "plan", "question"),
)
BESIDES: Final = sum(len(values) for _, values in AXES) + len(SECTIONS) + 1
"""Columns beside the shape of a word: claims of the table, the section, beginning a line."""


def besides(read: Reading, places: NDArray[np.int64]) -> NDArray[np.float32]:
    """Columns of each word (places: start and end): the table's claims of it, its section, whether it begins a line."""
    columns = np.zeros((len(places), BESIDES), dtype=np.float32)
    values = [(axis, value) for axis, several in AXES for value in several]
    for number, (start, end) in enumerate(places.tolist()):
        claim = read.claim(start, end)
        columns[number, : len(values)] = [getattr(claim, axis) == value for axis, value in values]
        if claim.section in SECTIONS:
            columns[number, len(values) + SECTIONS.index(claim.section)] = 1
    breaks = [at for at, char in enumerate(read.text) if char == "\n"]
    begins = np.searchsorted(places[:, 0], [0, *breaks])
    columns[np.unique(begins[begins < len(places)]), -1] = 1
    return columns


class ClaimLesson(NamedTuple):
    """A text as the tagger sees it, and of each mention: first and last word, verdict of the table, right claims."""

    grams: NDArray[np.int64]
    sizes: NDArray[np.int64]
    dense: NDArray[np.float32]
    spans: NDArray[np.int64]  # (mentions, 3)
    right: NDArray[np.float32]  # (mentions, 7)


def lesson(text: LabelledText) -> ClaimLesson | None:
    """A labelled text as a lesson; None where it has no word or no mention."""
    read, seen = Reading.of(text.text), see(text.text)
    spans, right = [], []
    for mention in text.mentions:
        words = np.flatnonzero((seen.places[:, 1] > mention.start) & (seen.places[:, 0] < mention.end))
        if len(words):
            said = CLAIMS.index(label_of(read.claim(mention.start, mention.end)))
            spans.append((words[0], words[-1], said))
            right.append([claim in (mention.claim, mention.second) for claim in CLAIMS])
    if not spans:
        return None
    sizes = np.diff(seen.first, append=len(seen.grams))
    dense = np.concatenate([seen.dense, besides(read, seen.places)], axis=1)
    return ClaimLesson(seen.grams, sizes, dense, np.array(spans, dtype=np.int64), np.array(right, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyperparameters of a training."""

    nets: int = NETS
    width: int = WIDTH
    hidden: int = HIDDEN
    epochs: int = EPOCHS
    rate: float = RATE
    seed: int = 0


class _Net(nn.Module):
    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        hidden = recipe.hidden
        self.table = nn.EmbeddingBag(BUCKETS, recipe.width, mode="mean")
        nn.init.normal_(self.table.weight, std=0.3)
        self.drop = nn.Dropout(DROPPED)
        self.entry = nn.Linear(recipe.width + DENSE + BESIDES, hidden)
        self.layers = nn.ModuleList(
            nn.Conv1d(hidden, hidden, 3, padding=1 << number, dilation=1 << number) for number in range(LAYERS)
        )
        self.joint = nn.Linear(2 * hidden + len(CLAIMS), hidden)
        self.last = nn.Linear(hidden, len(CLAIMS))

    def forward(self, batch: _Batch) -> Any:
        """Logits of every mention of the batch."""
        spelled = torch.zeros(*batch.real.shape, self.table.embedding_dim)
        spelled[batch.real] = self.table(batch.grams, batch.first)
        spelled = self.drop(spelled * ~batch.hidden[..., None])
        there = batch.real[:, None].float()
        state = torch.relu(self.entry(torch.cat([spelled, batch.dense], -1))).transpose(1, 2) * there
        for layer in self.layers:
            state = (torch.relu(layer(state)) + state) * there
        state = state.transpose(1, 2)
        row, first, last = batch.spans
        both = torch.cat([state[row, first], state[row, last], batch.said], -1)
        return self.last(self.drop(torch.relu(self.joint(both))))


class _Batch(NamedTuple):
    grams: Any
    first: Any
    dense: Any
    real: Any
    hidden: Any
    spans: Any
    said: Any
    right: Any


@dataclass(frozen=True, slots=True)
class ClaimTagger:
    """Trained networks, averaged."""

    nets: tuple[Any, ...]

    def claims(self, text: LabelledText) -> list[str]:
        """The most probable claim of each mention of a text, in their order."""
        one = lesson(text)
        if one is None:
            return ["present"] * len(text.mentions)
        with torch.no_grad():
            shares = sum(torch.softmax(net(_batch([one])), -1) for net in self.nets)
        return [CLAIMS[number] for number in shares.argmax(-1).tolist()]  # type: ignore[union-attr]


def train_claims(texts: Sequence[LabelledText], recipe: Recipe | None = None) -> ClaimTagger:
    """Train from labelled texts, deterministic for a seed; seconds for an author on one core."""
    recipe = recipe or Recipe()
    lessons = [one for text in texts if (one := lesson(text)) is not None]
    return ClaimTagger(tuple(_trained(lessons, recipe, recipe.seed + number) for number in range(recipe.nets)))


def _trained(lessons: Sequence[ClaimLesson], recipe: Recipe, seed: int) -> _Net:
    torch.manual_seed(seed)
    chance, net = np.random.default_rng(seed), _Net(recipe)
    optimiser = torch.optim.AdamW(net.parameters(), lr=recipe.rate, weight_decay=1e-2)
    steps = recipe.epochs * -(-len(lessons) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, total_steps=steps + 1)
    lengths = np.array([len(one.sizes) for one in lessons])
    net.train()
    for _ in progress(range(recipe.epochs), f"claims, network {seed + 1}", "rounds of training"):
        order = np.argsort(lengths + chance.random(len(lessons)) * 20)  # texts of about one length are read together
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        for number in chance.permutation(len(batches)):
            batch = _batch([lessons[at] for at in batches[number]], chance)
            shares = torch.log_softmax(net(batch), -1) + torch.log(batch.right + 1e-9)
            loss = -torch.logsumexp(shares, -1).mean()  # either of two defensible claims is right
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return net.eval()


def _batch(some: Sequence[ClaimLesson], chance: np.random.Generator | None = None) -> _Batch:
    """Several texts side by side; with `chance`, as they are learned from: words and verdicts hidden at random."""
    longest = max(len(one.sizes) for one in some)
    real = np.zeros((len(some), longest), dtype=bool)
    dense = np.zeros((len(some), longest, DENSE + BESIDES), dtype=np.float32)
    hidden = np.zeros_like(real)
    for row, one in enumerate(some):
        real[row, : len(one.sizes)] = True
        dense[row, : len(one.sizes)] = one.dense
        if chance is not None:
            drawn = chance.random(len(one.spans)) < max(chance.random(), LEAST_HIDDEN)
            for first, last, _ in one.spans[drawn]:
                hidden[row, first : last + 1] = True
    sizes, spans = np.concatenate([one.sizes for one in some]), np.concatenate([one.spans for one in some])
    rows = np.repeat(np.arange(len(some)), [len(one.spans) for one in some])
    said = np.eye(len(CLAIMS), dtype=np.float32)[spans[:, 2]]
    if chance is not None:
        said = said * (chance.random(len(spans)) >= TABLE_HIDDEN)[:, None]
    tensor = torch.from_numpy
    return _Batch(
        tensor(np.concatenate([one.grams for one in some])),
        tensor(np.cumsum(sizes) - sizes),
        tensor(dense),
        tensor(real),
        tensor(hidden),
        (tensor(rows), tensor(spans[:, 0]), tensor(spans[:, 1])),
        tensor(said.astype(np.float32)),
        tensor(np.concatenate([one.right for one in some])),
    )
