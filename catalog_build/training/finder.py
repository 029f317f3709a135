"""Train the finder of mentions on generated texts and on texts of many hands: cross entropy of each word's place in a
mention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from catalog_build.training.texts import TextWriter
from catalog_build.training.written import marked_texts
from clinical.icd import HEALTH_FACTORS
from clinical.progress import progress
from clinical.reading import REACH, Finder, labels
from clinical.text import BUCKETS, DENSE, Seen, folded_words, see

WIDTH, HIDDEN = 32, 64
TEXTS: Final = 30_000
"""Texts, each seen EPOCHS times; fewer where there are few wordings to write with."""
EPOCHS, BATCH, RATE = 4, 64, 3e-3
BY_HAND: Final = 3
"""Times that each text written by hand is seen in a round, beside the generated ones."""
REPLAYED: Final = 3_000
"""Generated texts that are seen again in each round when a finder is trained further."""
NO_MATTER: Final = -100
"""Label of a word that counts nowhere (`torch`'s)."""
LONGEST: Final = 5
"""Words of the longest wording that is looked for where nobody marked anything."""
DROPPED: Final = 0.15
"""Share of the n-gram table's outputs that are dropped, so that context counts as well as the word itself."""


class _Tagger(nn.Module):
    def __init__(self, width: int = WIDTH, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.table = nn.EmbeddingBag(BUCKETS, width, mode="mean")
        self.drop = nn.Dropout(DROPPED)
        window = 2 * REACH + 1
        self.first = nn.Conv1d(width + DENSE, hidden, window, padding=REACH)
        self.second = nn.Conv1d(hidden, hidden, window, padding=REACH)
        self.last = nn.Linear(hidden, 3)

    @classmethod
    def of(cls, finder: Finder) -> _Tagger:
        """With the weights of a finder, to be trained further."""
        hidden, window = len(finder.first_bias), 2 * REACH + 1
        tagger = cls(finder.table.shape[1], hidden)
        own = {"table.weight": finder.table, "last.weight": finder.last.T}
        for name in ("first", "second"):
            rows = getattr(finder, name).reshape(window, -1, hidden)
            own |= {f"{name}.weight": rows.transpose(2, 1, 0), f"{name}.bias": getattr(finder, f"{name}_bias")}
        own["last.bias"] = finder.last_bias
        tagger.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in own.items()})
        return tagger

    def forward(self, grams: Any, first: Any, dense: Any, real: Any) -> Any:
        """Logits of the words of several texts in one row; `real`: 0 where REACH zero rows keep texts apart."""
        rows = torch.zeros(len(real), self.table.embedding_dim)
        rows[real] = self.drop(self.table(grams, first))
        wide = torch.zeros(len(real), DENSE)
        wide[real] = dense
        mask = real.float()[None, None, :]
        hidden = torch.relu(self.first(torch.cat([rows, wide], dim=1).T[None])) * mask
        hidden = torch.relu(self.second(hidden))
        return self.last(hidden[0].T[real])


def train_finder(wordings: Sequence[tuple[str, str]], seed: int = 0, texts: int = TEXTS) -> Finder:
    """From wordings (text, code), deterministic for a seed; about two minutes on two cores."""
    torch.manual_seed(seed)
    writer, lessons = TextWriter(wordings, seed), []
    for _ in progress(range(min(texts, 3 * len(wordings))), "finder of mentions", "texts written"):
        text = writer.write()
        seen = see(text.text)
        if len(seen.first):
            lessons.append((seen, labels(seen, [(said.start, said.end) for said in text.said])))
    lessons += BY_HAND * list(_by_hand(wordings, marked_texts()))
    tagger = _Tagger()
    _train(tagger, lessons, EPOCHS, RATE, seed)
    return _finder(tagger)


