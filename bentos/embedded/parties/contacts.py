"""Who writes and who is written to: institution, department, person, address, telephone, by the form of each piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bentos.embedded.names import TITLE, doctor_in, is_name_word, strip_titles
from bentos.embedded.specialties import SPECIALTY
from clinical.language import dates_of

SEGMENT_MAX = 160
_COUNTRY = r"(?:(?:CH|A|D|DE|AT|FL)[-–\s]{1,3})?"
PLACE = re.compile(
    rf"(?:^|[\s,(]){_COUNTRY}(\d{{4,5}})[-\s]{{1,3}}"
    r"([^\W\d_a-zäöü][\w.'’()/-]*(?:\s(?:(?:am|an|im|ob|bei|in|der|dem|den|a\.|d\.|i\.|St\.|Bad|"
    r"zu)\s)*[^\W\d_a-zäöü(][\w.'’()/-]*){0,3})"
)
_STREET_WORD = (
    r"(?:str(?:a(?:ss|ß)e)?\.?|weg|gasse|platz|allee|ring|ufer|hof|rain|matt|damm|steig|berg|graben|promenade|"
    r"passage|markt|"
    r"zeile|reihe|gürtel|kai|quai|park|pfad|halde|acker|feld|wiese|stieg|chaussee|kamp|winkel|twiete|straßerl|bühl|"
    r"büel)"
)
_HOUSE_NUMBER = r"\d{1,4}\s?[a-zA-Z]?(?:\s?[/-]\s?\d+[a-z]?){0,3}"
STREET = re.compile(rf"^[^\W\d_].{{1,45}}?\s{_HOUSE_NUMBER}$")
STREET_NAMED = re.compile(
    rf"(?:^|[\s,(])((?:[^\W\d_a-zäöü][\w.'’-]*\s|(?:An|Am|Im|In|Zum|Zur|Auf)\s(?:der|den|dem)\s){{0,3}}"
    rf"[^\W\d_a-zäöü]?[\w'’-]*(?i:{_STREET_WORD})\s+{_HOUSE_NUMBER})(?![\w])"
)
_NO_STREET = re.compile(
    r"^(?:Station|Zimmer|Zi|Tel|Fax|Haus|Postfach|PF|Seite|Fall|Nr|LANR|BSNR|Tag|Stufe|Stock|Ebene|DECT|Vorgang|IK|"
    r"ÖKK|Modul)\b",
    re.IGNORECASE,
)
_PHONE_LABEL = re.compile(
    r"\b(?:Te[lI1]e?(?:f?on)?|Fon|Tel|T|Phone)\b\.?\s?(?:-?Nr\.?)?\s*[:.]?\s*(?=[+(\d])", re.IGNORECASE
)
_OTHER_LABEL = re.compile(
    r"\b(?:Te[l1]e)?(?:Fax|mobil|Natel|Handy|F)\b\.?\s?[:.]?\s*[+(\d][\d ()/.–-]{4,24}(?:DW)?", re.IGNORECASE
)
_PHONE = re.compile(r"[+(]?\d[\d ()/–-]{5,24}(?:\d|DW\b)")
_PHONE_DESK = re.compile(
    r"\b(?:Sekretariat|Zentrale|Anmeldung|Empfang|Vermittlung|Direkt(?:wahl)?|Durchwahl|Rückfragen(?:\san)?|erreichbar\sunter|"
    r"Ordination)\s?:?\s([+(]?0?\d[\d ()/–-]{5,20}\d)"
)
_BARE_PHONE = re.compile(r"^(?:\+\d|\(?0\d)[\d ()/–-]{6,22}\d$")
MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}")
HOUSE = re.compile(
    r"spital|krankenhaus|klinikum|landesklinik|hospital\b|zentrum\b|praxis|\bLKH\b|\bMVZ\b|\bMRZ\b|ambulatorium|"
    r"sanatorium|\bdienste\b|\brentenversicherung\b|berufsgenossenschaft|unfallkasse|gesundheitsamt|"
    r"medizinischer dienst|"
    r"verbund|\be\.\s?V\.|\bAG\b|\bGmbH\b|\bSpitex|\bHeim\b|pflegeheim|zentrale\b|\bpoliklinik\b|\bcharité\b|"
    r"\bNetz\b|netz\s|"
    r"krankenanstalt|\bstift\b|\bStudio medico|\bkurhaus|\bInselspital|privatklinik|rehaklinik|clinique|clinica|"
    r"ordination\b",
    re.IGNORECASE,
)
CLINIC = re.compile(r"klinik|institut\b|anstalt\b|clinic\b", re.IGNORECASE)
DEPARTMENT = re.compile(
    r"\babt\.\s|\b(?:abteilung|ambulanz|station\b|sprechstunde|department|bereich\b|dienst\b|einheit\b|sekretariat "
    r"aufnahme|"
    r"bettendisposition|klinik(?:en)? für|institut für|zentrum für|[\w-]*abteilung|[\w-]*ambulanz|"
    r"[\w-]*sprechstunde|[\w-]*station)\b"
    r"|\w+(?:ologische|iatrische|chirurgische|ädische|medizinische|logische|ische) (?:klinik|abteilung|ambulanz|"
    r"sprechstunde)",
    re.IGNORECASE,
)
_OF_SPECIALTY = re.compile(
    r"^(?:FMH|FA\b|FÄ\b|Fach[aä]rzt|Facharzt|Arzt für|Ärztin für|Praktische|Prakt\.|[\w-]*FMH$|Allgemeinmedizin|"
    r"Hausarzt\b|Hausärztin\b|"
    r"LANR|BSNR|ZSR|GLN|EAN|IK\b|(?:Ur|Kardi|Neur)olog(?:e|in)\b|Internist|Leitende|Chefarzt|Chefärztin|"
    r"Oberarzt|Oberärztin|"
    r"Geht an|Kopie|Praxis-Info|Seite\b|Öffnungszeit|Sprechzeit|Formular|Muster \d)",
    re.IGNORECASE,
)
_OWN_SPECIALTY = re.compile(r"^(?:(?:Ä|A)rzt(?:in)? für|Fach[aä]rzt(?:in)? für|FÄ f|FA f)", re.IGNORECASE)
LEADER = re.compile(
    r"\b(?:chef[aä]rzt(?:in)?|vorstand|vostand|klinikvorstand|leiter(?:in)?|direktor(?:in)?|klinikdirektor|"
    r"primararzt|"
    r"ärztliche[rn]? (?:leit|direkt)\w+|leitende[rn]? \w+ärzt\w*|ltd\.)\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"\t+|\s*[|·•]\s*|\s{2,}|(?<!-)\s*,\s+|\s+[–—-]{1,2}\s+|\n|\s*;\s+|\s?/\s(?=[A-Z])|,$")


@dataclass(frozen=True, slots=True)
class Contact:
    """Sender or recipient, None where the pieces do not say it."""

    institution: str | None = None
    abteilung: str | None = None
    name: str | None = None
    strasse: str | None = None
    plz: str | None = None
    ort: str | None = None
    telefon: str | None = None
    email: str | None = None

    def filled(self, other: Contact) -> Contact:
        """What is missing here, from the other."""
        return replace(self, **{key: getattr(other, key) for key in self.__slots__ if getattr(self, key) is None})

    @property
    def count(self) -> int:
        return sum(getattr(self, key) is not None for key in self.__slots__)


def segments(lines: Iterable[str]) -> list[str]:
    """The pieces of lines: cells, and what commas, bars and dashes divide."""
    return [piece.strip(" ,") for line in lines for piece in _SPLIT.split(line[:1_000]) if piece.strip(" ,")]


def contact_of(lines: Sequence[str], person: bool = True) -> Contact:
    """What the lines of a block say of one party; `person`: whether a titled name in it is the party's own."""
    text = "\n".join(line[:400] for line in lines)
    lines = [_reached(line) if _OWN_SPECIALTY.match(line) else line for line in lines]
    pieces = [piece for piece in segments(lines) if len(piece) <= SEGMENT_MAX]
    house, department = _institution(pieces)
    plz, ort = place_in(pieces)
    doctors = (doctor_in(line) for line in lines if not LEADER.match(line.strip())) if person else iter(())
    return Contact(
        house,
        department,
        next((one for one in doctors if one), None),
        street_in(pieces),
        plz,
        ort,
        phone_in(text, pieces),
        mail[0] if (mail := MAIL.search(text)) else None,
    )


