"""An encoder that remembers, for the time of a build: a model costs a call more than a row.

Fitting asks for the same words thousands of times, a few at a time. What was asked once is kept, and `ahead` encodes
many texts in one call. Never used where requests are served: it keeps texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from clinical.progress import progress
from clinical.search import Encoder, Vectors
from clinical.text import folded_words

TOGETHER: Final = 4_096
"""Texts of one call while encoding ahead: the bar moves every few seconds."""


class Remembered:
    """The encoder port around another one, with its rows."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.name, self.dimensions = encoder, encoder.name, encoder.dimensions
        self._rows: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimensions), in their order; new ones in calls of TOGETHER, with a bar where there are more."""
        new = list(dict.fromkeys(text for text in texts if text not in self._rows))
        starts = range(0, len(new), TOGETHER)
        for start in progress(starts, "wordings encoded", "batches") if len(starts) > 1 else starts:
            some = new[start : start + TOGETHER]
            self._rows |= zip(some, self.encoder.encode(some), strict=True)
        rows = [self._rows[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def ahead(self, texts: Iterable[str]) -> None:
        """Encode texts as search asks for them, folded, and their words."""
        spelled = [folded_words(text) for text in texts]
        asked = dict.fromkeys(" ".join(own) for own in spelled if own)
        asked |= dict.fromkeys(word for own in spelled for word in own)
        some = [text for text in asked if text not in self._rows]
        for start in progress(range(0, len(some), TOGETHER), "words and texts encoded", "batches"):
            self.encode(some[start : start + TOGETHER])
