"""Wordings as far as they have been typed, as a search field gets them: the last word stops somewhere within."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from catalog_build.training.texts import speakable

LEAST: Final = 3
"""Characters that are typed of the last word, at least: fields search from the third one on."""


def begun_queries(wordings: Sequence[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """Each wording (text, what it means) that people would type: whole, and stopped within its last word, anywhere
    equally likely. Deterministic."""
    chance = random.Random(seed)  # noqa: S311 - reproducible training, not a secret
    found = []
    for text, meant in wordings:
        if not speakable(text):
            continue
        found.append((text, meant))
        last = text.split()[-1]
        if last.isalpha() and len(last) > LEAST + 1:
            found.append((text[: len(text) - len(last) + chance.randint(LEAST, len(last) - 1)], meant))
    return found
