"""Coding rules of the classification, applied to every recommendation, whatever a model says.

Claims of the text, terminal codes, sex and age limits, exclusion notes ("Exkl."), and pairs of dagger and asterisk
code. Each rule takes proposals and returns new ones; what it removed or changed it says in German in `notes` or
`removed`, since a person reviews it. Source: ICD-10-GM systematic index, "Anleitung zur Verschlüsselung", and the
description of the metadata fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from clinical.coding.case import Case, Located, Offer, fits
from clinical.contract import CodeEntry, DetailedCodeEntry
from clinical.icd import PAIR_NOTE, REFERENCE, Catalog, Code, Note, covers, is_default, outside
from clinical.text import StatedPatient

Level = Literal["high", "medium", "low"]
SHOWN = 3
"""Partners of an asterisk code that are named."""
_RANK = {"high": 0, "medium": 1, "low": 2}
_LOWER: dict[Level, Level] = {"high": "medium", "medium": "low", "low": "low"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A code somebody proposes, the finding it stands for and what the rules had to say to it."""

    offer: Offer
    finding: Located
    confidence: Level
    reasoning: str
    pair: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> Code:
        """The proposed code."""
        return self.offer.code

    def noted(self, note: str) -> Proposal:
        """The same with one more note."""
        return replace(self, notes=(*self.notes, note))

    def entry(self, details: bool) -> CodeEntry:
        """As sent to the caller; `score` is null in tiers 2 and 3."""
        plain = CodeEntry(
            code=self.code.code,
            description=self.code.title,
            confidence=self.confidence,
            reasoning=self.reasoning,
        )
        if not details:
            return plain
        return DetailedCodeEntry(
            **plain.model_dump(),
            evidence=self.finding.span,
            assertion=self.finding.assertion,
            terminal=self.code.terminal,
            pair=self.pair,
            probability=self.offer.probability,
            notes=self.notes,
        )


@dataclass(frozen=True, slots=True)
class Correction:
    """Proposals left by the rules, best first, and German sentences on those removed and the reasons."""

    proposals: tuple[Proposal, ...]
    removed: tuple[str, ...] = ()


Rule = Callable[[Catalog, Case, tuple[Proposal, ...]], Correction]


def apply(catalog: Catalog, case: Case, proposals: Iterable[Proposal]) -> Correction:
    """All rules in turn, then one entry per code, best first (an asterisk code directly behind its dagger code)."""
    left = tuple(proposals)
    removed: tuple[str, ...] = ()
    for rule in (claims, terminal, limits, once, exclusions, pairs):
        outcome = rule(catalog, case, left)
        left, removed = outcome.proposals, (*removed, *outcome.removed)
    return Correction(_ordered(left), tuple(dict.fromkeys(removed)))


def claims(catalog: Catalog, case: Case, proposals: tuple[Proposal, ...]) -> Correction:
    """A code that the finding's claim does not allow is dropped: excluded gives none, history only aftermath."""
    left = tuple(item for item in proposals if fits(item.code, item.finding.assertion))
    return Correction(left)


def terminal(catalog: Catalog, case: Case, proposals: tuple[Proposal, ...]) -> Correction:
    """A non-terminal code becomes its terminal child where that is certain; else a note says that it needs one."""
    return Correction(tuple(item if item.code.terminal else _resolved(catalog, case, item) for item in proposals))


