"""Who writes and who is written to: institution, department, person, address, telephone, by the form of each piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bentos.embedded.names import doctor_in, is_name_word, strip_titles
from bentos.embedded.parties.house_words import LEADER
from bentos.embedded.parties.houses import institution
from bentos.embedded.parties.places import BARE_PHONE, MAIL, PLACE, place_in, street_in
from clinical.contract import Kontakt
from clinical.language import dates_of

SEGMENT_MAX = 160
_PHONE_LABEL = re.compile(
    r"\b(?:Te[lI1]e?(?:f?on)?|Fon|Tel|T|Phone)\b\.?\s?(?:-?Nr\.?)?\s*[:.]?\s*(?=[+(\d])", re.IGNORECASE
)
_OTHER_LABEL = re.compile(
    r"\b(?:Te[l1]e)?(?:Fax|mobil|Natel|Handy|F)\b\.?\s?[:.]?\s*[+(\d][\d ()/.–-]{4,24}(?:DW)?", re.IGNORECASE
)
_PHONE = re.compile(r"[+(]?\d[\d ()/–-]{5,24}(?:\d|DW\b)")
_PHONE_DESK = re.compile(
    r"\b(?:Sekretariat|Zentrale|Anmeldung|Empfang|Vermittlung|Direkt(?:wahl)?|Durchwahl|Rückfragen(?:\san)?|"
    r"erreichbar\sunter|"
    r"Ordination)\s?:?\s([+(]?0?\d[\d ()/–-]{5,20}\d)"
)
_MOBILE = re.compile(r"\b(?:Handy|Natel|Mobil)\b\.?:?\s([+(]?0?\d[\d ()/–-]{5,20}\d)", re.IGNORECASE)
"""Where there is no other number."""
_OWN_SPECIALTY = re.compile(r"^(?:(?:Ä|A)rzt(?:in)? für|Fach[aä]rzt(?:in)? für|FÄ f|FA f)", re.IGNORECASE)
_SPLIT = re.compile(r"\t+|\s*[|·•]\s*|\s{2,}|(?<!-)\s*,\s+|\s+[–—-]{1,2}\s+|\n|\s*;\s+|\s\*\s|\s?/\s(?=[A-Z])|,$")


class Contact(Kontakt):
    """Sender or recipient, None where the pieces do not say it."""

    def filled(self, other: Contact) -> Contact:
        """What is missing here, from the other."""
        return self.model_copy(update={key: value for key, value in other if getattr(self, key) is None})

    @property
    def count(self) -> int:
        return sum(value is not None for _, value in self)


def segments(lines: Iterable[str]) -> list[str]:
    """The pieces of lines: cells, and what commas, bars and dashes divide."""
    return [piece.strip(" ,") for line in lines for piece in _SPLIT.split(line[:1_000]) if piece.strip(" ,")]


def contact_of(lines: Sequence[str], person: bool = True) -> Contact:
    """What the lines of a block say of one party; `person`: whether a titled name in it is the party's own."""
    text = "\n".join(line[:400] for line in lines)
    lines = [_reached(line) if _OWN_SPECIALTY.match(line) else line for line in lines]
    pieces = [piece for piece in segments(lines) if len(piece) <= SEGMENT_MAX]
    house, department = institution(pieces)
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
        return _closed(number)
    direct = _PHONE_DESK.search(clean)
    if direct:
        return direct[1].strip()
    bracketed = re.search(r"\(\s?(0\d{2}[\d /]{6,12}\d)\s?\)", clean)
    if bracketed:
        return bracketed[1]
    bare = (piece for piece in pieces if BARE_PHONE.match(piece) and not dates_of(piece))
    mobile = _MOBILE.search(text)
    return next(bare, mobile[1] if mobile else None)


def _closed(number: str) -> str:
    return number[1:] if number.startswith("(") and ")" not in number else number


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
