"""Train the static encoder: texts of the same code come together, texts of its siblings move apart.

The model is torch's table of n-grams: sentence-transformers' static module takes a tokenizer of the `tokenizers`
package, which has no overlapping n-grams (its best, Unigram, is 3 points behind; see evals/LOG.md). The loop is ours
for two reasons: batches are composed of siblings, whose texts are the hard negatives, and same-code texts of a batch
are no negatives of each other; neither is to be had from that library's trainer.
Loss: InfoNCE (van den Oord et al. 2018), symmetric, cosine / 0.05.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catalog_build.synonyms import WordSynonym
from catalog_build.training.augmentation import Augmenter
from clinical.icd import category
from clinical.progress import progress
from clinical.search import StaticEncoder, vocabulary_of

SEED: Final = 2026
DIMENSIONS: Final = 192
VOCABULARY: Final = 58_000
"""n-grams kept; 92,000 find no more, 40,000 lose 1.8 points top-1; 58,000 fit in the 12 MB that may be shipped."""
BATCH: Final = 1_024
TEMPERATURE: Final = 0.05
RATE: Final = 2e-3
STEPS: Final = 800
WARM_UP: Final = 50
SIBLINGS: Final = 0.5
"""Share of batches made of whole three-character categories: +5 points top-1 against random batches."""
DROPPED: Final = 0.2
"""Share of n-grams left out of each text in each step: +1 point top-1, and typos cost less."""
VARIED: Final = 0.3
"""Share of first texts that are varied (typo, cut-off, order, ...)."""


def train_encoder(
    texts: Sequence[str],
    codes: Sequence[str],
    references: Sequence[WordSynonym] = (),
    steps: int = STEPS,
    seed: int = SEED,
) -> StaticEncoder:
    """Trained weights, quantised, from texts, the code of each, and the official word synonyms. About 0.1 s a step on 2
    cores."""
    torch.manual_seed(seed)
    vocabulary = vocabulary_of(texts, VOCABULARY)
    blank = StaticEncoder(vocabulary, np.zeros((1, DIMENSIONS), np.int8), np.ones(1, np.float32), "untrained")
    table = nn.EmbeddingBag(len(vocabulary), DIMENSIONS, mode="sum")
    nn.init.normal_(table.weight, std=0.05)
    batches = _Batches(texts, codes, references, blank, seed)
    optimiser = torch.optim.Adam(table.parameters(), lr=RATE)
    bar = progress(range(steps), "encoder", "steps of training")
    for step in bar:
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)
        first, second, chosen = batches.draw()
        loss = _loss(_vectors(table, first), _vectors(table, second), torch.from_numpy(chosen))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % 50 == 0:
            bar.set_postfix(loss=round(loss.item(), 3), refresh=False)
    return StaticEncoder.from_floats(vocabulary, table.weight.detach().numpy())


def _vectors(table: nn.EmbeddingBag, numbers: Sequence[NDArray[np.int64]]) -> torch.Tensor:
    """Unit vectors of texts, as the numbers of their n-grams: (texts, DIMENSIONS)."""
    starts = np.cumsum([0, *map(len, numbers[:-1])])
    return nn.functional.normalize(table(torch.from_numpy(np.concatenate(numbers)), torch.from_numpy(starts)), dim=-1)


def _loss(first: torch.Tensor, second: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    """Symmetric InfoNCE; other pairs of the same code are neither pulled nor pushed."""
    scores = first @ second.T / TEMPERATURE
    same = codes[:, None] == codes[None, :]
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, -1e4)
    target = torch.arange(len(codes))
    return (nn.functional.cross_entropy(scores, target) + nn.functional.cross_entropy(scores.T, target)) / 2


class _Batches:
    """Pairs of texts of the same code: half of the batches at random, half category by category."""

    def __init__(
        self,
        texts: Sequence[str],
        codes: Sequence[str],
        references: Sequence[WordSynonym],
        encoder: StaticEncoder,
        seed: int,
    ) -> None:
        self._chance = np.random.default_rng(seed)
        self._augmenter = Augmenter(seed, references)
        self._encoder, self._texts = encoder, texts
        self._numbers = [np.array(encoder.numbers(text), dtype=np.int64) for text in texts]
        self._of: dict[str, list[int]] = {}
        for number, code in enumerate(codes):
            if len(self._numbers[number]):
                self._of.setdefault(code, []).append(number)
        self._codes = [code for code, places in self._of.items() if len(places) > 1]
        sizes = np.sqrt([len(self._of[code]) for code in self._codes])
        self._chances = sizes / sizes.sum()
        categories: dict[str, list[int]] = {}
        for number, code in enumerate(self._codes):
            categories.setdefault(category(code), []).append(number)
        self._categories = list(categories.values())

    def draw(self) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]], NDArray[np.int64]]:
        """(first texts, second texts, number of their code), BATCH of each, as n-gram numbers."""
        chosen = self._siblings() if self._chance.random() < SIBLINGS else self._any()
        first, second = [], []
        for code in chosen:
            places = self._of[self._codes[code]]
            one, other = self._chance.choice(len(places), 2, replace=False)
            first.append(self._thinned(self._varied(places[one])))
            second.append(self._thinned(self._numbers[places[other]]))
        return first, second, chosen

    def _any(self) -> NDArray[np.int64]:
        size = min(BATCH, 4 * len(self._codes))
        return self._chance.choice(len(self._codes), size, p=self._chances)

    def _siblings(self) -> NDArray[np.int64]:
        size, chosen = len(self._any()), list[int]()
        while len(chosen) < size:
            chosen += self._categories[self._chance.integers(len(self._categories))]
        return np.array(chosen[:size])

    def _varied(self, number: int) -> NDArray[np.int64]:
        if self._chance.random() >= VARIED:
            return self._numbers[number]
        varied = np.array(self._encoder.numbers(self._augmenter.vary(self._texts[number])), dtype=np.int64)
        return varied if len(varied) else self._numbers[number]

    def _thinned(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        kept = numbers[self._chance.random(len(numbers)) >= DROPPED]
        return kept if len(kept) else numbers
