"""Train the finder of mentions on generated texts and on texts of many hands: cross entropy of each word's place in a
mention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
NO_MATTER: Final = -100
"""Label of a word that counts nowhere (`torch`'s)."""
LONGEST: Final = 5
"""Words of the longest wording that is looked for where nobody marked anything."""
DROPPED: Final = 0.15
"""Share of the n-gram table's outputs that are dropped, so that context counts as well as the word itself."""


class _Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.EmbeddingBag(BUCKETS, WIDTH, mode="mean")
        self.drop = nn.Dropout(DROPPED)
        width = 2 * REACH + 1
        self.first = nn.Conv1d(WIDTH + DENSE, HIDDEN, width, padding=REACH)
        self.second = nn.Conv1d(HIDDEN, HIDDEN, width, padding=REACH)
        self.last = nn.Linear(HIDDEN, 3)

    def forward(self, grams: Any, first: Any, dense: Any, real: Any) -> Any:
        """Logits of the words of several texts in one row; `real`: 0 where REACH zero rows keep texts apart."""
        rows = torch.zeros(len(real), WIDTH)
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
    lessons += BY_HAND * list(_by_hand(wordings))
    tagger, chance = _Tagger(), np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(tagger.parameters(), lr=RATE, weight_decay=1e-3)
    steps = EPOCHS * (len(lessons) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=max(2, steps + EPOCHS))
    tagger.train()
    for _ in progress(range(EPOCHS), "finder of mentions", "rounds of training"):
        order = chance.permutation(len(lessons))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = [lessons[position] for position in order[start : start + BATCH]]
            loss = nn.functional.cross_entropy(tagger(*_joined([seen for seen, _ in batch])), _targets(batch))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return _finder(tagger)


def _by_hand(wordings: Sequence[tuple[str, str]]) -> Iterator[tuple[Seen, Any]]:
    """Texts that people wrote, with their marks. Nobody was asked to mark operations, devices and other states that
    have codes of chapter XXI, so a word for word wording of one that is unmarked counts nowhere."""
    states = {tuple(folded_words(text)) for text, code in wordings if code in HEALTH_FACTORS}
    for text, marks in marked_texts():
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
        return weights[name].transpose(2, 1, 0).reshape(-1, HIDDEN)

    return Finder(
        table=weights["table.weight"],
        first=flat("first.weight"),
        first_bias=weights["first.bias"],
        second=flat("second.weight"),
        second_bias=weights["second.bias"],
        last=weights["last.weight"].T.copy(),
        last_bias=weights["last.bias"],
    )
