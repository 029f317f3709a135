"""The head of a letter: blocks of sender and recipient, telephone numbers and addresses of mail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clinical.contract import Kontakt
from clinical.letters.labels import key, label_of
from clinical.letters.layout import Labelled, LetterLayout
from clinical.letters.reader.kinds import title_of
from clinical.letters.reader.names import Name, doctor_in, is_name_word, strip_titles
from clinical.letters.reader.parties.houses import (
    BARE_PHONE,
    LEADER,
    MAIL,
    PLACE,
    institution,
    is_of_practice,
    place_in,
    street_in,
    with_tail,
)
from clinical.text import WORD_EDGE, dates_of, find_pieces, lowered

SEGMENT_MAX = 160
FIRST_LINES = 3
"""Lines of a block in which the name of a person or of a house stands."""
_PHONE_LABEL = re.compile(
    r"\b(?:Te[lI1]e?(?:f?on)?|Fon|Tel|T|Phone)\b\.?\s?(?:-?Nr\.?)?\s*[:.]?\s*(?=[+(\d])", re.IGNORECASE
)
_OTHER_LABEL = re.compile(
    r"\b(?:Te[l1]e)?(?:Fax|mobil|Natel|Handy|F)\b\.?\s?[:.]?\s*[+(\d][\d ()/.–-]{4,24}(?:DW)?", re.IGNORECASE
)
_PHONE = re.compile(r"[+(]?\d[\d ()/–-]{5,24}(?:\d|DW\b)")
_PHONE_DESK = re.compile(
    r"\b(?:Sekretariat|Sekr\.|Zentrale|Anmeldung|Empfang|Vermittlung|Direkt(?:wahl)?|Durchwahl|Rückfragen(?:\san)?|"
    r"Rückruf(?:\sbitte)?|Arztzimmer|Stationszimmer|Terminvergabe|\w*büro|\w*[sS]prechstunde|erreichbar\sunter|"
    r"Ordination)\s?:?\s([+(]?0?\d[\d ()/–-]{5,20}\d)"
)
_INTERNAL = re.compile(
    r"\b(?:DW|Durchwahl|Funk|Sucher|Pager|Tel\.(?:\sintern)?)\s?:?\s?(-?\d[\d-]{2,6}\d)\b(?![\d /]*\d)"
)
"""Number within a house, where no whole one is named."""
_MOBILE = re.compile(r"\b(?:Handy|Natel|Mobil)\b\.?:?\s([+(]?0?\d[\d ()/–-]{5,20}\d)", re.IGNORECASE)
"""Mobile number, used if there is no other number."""
_OWN_SPECIALTY = re.compile(r"^(?:(?:Ä|A)rzt(?:in)? für|Fach[aä]rzt(?:in)? für|FÄ f|FA f)", re.IGNORECASE)
_SPLIT = re.compile(r"\t+|\s*[|·•]\s*|\s{2,}|(?<!-)\s*,\s+|\s+[–—-]{1,2}\s+|\n|\s*;\s+|\s\*\s|\s?/\s(?=[A-Z])|,$")


class Contact(Kontakt):
    """Sender or recipient, None where the pieces do not say it."""

    def filled(self, other: Contact) -> Contact:
        """Return this contact with its missing fields from the other."""
        return self.model_copy(update={key: value for key, value in other if getattr(self, key) is None})

    @property
    def count(self) -> int:
        return sum(value is not None for _, value in self)


def segments(lines: Iterable[str]) -> list[str]:
    """The pieces of lines: cells, and what commas, bars and dashes divide."""
    return [piece.strip(" ,") for line in lines for piece in _SPLIT.split(line[:1_000]) if piece.strip(" ,")]


def contact_of(lines: Sequence[str], person: bool = True) -> Contact:
    """Read one party from the lines of a block; `person`: true if a titled name in it is the party's own."""
    text = "\n".join(line[:400] for line in lines)
    lines = [_reached(line) if _OWN_SPECIALTY.match(line) else line for line in lines]
    pieces = [piece for piece in segments(lines) if len(piece) <= SEGMENT_MAX]
    house, department = institution(pieces)
    department = with_tail(department, lines) if department and not is_of_practice(house, department) else None
    plz, ort = place_in(pieces)
    doctors = (doctor_in(line) for line in lines if not LEADER.match(line.strip())) if person else iter(())
    return Contact(
        institution=house,
        abteilung=department,
        name=next((one for one in doctors if one), None),
        strasse=street_in(pieces),
        plz=plz,
        ort=ort,
        telefon=phone_in(text, pieces),
        email=mail[0] if (mail := MAIL.search(text)) else None,
    )


