"""The tagger read by the compiled loops of the search: the room of claims stands beside that room, not upon it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from clinical.claims import TaggedText, Tagger
from clinical.search import TILE, Tagging, TaggingWeights, Vectors
from clinical.text import GAPS, Seen


class CompiledTagger(Tagger):
    """A tagger whose networks go through a text in one call. It finds what the tagger finds that it is made of, to
    within a few of the last bits: sums are added up in another order."""

    def __init__(self, one: Tagger) -> None:
        own: dict[str, Any] = {each.name: getattr(one, each.name) for each in fields(one)}
        super().__init__(**own)
        own |= one.in_bytes._asdict()
        weights = TaggingWeights(**{name: own[name] for name in TaggingWeights._fields})
        object.__setattr__(self, "_tagging", Tagging(weights))

    _tagging: Tagging

    def read(self, seen: Seen, columns: Vectors) -> TaggedText:
        """Read a text: its words as they are seen and their columns (`besides`). Linear in the words."""
        return self.read_all([(seen, columns)])[0]

    def read_all(self, some: Sequence[tuple[Seen, Vectors]]) -> list[TaggedText]:
        """The same of several texts in one call: the networks' weights come from memory once."""
        told = np.concatenate([np.concatenate([seen.dense, columns], axis=1) for seen, columns in some])
        gaps = np.concatenate([seen.gaps for seen, _ in some]) + np.array([0, GAPS])
        return [TaggedText(self, *own) for own in self._tagging.read([seen.words for seen, _ in some], told, gaps)]


def compiled(one: Tagger) -> Tagger:
    """The tagger for the compiled loops; itself where its networks are of a width that these do not take."""
    return one if one.layers.shape[3] % TILE else CompiledTagger(one)