def _reached(line: str) -> str:
    """Of a line that begins with a doctor's own specialty: the address or telephone behind it."""
    rest = ", ".join(line.split(",")[1:])
    return rest if PLACE.search(rest) or _PHONE_LABEL.search(rest) else ""


def place_in(pieces: Iterable[str]) -> tuple[str | None, str | None]:
    """Postcode and place of the first piece that has both."""
    for piece in pieces:
        found = PLACE.search(piece)
        if found and not _NO_STREET.match(piece) and not dates_of(piece[: found.end()]):
            return found[1], found[2].strip(" .-")
    return None, None


def street_in(pieces: Sequence[str]) -> str | None:
    """Street and number: by a street's word, or as the piece with a number right before the postcode."""
    for n, piece in enumerate(pieces):
        bare = re.sub(
            r"^(?:wohnhaft|wh\.|Adresse:?|Anschrift:?|Ordination:?|Praxis:?)\s+(?:in\s+|an der\s+|am\s+)?", "", piece
        ).strip()
        if PLACE.match(bare) or _NO_STREET.match(bare) or _BARE_PHONE.match(bare):
            continue
        named = STREET_NAMED.search(bare)
        if named:
            return named[1].strip()
        beside = [*pieces[n + 1 : n + 2], *pieces[max(0, n - 1) : n]]
        near = any(PLACE.match(" " + other) for other in beside)
        if near and STREET.match(bare) and len(bare.split()) <= 5 and not dates_of(bare) and not _is_house(bare):
            return bare
        if near and n and re.match(r"^(?:Am|Im|An der|In der|Auf der|Zum|Zur)\s\w+$", bare):
            return bare
    return None