def _reached(line: str) -> str:
    """Of a line that begins with a doctor's own specialty: the address or telephone behind it."""
    rest = ", ".join(line.split(",")[1:])
    return rest if PLACE.search(rest) or _PHONE_LABEL.search(rest) else ""


def phone_in(text: str, pieces: Iterable[str]) -> str | None:
    """The first telephone number that is no fax or mobile: behind its label, or a piece of its own."""
    clean = _OTHER_LABEL.sub(" ", text)
    labelled = _PHONE_LABEL.search(clean)
    if labelled and (found := _PHONE.match(clean, labelled.end())):
        number = re.split(r"\n|\s{2,}", found[0])[0].strip(" -–")
        return number
    direct = _PHONE_DESK.search(clean)
    if direct:
        return direct[1].strip()
    bracketed = re.search(r"\(\s?(0\d{2}[\d /]{6,12}\d)\s?\)", clean)
    if bracketed:
        return bracketed[1]
    bare = (piece for piece in pieces if BARE_PHONE.match(piece) and not dates_of(piece))
    last = _MOBILE.search(text) or _INTERNAL.search(clean)
    return next(bare, last[1] if last else None)


def plain_name(line: str) -> str | None:
    """A line that is a person's name and nothing else: two to four name words, titles before them."""
    text = line.strip(" ,")
    bare = strip_titles(text)
    words = bare.split()
    if 2 <= len(words) <= 4 and all(
        is_name_word(one) or one in ("von", "van", "de", "zu", "zur", "dos") for one in words
    ):
        return re.sub(r"^(?:Herrn?|Frau)\s+", "", text)
    return None


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


class LetterHead:
    """The head of one sheet; `patient` belongs to neither party."""

    def __init__(self, sheet: LetterLayout, patient: Name | None) -> None:
        self.sheet, self.patient = sheet, patient
        blocks = sheet.blocks(0, min(sheet.head_end, len(sheet.lines)))
        self.blocks = [block for block in blocks if not all(_FAX_LINE.match(sheet.lines[n]) for n in block)]
        self.title_line = title_of(sheet)[1]

    def lines(self, block: range) -> list[str]:
        return [self.sheet.lines[n].strip() for n in block]

    def is_patient(self, text: str) -> bool:
        if self.patient is None:
            return False
        surname = lowered(self.patient.last)
        return find_pieces(lowered(text), [surname], before=WORD_EDGE, behind=WORD_EDGE) is not None

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
        """Values behind `Klinik:` or `Haus:` outside of any party's part."""
        mine = (one for one in self.sheet.labelled if one.field == "praxis" and one.owner in (None, "patient"))
        named = (one for one in mine if key(re.split(r":|\s{2,}", self.sheet.lines[one.at].strip())[0]) in names)
        return [cell for one in named for cell in one.cells]

    def answered(self) -> list[str]:
        """Of a report: whom it answers, by a label such as `Einsender` or `Zuweiser`."""
        referred = (one for one in self.sheet.labelled if one.field == "absender" and self._is_referred(one))
        one = next(referred, None)
        return [*self._cells(one), *self._continued(one.at)] if one else []

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


def is_dated(line: str) -> bool:
    return bool(dates_of(line))


def without_address(line: str) -> str:
    """The line without `An die`, `Herrn`, `z. Hd.`."""
    return TO_HOLD.sub("", ADDRESSED.sub("", line))
