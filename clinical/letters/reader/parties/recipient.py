"""Recipient of a letter: the address block, a form's label, a line that begins with `An`, the salutation."""

from __future__ import annotations

import re

from clinical.letters.labels import label_of
from clinical.letters.reader.kinds import department_of_title, kind_of
from clinical.letters.reader.parties.head import (
    ADDRESSED,
    FIRST_LINES,
    REACHED,
    SUBJECT,
    Contact,
    LetterHead,
    contact_of,
    is_dated,
    plain_name,
    without_address,
)
from clinical.letters.reader.parties.houses import CLINIC, DEPARTMENT, HOUSE, LEADER, PLACE, is_department

_GREETED = re.compile(
    r"(?:Herrn?|Frau|Herren|Kollege[n]?|Kollegin)\s+(?:Kolleg(?:e|in|en)\s+)?((?:(?:Dr|Prof|PD|Prim|OA|Univ|Doz|med|"
    r"Mag|DDr|Priv)[\w.ªa-]*[\s.]*){0,5})"
    r"((?:(?:von|van|de|zu|zur|Al)\s)?[^\W\d_a-zäöü][\w'’-]+(?:\s[^\W\d_a-zäöü][\w'’-]+)?)\s*[,!.]?"
)
_ROLES = (
    "Kollege Kollegin Kollegen Kolleginnen Primaria Primarius Primar Professor Professorin Doktor Chefarzt Damen "
    "Medizinalrat Medizinalrätin Obermedizinalrat Hofrat Hofrätin"
)
_NOT_GREETED = frozenset(_ROLES.split())
_TITLES_ALONE = re.compile(r"^(?:(?:Dr|Prof|PD|Priv|Doz|med|Univ|Prim|OA|MR|OMR|HR)[\w.-]*\s?){1,5}$")
_WIDE = re.compile(r"\s{3,}|\t")
_CARD = re.compile(r"name,?\svorname|\bgeb\b|geburtsdatum|versichert", re.IGNORECASE)
"""Beginnings of the patient's part of a form."""
_PREPOSITION = re.compile(r"[Aa]n\b")
"""Preposition that begins an address: the lines above it are the sender's."""
ONE_LINE_MOST = 170
"""Characters of a whole address on one line."""