def _resolved(catalog: Catalog, case: Case, item: Proposal) -> Proposal:
    leaves = [leaf for leaf in catalog.leaves(item.code.code) if leaf.code not in case.barred]
    offered = [leaf for leaf in leaves if item.finding.number in _findings_of(case, leaf)]
    offered.sort(key=lambda leaf: -(case.offers[leaf.code].probability or 0.0))
    unspecified = [leaf for leaf in leaves if is_default(leaf.title)]
    for choice in (leaves if len(leaves) == 1 else [], offered, unspecified if len(unspecified) == 1 else []):
        if choice:
            note = f"{item.code.code} ist nicht endständig; aufgelöst zu {choice[0].code}."
            offer = case.offers.get(choice[0].code, replace(item.offer, code=choice[0], probability=None))
            return replace(item, offer=offer, confidence=_LOWER[item.confidence]).noted(note)
    some = ", ".join(leaf.code for leaf in leaves[:5])
    note = f"{item.code.code} ist nicht endständig; bitte eine Unterschlüsselnummer wählen ({some})."
    return replace(item, reasoning=f"{item.reasoning} {note}".strip()).noted(note)


def _findings_of(case: Case, code: Code) -> tuple[int, ...]:
    offer = case.offers.get(code.code)
    return offer.findings if offer else ()


def limits(catalog: Catalog, case: Case, proposals: tuple[Proposal, ...]) -> Correction:
    """Codes limited to the other sex or to another age than the text states are removed."""
    stated = StatedPatient.by(case.text)
    left, removed = [], []
    for item in proposals:
        reason = _limit_broken(item.code, stated)
        if reason:
            removed.append(f"{item.code.code} entfällt ({reason}).")
        else:
            left.append(item)
    return Correction(tuple(left), tuple(removed))


def _limit_broken(code: Code, stated: StatedPatient) -> str:
    if code.sex and stated.sex and code.sex != stated.sex:
        return "Geschlechtsbezug des Kodes widerspricht dem Text"
    if stated.age_days is not None and outside(stated.age_days, code.age_low, code.age_high):
        return "Altersbezug des Kodes widerspricht dem Text"
    return ""


def once(catalog: Catalog, case: Case, proposals: tuple[Proposal, ...]) -> Correction:
    """Each code once, in the better of its confidences; a parent of a chosen code goes."""
    best: dict[str, Proposal] = {}
    for item in sorted(proposals, key=lambda item: _RANK[item.confidence]):
        best.setdefault(item.code.code, item)
    chosen = set(best)
    left = (item for item in best.values() if not any(_below(other, item.code.code) for other in chosen))
    return Correction(tuple(left))


def _below(code: str, ancestor: str) -> bool:
    return code != ancestor and code.startswith(ancestor)


def exclusions(catalog: Catalog, case: Case, proposals: tuple[Proposal, ...]) -> Correction:
    """ "Exkl." of A names B: for the same finding B replaces A; for different findings both stay, noted for review."""
    left, removed = list(proposals), []
    for item in proposals:
        for other in proposals:
            note = _exclusion(catalog, item.code, other.code)
            if note is None or item not in left or other not in left or item is other:
                continue
            sentence = f"Exkl. bei {item.code.code}: {note.text} ({', '.join(note.references)})"
            if _same_finding(item.finding, other.finding):
                left.remove(item)
                removed.append(f"{item.code.code} entfällt zugunsten von {other.code.code} ({sentence}).")
                left[left.index(other)] = other.noted(sentence)
                break
            left[left.index(item)] = item = item.noted(sentence)
    return Correction(tuple(left), tuple(removed))


def _same_finding(one: Located, two: Located) -> bool:
    if one.number == two.number:
        return True
    return bool(one.span and two.span and one.span.start < two.span.end and two.span.start < one.span.end)


def _exclusion(catalog: Catalog, code: Code, other: Code) -> Note | None:
    """The exclusion note of `code` or of a code above it that refers to `other`, but not to `code` itself."""
    for note in catalog.exclusion_notes(code):
        references = note.references or tuple(REFERENCE.findall(note.text))
        if any(covers(ref, other.code) for ref in references) and not any(covers(ref, code.code) for ref in references):
            return note
    return None


