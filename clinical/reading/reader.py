"""A text as tier 1 reads it: which spans are searched, in which words, and which of them explain the text.

A wording by itself is one span. In a text the finder names the spans that may be mentions; what the text claims of
each decides how it is searched: what is denied is not, what is said of relatives by itself, what is over in the words
of the past. Which code the classification has for a relative's disease, or for one that is over, says the disease
(`elsewhere`). Of the ranked spans a cover without overlap is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from clinical.claims import Claim, Reading
from clinical.contract import Assertion
from clinical.icd import (
    CIRCUMSTANCES,
    EXAMINATIONS,
    EXTERNAL_CAUSES,
    FAMILY_HISTORY,
    HEALTH_FACTORS,
    INJURY_OF_NO_SITE,
    POISONINGS,
    TREATMENTS,
    Catalog,
    category,
)
from clinical.reading.alike import ALIKE
from clinical.reading.elsewhere import Elsewhere
from clinical.reading.finder import Finder, mentions, see
from clinical.reading.lattice import ACROSS, CandidateSpan, cover, gain, is_plain, spans, spans_of
from clinical.reading.past import PastWordings
from clinical.reading.rewriting import PRESENT, Spot
from clinical.reading.titles import ChapterTitles
from clinical.search import Hits, Shortened, Vectors, Wordings, joined, merged_by_part
from clinical.text import Part, Token, content_words, folded_words, words
from clinical.thresholds import ReadingWeights, reading_weights

MOST_WORDS: Final = 12
"""Words of the longest mention."""
RANKED_SPANS: Final = 40
"""Candidate spans of a text that compete for its words: bounds its time. 100 find no more (`python -m evals reading
--inputs`: 0.813 instead of 0.817 of what is stated)."""
LISTED_SPANS: Final = 60
"""Likeliest spans of words that none of these holds, which are ranked too: a list of 2,000 characters is read to its
end, and names no more diagnoses than both together."""
SELDOM: Final = (
    (POISONINGS, 0.2),  # a drug named in a text is taken, rarely a poisoning
    (EXTERNAL_CAUSES, 0.2),  # coded on request only
    (CIRCUMSTANCES, 0.5),  # told far more often than coded
    (EXAMINATIONS, 0.5),  # as are "Abklärung", "Untersuchung"
    (TREATMENTS, 0.5),  # and "seit der Chemotherapie", "Verbandswechsel"
    (INJURY_OF_NO_SITE, 0.5),  # mostly the cause of something else ("Zeckenstich")
)
"""Weights of codes that running text mentions more often than it means."""
TOLD: Final = 4
"""Characters from which a denied word matches the words of a wording ("Riss" in "Meniskusriss")."""
FAMILY: Final = "{} in der Familienanamnese"
"""Query for a relative's disease in a catalog whose notes name no code for it."""


@dataclass(frozen=True, slots=True)
class TextSpans:
    """The candidate spans of a text and what the text claims of each. `plain`: it is a wording by itself; `relative`:
    how a relative's disease is searched; `begun`: a wording by itself that stops within a word."""

    reading: Reading
    spans: tuple[CandidateSpan, ...]
    claims: tuple[Assertion, ...]
    plain: bool
    relative: str = "{}"
    begun: bool = False

    def spots(self) -> list[tuple[int, Spot]]:
        """Spans to search: the number of the span, and its words as the catalog would word them."""
        found = []
        for number, (span, claim) in enumerate(zip(self.spans, self.claims, strict=True)):
            if claim != "excluded" and not (claim == "family" and self._is_strangers(span.part)):
                found.append((number, self._spot(span.part, claim)))
        return found

    def _is_strangers(self, part: Part) -> bool:
        """True if a disease is that of somebody who is no relative ("Kind der Nachbarin"), which has no code."""
        return self.reading.claim(part.start, part.end).experiencer == "other"

    def _spot(self, part: Part, claim: Assertion) -> Spot:
        if claim != "family":
            return Spot(self.reading, part)
        own = self.relative.format(part.text)
        return Spot(Reading.of(own), Part(own, 0, len(own)))  # by itself: nothing of it is the patient's


def seldom_meant(catalog: Catalog) -> Vectors:
    """The weight of each code of the catalog in running text, by SELDOM: shape (codes,)."""
    weights = [next((w for group, w in SELDOM if code.code in group), 1.0) for code in catalog.codes]
    return np.array(weights, dtype=np.float32)


