"""The claims of a text applied to its candidate spans: the one stage between retrieval and cover.

A claim decides twice. Before retrieval it decides how a span is searched: what is denied is not, what is said of a
relative by itself, what is past in the words of the past. After retrieval it decides which of the hits count: chapter
XXI alone for relatives, its codes and those of aftermath for the past, no state after a procedure that is planned, and
no code whose wording says what the text denies beside the mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.claims import Claim, ClaimReader, Reading
from clinical.contract import Assertion
from clinical.icd import FAMILY_HISTORY, HEALTH_FACTORS, Catalog
from clinical.reading.elsewhere import Elsewhere
from clinical.reading.lattice import CandidateSpan
from clinical.reading.past import PastWordings, says_past
from clinical.reading.rewriting import Spot
from clinical.search import Hits, Wordings, joined, merged_by_part
from clinical.text import Part

NOT_SEARCHED: Final = ("excluded", "family")
"""Claims under which the probability of a mention, not of its code, says how well a span explains the text."""
PRESENT: Final = 0.5
"""Factor on codes of active disease where the text states that it is past."""
REWRITTEN: Final = 0.2
"""Probability of being a mention from which a span is searched in other words too; the whole of a text always is."""
TOLD: Final = 4
"""Characters from which a denied word matches the words of a wording ("Riss" in "Meniskusriss")."""
FAMILY: Final = "{} in der Familienanamnese"
"""Query for a relative's disease in a catalog whose notes name no code for it."""


@dataclass(frozen=True)
class TextSpans:
    """The candidate spans of a text, what the text claims of each, and the one word of it that counts for its codes.
    `plain`: the text is a wording by itself; `begun`: it is one that stops within a word."""

    reading: Reading
    spans: tuple[CandidateSpan, ...]
    claims: tuple[Claim, ...]
    assertions: tuple[Assertion, ...]
    plain: bool
    begun: bool = False

    @cached_property
    def said(self) -> list[list[str]]:
        """The folded words of each span."""
        return [self.reading.said(span.part.start, span.part.end) for span in self.spans]


class ClaimStage:
    """Applies claims; `claims_of` reads them off a text."""

    def __init__(self, catalog: Catalog, wordings: Wordings, claims_of: ClaimReader) -> None:
        self._past, self._claims_of = PastWordings(catalog, wordings), claims_of
        self._elsewhere = Elsewhere(catalog, wordings)
        self._is_past = np.isin(np.arange(len(catalog.codes)), self._elsewhere.past)
        self._relative = FAMILY if self._elsewhere.is_silent_on_relatives else "{}"
        self._is_state = np.array(HEALTH_FACTORS.among(catalog.codes), dtype=bool)
        self._of_family = np.array(FAMILY_HISTORY.among(catalog.codes), dtype=bool)

    def spots(self, draft: TextSpans) -> list[tuple[int, Spot]]:
        """Spans to search: the number of the span, and its words as the catalog would word them. What is denied has no
        code, nor has the disease of somebody who is no relative ("Kind der Nachbarin")."""
        found = []
        for number, (span, claim, said) in enumerate(zip(draft.spans, draft.claims, draft.assertions, strict=True)):
            if said == "family" and claim.experiencer == "family":
                found.append((number, self._of_relative(span.part)))
            elif said not in NOT_SEARCHED:
                there = said in ("present", "suspected")
                likely = span.chance == 0 or span.chance >= REWRITTEN
                found.append((number, Spot(draft.reading, span.part, claim, span.site if there else "", likely)))
        return found

    def _of_relative(self, part: Part) -> Spot:
        """By itself: nothing of it is the patient's."""
        own = self._relative.format(part.text)
        reading = Reading.of(own)
        return Spot(reading, Part(own, 0, len(own)), self._claims_of(reading, [(0, len(own))])[0])

    def weighed(self, hits: Hits, once: bool, spots: Sequence[Spot]) -> Hits:
        """The best hit of each code for each spot (`part` is its number); of what is past, active-disease codes are
        down-weighted (`PRESENT`). `once`: they lie spot by spot, best first, and no spot has a code twice."""
        over = [number for number, spot in enumerate(spots) if spot.claim.is_past]
        if over:
            past = np.isin(hits.part, over)
            past[past] = ~self._past.among(hits.wording[past], hits.code[past])
            hits = hits.weighed(np.where(past, np.float32(PRESENT), np.float32(1)))
        return hits if once and not over else merged_by_part(hits)

    def applied(self, draft: TextSpans, hits: Hits) -> Hits:
        """The hits (span by span) that the claims allow. Claims on relatives give codes of the family's history, and
        no other claim does; past ones give codes of the past. A procedure in a plan has not been done yet, so it gives
        no state after it ("Procedere: ICD-Implantation")."""
        own, rows = hits, list[Hits]()
        if {"family", "history"}.intersection(draft.assertions):
            own, rows = self._elsewhere_told(draft, hits)
        own = own.at(~self._own_past(draft, own))
        meant = ~self._of_family[own.code]
        planned = [claim.section == "plan" for claim in draft.claims]
        if any(planned):
            meant &= ~(np.array(planned)[own.part] & self._is_state[own.code])
        rows = [own.at(meant), *rows]
        found = joined(rows)
        return found.at(np.lexsort((-found.share, found.part)))

    def _own_past(self, draft: TextSpans, hits: Hits) -> NDArray[np.bool_]:
        """The hits for the past of a disease that is there and likelier meant by the same words ("COVID-19 in der
        Eigenanamnese" beside "COVID-19, Virus nachgewiesen"), unless these say that it is over."""
        found = self._is_past[hits.code]
        for at in np.flatnonzero(found).tolist():
            number = int(hits.part[at])
            there = draft.assertions[number] in ("present", "suspected")
            disease = (hits.part == number) & (self._elsewhere.past[hits.code] == hits.code[at])
            likelier = bool((hits.probability[disease] > hits.probability[at]).any())
            found[at] = there and likelier and not says_past(draft.spans[number].part.text)
        return found

    def _elsewhere_told(self, draft: TextSpans, hits: Hits) -> tuple[Hits, list[Hits]]:
        """The patient's own present, and the codes of what relatives have and of what is over."""
        family, over = (
            np.array([said == name for said in draft.assertions])[hits.part] for name in ("family", "history")
        )
        relatives, past, rows = hits.at(family), hits.at(over), list[Hits]()
        if family.any():
            known = self._of_family[relatives.code]
            moved = self._elsewhere.moved(relatives.at(~known), self._elsewhere.family)
            rows.append(merged_by_part(joined([relatives.at(known), moved])))
        if over.any():
            gone = self._past.among(past.wording, past.code)
            rows.append(past.at(~gone & ~self._elsewhere.over[past.code]))
            rows.append(self._elsewhere.with_past(past.at(gone), past.at(~gone).weighed(1 / PRESENT)))
        return hits.at(~family & ~over), rows
