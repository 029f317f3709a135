"""In which role does a value stand in the letter? What supports that it is *this* field, and what speaks for another.

A role is read off the form of a letter: labels, the blocks above the salutation (sender, recipient, patient), the
signature, headings, and what stands beside a place. Nothing is removed by it; doubt is a hint for a human (`review`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from clinical.language import Reading, written_groups

Support = Literal["label", "block", "salutation", "neighbourhood"]
Role = Literal[
    "patient", "absender", "empfaenger", "versicherung", "angehörige",
    "birth", "letter", "operation", "stay", "finding",
    "diagnosen", "medikation", "eingriffe", "procedere", "fragestellung", "anamnese",
    "versichertennummer", "fallnummer",
]  # fmt: skip
LINE_MOST: Final = 300
"""Characters of a line that are read around a place."""
BLOCKS_MOST: Final = 12
"""Paragraphs above the salutation that are read for whose they are."""

_GREETING = re.compile(
    r"(?m)^[ \t]*(?:Sehr (?:ge|ver)ehrte|Liebe[rs]?\s|Werte[rs]?\s|Geschätzte|Guten (?:Tag|Morgen)|Hallo|Egregio)"
)
_CLOSING = re.compile(
    r"(?mi)^[ \t]*(?:mit\s+(?:freundlich|kollegial|best|herzlich|vorzüglich)"
    r"|(?:freundliche|beste|viele|liebe|herzliche|kollegiale)\w*\s+(?:kollegiale\w*\s+)?gr[uü]|hochachtungsvoll|mfg\b|"
    r"cordiali|gez\.|stempel|unterschrift|f\.?\s?d\.?\s?r\.?)"
)
_PATIENT = re.compile(
    r"\b(?:geb\.?|geboren\w*|Geburts\w+|Patient\w*|Pat\.|Betreff|Betrifft|Versicherte\w*|SV-Nr|AHV|wohnhaft|Vorname)\b"
    r"|(?<!\d)\*\s?\d{1,2}\.",
    re.IGNORECASE,
)
_OWNER_WORDS: Final[Mapping[Role, str]] = {
    "empfaenger": r"an(?:\s+(?:die|das|den))?\s*:|an\s+(?:die|das|den)\s*$|empfänger|adressat|(?:zu|über)weisung an"
                  r"|überweisung / einweisung in|zu?\.?\s?hd|nächsterreichbar\w*|zielklinik",
    "absender": r"von\s*:|absender|(?:zu|über|ein)weis(?:er(?:in)?|ende\w*)\b|anforder|angefordert von|auftraggeber"
                r"|stempel|hausarzt\s*:",
    "patient": r"patient|pat\.|betreff|betrifft|versicherte[rn]?\b|personalien",
    "angehörige": rf"(?:{written_groups()['@contact']})\b",
}  # fmt: skip
_OWNERS: Final[tuple[tuple[Role, re.Pattern[str]], ...]] = tuple(
    (role, re.compile(rf"[\s|\-–—=*]*(?:{pattern})", re.IGNORECASE)) for role, pattern in _OWNER_WORDS.items()
)
_HEADING_WORDS: Final[Mapping[Role, str]] = {
    "diagnosen": r"[\w-]*\s?(?:haupt|neben)?-?diagnosen?|diagn\.?",
    "medikation": r"(?:[\w-]+ )?[\w-]*(?:medikation|medikamente|medikamenten\w*)|medis|rp\.?|unsere letzte therapie",
    "eingriffe": r"(?:[\w-]+ )?(?:eingriffe?|operation(?:en)?|op|interventionen|prozeduren)",
    "procedere": r"pro[cz]edere|(?:weiteres )?vorgehen|[\w-]*empfehlung(?:en)?|nachsorge|kontrollen?",
    "fragestellung": r"frage(?:stellung)?|auftrag|anliegen|erbeten|zuweisungsgrund",
    "anamnese": r"[\w-]*anamnese|vorgeschichte|vorerkrankungen|verlauf|epikrise|beurteilung|[\w-]*befunde?|status",
}  # fmt: skip
_HEADING = re.compile(
    r"[\s\d.)*#•-]*(?:"
    + "|".join(f"(?P<{role}>{words})" for role, words in _HEADING_WORDS.items())
    + r"|(?P<other>[A-ZÄÖÜ][^:\n]{2,40}))(?P<rest>[^:\n]{0,30}:|\t|\s*$)",
    re.IGNORECASE,
)
PROSE: Final = 70
"""Characters from which a line is prose, which an empty line above parts from a list's heading."""
LINES_OF_A_SECTION: Final = 40
"""Lines above a place in which the heading of its section is looked for."""
_INSURANCE = re.compile(
    r"(?:ahv|sv-?\s?n|svnr|vers(?:ich|\.|n|-)\w*\.?-?\s?n|kv-?n|mitglied|sozialversicherung|versichertenn|"
    r"versicherungsn)",
    re.I,
)
_CASE = re.compile(r"\b(?:fall|aufnahme(?:zahl|nummer|-?nr)|behandlungsfall)", re.I)
_PAYER = re.compile(r"(?:versicher|krankenkasse|\bkasse|kostenträger|garant|\bkk\b|\bkv\b|leistungsträger|cassa)", re.I)
_BORN = re.compile(r"(?:geb\.?|geboren\w*|geburts\w*|\bgd|\*|jg\.?)\W{0,12}(?:am|dat\w*)?\W{0,6}$", re.I)
_OPERATION = re.compile(
    r"\b(?:op\b|operation|eingriff|operiert|\w+(?:ektomie|tomie|skopie|plastik|synthese|prothese)\b)", re.I
)
_STAY = re.compile(
    r"\b(?:vom|von|eintritt|aufnahme|austritt|entlass\w*|stationär|hospitalis\w*|bis|aufenthalt)\b", re.I
)
_LETTER = re.compile(r"\b(?:datum|den|am|vom|eingegangen|erfasst|gesendet|angefordert|gedruckt)\b|,\s*$|^\W*$", re.I)
_FAX = re.compile(r"\s*(?:FAX|Fax|Seite|S\.|Formular|gedruckt)\b")
_ADDRESSED = re.compile(r"\s*(?:An\b|Herrn?\b|Frau\b|z\.?\s?Hd)")
_TITLE = re.compile(r"(?:Dr|Prof|PD|Doz|Prim|OA|OÄ|med)\.?(?:in)?\.?\s*(?:[\w.-]+\s+){0,2}$")
_DOCTOR = re.compile(r"(?:(?:Herrn?|Frau|Fr\.|Hr\.)\s+)?(?:Dr|Prof|PD|Doz|Prim|OA|OÄ|Univ|Dipl|Priv)\b")
_SAID_TO = re.compile(r"\b(?:Herrn?|Frau|Hr\.|Fr\.|Patientin|Patienten?|Sig\.)\s+(?:[\w.-]+\s+){0,2}$")