class Recipient:
    """Finds the block that is the recipient's and reads it."""

    def __init__(self, head: LetterHead) -> None:
        self.head = head
        self.number = -1
        self.block = self._find()

    def read(self, referral: bool) -> Contact:
        head = self.head
        labelled = head.labelled("empfaenger")
        found = contact_of(labelled) if labelled else Contact()
        if referral and not labelled:
            found = contact_of(head.house_labelled(("klinik", "spital", "krankenhaus")))
        if labelled and found.count == 0 and len(labelled[0]) < 50 and labelled[0][:1].isupper():
            found = Contact(abteilung=labelled[0].strip(" ,:"))
        if self.block and found.count == 0:
            found = _of_block(self.block).filled(found)
        if not referral and found.count == 0 and (answered := head.answered()):
            found = contact_of(answered)
        if referral and found.count == 0 and contact_of(head.labelled("absender")).count > 1:
            found = self._house_of_form()
        if head.title_line is not None and found.abteilung is None:
            found = Contact(abteilung=department_of_title(head.sheet.lines[head.title_line])).filled(found)
        found = found.filled(Contact(name=self._greeted()))
        if found.abteilung is None and found.plz is None and found.strasse is None and is_department(found.institution):
            return found.model_copy(update={"institution": None, "abteilung": found.institution})
        return found

    def _house_of_form(self) -> Contact:
        """A form of the house that is asked, where the sender has a part of his own: its letterhead."""
        lines = self.head.lines(self.head.blocks[0]) if self.head.blocks else []
        own = (n for n, line in enumerate(lines) if _CARD.search(line) or self.head.is_patient(line))
        lines = lines[: next(own, len(lines))]
        return contact_of([line for line in lines if self._may_name_house(line)], person=False)

    def _may_name_house(self, line: str) -> bool:
        kind = kind_of(line)
        return not SUBJECT.match(line) and (
            kind is None or (kind != line and (HOUSE.search(line) or CLINIC.search(line)) is not None)
        )

    def _find(self) -> list[str] | None:
        head = self.head
        for number, block in enumerate(head.blocks):
            lines = head.lines(block)
            addressed = (n for n, line in enumerate(lines) if ADDRESSED.match(line) and self._is_addressed(line))
            start = next((n for n in addressed if not is_dated(_WIDE.split(lines[n])[0])), None)
            if start is None or SUBJECT.match(lines[0]):
                continue
            self.number = number
            whole = number and len(lines) < 7 and not (start and _PREPOSITION.match(lines[start]))
            return self._cleaned(lines if whole else lines[start:], number)
        others = {one.at for one in head.sheet.labelled if one.owner in ("absender", "patient")}
        for number, block in enumerate(head.blocks[1:], 1):
            lines = [line for line in head.lines(block) if not is_dated(line)] or head.lines(block)
            if others.isdisjoint(block) and self._is_address_block(lines):
                self.number = number
                return self._cleaned(lines, number)
        return None

    def _is_addressed(self, line: str) -> bool:
        """A short line, or a whole address on one line."""
        return len(line) < 70 or (len(line) < 200 and PLACE.search(line) is not None)

    def _cleaned(self, lines: list[str], number: int) -> list[str] | None:
        whole = " ".join(lines)
        if self.head.is_patient(whole):
            return None
        rest = [without_address(_WIDE.split(line)[0] if is_dated(line) else line) for line in lines]
        rest = [line for line in rest if line and not kind_of(line)]
        if len(rest) > 1 and _TITLES_ALONE.match(rest[0]):
            rest = [f"{rest[0]} {rest[1]}", *rest[2:]]
        blocks = self.head.blocks
        if len(rest) == 1 and number + 1 < len(blocks) and len(lines) == 1:
            below = self.head.lines(blocks[number + 1])
            rest += [] if is_dated(below[0]) or SUBJECT.match(below[0]) else below
        return rest or None

    def _is_address_block(self, lines: list[str]) -> bool:
        """One to seven short lines with a house or a doctor, no telephone, no date, no title of a letter."""
        if len(lines) > 1 and _TITLES_ALONE.match(lines[0]):
            lines = [f"{lines[0]} {lines[1]}", *lines[2:]]
        text = "\n".join(lines)
        if (
            not 1 <= len(lines) <= 7
            or any(len(line) > (90 if len(lines) > 1 else ONE_LINE_MOST) for line in lines)
            or (len(lines) == 1 and not PLACE.search(text))
        ):
            return False
        if (
            REACHED.search(text)
            or is_dated(text)
            or any(LEADER.search(line) for line in lines)
            or any(map(kind_of, lines))
        ):
            return False
        if self.head.is_patient(text) or any(label_of(line.split(":")[0]) for line in lines if ":" in line):
            return False
        found = contact_of(lines)
        named = (found.institution or found.abteilung or found.name) is not None
        return (
            (found.plz is not None and (named or plain_name(lines[0]) is not None))
            or (found.count >= 2 and found.name is not None and found.institution is not None)
            or (
                len(lines) > 1
                and (HOUSE.search(lines[0]) or CLINIC.search(lines[0])) is not None
                and found.institution is not None
            )
        )

    def _greeted(self) -> str | None:
        """The name in the salutation: `Sehr geehrte Frau Kollegin Dr. Weber`."""
        sheet = self.head.sheet
        if sheet.greeting >= len(sheet.lines):
            return None
        line = sheet.lines[sheet.greeting][:140]
        for found in _GREETED.finditer(line):
            name = found[2]
            if name.split()[0] not in _NOT_GREETED:
                title = " ".join(found[1].split())
                return f"{title} {name}".strip()
        return None


def _of_block(block: list[str]) -> Contact:
    """Read an address block; a plain name above or below the house is the recipient."""
    found = contact_of(block)
    if found.name is None:
        named = next((line for line in block[:FIRST_LINES] if _is_person(line)), None)
        found = Contact(name=plain_name(named) if named else None).filled(found)
    return found


def _is_person(line: str) -> bool:
    first = line.split()[:1]
    if first and first[0].endswith(("ische", "isches", "ischer", "Klinik")):
        return False
    if any(word.isupper() and len(word) > 2 for word in line.split()) and not line.isupper():
        return False
    return plain_name(line) is not None and not (HOUSE.search(line) or CLINIC.search(line) or DEPARTMENT.search(line))