def pairs(catalog: Catalog, case: Case, proposals: tuple[Proposal, ...]) -> Correction:
    """A dagger and an asterisk code stand together: each gets its partner, which is added where it is certain.

    An asterisk code without a known partner is kept and said to need a dagger code. A dagger code gets its asterisk
    code only where the catalog text it was found by is coded with both.
    """
    left = list(proposals)
    for item in proposals:
        if item.code.kind == "asterisk":
            left = _with_dagger(catalog, case, left, item)
        elif item.code.kind == "dagger" or any(note.kind == PAIR_NOTE for note in item.code.notes):
            left = _with_asterisk(catalog, left, item)
    return Correction(tuple(left))


def _with_dagger(catalog: Catalog, case: Case, left: list[Proposal], asterisk: Proposal) -> list[Proposal]:
    partners = [ref for note in _pair_notes(asterisk) for ref in note.references]
    chosen = next((item for item in left if item.code.code in partners), None)
    if chosen is not None:
        return _joined(left, chosen, asterisk)
    offered = [case.offers[code] for code in partners if code in case.offers]
    certain = offered or [Offer(code) for name in partners if (code := catalog.get(name)) and len(set(partners)) == 1]
    allowed = [offer for offer in certain if fits(offer.code, asterisk.finding.assertion) and offer.code.terminal]
    if not allowed or allowed[0].code.code in case.barred:
        return _needs_dagger(left, asterisk, partners)
    added = Proposal(allowed[0], asterisk.finding, asterisk.confidence, f"Kreuz-Kode zu {asterisk.code.code}.")
    return _joined([*left, added], added, asterisk)


def _needs_dagger(left: list[Proposal], asterisk: Proposal, partners: Sequence[str]) -> list[Proposal]:
    some = f" (z. B. {', '.join(partners[:SHOWN])})" if partners else ""
    note = f"{asterisk.code.code} ist ein Stern-Kode und braucht einen Kreuz-Kode{some}."
    changed = replace(asterisk, reasoning=f"{asterisk.reasoning} {note}".strip()).noted(note)
    return [changed if item is asterisk else item for item in left]


def _with_asterisk(catalog: Catalog, left: list[Proposal], dagger: Proposal) -> list[Proposal]:
    """The asterisk code that the text this code was found by is coded with."""
    if any(item.code.code == dagger.code.code and item.pair for item in left):
        return left
    texts = {_plain(dagger.offer.text), _plain(dagger.finding.phrase)} - {""}
    for note in _pair_notes(dagger):
        asterisk = catalog.get(note.references[0]) if note.references else None
        if asterisk is None or asterisk.kind != "asterisk" or not texts & set(map(_plain, note.text.splitlines())):
            continue
        chosen = next((item for item in left if item.code.code == asterisk.code), None)
        added = chosen or Proposal(
            Offer(asterisk), dagger.finding, dagger.confidence, f"Stern-Kode zu {dagger.code.code}."
        )
        return _joined(left if chosen else [*left, added], dagger, added)
    return left


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _pair_notes(item: Proposal) -> list[Note]:
    return [note for note in item.code.notes if note.kind == PAIR_NOTE]


def _joined(left: Sequence[Proposal], dagger: Proposal, asterisk: Proposal) -> list[Proposal]:
    partner = {dagger.code.code: asterisk.code.code, asterisk.code.code: dagger.code.code}
    return [replace(item, pair=partner.get(item.code.code, item.pair)) for item in left]


def _ordered(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """By confidence, otherwise as proposed; an asterisk code directly behind its dagger code."""
    ranked = sorted(proposals, key=lambda item: _RANK[item.confidence])
    asterisks = {item.code.code: item for item in ranked if item.code.kind == "asterisk" and item.pair}
    ordered: list[Proposal] = []
    for item in ranked:
        if asterisks.get(item.code.code) is item and any(other.code.code == item.pair for other in ranked):
            continue
        ordered.append(item)
        ordered += [asterisk for asterisk in asterisks.values() if asterisk.pair == item.code.code]
    return tuple(ordered)
