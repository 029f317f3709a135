"""The weights by which spans explain a text, chosen on generated texts: the section `reading` of the thresholds.

Texts of the grammar, half of their wordings unseen where the artifact holds a fold out, are ranked once; then one
weight after the other is varied and the best value kept. What counts is the F1 of mentions with their right code.
The others are kept: `least` bounds time, `beside` orders what is not shown, `whole` and `likely` are for statements in
pieces, which the grammar does not write, `stated` believes a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from catalog_build.training.texts import Text
from clinical.progress import progress
from clinical.reading import SearchIndex
from clinical.thresholds import NOTEBOOKS, ReadingWeights, ThresholdSection, reading_weights, save_section
from evals.reading.generated import generated

GRID: Final[Mapping[str, tuple[float, ...]]] = {
    "found": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "floor": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35),
    "power": (0.7, 0.8, 0.9, 1.0, 1.1),
    "cost": (0.0, 0.06, 0.12, 0.18, 0.24),
}
"""The values that are tried."""
ROUNDS: Final = 2
"""Rounds over all four; a third changed nothing."""
CODED: Final = ("present", "suspected")


class Tuning:
    """Generated texts, ranked once."""

    def __init__(self, index: SearchIndex, texts: int, seed: int) -> None:
        self.index, self.seed = index, seed
        self.texts: list[Text] = generated(index, texts, seed)
        self._ranked = [index.ranked(text.text) for text in progress(self.texts, "texts", "texts read")]

    def measured(self, weights: ReadingWeights) -> float:
        """F1 of the mentions that are there or suspected, found with their code."""
        right = found = said = 0
        for text, (draft, hits) in zip(self.texts, self._ranked, strict=True):
            chosen, own = self.index.reader.chosen(draft, hits, weights)
            wanted = [one for one in text.said if one.claim in CODED]
            said += len(wanted)
            for number in chosen:
                code = own.code[own.part == number][:1].tolist()
                if draft.assertions[number] not in CODED or not code:
                    continue
                part, name = draft.spans[number].part, self.index.catalog.codes[code[0]].code
                found += 1
                right += any(o.code == name and o.start < part.end and part.start < o.end for o in wanted)
        return 2 * right / max(1, found + said)

    def best(self, start: ReadingWeights | None = None) -> tuple[ReadingWeights, list[dict[str, Any]]]:
        """The best weights by coordinate search, and every step: weight, value tried and its F1."""
        weights = start or reading_weights()
        kept, steps = self.measured(weights), []
        for _ in range(ROUNDS):
            for name, values in GRID.items():
                tried = [(self.measured(replace(weights, **{name: value})), value) for value in values]
                steps += [{"weight": name, "value": value, "f1": round(f1, 4)} for f1, value in tried]
                f1, value = max(tried)
                if f1 > kept:
                    kept, weights = f1, replace(weights, **{name: value})
        return weights, steps


def table(steps: Sequence[Mapping[str, Any]]) -> dict[str, dict[float, float]]:
    """Weight -> value -> the F1 it had in the last round."""
    found: dict[str, dict[float, float]] = {}
    for step in steps:
        found.setdefault(step["weight"], {})[step["value"]] = step["f1"]
    return found


def write(tuning: Tuning, weights: ReadingWeights) -> None:
    """Keep the weights, on what they were chosen and how they do there, as the section `reading`."""
    data = {
        "what": "generated texts of the artifact's own wordings, mentions that are there or suspected with their code",
        "texts": len(tuning.texts),
        "seed": tuning.seed,
        "manifest": tuning.index.manifest.digest,
        "kept_as_they_are": ["least", "beside", "whole", "likely", "stated"],
    }
    metrics = {"f1": round(tuning.measured(weights), 4), "f1_before": round(tuning.measured(reading_weights()), 4)}
    save_section("reading", ThresholdSection(weights, data, metrics, NOTEBOOKS["reading"]))
