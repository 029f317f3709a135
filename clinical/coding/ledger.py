"""The ledger of a text: every mention once, with what the text claims of it and its codes, or why there are none."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clinical.claims import Reading
from clinical.contract import ABOVE_THE_LIMIT, Assertion, Certainty, Mention, NoCode, Span
from clinical.reading import Mentioned

if TYPE_CHECKING:
    from clinical.icd import Catalog, Code

CERTAINTY: Final[Mapping[Assertion, Certainty | None]] = {
    "present": "G",
    "suspected": "V",
    "excluded": "A",
    "history": "Z",
    "family": None,
}
"""The German outpatient marker of each claim; claims on relatives have none."""
NOT_CODED: Final = frozenset({"excluded", "family"})
"""Claims that give no code of the disease itself."""
NO_MENTION: Final = 0.3
NO_CODE: Final = 0.05
"""Words are said to be no diagnosis where the tagger gives less for their being a mention, and the search less for the
best code it found, than these: `python -m evals reading --inputs FILE` counts how many of them somebody stated all the
same. Of `evals/data/written.jsonl` these are 0.11; by the marks alone, below 0.5, they were 0.45."""
SHOWN: Final = 8
"""Siblings that are named."""


class Hit(NamedTuple):
    """A code of tier 1, the place in the query (code points) that it was found by, and what the text claims there;
    `low` ones are not shown."""

    code: str
    probability: float
    confidence: Literal["high", "medium", "low"]
    start: int
    end: int
    claim: Assertion = "present"


def ledger(
    reading: Reading,
    mentions: Sequence[Mentioned],
    hits: Sequence[Hit],
    sent: Container[str],
    general: Container[str] = frozenset(),
) -> tuple[Mention, ...]:
    """The mentions in the order of the text, none across another. A code that the text spells out, or that its whole
    says, belongs to the mention that it shares most with; where there is none it is a mention of its own.

    `hits`: every code of the text, `sent`: those of them that tier 1's event holds. `general`: codes that were found
    and left out, since others of the text say more.
    """
    found = {hit.code for hit in hits}
    known = {(one.start, one.end): one for one in mentions}
    codes = {place: [code for code in dict.fromkeys(one.codes) if code in found] for place, one in known.items()}
    told = {code for own in codes.values() for code in own}
    for hit in hits:
        if hit.code not in told:
            place = _owner(hit, mentions) or (hit.start, hit.end)
            known.setdefault(place, Mentioned(*place, hit.claim, 1.0, ()))
            codes.setdefault(place, []).append(hit.code)
    return tuple(_mention(reading, known[place], tuple(own), sent, general) for place, own in sorted(codes.items()))


def _owner(hit: Hit, mentions: Sequence[Mentioned]) -> tuple[int, int] | None:
    """The place of the mention that a code's evidence shares most with, one that may have codes if there is one."""
    shared = [(min(one.end, hit.end) - max(one.start, hit.start), one) for one in mentions]
    near = [(one.claim not in NOT_CODED, size, one) for size, one in shared if size > 0]
    best = max(near, key=lambda each: each[:2], default=None)
    return (best[2].start, best[2].end) if best else None


def _mention(
    reading: Reading, one: Mentioned, codes: tuple[str, ...], sent: Container[str], general: Container[str]
) -> Mention:
    if codes:
        reason: NoCode | None = None if any(code in sent for code in codes) else ABOVE_THE_LIMIT
    else:
        reason = _reason(one, general)
    return Mention(
        span=Span(start=one.start, end=one.end),
        claim=one.claim,
        certainty=None if reason == "hypothetical" else CERTAINTY[one.claim],
        side=reading.side(one.start, one.end),
        codes=codes,
        reason=reason,
    )


def _reason(one: Mentioned, general: Container[str]) -> NoCode:
    """Return the reason that no code of the event rests on a mention."""
    if one.claim in NOT_CODED:
        if one.claim == "family":
            return "of-somebody-else" if one.said.experiencer == "other" else "of-a-relative"
        return "hypothetical" if one.said.temporality == "hypothetical" and not one.said.is_denied else "denied"
    if any(code in general for code in one.codes):
        return "said-more-precisely"
    return "not-a-diagnosis" if one.chance < NO_MENTION and one.best < NO_CODE else "no-code-found"


def missing(code: Code, catalog: Catalog) -> tuple[str, ...]:
    """Titles of the more specific siblings of an unspecified code: the detail that one of them would need."""
    return tuple(each.title for each in catalog.more_specific(code.code))[:SHOWN]