def _is_house(piece: str) -> bool:
    return HOUSE.search(piece) is not None and not re.match(r"(?:Am|An|Im|Beim|Zum)\s", piece)


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
    bare = (piece for piece in pieces if _BARE_PHONE.match(piece) and not dates_of(piece))
    return next(bare, None)


def _closed(number: str) -> str:
    return number[1:] if number.startswith("(") and ")" not in number else number


def _institution(pieces: Sequence[str]) -> tuple[str | None, str | None]:
    """(institution, department): a hospital or practice, and the part of it that is named beside."""
    house = department = None
    for piece in pieces:
        piece = re.sub(r"^(?:An die|An das|An den|An|Von|Praxis:)\s+", "", piece).strip(" :")
        led = LEADER.search(piece)
        piece = piece[: led.start()].strip() if led and led.start() > 20 else piece
        if not _may_be_house(piece):
            continue
        inner = _inner(piece)
        if inner and house is None:
            house, department = inner[1], department or inner[0]
        elif HOUSE.search(piece) and not _is_part(piece):
            house = house or piece
        elif DEPARTMENT.search(piece) or SPECIALTY.match(piece):
            department = department or piece
        elif CLINIC.search(piece):
            house = house or piece
    if house is None and department is not None and CLINIC.search(department):
        house, department = department, None
    return house, department


def _is_part(piece: str) -> bool:
    """A department although a house's word is in it: `Zentrum für ...`, `... am Spitalzentrum`."""
    return re.match(
        r"^(?:zentrum|klinik|institut|abteilung|abt\.|ambulanz|station) ", piece, re.IGNORECASE
    ) is not None and not (re.search(r"\b(?:des|der|am|im)\s.*(?:spital|krankenhaus|klinikum)", piece, re.IGNORECASE))


def _inner(piece: str) -> tuple[str, str] | None:
    """`Chirurgie Spital Musterau` -> (Chirurgie, Spital Musterau)."""
    words = piece.split()
    for count in (1, 2):
        head, rest = " ".join(words[:count]), " ".join(words[count:])
        if rest and SPECIALTY.match(head) and HOUSE.match(rest.split()[0]) is None and HOUSE.search(rest.split()[0]):
            return head, rest
        if rest and SPECIALTY.match(head) and HOUSE.match(rest):
            return head, rest
    return None


_HOURS = re.compile(r":\s|\b(?:Mo|Di|Mi|Do|Fr)\b|\bUhr\b")
"""Opening hours and labelled values are no house."""
_SENTENCE = re.compile(r"\b(?:wir|ich|sie|ist|sind|wird|wurde|hat|war|bitte|dass|und eine|nicht)\b", re.IGNORECASE)


def _may_be_house(piece: str) -> bool:
    return (
        len(piece) < 110
        and not MAIL.search(piece)
        and not _OF_SPECIALTY.match(piece)
        and not LEADER.search(piece.split(":")[0])
        and not _SENTENCE.search(piece)
        and not PLACE.match(" " + piece)
        and not piece.lower().startswith(
            ("lehrkrankenhaus", "akademisches lehr", "der ", "ein unternehmen", "besuchszeit", "notfallstation")
        )
        and piece[:1].isupper()
        and not _HOURS.search(piece)
        and "Krankenhausbehandlung" not in piece
        and not (STREET_NAMED.search(piece) and piece.startswith(("Ordination", "Praxis ")))
        and not re.search(r"\d{3}", piece)
    )


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


def has_title(text: str) -> bool:
    return TITLE.match(text.strip()) is not None
