"""Candidate codes for a model: the catalog searched for each finding, within what the finding claims.

A finding that is excluded or only in the family gives no code of the disease itself; one of the past gives the
catalog's codes for aftermath and personal history (chapter XXI, sequelae) where there are any. This holds before a
model sees a single code, and again for what it chooses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clinical.claims import Reading
from clinical.coding.prompts import FINDINGS_MAX, Finding
from clinical.coding.written_codes import written_codes
from clinical.contract import Assertion, Span
from clinical.icd import FAMILY_HISTORY, PAIR_NOTE, Catalog, Code, is_aftermath
from clinical.text import BLANKS, find_pieces, folded_words, lowered

if TYPE_CHECKING:
    from clinical.reading import Candidate, SearchIndex

PER_FINDING = 8
"""Candidates per finding: the right code is among the first ten for 94 % of held-out synonyms, and the last two of
these ten rarely are it; a shorter list leaves room for more findings."""
PARTNERS = 3
"""Partners offered of the best candidates of a finding."""
PARTNERS_MAX = 16
"""Places kept for partners among the codes shown."""
SHOWN_MAX = 80
"""Candidates shown at once: about 3,100 tokens, so that a context of 8,192 holds text, findings and answer."""

BEST = 3
"""Hits of a finding that say which disease it is."""
STANDING = ("present", "suspected")
"""Claims under which a disease is there, or may be."""


Found = dict[int, tuple["Candidate", ...]]
"""Hits by the number of a finding, best first."""


@dataclass(frozen=True, slots=True)
class Located:
    """A numbered finding (from 1) with the place of its quote in the text, None where the text does not say it."""

    number: int
    phrase: str
    assertion: Assertion
    span: Span | None
    quote: str = ""
    code: str | None = None
    """Set for a code that is written in the text itself."""

    def payload(self) -> dict[str, object]:
        """As shown to a model."""
        return {"number": self.number, "phrase": self.phrase, "quote": self.quote, "assertion": self.assertion}


@dataclass(frozen=True, slots=True)
class Offer:
    """A code that may be chosen: how it was found (None where opened or named), and for which findings."""

    code: Code
    probability: float | None = None
    text: str = ""
    findings: tuple[int, ...] = ()
    instant: float | None = None
    """Probability by tier 1, which weighs the whole text; None where tier 1 does not show the code."""

    def payload(self) -> dict[str, object]:
        """As shown to a model."""
        shown: dict[str, object] = {"code": self.code.code, "title": self.code.title, "findings": self.findings}
        if self.probability is not None:
            shown["match"] = round(self.probability, 2)
        if self.instant is not None:
            shown["instant"] = round(self.instant, 2)
        if not self.code.terminal:
            shown["terminal"] = False
        if self.code.kind != "plain":
            shown["kind"] = {"asterisk": "Stern", "dagger": "Kreuz", "exclamation": "Ausrufezeichen"}[self.code.kind]
        return shown


@dataclass(frozen=True, slots=True)
class Case:
    """A text, its findings, the codes on offer, and the codes that an excluded finding bars."""

    text: str
    findings: tuple[Located, ...]
    offers: Mapping[str, Offer]
    barred: frozenset[str] = field(default=frozenset())

    def finding(self, number: int) -> Located | None:
        """The finding of that number, or None."""
        return self.findings[number - 1] if 1 <= number <= len(self.findings) else None

    def with_offers(self, offers: Iterable[Offer]) -> Case:
        """More codes on offer, up to SHOWN_MAX; barred ones are left out, known ones keep what is known."""
        merged = dict(self.offers)
        for offer in offers:
            code = offer.code.code
            if code in self.barred or (code not in merged and len(merged) >= SHOWN_MAX):
                continue
            merged[code] = _merged(merged.get(code), offer)
        return replace(self, offers=merged)


def build_case(index: SearchIndex, text: str, findings: Sequence[Finding], instant: Sequence[Candidate] = ()) -> Case:
    """Search the catalog for each finding, and add the codes that the text names itself and those of tier 1.

    `instant` is what tier 1 found in this text: it has read every part of it, so a diagnosis that the model passed over
    is a finding too, and what both found is on offer once. Pure; some milliseconds.
    """
    read = Reading.of(text)
    located = _with_instant(read, _locate(index, read, findings), instant)
    found, bare = _search(index, located)
    offers = [
        Offer(code, hit.probability, hit.text, (finding.number,))
        for finding in located
        for hit in found[finding.number]
        if (code := index.catalog.get(hit.code)) is not None and fits(code, finding.assertion)
    ]
    partners = [
        Offer(code)
        for finding in located
        for code in _partners(index.catalog, finding, found[finding.number][:2])
        if fits(code, finding.assertion)
    ]
    named = [Offer(code, None, "", (finding.number,)) for finding, code in _named(index, located)]
    seen = _instant_offers(index, located, instant)
    barred = _barred(index, located, found | bare, {offer.code.code for offer in (*named, *seen)})
    return Case(text, located, {}, barred).with_offers(
        (*named, *seen, *_in_turns(offers)[: SHOWN_MAX - PARTNERS_MAX], *partners)
    )


def _partners(catalog: Catalog, finding: Located, hits: Sequence[Candidate]) -> Iterator[Code]:
    """The codes that stand in a pair of dagger and asterisk with these candidates, those first whose common wording
    shares words with the finding."""
    said = set(folded_words(f"{finding.phrase} {finding.quote}"))
    pairs = [
        (-len(said & set(folded_words(note.text))), name)
        for hit in hits
        if (code := catalog.get(hit.code)) is not None
        for note in code.notes
        if note.kind == PAIR_NOTE
        for name in note.references
    ]
    yield from (code for _, name in sorted(pairs)[:PARTNERS] if (code := catalog.get(name)) is not None)


def _with_instant(read: Reading, located: Sequence[Located], instant: Sequence[Candidate]) -> tuple[Located, ...]:
    """The findings, and one for each place where tier 1 found a code and the model found nothing."""
    text, findings = read.text, list(located)
    for hit in instant:
        if _nearest(findings, hit) is None:
            quote, claim = text[hit.start : hit.end], read.claim(hit.start, hit.end).assertion
            phrase, span = " ".join(quote.split())[:200], Span(start=hit.start, end=hit.end)
            findings.append(Located(len(findings) + 1, phrase, claim, span, quote[:200]))
    return tuple(findings)


def _instant_offers(index: SearchIndex, located: Sequence[Located], instant: Sequence[Candidate]) -> list[Offer]:
    return [
        Offer(code, hit.probability, hit.text, (finding.number,), hit.probability)
        for hit in instant
        if (finding := _nearest(located, hit)) is not None
        and (code := index.catalog.get(hit.code)) is not None
        and fits(code, finding.assertion)
    ]


def _nearest(located: Sequence[Located], hit: Candidate) -> Located | None:
    """The finding whose place shares most with that of the hit; None where none shares anything."""

    def shared(finding: Located) -> int:
        return min(finding.span.end, hit.end) - max(finding.span.start, hit.start) if finding.span else 0

    best = max(located, key=shared, default=None)
    return best if best is not None and shared(best) > 0 else None


def fits(code: Code, assertion: Assertion) -> bool:
    """True if a finding with that claim may be given this code."""
    if assertion == "excluded":
        return False
    if assertion == "family":
        return code.code in FAMILY_HISTORY
    if assertion == "history":
        return is_aftermath(code)
    return code.code not in FAMILY_HISTORY


def locate(text: str, quote: str) -> Span | None:
    """Find the span of the quote in the text: literally, else with other white space or case; None if absent."""
    words = quote.split()
    if not words:
        return None
    start = text.find(quote)
    if start >= 0:
        return Span(start=start, end=start + len(quote))
    found = find_pieces(lowered(text), [lowered(word) for word in words], BLANKS)
    return Span(start=found[0], end=found[1]) if found else None


def _locate(index: SearchIndex, read: Reading, findings: Sequence[Finding]) -> tuple[Located, ...]:
    """The model's findings, numbered, and then the codes named in the text that none of them covers."""
    text = read.text
    located: list[Located] = []
    for finding in findings[:FINDINGS_MAX]:
        phrase = " ".join(finding.phrase.split())[:200]
        if phrase:
            quote = finding.quote.strip()[:200]
            span = locate(text, quote)
            located.append(Located(len(located) + 1, phrase, finding.assertion, span, quote))
    for name, start, end in written_codes(text, index.catalog):
        code, span = index.catalog.get(name), Span(start=start, end=end)
        if code is not None:
            claim = _claim(read, span, located)
            located.append(Located(len(located) + 1, code.title, claim, span, text[start:end], code.code))
    return tuple(located)


