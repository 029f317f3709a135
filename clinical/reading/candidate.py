"""Results of tier 1: codes that may be meant, mentions, and what a text was understood to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from clinical.claims import Claim, Reading
from clinical.contract import Assertion

Level = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A code that may be meant. `start`, `end`: the part of the query it was found by, in code points."""

    code: str
    probability: float
    confidence: Level
    text: str
    start: int
    end: int
    claim: Assertion = "present"


class Mentioned(NamedTuple):
    """A span of the text that names something: what the text claims of it in a word (`claim`) and axis by axis
    (`said`), how probably it is a mention at all, its codes of high or medium confidence, and how probably the best
    code that was found for it is right, shown or not (0: none was found); places in code points."""

    start: int
    end: int
    claim: Assertion
    chance: float
    codes: tuple[str, ...]
    best: float = 0.0
    said: Claim = Claim()


class Understood(NamedTuple):
    """Result of reading a text: codes, best first, none twice; its mentions in their order; the text as it was read;
    and the codes that would be shown if others of the text did not say more."""

    codes: tuple[Candidate, ...]
    mentions: tuple[Mentioned, ...]
    reading: Reading
    general: frozenset[str] = frozenset()
