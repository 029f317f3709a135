"""Who writes and who is written to: by the labels of a form, the letterhead, the address block and the signature."""

from __future__ import annotations

import re

from bentos.embedded.kinds import department_of_title, kind_of, title_of
from bentos.embedded.labels import label_of
from bentos.embedded.letter import CLOSING, Sheet
from bentos.embedded.names import Name, doctor_in, same_person
from bentos.embedded.parties.contacts import Contact, contact_of, plain_name
from bentos.embedded.parties.house_words import CLINIC, DEPARTMENT, HOUSE, LEADER
from bentos.embedded.parties.places import PLACE
from clinical.language import dates_of

_ADDRESSED = re.compile(
    r"^(?:An(?:\s(?:die|das|den|unsere\w*))?|Herrn?|Frau|Hrn\.|Fr\.|Familie|z\.\s?H(?:d|"
    r"dn)?\.)\b[\s:]*",
    re.IGNORECASE,
)
_TO_HOLD = re.compile(r"^(?:z\.\s?H(?:d|dn)?\.?:?|zu Händen(?: von)?:?|c/o|Attn?\.?:?)\s*", re.IGNORECASE)
_REACHED = re.compile(
    r"\b(?:tel|telefon|fax|telefax|e-?mail|www\.|http|iban|sprechzeit|öffnungszeit)\b|@", re.IGNORECASE
)
_SUBJECT = re.compile(r"^(?:betr(?:eff|ifft)?\b|pat(?:ient(?:in)?)?\b[.:]|re:|wg\.|\W*geb)", re.IGNORECASE)
_GREETED = re.compile(
    r"(?:Herrn?|Frau|Herren|Kollege[n]?|Kollegin)\s+(?:Kolleg(?:e|in|en)\s+)?((?:(?:Dr|Prof|PD|Prim|OA|Univ|Doz|med|"
    r"Mag|DDr|Priv)[\w.ªa-]*[\s.]*){0,5})"
    r"((?:(?:von|van|de|zu|zur|Al)\s)?[^\W\d_a-zäöü][\w'’-]+(?:\s[^\W\d_a-zäöü][\w'’-]+)?)\s*[,!.]?"
)
_ROLES = "Kollege Kollegin Kollegen Kolleginnen Primaria Primarius Primar Professor Professorin Doktor Chefarzt Damen"
_DEGREES = re.compile(r"(?:MD|PhD|M\.D\.|MBA|MSc)\b")
_TITLES_ALONE = re.compile(r"^(?:(?:Dr|Prof|PD|Priv|Doz|med|Univ|Prim|OA)[\w.-]*\s?){1,5}$")
_NOT_GREETED = frozenset(_ROLES.split())
_FAX_LINE = re.compile(r"^\s*(?:tele)?fax\b", re.IGNORECASE)
_REFERRED = re.compile(
    r"^\s*(?:zugewiesen|zuweis|überw|einweis|hausarzt|hausärzt|auftraggeb|"
    r"anforder)",
    re.IGNORECASE,
)
_OF_LETTERHEAD = frozenset(("telefon", "email", "fax", "praxis", "datum", "eingang", "absender"))
"""Labels that stand in letterheads."""
_FOOTER = re.compile(
    r"vertraulich|empfänger dieser|^diese (?:e-?mail|nachricht)|beilage|anlage|kopie|verteiler|^cc\b|seite \d",
    re.IGNORECASE,
)


_LETTERHEAD_MOST = 60
"""Lines of one block of the head that may be the sender's: a letterhead has up to 20."""


