"""How probably the first code of a mention is right where it is served: the second stage of calibration.

The ranking model's probability was calibrated on plain wordings. What is served is a maximum over rewritings, of a span
that was cut out of a text. A logistic regression (Platt 2000, on several columns) over what is known of the mention
gives the probability that is shown; it is fitted on a named mixture of generated texts whose wordings search has never
seen (`catalog_build.training.confidence`). The order of a mention's codes stays that of the ranking model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from clinical.catalog import Catalog
from clinical.errors import ArtifactMismatch
from clinical.language import words
from clinical.search.encoder import Vectors
from clinical.search.hits import Hits
from clinical.search.reading.reader import TextSpans
from clinical.search.runs import Ints
from clinical.search.terms import Wordings

FORMAT: Final = "befund-confidence-1"
COLUMNS: Final = (
    "logit", "margin", "category", "chance", "words", "verbatim", "unspecified", "symptom", "mentions", "length",
    "lower", "suspected", "history", "family", "plain", "one_word", "verbatim_unspecified",
)  # fmt: skip
NEVER_SURE: Final = 1e-3
"""Probabilities are kept this far from 0 and 1 before their logit is taken."""


class Traits:
    """What the columns need to know of each code: its category, whether it leaves something open, whether it is a
    symptom (chapter XVIII)."""

    def __init__(self, catalog: Catalog) -> None:
        names = [code.code for code in catalog.codes]
        self.category: Ints = np.unique([name[:3] for name in names], return_inverse=True)[1]
        self.unspecified = np.array(
            ["nicht näher bez" in code.title or code.code.endswith(".9") for code in catalog.codes], dtype=bool
        )
        self.symptom = np.array([name[0] == "R" for name in names], dtype=bool)


def columns(draft: TextSpans, hits: Hits, wordings: Wordings, traits: Traits) -> tuple[Ints, Vectors]:
    """The row of `hits` (span by span, best first) that is each span's first, and its columns: (m,), (m, COLUMNS)."""
    first = np.flatnonzero(np.r_[True, hits.part[1:] != hits.part[:-1]])[: len(hits.part)]
    ends = np.append(first, len(hits.part))[1:]
    length = np.log1p(len(draft.reading.text))
    mentions = np.log1p(len(first))
    lower = draft.reading.text.islower()
    rows = []
    for start, end in zip(first.tolist(), ends.tolist(), strict=True):
        number, code = int(hits.part[start]), int(hits.code[start])
        span, claim = draft.spans[number], draft.claims[number]
        chance = float(np.clip(hits.probability[start], NEVER_SURE, 1 - NEVER_SURE))
        second = float(hits.probability[start + 1]) if end > start + 1 else 0.0
        same = traits.category[hits.code[start:end]] == traits.category[code]
        spelled = [word.text for word in words(span.part.text)]
        verbatim = sorted(spelled) == sorted(word.text for word in words(wordings.text(int(hits.wording[start]))))
        unspecified = bool(traits.unspecified[code])
        rows.append(
            (
                *(np.log(chance / (1 - chance)), chance - second, float(hits.probability[start:end][same].sum())),
                *(span.chance, np.log1p(len(spelled)), verbatim, unspecified, traits.symptom[code], mentions, length),
                *(lower or not span.part.noun, claim == "suspected", claim == "history", claim == "family"),
                *(draft.plain, len(spelled) == 1, verbatim and unspecified),
            )
        )
    return first, np.array(rows, dtype=np.float32).reshape(-1, len(COLUMNS))


@dataclass(frozen=True)
class Confidence:
    """A logistic regression over COLUMNS: `weights` (F,), `bias`."""

    weights: NDArray[np.float64]
    bias: float

    def probabilities(self, rows: Vectors) -> Vectors:
        """Of each row, that its code is right: shape (m,)."""
        return (1 / (1 + np.exp(-(rows @ self.weights + self.bias)))).astype(np.float32)

    def served(self, hits: Hits, first: Ints, rows: Vectors) -> Hits:
        """The hits with the probability that is shown: of each span's first code this one, of the others as much less
        as they were less probable."""
        if not len(first):
            return hits
        shown = np.where(_settled(rows), hits.probability[first], self.probabilities(rows))
        of = np.repeat(np.arange(len(first)), np.diff(first, append=len(hits.part)))
        top = np.maximum(hits.probability[first], np.float32(NEVER_SURE))
        return hits._replace(probability=np.minimum(hits.probability / top[of], 1) * shown[of])

    def save(self, path: Path) -> None:
        """Write one JSON object."""
        tree = {"format": FORMAT, "columns": COLUMNS, "weights": self.weights.tolist(), "bias": self.bias}
        path.write_bytes(orjson.dumps(tree, option=orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, path: Path) -> Confidence:
        """Read what `save` wrote. Raises ArtifactMismatch when it was fitted on other columns."""
        tree = orjson.loads(path.read_bytes())
        if tree.get("format") != FORMAT or tuple(tree.get("columns", ())) != COLUMNS:
            remedy = "train it again: python -m catalog_build train SOURCE --out FOLDER"
            raise ArtifactMismatch(f"{path.name} was fitted on other columns", ", ".join(COLUMNS), remedy)
        return cls(np.array(tree["weights"]), float(tree["bias"]))


def _settled(rows: Vectors) -> NDArray[np.bool_]:
    """Rows whose probability stays: of wordings by themselves that are new to the index, which is what the ranking
    model's own calibration was fitted on; and of the whole of a short text, a proposal that is never shown."""
    plain, verbatim, chance = (rows[:, COLUMNS.index(name)] for name in ("plain", "verbatim", "chance"))
    settled: NDArray[np.bool_] = (chance == 0) | ((plain == 1) & (verbatim == 0))
    return settled
