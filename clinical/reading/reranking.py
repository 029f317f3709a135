"""Reranking of a mention's codes by what stands beside it: site, stage and type, and how common a code is.

Search ranks the words of a mention alone ("Lungenkarzinom" of "Lungenkarzinom re OL"). A linear model over a few
columns of each hit puts the likeliest code of the text first; it is fitted by conditional logit (McFadden 1974) on
texts that people coded (`catalog_build.training.confidence`). The probabilities stay where they are in the order: how
sure the first code is, the second stage of calibration says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.reading.alike import ALIKE, says
from clinical.reading.claim_stage import TextSpans
from clinical.reading.kinds import CodeKinds
from clinical.search import Hits, Ints, Vectors, Wordings, run_starts
from clinical.text import folded_words

BESIDE: Final = 60
"""Characters before and behind a mention that are looked at."""
RIVALS: Final = 5
"""Hits of a mention that are compared: the first ones."""
LEAST: Final = 0.02
"""Probability of search from which a hit is compared."""
OF_HIT: Final = (
    *("logit", "verbatim", "common", "unspecified", "open", "terminal"),
    *("unsaid", "title_unsaid", "beside", "title_beside"),
)
"""Columns of a hit. `unsaid`, `title_unsaid`: the share of characters of its wording and of its code's title in words
that the mention has nothing like; `beside`, `title_beside`: in those of them that stand beside the mention."""
NEVER_SURE: Final = 1e-3
"""Least distance of probabilities from 0 and 1 before their logit is computed."""
_LEAST, _MOST = float(np.float32(NEVER_SURE)), float(np.float32(1 - NEVER_SURE))
"""The same as the probabilities are kept."""


def bounded(chance: float) -> float:
    """The probability with a finite logit."""
    return min(max(chance, _LEAST), _MOST)


def columns_of_hits(draft: TextSpans, hits: Hits, wordings: Wordings, kinds: CodeKinds) -> tuple[Ints, Vectors]:
    """The rows of `hits` (span by span, best first) that are compared, and their columns: (m,), (m, OF_HIT).

    A mention with one such row has none, nor has one of what is over or a relative's: its codes are worded otherwise.
    The hits of a mention are worded alike, so that each word is looked for in it once (`like`).
    """
    rows: list[int] = []
    found: list[tuple[float, ...]] = []
    folds, text = draft.reading.folds, draft.reading.text
    likely, wording, code = (hits.probability >= LEAST).tolist(), hits.wording.tolist(), hits.code.tolist()
    for first, last in pairwise([*run_starts(hits.part).tolist(), len(hits.part)]):
        number = int(hits.part[first])
        there = draft.assertions[number] in ("present", "suspected")
        own = [at for at in range(first, min(last, first + RIVALS)) if there and likely[at]]
        if len(own) > 1:
            part = draft.spans[number].part
            said = draft.said[number]
            around = text[max(0, part.start - BESIDE) : part.start], text[part.end : part.end + BESIDE]
            words = (word for piece in around for word in folded_words(piece, folds))
            beside = {word[:ALIKE] for word in words if len(word) >= ALIKE}
            rows += own
            like: dict[str, bool] = {}
            for at in own:
                unsaid, near = _shares(wordings.folded(wording[at]), said, like, beside)
                title_unsaid, title_near = _shares(kinds.title_words(code[at]), said, like, beside)
                found.append((float(wordings.has_words(wording[at], said)), unsaid, title_unsaid, near, title_near))
    numbers, own = np.array(rows, dtype=np.int64), [code[at] for at in rows]
    if not rows:
        return numbers, np.zeros((0, len(OF_HIT)), dtype=np.float32)
    chances = (bounded(chance) for chance in hits.probability[numbers].tolist())
    verbatim, *shares = zip(*found, strict=True)
    columns = (
        *([log(chance / (1 - chance)) for chance in chances], verbatim, kinds.common[own]),
        *(kinds.unspecified[own], kinds.open[own], kinds.terminal[own]),
        *shares,
    )
    return numbers, np.array(columns, dtype=np.float32).T.copy()


def _shares(worded: Sequence[str], said: Sequence[str], like: dict[str, bool], beside: set[str]) -> tuple[float, float]:
    """The shares of characters in words that the mention has nothing like, and in those of them that are beside it."""
    for word in worded:
        if word not in like:
            like[word] = says(said, word)
    left = [word for word in worded if not like[word]]
    size = max(1, sum(map(len, worded)))
    near = sum(len(word) for word in left if word[:ALIKE] in beside)
    return sum(map(len, left)) / size, near / size


@dataclass(frozen=True)
class Reranker:
    """Weights of OF_HIT."""

    weights: NDArray[np.float64]  # (OF_HIT,)

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Reranker:
        """By name; a column without a name has no weight."""
        return cls(np.array([weights.get(name, 0.0) for name in OF_HIT]))

    @property
    def named(self) -> dict[str, float]:
        """The weights by name."""
        return dict(zip(OF_HIT, self.weights.tolist(), strict=True))

    def ordered(self, draft: TextSpans, hits: Hits, wordings: Wordings, kinds: CodeKinds) -> Hits:
        """The hits with the compared ones of each mention in the order of their scores; shares and probabilities stay
        at their places. What a text by itself is searched for stays as it is."""
        if draft.plain:
            return hits
        rows, columns = columns_of_hits(draft, hits, wordings, kinds)
        if not len(rows):
            return hits
        score = columns @ self.weights
        order = rows[np.lexsort((-score, hits.part[rows]))]
        code, wording = hits.code.copy(), hits.wording.copy()
        code[rows], wording[rows] = hits.code[order], hits.wording[order]
        return hits._replace(code=code, wording=wording)
