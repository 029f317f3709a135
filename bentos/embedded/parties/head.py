"""The head of a letter in blocks, and what a form's labels say of a party: what sender and recipient are read from."""

from __future__ import annotations

import re

from bentos.embedded.kinds import title_of
from bentos.embedded.labels import key, label_of
from bentos.embedded.letter import Labelled, Sheet
from bentos.embedded.names import Name
from bentos.embedded.parties.places import PLACE
from clinical.language import dates_of

ADDRESSED = re.compile(
    r"^(?:An(?!\s(?:der|dem)\s)(?:\s(?:die|das|den|unsere\w*))?|Herrn?|Frau|Hrn\.|Fr\.|Familie|z\.\s?H(?:d|"
    r"dn)?\.)\b[\s:]*",
    re.IGNORECASE,
)
TO_HOLD = re.compile(r"^(?:z\.\s?H(?:d|dn)?\.?:?|zu Händen(?: von)?:?|c/o|Attn?\.?:?)\s*", re.IGNORECASE)
REACHED = re.compile(
    r"\b(?:tel|telefon|fax|telefax|e-?mail|www\.|http|iban|sprechzeit|öffnungszeit)\b|@", re.IGNORECASE
)
SUBJECT = re.compile(r"^(?:betr(?:eff|ifft)?\b|pat(?:ient(?:in)?)?\b[.:]|re:|wg\.|\W*geb)", re.IGNORECASE)
_FAX_LINE = re.compile(r"^\s*(?:tele)?fax\b", re.IGNORECASE)
_REFERRED = re.compile(
    r"^\s*(?:zugewiesen|zuweis|überw|einweis|ha\b|hausarzt|hausärzt|auftraggeb|anforder|einsend|verordnend|veranlass)",
    re.IGNORECASE,
)
_DISTRIBUTED = re.compile(r"^\s*(?:ergeht|geht) an\b", re.IGNORECASE)
"""Whom a letter goes to, also below its signature."""
_ORDERED = re.compile(r"^\s*(?:einsend|verordnend|auftraggeb|veranlass)", re.IGNORECASE)
"""Labels of whom a report answers, whatever stands behind them."""


class LetterHead:
    """The head of one sheet; `patient` belongs to neither party."""

    def __init__(self, sheet: Sheet, patient: Name | None) -> None:
        self.sheet, self.patient = sheet, patient
        blocks = sheet.blocks(0, min(sheet.head_end, len(sheet.lines)))
        kept = [block for block in blocks if not all(_FAX_LINE.match(sheet.lines[n]) for n in block)]
        self.returned: list[range] = []
        """Blocks that are a sender's address on one line."""
        self.blocks = [part for block in kept for part in self._without_return_line(block)]
        self.title_line = title_of(sheet)[1]

    def _without_return_line(self, block: range) -> list[range]:
        """The sender's address on one line above the recipient's, as it shows in an envelope's window, apart."""
        first = self.sheet.lines[block.start]
        placed = sum(PLACE.search(self.sheet.lines[n]) is not None for n in block)
        if len(block) > 2 and placed > 1 and block.start and is_return_line(first):
            self.returned.append(range(block.start, block.start + 1))
            return [range(block.start, block.start + 1), range(block.start + 1, block.stop)]
        return [block]

    def lines(self, block: range) -> list[str]:
        return [self.sheet.lines[n].strip() for n in block]

    def is_patient(self, text: str) -> bool:
        return (
            self.patient is not None
            and re.search(rf"\b{re.escape(self.patient.last)}\b", text, re.IGNORECASE) is not None
        )

    def labelled(self, owner: str, referral: bool = True) -> list[str]:
        """Everything that stands in the part of a form that is this party's; a report is sent by none who referred."""
        lines: list[str] = []
        for one in self.sheet.labelled:
            below = one.at >= self.sheet.closing and not _DISTRIBUTED.match(self.sheet.lines[one.at])
            if one.owner != owner or (below and owner == "empfaenger"):
                continue
            if one.field in ("fax", "versicherung", "datum") or (not referral and self._is_referred(one)):
                continue
            lines += self._cells(one)
            if one.field == owner:
                lines += self._continued(one.at)
        return lines

    def house_labelled(self, names: tuple[str, ...]) -> list[str]:
        """What stands behind `Klinik:` or `Haus:` outside of any party's part."""
        mine = (one for one in self.sheet.labelled if one.field == "praxis" and one.owner in (None, "patient"))
        named = (one for one in mine if key(re.split(r":|\s{2,}", self.sheet.lines[one.at].strip())[0]) in names)
        return [cell for one in named for cell in one.cells]

    def answered(self) -> list[str]:
        """Of a report: whom it answers, by a label such as `Einsender`, or `Zuweiser` with an address."""
        for one in self.sheet.labelled:
            if one.field != "absender" or not self._is_referred(one):
                continue
            lines = [*self._cells(one), *self._continued(one.at)]
            if _ORDERED.match(self.sheet.lines[one.at]) or any(PLACE.search(line) for line in lines):
                return lines
        return []

    def _is_referred(self, one: Labelled) -> bool:
        return _REFERRED.match(self.sheet.lines[one.at]) is not None

    def _cells(self, one: Labelled) -> list[str]:
        return [f"Tel. {cell}" if one.field == "telefon" else cell for cell in one.cells]

    def _continued(self, at: int) -> list[str]:
        """Indented lines under a label belong to its value; so do the lines under one that stands alone."""
        found: list[str] = []
        line = self.sheet.lines[at].strip()
        alone = label_of(line.strip(" -–=:")) is not None
        for line in self.sheet.lines[at + 1 : at + 8]:
            if not line.strip() or not (line[0] in " \t" or alone) or label_of(re.split(r":|\t", line.strip())[0]):
                break
            found.append(line.strip())
        return found


_PARTED = re.compile(r"\s[-–—·•|*]\s|\s{2,}")


def is_return_line(line: str) -> bool:
    """`Klinikum Musterau - Ringallee 3 - 12345 Musterau`: a house with street and place on one line."""
    pieces = [one for one in _PARTED.split(line.strip()) if one]
    return len(pieces) > 2 and len(line.strip()) < RETURN_LINE_MOST and PLACE.match(" " + pieces[-1]) is not None


RETURN_LINE_MOST = 140
"""Characters of a sender's address on one line."""


def is_dated(line: str) -> bool:
    return bool(dates_of(line))


def without_address(line: str) -> str:
    """The line without `An die`, `Herrn`, `z. Hd.`."""
    return TO_HOLD.sub("", ADDRESSED.sub("", line))