def _claim(read: Reading, mention: Span, located: Sequence[Located]) -> Assertion:
    """The claim of a finding that covers the mention; without one, what trigger words say."""
    for finding in located:
        if finding.span and finding.span.start < mention.end and mention.start < finding.span.end:
            return finding.assertion
    return read.claim(mention.start, mention.end).assertion


def _named(index: SearchIndex, located: Sequence[Located]) -> Iterator[tuple[Located, Code]]:
    for finding in located:
        code = index.catalog.get(finding.code or "")
        if code is not None and fits(code, finding.assertion):
            yield finding, code


def _search(index: SearchIndex, located: Sequence[Located]) -> tuple[Found, Found]:
    """Search the findings as they are claimed; those not present now are searched as the disease itself, too.

    All phrases are searched together, each as a wording: what the text claims is the finding's own matter, and "Mutter"
    in a phrase is no relative.
    """
    asked = [(finding.number, query) for finding in located for query in _queries(finding)]
    gone = [finding for finding in located if finding.assertion not in STANDING and finding.code is None]
    queries = [query for _, query in asked] + [finding.phrase for finding in gone]
    hits = index.search_phrases(queries, PER_FINDING)
    found: Found = {finding.number: () for finding in located}
    for (number, _), some in zip(asked, hits, strict=False):
        found[number] = _united(found[number], some)
    return found, {finding.number: some for finding, some in zip(gone, hits[len(asked) :], strict=True)}


