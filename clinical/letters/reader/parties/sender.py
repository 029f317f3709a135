"""Sender of a letter: a form's label, the letterhead, the signature, the lines below it."""

from __future__ import annotations

import re
from functools import cached_property

from clinical.claims import either
from clinical.letters.layout import CLOSING
from clinical.letters.reader.kinds import kind_of
from clinical.letters.reader.names import doctor_in, same_person
from clinical.letters.reader.parties.head import (
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
from clinical.letters.reader.parties.houses import (
    CLINIC,
    HOUSE,
    PLACE,
    first_piece,
)
from clinical.letters.reader.parties.recipient import Recipient

_DEGREES = re.compile(r"(?:\s(?:MD|PhD))+$")
_OF_LETTERHEAD = frozenset(("telefon", "email", "fax", "praxis", "datum", "eingang", "absender"))
"""Labels that stand in letterheads."""
_FOOTER = re.compile(
    rf"vertraulich|empfänger dieser|^diese (?:e-?mail|nachricht)|{either('@contact')}|"
    r"beilage|anlage|kopie|durchschrift|verteiler|^cc\b|seite \d|ergeht an|"
    r"nachrichtlich|amtsgericht|\biban\b|\b[a-z]{2}\d\d\s\d{4}\s\d{4}\s|bankverbindung|geschäftsführ|steuernummer|träger\b",
    re.IGNORECASE,
)
_LETTERHEAD_MOST = 60
"""Lines of one block of the head that may be the sender's: a letterhead has up to 20."""
_SIGNED_LINES = 14
_ABOVE_RELEASE = 1
"""Lines above `elektronisch signiert` in which the name stands."""
_WRITTEN_BY = re.compile(
    r"^(?:[^\W\d_a-zäöü][\w.-]+(?:\s[\w.-]+)?,\s(?:den\s|am\s)?\d{1,2}\.\s?\S{2,9}\s?\d{2,4}\s{2,}|"
    r"(?:Dienst[aä]rzt|Verfasser|Untersucher|Bearbeiter|Therapeut|Anfordernd|Zeichnend|Berichterstatter|Ärzt|Arzt)"
    r"\w*\s?:\s+)"
)
"""Place and day, or who the writer is, before the name."""
_PERFORMED = re.compile(
    r"^\s*(?:(?:Operateur|Untersucher|Befunder)(?:in)?|Zuständiger?\s(?:Arzt|Ärztin)|Arzt|Ärztin)(?:\s*:\s*|\t|\s{2,})(.+)"
)
"""Roles of those who did what is reported, and sign where nobody else does."""
_PERFORMED_WITHIN = 40
"""Lines in which a report says who operated or examined."""
_ROLE = re.compile(
    r",\s(?:[a-zäöü]+\s){0,2}(?:(?:Fach|Assistenz|Ober|Haus|Stations|Chef|Turnus)?[Aaä]rzt(?:in)?|Ärztin|FA|FÄ|OA|OÄ|AA)\b"
)
OF_ANOTHER = re.compile(
    r"^(?:Haus[aä]rzt\w*|HA|Zuweis\w*|Teilnehmer\w*|Kopie|Cc|Assistenz|An[aä]sth\w*|Angehörig\w*|Kontakt\w*|"
    r"Vertrauens\w*|"
    rf"(?i:{either('@contact')})|Empfänger\w*|Operateur|weiterbehandelnd\w*)\b[^:]{{0,20}}:\s"
)
"""Labels of people who do not sign."""
_SIGNED_BY = re.compile(r"^(?:(?:gez\.|i\.\s?[AV]\.|Stempel|Datum|Unterschrift|und\b|[,/:])\s*)+")
_DATED_MOST = 30
"""Characters of a cell that only says when it was signed."""
_GREETS = re.compile(
    r"^(?:[\w+&.!]+,?\s){0,4}?(?:gr(?:u|ü|ue)(?:ss|ß)e?n?|m\.?f\.?k?\.?g\.?|danke?)[\s,!.]+(?=(?-i:[^\W\d_a-zäöü]))",
    re.IGNORECASE,
)
"""A short closing formula before the name on its line: `Danke und Gruss, A. Kern`."""
_FAMILIAR = re.compile(r"^(?:Dein|Deine|Ihr|Ihre|Euer|Eure)\s+")


class Sender:
    """Reads the sender; the recipient's block is left out."""

    def __init__(self, head: LetterHead, recipient: Recipient) -> None:
        self.head, self.recipient, self.sheet = head, recipient, head.sheet

    def read(self, referral: bool) -> Contact:
        labelled = self.head.labelled("absender", referral)
        found = contact_of(labelled) if labelled else Contact()
        own = self.head.house_labelled(
            ("haus", "institution", "einrichtung", *(() if referral else ("klinik", "spital")))
        )
        found = found.filled(contact_of(own, person=False)) if own else found
        addressed = bool(self.recipient.block) or contact_of(self.head.labelled("empfaenger")).count > 0
        if found.count < 2 or (found.institution is None and addressed):
            found = found.filled(self._letterhead())
        found = self._named(found, self._signature())
        if found.plz is None and found.strasse is None and found.telefon is None:
            foot = self._foot()
            if foot.count >= 5:
                found = foot.filled(found)
            elif foot.count >= 2:
                found = found.filled(foot)
        if found.telefon is None or found.email is None:
            below = self._below()
            found = found.filled(Contact(telefon=below.telefon, email=below.email))
        return found

    def _below(self) -> Contact:
        """Contact details of the sender below the signature."""
        signed = self.sheet.closing
        start = (
            signed if signed < len(self.sheet.lines) and not CLOSING.search(self.sheet.lines[signed]) else signed + 1
        )
        lines = [line.strip() for line in self.sheet.lines[max(0, start - 3) : signed + _SIGNED_LINES]]
        return contact_of([line for line in lines if len(line) < 200 and not _FOOTER.search(line)])

    @cached_property
    def _letterhead_lines(self) -> list[str]:
        """The lines of the head that are neither the recipient's, the patient's nor a label's, nor a house under
        `Einsender`."""
        lines: list[str] = []
        taken = {one.at for one in self.sheet.labelled if one.field not in _OF_LETTERHEAD}
        answered = {line for line in self.head.answered() if CLINIC.search(line) or HOUSE.search(line)}
        for number, block in enumerate(self.head.blocks):
            mine = self.head.lines(block)
            if self._holds_recipient(number, mine):
                continue
            if number and self._ends_letterhead(mine) and not any(map(REACHED.search, mine)):
                continue
            lines += [
                self.sheet.lines[n].strip()
                for n in block[:_LETTERHEAD_MOST]
                if n not in taken
                and self.sheet.lines[n].strip() not in answered
                and self._is_of_letterhead(self.sheet.lines[n].strip())
            ]
        return lines

    def _holds_recipient(self, number: int, lines: list[str]) -> bool:
        block = self.recipient.block
        near = number in (self.recipient.number, self.recipient.number + 1)
        return bool(block) and near and any(without_address(line) in (block or ()) for line in lines)

    def _letterhead(self) -> Contact:
        """The first blocks of the head, up to the recipient, the date, the title or the subject."""
        lines = self._letterhead_lines
        found = contact_of(lines)
        if found.institution is None and found.count:
            named = first_piece([line for line in lines[:FIRST_LINES] if not is_dated(line)])
            if named and found.abteilung in (None, named):
                found = found.model_copy(update={"institution": named, "abteilung": None})
        return found if found.institution or found.abteilung or found.name else Contact()

    def _ends_letterhead(self, lines: list[str]) -> bool:
        return bool(SUBJECT.match(lines[0]) or self.head.is_patient(" ".join(lines)) or kind_of(lines[0]))

    def _is_of_letterhead(self, line: str) -> bool:
        kind = kind_of(line)
        return (
            not self.head.is_patient(line)
            and not line.upper().startswith("FAX ")
            and not (kind and (kind == line or not any(one.search(line) for one in (HOUSE, CLINIC, PLACE))))
            and not re.match(r"^(?:nach\s|zur vorlage|information|lehrkrankenhaus|akademisches)", line, re.IGNORECASE)
        )

    def _signature(self) -> str | None:
        """The first name under the closing formula; in letters without one, the last titled line."""
        sheet = self.sheet
        start = sheet.closing if sheet.closing < len(sheet.lines) else max(0, len(sheet.lines) - 6)
        if start == sheet.closing and not CLOSING.search(sheet.lines[start]):
            start = max(0, start - _ABOVE_RELEASE)
        bare: str | None = None
        for n in range(start, min(len(sheet.lines), start + _SIGNED_LINES)):
            line = sheet.lines[n].strip()
            cells = re.split(r"\t|\s{3,}", _WRITTEN_BY.sub("", _FAMILIAR.sub("", line)))
            signed = (_SIGNED_BY.sub("", one) for one in cells if not is_dated(one) or len(one) > _DATED_MOST)
            line = next((one for one in signed if one), "")
            line = _GREETS.sub("", line) if n == start else line
            if not line or _FOOTER.search(line) or len(line) > 160 or OF_ANOTHER.match(line):
                continue
            if titled := doctor_in(line):
                return titled if bare is None or not same_person(bare, titled) or len(titled) > len(bare) else bare
            signs = sheet.closing < len(sheet.lines) or _ROLE.search(line)
            if bare is None and not CLOSING.search(line) and signs:
                bare = _bare_name(line)
        return bare

    def _named(self, found: Contact, signed: str | None) -> Contact:
        """The signature's name, or the letterhead's where it names the same person with a title that is not signed."""
        if signed is None:
            return found.filled(Contact(name=self._performing()))
        titled = doctor_in(signed) is not None
        whole = next((one for one in self._people if same_person(one, signed) and len(one) >= len(signed)), None)
        if whole is not None and not titled:
            return Contact(name=whole).filled(found)
        if found.name is not None and not titled and same_person(found.name, signed) and len(found.name) >= len(signed):
            return found
        return Contact(name=signed).filled(found)

    @cached_property
    def _people(self) -> list[str]:
        """The people whom the letterhead names, first those with a title."""
        pieces = [
            piece.removeprefix("Praxis ")
            for line in self._letterhead_lines
            for piece in re.split(r"[|·•*,;]|\s[–-]\s|\s{2,}", line[:300])
        ]
        plain = (one for piece in pieces if not HOUSE.search(piece) and (one := plain_name(piece)))
        return [*(one for piece in pieces if (one := doctor_in(piece))), *plain]

    def _performing(self) -> str | None:
        """The one who operated or examined."""
        told = (_PERFORMED.match(line[:200]) for line in self.sheet.lines[:_PERFORMED_WITHIN])
        return next((one for found in told if found and (one := doctor_in(re.split(r"\t|\s{2,}", found[1])[0]))), None)

    def _foot(self) -> Contact:
        """Address under the signature, or a last line with a practice and its telephone."""
        sheet = self.sheet
        if sheet.closing < len(sheet.lines):
            first = sheet.closing + (CLOSING.search(sheet.lines[sheet.closing]) is not None)
            lines = [line.strip() for line in sheet.lines[first:][: _SIGNED_LINES - 1]]
        else:
            blocks = sheet.blocks(max(0, len(sheet.lines) - 12), len(sheet.lines))
            lines = self.head.lines(blocks[-1]) if blocks else []
            if not any(REACHED.search(line) for line in lines):
                return Contact()
        told = (line for line in lines if not _FOOTER.search(line) and len(line) < 200)
        found = contact_of([line for line in told if not self.head.is_patient(line)])
        return found if found.plz or found.telefon else Contact()


def _bare_name(line: str) -> str | None:
    name = re.split(r",|\s{3,}|\t", line)[0]
    bare = _DEGREES.sub("", name)
    return plain_name(name) if bare == name else name.strip() if plain_name(bare) else None