@dataclass(frozen=True, slots=True)
class Standing:
    """A role in which a place of the letter stands, and what says so."""

    role: Role
    by: Support


class Roles:
    """The form of one letter; made once, linear in its length."""

    def __init__(self, source: Reading) -> None:
        self.source, self.text = source, source.text

    @cached_property
    def greeting(self) -> int:
        """Where the salutation begins; the end of the text where there is none."""
        match = _GREETING.search(self.text)
        return match.start() if match else len(self.text)

    @cached_property
    def closing(self) -> int:
        """Where the closing formula begins, behind which the writer signs."""
        found = [match.start() for match in _CLOSING.finditer(self.text)]
        return next((at for at in found if at > min(self.greeting, len(self.text) // 2)), len(self.text))

    @cached_property
    def _blocks(self) -> tuple[list[int], list[Role | None]]:
        """Starts and owners of the paragraphs above the salutation."""
        starts, owners, seen = [0], [], 0
        head = self.text[: self.greeting]
        for match in re.finditer(r"\n[ \t]*\n\s*", head):
            starts.append(match.end())
        for number, start in enumerate(starts[:BLOCKS_MOST]):
            end = starts[number + 1] if number + 1 < len(starts) else len(head)
            block = head[start:end]
            owner = self._owner_of(block)
            if owner is None and len(block.split()) > 3 and not _FAX.match(block):
                addressed = _ADDRESSED.match(block) is not None
                owner = "empfaenger" if seen or addressed else "absender"
                seen += 1
            owners.append(owner)
        return starts[: len(owners)], owners

    def _owner_of(self, block: str) -> Role | None:
        labelled = next((role for role, pattern in _OWNERS if pattern.match(block)), None)
        if labelled:
            return labelled
        return "patient" if _PATIENT.search(block) else None

    def line(self, at: int) -> tuple[str, str]:
        """The line around a place: before it and behind."""
        start = max(self.text.rfind("\n", 0, at) + 1, at - LINE_MOST)
        end = self.text.find("\n", at)
        return self.text[start:at], self.text[at : min(end if end >= 0 else len(self.text), at + LINE_MOST)]

    def label(self, at: int) -> str:
        """The label of a place: what stands before it in its line, or the line above where nothing does."""
        before, _ = self.line(at)
        if re.search(r"\w", before):
            return before
        start = self.text.rfind("\n", 0, at) + 1
        above = self.text[max(0, start - 80) : max(0, start - 1)]
        return above[above.rfind("\n") + 1 :]

    def owner(self, at: int) -> Standing | None:
        """Whose a name, address or number at this place is."""
        before, behind = self.line(at)
        if re.search(r"wohnhaft|wohnt|Adresse|Anschrift", before[-40:]) and "@" not in behind:
            return Standing("patient", "label")
        for role, pattern in _OWNERS:
            if pattern.match(before or behind):
                return Standing(role, "label")
        if at >= self.closing:
            return Standing("absender", "block")
        starts, owners = self._blocks
        if at < self.greeting < len(self.text):
            i = bisect_right(starts, at) - 1
            if i < len(owners) and owners[i] is not None:
                return Standing(owners[i] or "patient", "block")
        return self._form_owner(at)

    def _form_owner(self, at: int) -> Standing | None:
        """The nearest owner's label above, with no empty line between."""
        end = self.text.rfind("\n", 0, at)
        for _ in range(BLOCKS_MOST):
            if end < 0:
                return None
            start = self.text.rfind("\n", 0, end) + 1
            line = self.text[start:end]
            if not line.strip():
                return None
            for role, pattern in _OWNERS:
                if pattern.match(line):
                    return Standing(role, "block")
            end = start - 1
        return None

    def person(self, at: int) -> Standing | None:
        """Whose name stands here."""
        before, behind = self.line(at)
        if _GREETING.match(before or behind):
            return Standing("empfaenger", "salutation")
        born = re.match(r"[^\n]{0,60}?(?:\bgeb\b|geboren|\*\s?\d|Jg)", behind)
        doctor = _TITLE.search(before) is not None or _DOCTOR.match(behind) is not None
        if not doctor and (_SAID_TO.search(before) or born):
            return Standing("patient", "salutation" if not born else "neighbourhood")
        return self.owner(at)

    def day(self, at: int, birth: bool) -> Standing | None:
        """Of what a date at this place is the day."""
        before, behind = self.line(at)
        if birth or _BORN.search(before) or _BORN.search(self.label(at)):
            return Standing("birth", "label")
        if _OWNERS[2][1].match(before):
            return Standing("birth", "neighbourhood")
        section = self.section(at)
        if section is not None and section.role == "eingriffe":
            return Standing("operation", "block")
        if _OPERATION.search(before[-80:]) or _OPERATION.search(behind[:80]):
            return Standing("operation", "neighbourhood")
        short = len(before.strip()) < 40 and len(behind) < 30
        edge = at < self.greeting or at >= self.closing or at < 200 or at > len(self.text) - 150
        if edge and short and _LETTER.search(before):
            return Standing("letter", "label")
        if re.search(
            r"\b(?:bericht|brief|befund|schreiben|zuweisung|einweisung|überweisung|konsil)\w*\s+vom\s*$", before, re.I
        ):
            return Standing("letter", "neighbourhood")
        if _STAY.search(before[-40:]):
            return Standing("stay", "neighbourhood")
        return Standing("letter", "block") if edge and short else None

    def number(self, at: int) -> Standing | None:
        """What a number of a person names."""
        label = self.label(at)[-60:]
        insured = [match.end() for match in _INSURANCE.finditer(label)]
        case = [match.end() for match in _CASE.finditer(label)]
        if insured or case:
            return Standing(
                "fallnummer" if max(case, default=-1) > max(insured, default=-1) else "versichertennummer", "label"
            )
        return None

    def payer(self, at: int) -> Standing | None:
        """Whether the insurer stands here."""
        if _PAYER.search(self.label(at)[-60:]) or _PAYER.search(self.line(at)[1][:40]):
            return Standing("versicherung", "label")
        owner = self.owner(at)
        return owner if owner and owner.role in ("absender", "empfaenger") else None

    def section(self, at: int) -> Standing | None:
        """Under which heading a place stands: the nearest line above, or its own, that begins like one."""
        end, prose = at, False
        for number in range(LINES_OF_A_SECTION):
            start = self.text.rfind("\n", 0, end) + 1
            line = self.text[start : end if number else at][:LINE_MOST]
            match = _HEADING.match(line) if line.strip() else None
            if match and (match["rest"].strip() or "\t" in match["rest"] or number):
                role = next((name for name in _HEADING_WORDS if match[name]), None)
                if role is not None:
                    return Standing(role, "block")
                if match["rest"].strip() == ":":
                    return None
            prose = prose or (not number and len(self.line(at)[0]) + len(self.line(at)[1]) > PROSE)
            if start == 0 or _GREETING.match(line) or (prose and number and not line.strip()):
                return None
            end = start - 1
        return None

    @cached_property
    def days(self) -> list[str]:
        """The days of the text that are not said of a birth."""
        return sorted(day for one in self.source.dates if not one.birth and (day := one.iso()))