class PartyReader:
    """Reads sender and recipient of one sheet; `patient` is left out of both."""

    def __init__(self, sheet: Sheet, patient: Name | None) -> None:
        self.sheet, self.patient = sheet, patient
        last = sheet.head_end
        blocks = sheet.blocks(0, min(last, len(sheet.lines)))
        self.head = [block for block in blocks if not all(_FAX_LINE.match(sheet.lines[n]) for n in block)]
        self.title_line = title_of(sheet)[1]
        self.recipient_number = -1
        self.recipient_block = self._find_recipient()

    def _lines(self, block: range) -> list[str]:
        return [self.sheet.lines[n].strip() for n in block]

    def _is_patient(self, text: str) -> bool:
        return (
            self.patient is not None
            and re.search(rf"\b{re.escape(self.patient.last)}\b", text, re.IGNORECASE) is not None
        )

    # the recipient

    def _find_recipient(self) -> list[str] | None:
        for number, block in enumerate(self.head):
            lines = self._lines(block)
            start = next(
                (
                    n
                    for n, line in enumerate(lines)
                    if _ADDRESSED.match(line) and self._is_addressed(line) and not self._is_dated(line)
                ),
                None,
            )
            if (
                start is not None
                and not _SUBJECT.match(lines[0])
                and not (number == 0 and start > 0 and len(lines) > 8)
            ):
                self.recipient_number = number
                return self._cleaned(lines if number and len(lines) < 7 else lines[start:], number)
        others = {one.at for one in self.sheet.labelled if one.owner in ("absender", "patient")}
        for number, block in enumerate(self.head[1:], 1):
            lines = self._lines(block)
            if others.isdisjoint(block) and self._is_address_block(lines):
                self.recipient_number = number
                return self._cleaned(lines, number)
        return None

    def _is_addressed(self, line: str) -> bool:
        """A short line, or a whole address on one line."""
        return len(line) < 70 or (len(line) < 200 and PLACE.search(line) is not None and not self._is_patient(line))

    def _cleaned(self, lines: list[str], number: int) -> list[str] | None:
        whole = " ".join(lines)
        if self._is_patient(whole):
            return None
        rest = [_TO_HOLD.sub("", _ADDRESSED.sub("", line)) for line in lines]
        rest = [line for line in rest if line and not kind_of(line)]
        if len(rest) > 1 and _TITLES_ALONE.match(rest[0]):
            rest = [f"{rest[0]} {rest[1]}", *rest[2:]]
        if (
            len(rest) == 1
            and number + 1 < len(self.head)
            and len(lines) == 1
            and not self._is_dated(self._lines(self.head[number + 1])[0])
        ):
            rest += self._lines(self.head[number + 1])
        return rest or None

    def _is_dated(self, line: str) -> bool:
        return bool(dates_of(line))

    def _is_address_block(self, lines: list[str]) -> bool:
        """Two to seven short lines with a house or a doctor, no telephone, no date, no title of a letter."""
        if not 2 <= len(lines) <= 7 or any(len(line) > 90 for line in lines):
            return False
        text = "\n".join(lines)
        if (
            _REACHED.search(text)
            or self._is_dated(text)
            or any(LEADER.search(line) for line in lines)
            or any(map(kind_of, lines))
        ):
            return False
        if self._is_patient(text) or any(label_of(line.split(":")[0]) for line in lines if ":" in line):
            return False
        found = contact_of(lines)
        return (found.plz is not None and (found.institution or found.abteilung or found.name) is not None) or (
            found.count >= 2 and found.name is not None and found.institution is not None
        )

    def recipient(self, referral: bool = True) -> Contact:
        labelled = self._labelled("empfaenger")
        found = contact_of(labelled) if labelled else Contact()
        if labelled and found.count == 0 and len(labelled[0]) < 50 and labelled[0][:1].isupper():
            found = Contact(abteilung=labelled[0].strip(" ,:"))
        if found.count == 0 and self.recipient_block:
            block = self.recipient_block
            found = contact_of(block)
            if (found.name is None and found.institution is None) or (found.name is None and self._is_person(block[0])):
                found = Contact(name=plain_name(block[0]) if self._is_person(block[0]) else None).filled(found)
        if referral and found.count == 0 and contact_of(self._labelled("absender")).count > 1:
            # a form of the house that is asked: the sender has a part of his own
            first = self._lines(self.head[0]) if self.head else []
            house = contact_of([line for line in first if self._is_of_letterhead(line)])
            found = Contact(house.institution, house.abteilung)
        if self.title_line is not None and found.abteilung is None:
            asked = department_of_title(self.sheet.lines[self.title_line])
            found = Contact(abteilung=asked).filled(found)
        return found.filled(Contact(name=self._greeted()))

    def _is_person(self, line: str) -> bool:
        if line.split()[:1] and line.split()[0].endswith(("ische", "isches", "ischer", "Klinik")):
            return False
        if any(word.isupper() and len(word) > 2 for word in line.split()) and not line.isupper():
            return False
        return plain_name(line) is not None and not (
            HOUSE.search(line) or CLINIC.search(line) or DEPARTMENT.search(line)
        )

    def _greeted(self) -> str | None:
        """The name in the salutation: `Sehr geehrte Frau Kollegin Dr. Weber`."""
        if self.sheet.greeting >= len(self.sheet.lines):
            return None
        line = self.sheet.lines[self.sheet.greeting][:140]
        for found in _GREETED.finditer(line):
            name = found[2]
            if name.split()[0] not in _NOT_GREETED and not name.lower().endswith(("kollege", "kollegin")):
                title = " ".join(found[1].split())
                return f"{title} {name}".strip()
        return None

    # the sender

    def sender(self, referral: bool) -> Contact:
        labelled = self._labelled("absender", referral)
        found = contact_of(labelled) if labelled else Contact()
        addressed = bool(self.recipient_block) or contact_of(self._labelled("empfaenger")).count > 0
        if found.count < 2 or (found.institution is None and addressed):
            found = found.filled(self._letterhead())
        signed = self._signature()
        found = self._named(found, signed)
        if found.plz is None and found.strasse is None and found.telefon is None:
            foot = self._foot()
            if foot.count >= 5:
                found = foot.filled(found)
            elif foot.count >= 2:
                found = found.filled(foot)
        if found.telefon is None or found.email is None:
            below = self._below()
            found = found.filled(Contact(telefon=below.telefon, email=below.email))
        return self._with_place(found)

    def _below(self) -> Contact:
        """How to reach the sender, where it stands below the signature."""
        signed = self.sheet.closing
        start = (
            signed if signed < len(self.sheet.lines) and not CLOSING.search(self.sheet.lines[signed]) else signed + 1
        )
        lines = [line.strip() for line in self.sheet.lines[max(0, start - 3) : signed + 14]]
        return contact_of([line for line in lines if len(line) < 200 and not _FOOTER.search(line)])

    def _labelled(self, owner: str, referral: bool = True) -> list[str]:
        """Everything that stands in the part of a form that is this party's; a report is sent by none who referred."""
        lines: list[str] = []
        for one in self.sheet.labelled:
            if one.owner != owner or (one.at >= self.sheet.closing and owner == "empfaenger"):
                continue
            if one.field in ("fax", "versicherung", "datum") or (
                not referral and _REFERRED.match(self.sheet.lines[one.at])
            ):
                continue
            for cell in one.cells:
                lines.append(f"Tel. {cell}" if one.field == "telefon" else cell)
            if one.field == owner:
                lines += self._continued(one.at)
        return lines

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

    def _letterhead(self) -> Contact:
        """The first blocks of the head, up to the recipient, the date, the title or the subject."""
        lines: list[str] = []
        taken = {one.at for one in self.sheet.labelled if one.field not in _OF_LETTERHEAD}
        for number, block in enumerate(self.head):
            mine = self._lines(block)
            near = number in (self.recipient_number, self.recipient_number + 1)
            if (
                self.recipient_block
                and near
                and any(_TO_HOLD.sub("", _ADDRESSED.sub("", line)) in self.recipient_block for line in mine)
            ):
                before = [
                    line
                    for line in mine
                    if _TO_HOLD.sub("", _ADDRESSED.sub("", line)) not in self.recipient_block
                    and not _ADDRESSED.match(line)
                ]
                lines += before if number == 0 else []
                continue
            if number and self._ends_letterhead(mine, number) and not any(map(_REACHED.search, mine)):
                continue
            lines += [
                self.sheet.lines[n].strip()
                for n in block[:_LETTERHEAD_MOST]
                if n not in taken and self._is_of_letterhead(self.sheet.lines[n].strip())
            ]
        found = contact_of(lines)
        return found if found.institution or found.abteilung or found.name else Contact()

    def _ends_letterhead(self, lines: list[str], number: int) -> bool:
        return bool(_SUBJECT.match(lines[0]) or self._is_patient(" ".join(lines)) or (number and kind_of(lines[0])))

    def _is_of_letterhead(self, line: str) -> bool:
        return (
            not _SUBJECT.match(line)
            and not self._is_patient(line)
            and not line.upper().startswith("FAX ")
            and not ((kind := kind_of(line)) and (kind == line or not HOUSE.search(line)))
            and not re.match(r"^(?:zur vorlage|information|lehrkrankenhaus|akademisches)", line, re.IGNORECASE)
        )

    def _signature(self) -> str | None:
        """The first name under the closing formula; in letters without one, the last titled line."""
        sheet = self.sheet
        start = sheet.closing if sheet.closing < len(sheet.lines) else max(0, len(sheet.lines) - 6)
        bare: str | None = None
        for n in range(start, min(len(sheet.lines), start + 14)):
            line = sheet.lines[n].strip()
            line = re.sub(r"^(?:gez\.|i\.\s?[AV]\.|Stempel:?|Unterschrift:?)\s*", "", line)
            if not line or _FOOTER.search(line) or len(line) > 160:
                continue
            if titled := doctor_in(line):
                return titled if bare is None or not same_person(bare, titled) or len(titled) > len(bare) else bare
            if (
                bare is None
                and not CLOSING.search(line)
                and (sheet.closing < len(sheet.lines) or _DEGREES.search(line))
            ):
                bare = self._bare_name(line)
        return bare

    def _bare_name(self, line: str) -> str | None:
        found = plain_name(re.split(r",|\s{3,}|\t", line)[0])
        if found is None:
            degree = re.match(
                r"^((?:[^\W\d_a-zäöü][\w'’-]+\s){2,3}(?:MD|PhD|M\.D\.|MBA|MSc|FMH)(?:\s(?:PhD|MBA|MSc))?)$", line
            )
            return degree[1] if degree else None
        return found

    def _named(self, found: Contact, signed: str | None) -> Contact:
        """The signature's name, or the letterhead's where it names the same person in full."""
        if signed is None:
            return found
        if found.name is not None and same_person(found.name, signed) and len(found.name) >= len(signed):
            return found
        if found.name is not None and doctor_in(signed) is None and len(signed.split()) < 2:
            return found
        return Contact(name=signed).filled(found)

    def _foot(self) -> Contact:
        """Address under the signature, or a last line with a practice and its telephone."""
        sheet = self.sheet
        if sheet.closing < len(sheet.lines):
            lines = [
                sheet.lines[n].strip() for n in range(sheet.closing + 1, min(len(sheet.lines), sheet.closing + 14))
            ]
        else:
            blocks = sheet.blocks(max(0, len(sheet.lines) - 12), len(sheet.lines))
            lines = self._lines(blocks[-1]) if blocks else []
            if not any(_REACHED.search(line) for line in lines):
                return Contact()
        lines = [line for line in lines if not _FOOTER.search(line) and len(line) < 200 and not self._is_patient(line)]
        found = contact_of(lines)
        return found if found.plz or found.telefon else Contact()

    def _with_place(self, found: Contact) -> Contact:
        """The place before the letter's date, where the letterhead names none."""
        if found.ort is not None or (found.institution is None and found.strasse is None):
            return found
        for block in self.head:
            for line in self._lines(block):
                told = re.match(r"^([^\W\d_a-zäöü][\w.-]+(?:\s[^\W\d_a-zäöü][\w.-]+)?),\s*(?:den|am)?\s*\d", line)
                if told and self._is_dated(line):
                    return Contact(ort=told[1]).filled(found)
        return found