def retrained_finder(
    finder: Finder,
    texts: Sequence[tuple[str, tuple[tuple[int, int], ...]]],
    wordings: Sequence[tuple[str, str]],
    *,
    rounds: int,
    rate: float,
    weight: int,
    replayed: int = 0,
    seed: int = 0,
) -> Finder:
    """A finder trained further on own texts (text, marks from start to end), each seen `weight` times in a round beside
    REPLAYED generated ones and those of the authors (`replayed` of each; 0: all), so that what it knew stays.
    Deterministic for a seed."""
    torch.manual_seed(seed)
    writer = TextWriter(wordings, seed)
    lessons = [
        (seen, labels(seen, [(said.start, said.end) for said in text.said]))
        for text in (writer.write() for _ in range(min(replayed or REPLAYED, 3 * len(wordings))))
        if len((seen := see(text.text)).first)
    ]
    known = marked_texts()
    lessons += [*_by_hand(wordings, known[:replayed] if replayed else known), *weight * list(_by_hand(wordings, texts))]
    tagger = _Tagger.of(finder)
    _train(tagger, lessons, rounds, rate, seed)
    return _finder(tagger)


def _train(tagger: _Tagger, lessons: Sequence[tuple[Seen, Any]], epochs: int, rate: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(tagger.parameters(), lr=rate, weight_decay=1e-3)
    steps = epochs * (len(lessons) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=max(2, steps + epochs))
    tagger.train()
    for _ in progress(range(epochs), "finder of mentions", "rounds of training"):
        order = chance.permutation(len(lessons))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = [lessons[position] for position in order[start : start + BATCH]]
            loss = nn.functional.cross_entropy(tagger(*_joined([seen for seen, _ in batch])), _targets(batch))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()


def _by_hand(
    wordings: Sequence[tuple[str, str]], texts: Iterable[tuple[str, tuple[tuple[int, int], ...]]]
) -> Iterator[tuple[Seen, Any]]:
    """Texts that people wrote, with their marks. Nobody was asked to mark operations, devices and other states that
    have codes of chapter XXI, so a word for word wording of one that is unmarked counts nowhere."""
    states = {tuple(folded_words(text)) for text, code in wordings if code in HEALTH_FACTORS}
    for text, marks in texts:
        seen = see(text)
        if len(seen.first):
            tags = labels(seen, marks)
            said = [tuple(folded_words(text[start:end])) for start, end in seen.places.tolist()]
            for first in np.flatnonzero(tags == 0).tolist():
                for last in range(first + 1, min(len(said), first + LONGEST) + 1):
                    if not tags[first:last].any() and tuple(word for own in said[first:last] for word in own) in states:
                        tags[first:last] = NO_MATTER
            yield seen, tags


def _targets(batch: Sequence[tuple[Seen, Any]]) -> Any:
    return torch.from_numpy(np.concatenate([target for _, target in batch]))


def _joined(batch: Sequence[Seen]) -> tuple[Any, Any, Any, Any]:
    starts = np.cumsum([0, *(len(seen.grams) for seen in batch)])
    grams = torch.from_numpy(np.concatenate([seen.grams for seen in batch]))
    first = torch.from_numpy(np.concatenate([seen.first + at for seen, at in zip(batch, starts, strict=False)]))
    dense = torch.from_numpy(np.concatenate([seen.dense for seen in batch]))
    real = np.concatenate([np.r_[np.ones(len(seen.first), bool), np.zeros(2 * REACH, bool)] for seen in batch])
    return grams, first, dense, torch.from_numpy(real)


def _finder(tagger: _Tagger) -> Finder:
    weights = {name: value.detach().numpy().astype(np.float32) for name, value in tagger.named_parameters()}

    def flat(name: str) -> Any:
        return weights[name].transpose(2, 1, 0).reshape(-1, len(weights[f"{name.split('.')[0]}.bias"]))

    return Finder(
        table=weights["table.weight"],
        first=flat("first.weight"),
        first_bias=weights["first.bias"],
        second=flat("second.weight"),
        second_bias=weights["second.bias"],
        last=weights["last.weight"].T.copy(),
        last_bias=weights["last.bias"],
    )