def _united(one: Sequence[Candidate], other: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Both queries' codes, none twice, most probable first."""
    best: dict[str, Candidate] = {}
    for hit in sorted((*one, *other), key=lambda hit: -hit.probability):
        best.setdefault(hit.code, hit)
    return tuple(best.values())


def _queries(finding: Located) -> list[str]:
    """Queries of a finding: what the text says and what the model calls it; one of the past or of the family is
    searched in the catalog's own words."""
    if finding.assertion == "history":
        return [f"{finding.phrase} in der Eigenanamnese", f"Zustand nach {finding.phrase}"]
    if finding.assertion == "family":
        return [f"{finding.phrase} in der Familienanamnese"]
    if finding.assertion == "excluded" or finding.code is not None:
        return []
    quote = " ".join(finding.quote.split()) if finding.span else ""
    return [finding.phrase] if quote.casefold() in ("", finding.phrase.casefold()) else [quote, finding.phrase]


def _barred(
    index: SearchIndex, located: Sequence[Located], found: Mapping[int, Sequence[Candidate]], named: set[str]
) -> frozenset[str]:
    """Codes of diseases that the text excludes, leaves to the past or to relatives, and says nowhere else.

    Without this a model that attaches an excluded disease to another finding would get its code through in tier 3,
    where it searches by itself. The BEST hits of a finding that stands are never barred.
    """
    standing = set(named)
    gone: set[str] = set()
    for finding in located:
        if finding.assertion in STANDING:
            standing |= {hit.code for hit in found[finding.number][:BEST]}
        else:
            gone |= _disease(index, finding, found[finding.number])
    return frozenset(gone - standing)


def _disease(index: SearchIndex, finding: Located, hits: Sequence[Candidate]) -> set[str]:
    """The codes of the disease itself, the good hits for its phrase (or the named code), and all below them: a past
    hyperosmolar coma leaves the diabetes without complications open."""
    names = [finding.code] if finding.code else [hit.code for hit in hits[:BEST] if hit.confidence != "low"]
    members = {name: code for name in names if (code := index.catalog.get(name))}
    members |= {leaf.code: leaf for name in names for leaf in index.catalog.leaves(name)}
    return {name for name, code in members.items() if not fits(code, finding.assertion)}


def _in_turns(offers: Sequence[Offer]) -> list[Offer]:
    """The best of each finding first, then the second of each: a cut-off at the end hurts all findings alike."""
    seen: dict[tuple[int, ...], int] = {}
    ranked = []
    for offer in offers:
        seen[offer.findings] = seen.get(offer.findings, 0) + 1
        ranked.append((seen[offer.findings], offer))
    return [offer for _, offer in sorted(ranked, key=lambda pair: pair[0])]


def _merged(known: Offer | None, new: Offer) -> Offer:
    if known is None:
        return new
    best = max((known, new), key=lambda offer: offer.probability if offer.probability is not None else -1.0)
    instant = known.instant if known.instant is not None else new.instant
    return replace(best, findings=tuple(dict.fromkeys((*known.findings, *new.findings))), instant=instant)
