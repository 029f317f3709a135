"""The ledger of a text: every mention once, with what the text claims of it and its codes, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clinical.contract import Assertion, Certainty, Mention, NoCode, Span
from clinical.language import Reading

if TYPE_CHECKING:
    from clinical.catalog import Catalog, Code
    from clinical.search import Mentioned

CERTAINTY: Final[Mapping[Assertion, Certainty | None]] = {
    "present": "G",
    "suspected": "V",
    "excluded": "A",
    "history": "Z",
    "family": None,
}
"""The German outpatient marker of each claim; what is said of relatives has none."""
NOT_CODED: Final = frozenset({"excluded", "family"})
"""Claims that give no code of the disease itself."""
SURE: Final = 0.5
"""From which probability of the finder a run of words without a code is a mention that no code was found for; below
it the words are more probably no diagnosis."""
SHOWN: Final = 8
"""Siblings that are named."""


class Hit(NamedTuple):
    """A code of tier 1, and the place in the query (code points) that it was found by; `low` ones are not shown."""

    code: str
    probability: float
    confidence: Literal["high", "medium", "low"]
    start: int
    end: int


def ledger(reading: Reading, mentions: Sequence[Mentioned], hits: Sequence[Hit]) -> tuple[Mention, ...]:
    """The mentions in the order of the text, none across another. A code that the text spells out, or that its whole
    says, belongs to the mention that it shares most with; where there is none it is a mention of its own."""
    shown = {hit.code for hit in hits}
    codes = {(one.start, one.end): list(dict.fromkeys(code for code in one.codes if code in shown)) for one in mentions}
    chances = {(one.start, one.end): one.chance for one in mentions}
    told = {code for own in codes.values() for code in own}
    for hit in hits:
        if hit.code not in told:
            place = _owner(hit, mentions) or (hit.start, hit.end)
            codes.setdefault(place, []).append(hit.code)
    return tuple(_mention(reading, *place, tuple(own), chances.get(place, 1.0)) for place, own in sorted(codes.items()))


def _owner(hit: Hit, mentions: Sequence[Mentioned]) -> tuple[int, int] | None:
    """The place of the mention that a code's evidence shares most with, one that may have codes if there is one."""
    shared = [(min(one.end, hit.end) - max(one.start, hit.start), one) for one in mentions]
    near = [(one.claim not in NOT_CODED, size, one) for size, one in shared if size > 0]
    best = max(near, key=lambda each: each[:2], default=None)
    return (best[2].start, best[2].end) if best else None


def _mention(reading: Reading, start: int, end: int, codes: tuple[str, ...], chance: float) -> Mention:
    claim = reading.claim(start, end).assertion
    return Mention(
        span=Span(start=start, end=end),
        claim=claim,
        certainty=CERTAINTY[claim],
        side=reading.side(start, end),
        codes=codes,
        reason=None if codes else _reason(claim, chance),
    )


def _reason(claim: Assertion, chance: float) -> NoCode:
    if claim == "excluded":
        return "denied"
    if claim == "family":
        return "of-a-relative"
    return "no-code-found" if chance >= SURE else "not-a-diagnosis"


def missing(code: Code, catalog: Catalog) -> tuple[str, ...]:
    """What a more specific code beside an unspecified one would need: the titles of its specific siblings."""
    return tuple(each.title for each in catalog.more_specific(code.code))[:SHOWN]