class MentionReader:
    """Reads texts with a finder; without one (an artifact from before there was one) every run of words may be a
    mention."""

    def __init__(
        self,
        catalog: Catalog,
        wordings: Wordings,
        finder: Finder | None,
        shortened: Shortened,
    ) -> None:
        self._catalog, self._wordings, self._finder = catalog, wordings, finder
        self._shortened = shortened
        self._seldom = seldom_meant(catalog)
        self._elsewhere, self._past = Elsewhere(catalog, wordings), PastWordings(catalog, wordings)
        self.weights = reading_weights()
        self._titles = ChapterTitles(catalog.chapters.values())
        self._is_state = np.array([code.code in HEALTH_FACTORS for code in catalog.codes], dtype=bool)
        self._of_family = np.array([code.code in FAMILY_HISTORY for code in catalog.codes], dtype=bool)

    def draft(self, text: str) -> TextSpans:
        """The spans of a text that are worth a search, and what it claims of them."""
        whole = CandidateSpan(Part(text, 0, len(text)), 1, 1.0)
        reading, written = Reading.of(text), words(text)
        plain = is_plain(text, written, self._shortened.is_cut)
        if plain and reading.claim(0, len(text)) == Claim() and not reading.lists_denials:
            return TextSpans(reading, (whole,), ("present",), True, begun=self._shortened.is_begun(text, written))
        found = self._spans(reading, written)
        if not found:
            return TextSpans(reading, (whole,), (_of_whole(reading),), True)
        claims = _settled(found, [reading.claim(span.part.start, span.part.end).assertion for span in found])
        if len(content_words(text, written)) <= ACROSS:
            found.append(whole._replace(chance=0.0))
            claims.append(_of_whole(reading))
        relative = FAMILY if self._elsewhere.is_silent_on_relatives else "{}"
        return TextSpans(reading, tuple(found), tuple(claims), False, relative)

    def whole(self, phrase: str) -> TextSpans:
        """A phrase as one wording, whatever it would claim as a text."""
        return TextSpans(Reading.of(phrase), (CandidateSpan(Part(phrase, 0, len(phrase)), 1, 1.0),), ("present",), True)

    def _spans(self, reading: Reading, written: Sequence[Token]) -> list[CandidateSpan]:
        text = reading.text
        if self._finder is None:
            return spans(text)[:RANKED_SPANS]
        seen = see(text, written)
        found = mentions(self._finder.probabilities(seen), self.weights.least, MOST_WORDS)
        best = sorted(found, key=lambda run: -run[2])
        titles = self._titles.places(written)

        def likeliest(runs: Sequence[tuple[int, int, float]]) -> list[CandidateSpan]:
            some = spans_of(reading, seen.places, runs) if runs else []
            apart = (one for one in some if not any(a <= one.part.start and one.part.end <= b for a, b in titles))
            return sorted(apart, key=lambda span: -span.chance)

        ranked = likeliest(best[:RANKED_SPANS])[:RANKED_SPANS]
        others = likeliest(best[RANKED_SPANS : RANKED_SPANS + LISTED_SPANS])
        ranked += [one for one in others if not any(_overlap(one, other) for other in ranked)][:LISTED_SPANS]
        return sorted(ranked, key=lambda span: (span.part.start, span.part.end))

    def chosen(self, draft: TextSpans, hits: Hits, weights: ReadingWeights | None = None) -> tuple[list[int], Hits]:
        """The numbers of the spans that explain the text best, and the hits (span by span) that count of them; with
        other weights than those of the thresholds, for a measure."""
        weights = weights or self.weights
        if draft.plain:
            return [0], hits
        if (whole := self._verbatim_whole(draft, hits)) is not None:
            return [whole], hits.at(hits.part == whole)
        hits = self._as_denied(draft, self._by_claim(draft, self._without_treated(draft, hits, weights)))
        hits = hits.weighed(self._seldom[hits.code])
        best = np.zeros(len(draft.spans), dtype=np.float32)
        np.maximum.at(best, hits.part, hits.probability)
        gains = [
            gain(span.chance if claim in ("excluded", "family") else chance, span, weights)
            for chance, span, claim in zip(best.tolist(), draft.spans, draft.claims, strict=True)
        ]
        real = [number for number, span in enumerate(draft.spans) if span.chance > 0]
        numbers = cover([draft.spans[n] for n in real], [gains[n] for n in real])
        if (whole := self._whole_statement(draft, hits, numbers, weights)) is not None:
            return [whole], hits.at(hits.part == whole)
        apart = any(draft.claims[n] in ("excluded", "family") for n in numbers)  # the whole holds what is not his
        if apart:
            hits = hits.at(np.isin(hits.part, numbers))
        beside = np.isin(hits.part, [n for n, span in enumerate(draft.spans) if not span.chance])
        hits = hits.weighed(np.where(beside, np.float32(weights.beside), np.float32(1)))
        return numbers, hits.at(np.isin(hits.part, numbers) | beside)

    def _whole_statement(
        self, draft: TextSpans, hits: Hits, numbers: Sequence[int], weights: ReadingWeights
    ) -> int | None:
        """The number of the span of a whole short text whose code says more of the same category than its parts do
        ("Druckgeschwür am Steißbein, Grad 2"): one statement, told in two pieces. None where a part has another
        category, so that a list stays a list, or where the text denies or tells of what is over."""
        whole = len(draft.spans) - 1
        if draft.spans[whole].chance or {draft.claims[n] for n in numbers} - {"present"}:
            return None
        first = np.flatnonzero(np.r_[True, hits.part[1:] != hits.part[:-1]])[: len(hits.part)]
        best = {int(hits.part[at]): (float(hits.probability[at]), int(hits.code[at])) for at in first}
        chance, code = best.pop(whole, (0.0, -1))
        names = [self._catalog.codes[own].code for n, (p, own) in best.items() if n in numbers and p >= weights.likely]
        own = self._catalog.codes[code].code
        more = bool(names) and own not in names and {category(name) for name in names} == {category(own)}
        return whole if more and chance >= weights.whole else None

    def _by_claim(self, draft: TextSpans, hits: Hits) -> Hits:
        """Apply the claims of the mentions to their hits. Claims on relatives give codes of the family's history, and
        no other claim does; past ones give codes of the past, and active-disease codes are down-weighted (`PRESENT`). A
        procedure in a plan has not been done yet, so it gives no state after it ("Procedere: ICD-Implantation")."""
        family, over = (
            np.array([claim == name for claim in draft.claims])[hits.part] for name in ("family", "history")
        )
        relatives, own = hits.at(family), hits.at(~family & ~over)
        past = hits.at(over & ~family)
        planned = np.array([draft.reading.section(span.part.start) == "plan" for span in draft.spans])
        meant = ~self._of_family[own.code] & ~(planned[own.part] & self._is_state[own.code])
        rows = [own.at(meant)]
        if family.any():
            known = self._of_family[relatives.code]
            moved = self._elsewhere.moved(relatives.at(~known), self._elsewhere.family)
            rows.append(merged_by_part(joined([relatives.at(known), moved])))
        if over.any():
            gone = self._past.among(past.wording, past.code)
            rows.append(past.at(~gone & ~self._elsewhere.over[past.code]))
            rows.append(self._elsewhere.with_past(past.at(gone), past.at(~gone).weighed(1 / PRESENT)))
        found = joined(rows)
        return found.at(np.lexsort((-found.share, found.part)))

    def _without_treated(self, draft: TextSpans, hits: Hits, weights: ReadingWeights) -> Hits:
        """The hits without a tumour in the patient's history that the text says is there."""
        if "history" not in draft.claims:
            return hits
        over = np.array([claim == "history" for claim in draft.claims])[hits.part]
        real = np.array([span.chance > 0 for span in draft.spans])[hits.part]
        return self._elsewhere.without_treated(hits, over, ~over & real & (hits.probability >= weights.likely))

    def _as_denied(self, draft: TextSpans, hits: Hits) -> Hits:
        """The hits without those whose wording says what is denied within a mention or right behind it ("Menisken ohne
        Riss" is no "Meniskusriss"); one that denies something itself stays ("Migräne ohne Aura")."""
        meant = np.ones(len(hits.part), dtype=bool)
        for number, span in enumerate(draft.spans):
            denied = draft.reading.denied_beside(span.part.start, span.part.end)
            stems = [word[:ALIKE] for name in denied for word in folded_words(name) if len(word) >= TOLD]
            for at in np.flatnonzero(hits.part == number).tolist() if stems else ():
                worded = self._wordings.text(int(hits.wording[at]))
                said = any(stem in word for word in folded_words(worded) for stem in stems)
                meant[at] = not said or Reading.of(worded).speaks_of("negation")
        return hits if meant.all() else hits.at(meant)

    def _verbatim_whole(self, draft: TextSpans, hits: Hits) -> int | None:
        """The number of the span of a whole short text that is word for word a wording of the catalog: one mention,
        whatever commas and denials it is worded with ("ohne Angabe einer hypertensiven Krise")."""
        number = len(draft.spans) - 1
        first = np.flatnonzero(hits.part == number)[:1]
        if draft.spans[number].chance or not len(first):
            return None
        same = folded_words(draft.reading.text) == folded_words(self._wordings.text(int(hits.wording[first[0]])))
        return number if same else None


def _overlap(one: CandidateSpan, other: CandidateSpan) -> bool:
    return one.part.start < other.part.end and other.part.start < one.part.end


def _of_whole(reading: Reading) -> Assertion:
    """The claim of a text that is searched as one wording: what it denies or dates is part of that wording, but a
    suspicion ("V. a. Pneumonie") stays one."""
    return "suspected" if reading.claim(0, len(reading.text)).assertion == "suspected" else "present"


def _settled(found: Sequence[CandidateSpan], claims: Sequence[Assertion]) -> list[Assertion]:
    """The claims of the spans, in their order; what is suspected first and denied further on in words that begin the
    same ("Z. A. KHK: ... KHK ausgeschlossen") is denied."""
    settled, denied = list(claims), list[list[str]]()
    if "suspected" not in claims:
        return settled
    for number in reversed(range(len(found))):
        said = folded_words(found[number].part.text)
        if claims[number] == "excluded":
            denied.append(said)
        elif claims[number] == "suspected" and said and any(one[: len(said)] == said for one in denied):
            settled[number] = "excluded"
    return settled
