"""Train and calibrate the ranking model on wordings that neither encoder nor index has seen.

Each query's candidates are padded to one block, so that an epoch is a few large matrix products. scikit-learn has no
listwise loss: its gradient-boosted trees on the same columns gave 0.778 top-1 where this gives 0.795 (evals/LOG.md);
it does the calibration (isotonic regression, Zadrozny & Elkan 2002) on predictions for queries left out in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression
from torch import nn

from catalog_build.training.augmentation import Augmenter
from catalog_build.training.calibration import Calibration
from clinical.progress import progress
from clinical.search import (
    NONE_COLUMNS,
    WIDTH,
    CodeTraits,
    Encoder,
    Ranker,
    Vectors,
    Wordings,
    candidates,
    read_queries,
    summary,
)

NETWORKS: Final = 4
HIDDEN: Final = (64, 32)
EPOCHS: Final = 30
BATCH: Final = 128
RATE: Final = 2e-3
DECAY: Final = 1e-2
POINTS: Final = 64
"""Points that are kept of the calibration curve."""
VARIED, VERBATIM, NONSENSE = 0.5, 0.3, 0.05
"""For every held-out query: so many varied copies, wordings that are in the index, and texts that mean nothing."""


@dataclass(frozen=True)
class Examples:
    """Queries as padded blocks: columns (q, c, F), right (q, c), real (q, c), summary (q, S), plain (q,)."""

    columns: Vectors
    right: NDArray[np.bool_]
    real: NDArray[np.bool_]
    summary: Vectors
    plain: NDArray[np.bool_]  # unchanged held-out queries: the ones that calibration counts

    def __len__(self) -> int:
        return len(self.columns)


def examples(
    queries: Sequence[tuple[str, int | None, bool]], encoder: Encoder, wordings: Wordings, traits: CodeTraits
) -> Examples:
    """The candidates that an index has for `queries`: (text, number of the right code or None, whether calibration
    counts it)."""
    rows = []
    for text, code, plain in progress(queries, "examples for the ranking", "queries"):
        for query in read_queries([text], encoder, wordings):
            found = candidates(query, wordings, traits)
            rows.append((found.columns, found.codes == (-1 if code is None else code), plain))
    widest = max(len(columns) for columns, _, _ in rows)
    block = np.zeros((len(rows), widest, WIDTH), dtype=np.float32)
    right, real = np.zeros((2, len(rows), widest), dtype=bool)
    for row, (columns, correct, _) in enumerate(rows):
        block[row, : len(columns)], right[row, : len(columns)], real[row, : len(columns)] = columns, correct, True
    totals = np.concatenate([summary(columns) for columns, _, _ in rows])
    return Examples(block, right, real, totals, np.array([plain for _, _, plain in rows]))


def calibration_queries(
    held_out: Sequence[tuple[str, int]], indexed: Sequence[tuple[str, int]], augmenter: Augmenter, seed: int
) -> list[tuple[str, int | None, bool]]:
    """Held-out texts as they are, some varied, some texts of the index, some nonsense; in a fixed random order."""
    chance = np.random.default_rng(seed)
    size = len(held_out)

    def some(of: Sequence[tuple[str, int]], share: float) -> list[tuple[str, int]]:
        return [of[position] for position in chance.choice(len(of), min(len(of), int(share * size)), replace=False)]

    queries: list[tuple[str, int | None, bool]] = [(text, code, True) for text, code in held_out]
    queries += [(augmenter.vary(text), code, False) for text, code in some(held_out, VARIED)]
    queries += [(text, code, False) for text, code in some(indexed, VERBATIM)]
    queries += [(augmenter.nonsense(text), None, False) for text, _ in some(held_out, NONSENSE)]
    return [queries[position] for position in chance.permutation(len(queries))]


def fit_ranker(examples: Examples) -> tuple[Ranker, Calibration]:
    """Networks trained on three quarters each, calibrated on what each has not seen, and how the best code of each
    plain query did."""
    flat = examples.columns[examples.real]
    mean, scale = flat.mean(axis=0), 1 / (flat.std(axis=0) + 1e-6)
    block = torch.from_numpy((examples.columns - mean) * scale * examples.real[..., None])
    torch.manual_seed(0)
    part = np.arange(len(examples)) % NETWORKS
    networks, shares = [], np.zeros(examples.right.shape, dtype=np.float32)
    for number in progress(range(NETWORKS), "ranking", "networks fitted"):
        network = _Network()
        _fit(network, block, examples, np.flatnonzero(part != number))
        unseen = np.flatnonzero(part == number)
        with torch.no_grad():
            logits = network.logits(block[unseen], *_tensors(examples, unseen)[:2])
            shares[unseen] = torch.softmax(logits, dim=1).numpy()[:, 1:]
        networks.append(network)
    counted = examples.real & examples.plain[:, None]
    raw, calibrated = _calibrate(shares[counted], examples.right[counted])
    plain = np.flatnonzero(examples.plain)
    best = shares[plain].argmax(axis=1)
    probability = np.interp(shares[plain, best], raw, calibrated).astype(np.float32)
    ranker = _ranker(networks, mean, scale, raw, calibrated)
    return ranker, Calibration(probability, examples.right[plain, best])


class _Network(nn.Module):
    """Two hidden layers per candidate and one linear "none of these"."""

    def __init__(self) -> None:
        super().__init__()
        wide, narrow = HIDDEN
        self.first, self.second, self.last = (
            nn.Linear(WIDTH, wide),
            nn.Linear(wide, narrow),
            nn.Linear(narrow, 1, bias=False),
        )
        self.none = nn.Linear(len(NONE_COLUMNS) + 1, 1, bias=False)

    def logits(self, block: torch.Tensor, real: torch.Tensor, totals: torch.Tensor) -> torch.Tensor:
        """(q, 1 + c): none of these, then the candidates."""
        hidden = torch.relu(self.second(torch.relu(self.first(block))))
        scores = self.last(hidden)[..., 0].masked_fill(~real, -1e9)
        return torch.cat([self.none(totals), scores], dim=1)


def _tensors(examples: Examples, places: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    right = examples.right[places]
    target = np.where(right.any(axis=1), right.argmax(axis=1) + 1, 0)
    return (
        torch.from_numpy(examples.real[places]),
        torch.from_numpy(examples.summary[places]),
        torch.from_numpy(target),
    )


def _fit(network: _Network, block: torch.Tensor, examples: Examples, places: NDArray[np.int64]) -> None:
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    chance = np.random.default_rng(len(places))
    for epoch in range(EPOCHS):
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - epoch / EPOCHS)
        order = chance.permutation(places)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            real, totals, target = _tensors(examples, batch)
            loss = nn.functional.cross_entropy(network.logits(block[batch], real, totals), target)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()


def _calibrate(shares: Vectors, right: NDArray[np.bool_]) -> tuple[Vectors, Vectors]:
    """The isotonic curve at POINTS places, denser where the shares are high."""
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(shares, right)
    places = np.unique(np.concatenate([np.linspace(0, 1, POINTS // 2), 1 - np.geomspace(1e-4, 0.5, POINTS // 2)]))
    return places.astype(np.float32), curve.predict(places).astype(np.float32)


def _ranker(networks: Sequence[_Network], mean: Vectors, scale: Vectors, raw: Vectors, calibrated: Vectors) -> Ranker:
    def stack(name: str) -> Vectors:
        layers = [dict(network.named_parameters())[name].detach().numpy() for network in networks]
        return np.stack(layers).astype(np.float32)

    return Ranker(
        mean=mean.astype(np.float32),
        scale=scale.astype(np.float32),
        first=np.concatenate(list(stack("first.weight").transpose(0, 2, 1)), axis=1),
        first_bias=stack("first.bias").reshape(-1),
        second=stack("second.weight").transpose(0, 2, 1).copy(),
        second_bias=stack("second.bias")[:, None, :],
        last=stack("last.weight").transpose(0, 2, 1).copy(),
        none=stack("none.weight")[:, 0, :].mean(axis=0),
        raw=raw,
        calibrated=calibrated,
    )
