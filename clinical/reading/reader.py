"""A text as tier 1 reads it: which spans are searched, in which words, and which of them explain the text.

A wording by itself is one span. In a text the tagger marks the spans that may be mentions, and says their claims.
Of the spans that are ranked, a cover without overlap is chosen, once their claims are applied (`claim_stage`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

import numpy as np

from clinical.claims import Claim, ClaimReader, Reading, Tagger, tag_together
from clinical.contract import Assertion
from clinical.icd import Catalog, category
from clinical.reading.claim_stage import NOT_SEARCHED, ClaimStage, TextSpans
from clinical.reading.joints import Joints, LastingDiseases
from clinical.reading.lattice import ACROSS, CandidateSpan, WordFacts, cover, gain, is_plain, mentions, spans_of
from clinical.reading.titles import ChapterTitles, CodeTitles
from clinical.search import Hits, Shortened, Vectors, Wordings
from clinical.text import (
    ROMAN,
    SIDES,
    STAGE_WORDS,
    Part,
    as_prose,
    coded_at,
    folded_words,
    has_more_content,
    is_opposite,
    sites_of,
)
from clinical.thresholds import ReadingWeights, reading_weights

MOST_WORDS: Final = 12
"""Words of the longest mention."""
RANKED_SPANS: Final = 40
"""Candidate spans of a text that compete for its words: bounds its time. 100 find no more (`python -m evals reading
--inputs`: 0.813 instead of 0.817 of what is stated)."""
LISTED_SPANS: Final = 60
"""Likeliest spans of words that none of these holds, which are ranked too: a list of 2,000 characters is read to its
end, and names no more diagnoses than both together."""
SHORT, SITED = 3, 0.2
"""Words of the longest span, and the least probability of being a mention, for which a part of the body is looked for
beside it."""
BEFORE, BEHIND = 60, 25
"""Characters before and behind a span within which it is looked for."""
_LABEL: Final = re.compile(rf"\w+(?: (?:{'|'.join(sorted(SIDES))})\b\.?)?:", re.IGNORECASE)
"""A part of the body, its side perhaps, and the colon behind it."""
_OF_CODES: Final = re.compile(r"\bICD(?=[- ]?(?:10|11|GM|Kode|Code)|\s*:\s*[A-Z]\d\d)")
"""The name of the classification above its codes; elsewhere an ICD is a defibrillator."""
_STOP: Final = re.compile(r"[.;]\s")
"""The end of what a label is of."""
BETWEEN: Final = frozenset(folded_words("mit bei durch nach auf im infolge wegen unter m b"))
"""Words that may stand between the names of two conditions."""
_STAGES: Final = frozenset(folded_words(" ".join(sorted(STAGE_WORDS))))


class MentionReader:
    """Reads texts with a tagger."""

    def __init__(
        self,
        catalog: Catalog,
        wordings: Wordings,
        shortened: Shortened,
        stage: ClaimStage,
        claims_of: ClaimReader,
        tagger: Tagger,
    ) -> None:
        self._catalog, self._wordings, self._tagger = catalog, wordings, tagger
        self._shortened, self._stage, self._claims_of = shortened, stage, claims_of
        self.weights = reading_weights()
        self._titles, self._code_titles = ChapterTitles(catalog.chapters.values()), CodeTitles(catalog, wordings)
        self._joints, self._lasting = Joints(wordings), LastingDiseases(catalog, wordings)

    def drafts(self, texts: Sequence[str]) -> list[TextSpans]:
        """Of each text the spans that are worth a search, and what it claims of them."""
        readings = [self._read(as_prose(text)) for text in texts]
        titles = [self._titles_in(reading) for reading in readings]
        for reading, spans in zip(readings, titles, strict=True):
            reading.names = [(span.part.start, span.part.end) for span in spans]
        own = [self._claims_of(reading, [(0, len(reading.text))])[0] for reading in readings]
        alone = [self._is_wording(*one) for one in zip(readings, own, strict=True)]
        if others := [reading for reading, one in zip(readings, alone, strict=True) if not one]:
            tag_together(others, self._tagger)
        return [
            self._of_wording(reading) if one else self._of_text(reading, claim, spans)
            for reading, one, claim, spans in zip(readings, alone, own, titles, strict=True)
        ]

    def _read(self, text: str) -> Reading:
        """A text with its joints as commas, which are no words."""
        reading = Reading.of(text, self._tagger)
        parted = self._joints.parted(text, reading.written)
        if parted == text:
            return reading
        other = Reading.of(parted, self._tagger)
        other.written = reading.written
        return other

    def _is_wording(self, reading: Reading, own: Claim) -> bool:
        """True if a text is a wording by itself, of which nothing is claimed (`own`: of the whole)."""
        plain = is_plain(reading.text, reading.written, self._shortened.is_cut)
        return plain and own == Claim() and not reading.lists_denials

    def may_name_two(self, draft: TextSpans) -> bool:
        """True for a wording by itself with a word inside that may stand between two names."""
        read = draft.reading
        return draft.plain and any(word.text in BETWEEN for word in read.written[1:-1])

    def as_texts(self, drafts: Sequence[TextSpans]) -> list[TextSpans]:
        """Read as texts what was read as wordings by themselves."""
        readings = [draft.reading for draft in drafts]
        tag_together(readings, self._tagger)
        return [self._of_text(reading, Claim(), self._titles_in(reading)) for reading in readings]

    def _of_wording(self, reading: Reading) -> TextSpans:
        begun = self._shortened.is_begun(reading.text, reading.written)
        return TextSpans(reading, (_whole(reading.text),), (Claim(),), ("present",), True, begun)

    def _of_text(self, reading: Reading, own: Claim, titles: Sequence[CandidateSpan]) -> TextSpans:
        """The spans of a text that is no wording by itself; `own`: the claim of all of it, `titles`: official ones."""
        text, whole = reading.text, _whole(reading.text)
        found = self._spans(reading, titles)
        if not found:
            return TextSpans(reading, (whole,), (own,), (_of_whole(own),), True)
        claims = self._claims_of(reading, [span.judged for span in found])
        for number, span in enumerate(found):
            if claims[number].is_past and self._goes_on(reading, span.part):
                claims[number] = replace(claims[number], temporality="present")
            if span.titled is not None:  # its letter stands beside all of it
                claims[number] = reading.by_letter(claims[number], span.part.start, span.part.end)
        assertions = _settled(found, [claim.assertion for claim in claims], reading)
        if not has_more_content(text, reading.written, ACROSS):
            found.append(whole._replace(chance=0.0))
            claims.append(own)
            assertions.append(_of_whole(own))
        return TextSpans(reading, tuple(found), tuple(claims), tuple(assertions), False)

    def _goes_on(self, reading: Reading, part: Part) -> bool:
        """True for a disease that does not end, if no word says that it is over: a year beside it is the year in
        which it began ("KHK (2019)")."""
        if not self._lasting.names(reading.said(part.start, part.end)):
            return False
        ruled = reading.ruled(part.start, part.end)
        signs = (reading.text[sign.start : sign.end] for sign in ruled.signs if sign.axis == "temporality")
        return ruled.section != "past" and not any(map(str.isalpha, "".join(signs)))

    def whole(self, phrase: str) -> TextSpans:
        """A phrase as one wording, whatever it would claim as a text."""
        return TextSpans(Reading.of(phrase, self._tagger), (_whole(phrase),), (Claim(),), ("present",), True)

    def _spans(self, reading: Reading, titled: Sequence[CandidateSpan]) -> list[CandidateSpan]:
        seen = reading.seen
        found = mentions(reading.marks, self.weights.least, MOST_WORDS)
        best = sorted(found, key=lambda run: -run[2])
        titles = self._titles.places(reading.written)

        written = WordFacts.of(reading, seen.places) if found else None

        def likeliest(runs: Sequence[tuple[int, int, float]]) -> list[CandidateSpan]:
            some = spans_of(reading, seen.places, runs, written) if runs else []
            apart = (one for one in some if not any(a <= one.part.start and one.part.end <= b for a, b in titles))
            return sorted(apart, key=lambda span: -span.chance)

        ranked = likeliest(best[:RANKED_SPANS])[:RANKED_SPANS]
        others = likeliest(best[RANKED_SPANS : RANKED_SPANS + LISTED_SPANS])
        ranked += _apart(others, ranked)[:LISTED_SPANS]
        ranked = [*(one for one in ranked if not any(_is_of(one, title) for title in titled)), *titled]
        named = {match.start() for match in _OF_CODES.finditer(reading.text)}
        ranked = [one for one in ranked if not (_is_code(one.part, reading) or one.part.start in named)]
        return _with_sites(reading.text, sorted(ranked, key=lambda span: (span.part.start, span.part.end)))

    def _titles_in(self, reading: Reading) -> list[CandidateSpan]:
        """A span for each official title of a code in the text, judged by its first word; up to as many as are ranked
        of all others."""
        text, words, spans = reading.text, reading.written, list[CandidateSpan]()
        places = self._code_titles.places([word.text for word in words])
        for at, to, code in places[: RANKED_SPANS + LISTED_SPANS]:
            first, last = words[at], words[to]
            part = Part(text[first.start : last.end], first.start, last.end)
            spans.append(CandidateSpan(part, to - at + 1, 1.0, "", first.end, code))
        return spans

    def chosen(self, draft: TextSpans, hits: Hits, weights: ReadingWeights | None = None) -> tuple[list[int], Hits]:
        """The numbers of the spans that explain the text best, and the hits (span by span) that count of them; with
        other weights than those of the thresholds, for a measure."""
        weights = weights or self.weights
        if draft.plain:
            return [0], hits
        if (whole := self._verbatim_whole(draft, hits)) is not None:
            return [whole], hits.at(hits.part == whole)
        hits = self._stage.applied(draft, hits)
        hits = hits.weighed(self._named(draft, hits))
        hits = _of_titles(draft, hits)
        best = np.zeros(len(draft.spans), dtype=np.float32)
        np.maximum.at(best, hits.part, hits.probability)
        gains = [
            gain(span.chance if said in NOT_SEARCHED else chance, span, weights)
            for chance, span, said in zip(best.tolist(), draft.spans, draft.assertions, strict=True)
        ]
        real = [number for number, span in enumerate(draft.spans) if span.chance > 0]
        numbers = cover([draft.spans[n] for n in real], [gains[n] for n in real])
        if (whole := self._whole_statement(draft, hits, numbers, weights)) is not None:
            return [whole], hits.at(hits.part == whole)
        apart = any(draft.assertions[n] in NOT_SEARCHED for n in numbers)  # the whole holds what is not his
        taken = np.zeros(len(draft.spans), dtype=bool)
        taken[numbers] = True
        if apart:
            hits = hits.at(taken[hits.part])
        beside = np.array([not span.chance for span in draft.spans])[hits.part]
        hits = hits.weighed(np.where(beside, np.float32(weights.beside), np.float32(1)))
        return numbers, hits.at(taken[hits.part] | beside)

    def _named(self, draft: TextSpans, hits: Hits) -> Vectors:
        """0 for the hits of a stage by itself ("Kellgren IV medial") in other words than the wording's, 1 for all
        others: what it is the stage of, the text says elsewhere."""
        weights = np.ones(len(hits.part), dtype=np.float32)
        for number, said in enumerate(draft.said):
            if said and all(map(_is_stage, said)):
                for at in np.flatnonzero(hits.part == number).tolist():
                    weights[at] = self._wordings.has_words(int(hits.wording[at]), said)
        return weights

    def _whole_statement(
        self, draft: TextSpans, hits: Hits, numbers: Sequence[int], weights: ReadingWeights
    ) -> int | None:
        """The number of the span of a whole short text that is one statement: its code is none of its parts' and says
        more of their category ("Druckgeschwür am Steißbein, Grad 2"), or but one part has a code, or a part of several
        words has the whole's ("Blutung bei Heparin"). None elsewhere, so that a list stays a list, or where the text
        denies or tells of what is over."""
        whole = len(draft.spans) - 1
        if draft.spans[whole].chance or {draft.assertions[n] for n in numbers} - {"present"}:
            return None
        first = np.flatnonzero(np.r_[True, hits.part[1:] != hits.part[:-1]])[: len(hits.part)]
        best = {int(hits.part[at]): (float(hits.probability[at]), int(hits.code[at])) for at in first}
        chance, code = best.pop(whole, (0.0, -1))
        names = [self._catalog.codes[own].code for n, (p, own) in best.items() if n in numbers and p >= weights.likely]
        own = self._catalog.codes[code].code
        same = {category(name) for name in names} == {category(own)}
        agreed = [n for n, (p, c) in best.items() if c == code and p >= weights.likely and draft.spans[n].content > 1]
        more = own not in names and bool(names) and (same or bool(agreed) or len(names) == 1)
        return whole if more and chance >= weights.whole else None

    def _verbatim_whole(self, draft: TextSpans, hits: Hits) -> int | None:
        """The number of the span of a whole short text that is word for word a wording of the catalog: one mention,
        whatever commas and denials it is worded with ("ohne Angabe einer hypertensiven Krise")."""
        number = len(draft.spans) - 1
        first = np.flatnonzero(hits.part == number)[:1]
        if draft.spans[number].chance or not len(first):
            return None
        same = [word.text for word in draft.reading.written] == self._wordings.folded(int(hits.wording[first[0]]))
        return number if same else None


def _of_titles(draft: TextSpans, hits: Hits) -> Hits:
    """The hits, of each official title that of its code alone, as probable as its best: search may find the words of
    another title as like ("nicht als entgleist bezeichnet", "als entgleist bezeichnet")."""
    titles = [(number, span.titled) for number, span in enumerate(draft.spans) if span.titled is not None]
    if not titles:
        return hits
    chance, left = hits.probability.copy(), np.ones(len(hits.part), dtype=bool)
    for number, code in titles:
        own = hits.part == number
        its = own & (hits.code == code)
        if its.any():
            chance[its] = chance[own].max()
            left &= ~own | its
    return hits._replace(probability=chance).at(left)


def _whole(text: str) -> CandidateSpan:
    return CandidateSpan(Part(text, 0, len(text)), 1, 1.0)


def _with_sites(text: str, spans: Sequence[CandidateSpan]) -> list[CandidateSpan]:
    """The spans, each short one that names no part of the body with the one nearest beside it; a part of the body that
    is so the label of others ("LWS: Bandscheibenvorfall") is no mention itself."""
    sites = sites_of(text)
    if not sites:
        return list(spans)
    starts = [start for start, _ in sites]
    near = [_site_of(text, span, sites, starts) for span in spans]
    told = [(place, span.part.start) for place, span in zip(near, spans, strict=True) if place]
    labels = {place[0] for place, start in told if not _STOP.search(text, place[1], max(place[1], start))}
    return [
        span._replace(site=text[slice(*place)]) if place else span
        for span, place in zip(spans, near, strict=True)
        if span.part.start not in labels or not _is_label(text, span.part)
    ]


def _is_label(text: str, part: Part) -> bool:
    """True if a part that begins with a part of the body says nothing else before a colon."""
    label = _LABEL.match(text, part.start)
    return label is not None and part.end < label.end()


def _site_of(
    text: str, span: CandidateSpan, sites: Sequence[tuple[int, int]], starts: Sequence[int]
) -> tuple[int, int] | None:
    """The place of the part of the body nearest to a span, on its line; None where there is none, or one within it."""
    if span.content > SHORT or span.chance < SITED:
        return None
    start, end = span.part.start, span.part.end
    behind = bisect_left(starts, start)
    around = [sites[at] for at in (behind - 1, behind) if 0 <= at < len(sites)]
    if any(a < end and start < b for a, b in around):
        return None
    near = [(start - b, a, b) for a, b in around if b <= start and start - b <= BEFORE]
    near += [(a - end, a, b) for a, b in around if a >= end and a - end <= BEHIND]
    if not near:
        return None
    _, a, b = min(near)
    return None if "\n" in text[min(b, end) : max(a, start)] else (a, b)


def _apart(some: Sequence[CandidateSpan], others: Sequence[CandidateSpan]) -> list[CandidateSpan]:
    """Those that overlap with none of the others."""
    taken = sorted((other.part.start, other.part.end) for other in others)
    starts = [start for start, _ in taken]
    reached = [0, *accumulate((end for _, end in taken), max)]
    return [one for one in some if reached[bisect_left(starts, one.part.end)] <= one.part.start]


def _is_code(part: Part, reading: Reading) -> bool:
    """True for a part that is nothing but a code and its letters ("M17.1 RG")."""
    own = coded_at(reading.coded, part.start, part.end) if reading.coded else None
    return own is not None and own.start <= part.start and part.end <= own.end


def _is_of(one: CandidateSpan, title: CandidateSpan) -> bool:
    """True for a span that has words of a title and does not hold all of it."""
    start, end, first, last = one.part.start, one.part.end, title.part.start, title.part.end
    return start < last and first < end and not (start <= first and last <= end and (start, end) != (first, last))


def _is_stage(word: str) -> bool:
    return word in _STAGES or word in ROMAN or word in SIDES or word.isdecimal() or is_opposite(word)


def _of_whole(claim: Claim) -> Assertion:
    """The claim of a text that is searched as one wording: what it denies or dates is part of that wording, but a
    suspicion ("V. a. Pneumonie") stays one."""
    return "suspected" if claim.assertion == "suspected" else "present"


def _settled(found: Sequence[CandidateSpan], claims: Sequence[Assertion], reading: Reading) -> list[Assertion]:
    """The claims of the spans, in their order; what is suspected first and denied further on in words that begin the
    same ("Z. A. KHK: ... KHK ausgeschlossen") is denied."""
    settled, denied = list(claims), list[list[str]]()
    if "suspected" not in claims:
        return settled
    for number in reversed(range(len(found))):
        said = reading.said(found[number].part.start, found[number].part.end)
        if claims[number] == "excluded":
            denied.append(said)
        elif claims[number] == "suspected" and said and any(one[: len(said)] == said for one in denied):
            settled[number] = "excluded"
    return settled
