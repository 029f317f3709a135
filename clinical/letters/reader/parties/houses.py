"""Houses and places: hospitals, departments and practices by their form, postcodes with towns, streets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from clinical.letters.reader.kinds import SPECIALTY, kind_of
from clinical.letters.reader.names import TITLE, doctor_in, given, is_name_word
from clinical.text import dates_of

HOUSE = re.compile(
    r"spital|krankenhaus|klinikum|landesklinik|hospital\b|zentrum\b|praxis|\bLKH\b|\bUK\b(?=\s[A-Z])|"
    r"\bKH\b(?=\s[A-Z])|\buniklinik\b|ärztehaus\b|hochschule\b|\bMVZ\b|\bMRZ\b|ambulatorium|"
    r"sanatorium|\bdienste\b|\brentenversicherung\b|berufsgenossenschaft|unfallkasse|gesundheitsamt|"
    r"medizinischer dienst|"
    r"verbund|\be\.\s?V\.|\bAG\b|\bGmbH\b|\bSpitex|\bHeim\b|pflegeheim|zentrale\b|\bpoliklinik\b|\bcharité\b|"
    r"\bNetz\b|netz\s|"
    r"ospedale|hôpital|krankenanstalt|\bstift\b|\bStudio medico|\bkurhaus|\bInselspital|privatklinik|"
    r"rehaklinik|clinique|clinica|universitätsmedizin|"
    r"ordination\b",
    re.IGNORECASE,
)
CLINIC = re.compile(r"klinik|institut\b|anstalt\b|clinic\b", re.IGNORECASE)
DEPARTMENT = re.compile(
    r"\babt\.\s|\b(?:departement|sektion|tagesklinik|op-zentrum|perinatalzentrum|[\w-]*konsil\w*dienst|liaisondienst|"
    r"\w+ische poliklinik|notaufnahme|notfallstation|notfallzentrum|intensivstation|abteilung|ambulanz|"
    r"station\b|sprechstunde|department|bereich\b|dienst\b|einheit\b|sekretariat "
    r"aufnahme|"
    r"bettendisposition|klinik(?:en)? für|institut für|zentrum für|[\w-]*abteilung|[\w-]*ambulanz|"
    r"[\w-]*sprechstunde|[\w-]*station)\b"
    r"|\w+(?:ologische|iatrische|chirurgische|ädische|medizinische|logische|ische) (?:klinik|abteilung|ambulanz|"
    r"sprechstunde)",
    re.IGNORECASE,
)
LEADER = re.compile(
    r"\b(?:chef[aä]rzt(?:in)?|vorstand|vostand|klinikvorstand|leiter(?:in)?|direktor(?:in)?|klinikdirektor|"
    r"primararzt|"
    r"ärztliche[rn]? (?:leit|direkt)\w+|leitende[rn]? \w+ärzt\w*|ltd\.)\b",
    re.IGNORECASE,
)


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
    r"^(?:Station|Zimmer|Zi|Te[l1]|Fax|Haus|Postfach|PF|Seite|Fall|Nr|LANR|BSNR|Tag|Stufe|Stock|Ebene|DECT|Vorgang|IK|"
    r"ÖKK|Modul)\b",
    re.IGNORECASE,
)
MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}")
BARE_PHONE = re.compile(r"^(?:\+\d|\(?0\d)[\d ()/–-]{6,22}\d$")


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
        if PLACE.match(bare) or _NO_STREET.match(bare) or BARE_PHONE.match(bare):
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


_OF_SPECIALTY = re.compile(
    r"^(?:FMH|FA\b|FÄ\b|Fach[aä]rzt(?!\w*(?:ordination|praxis|zentrum))|Arzt für|Ärztin für|Praktische|Prakt\.|"
    r"[\w-]*FMH$|Allgemeinmedizin|"
    r"Hausarzt\b|Hausärztin\b|"
    r"LANR|BSNR|ZSR|GLN|EAN|IK\b|(?:Ur|Kardi|Neur)olog(?:e|in)\b|Internist|Leitende|Chefarzt|Chefärztin|"
    r"Oberarzt|Oberärztin|"
    r"Geht an|Kopie|Praxis-Info|Seite\b|Öffnungszeit|Sprechzeit|Formular|Muster \d)",
    re.IGNORECASE,
)


def institution(pieces: Sequence[str]) -> tuple[str | None, str | None]:
    """(institution, department): a hospital or practice, and the part of it that is named beside."""
    house = department = None
    for piece in pieces:
        piece = _bare(piece)
        if not _may_be_house(piece):
            continue
        inner = _inner(piece)
        part = DEPARTMENT.search(piece) is not None or _may_be_part(piece)
        if inner and house is None:
            house, department = inner[1], department or inner[0]
        elif (HOUSE.search(piece) and not _is_part(piece)) or (
            CLINIC.search(piece) and not (DEPARTMENT.search(piece) or SPECIALTY.match(piece))
        ):
            if house and department is None and _may_be_part(house) and not part:
                house, department = piece, house  # `Ambulatorium, Kinderspital`
            elif house and part:
                department = department or piece
            house = house or piece
        elif part or SPECIALTY.match(piece):
            department = department or piece
    if house is None and department is not None and (CLINIC.search(department) or _SERVICE.search(department)):
        house, department = department, None
    return house, department


def _bare(piece: str) -> str:
    """Without what addresses it, or who leads it."""
    piece = _ADDRESSED.sub("", piece).strip(" :")
    led = LEADER.search(piece)
    return piece[: led.start()].strip() if led and led.start() > 20 else piece


_ADDRESSED = re.compile(r"^(?:An die|An das|An den|An|Von|Praxis:|am(?=\s[A-ZÄÖÜ]\S*(?:haus|spital|klinikum)\b))\s+")


def first_piece(lines: Sequence[str]) -> str | None:
    """The first piece of a letterhead, where it is no person, address, specialty or telephone: a house by its place."""
    for line in lines[:1]:
        piece = re.split(r"\s*[|·•]\s*|\s{2,}|,\s+|\s[–-]\s", line.strip())[0].strip()
        plain = not (doctor_in(piece) or STREET_NAMED.search(piece) or ":" in piece)
        if plain and _may_be_house(piece) and 1 < len(piece.split()) <= 8 and not _is_a_person(piece):
            return piece
    return None


def _is_a_person(piece: str) -> bool:
    return all(is_name_word(word) for word in piece.split()) and any(given(word) > 1 for word in piece.split())


_WEAK = re.compile(
    r"^(?:ambulatorium|ambulanz|\w+zentrum|(?:\w+isches\s)?zentrum|institut|poliklinik|sprechstunde)\b", re.IGNORECASE
)
"""Houses that may be a part of a hospital named beside them."""
_PART_CLINIC = re.compile(
    r"^(?:HNO|Haut|Frauen|Augen|Kinder|Nerven|Zahn|Schmerz|Tages|Medizinische|Chirurgische|Urologische|Neurologische)"
    r"-?\s?klinik(?:\s[IVX]{1,3})?$",
    re.IGNORECASE,
)
"""Clinics that are a part of the house named beside them."""


def _may_be_part(house: str) -> bool:
    """True if a house may be a part of another that is named beside it."""
    return (_WEAK.match(house) or _PART_CLINIC.match(house)) is not None


_OF_A_HOUSE = re.compile(
    r"^(?:klinik|institut|abteilung|ambulatorium|ambulanz) für |^Ambulatorium\s\w+ie$|[\w-]abteilung der |[\w-]dienst$",
    re.IGNORECASE,
)


def is_department(house: str | None) -> bool:
    """True if a name without an address is of a part of a house: `Augenklinik`, `Klinik für Strahlentherapie`,
    `Medizin Bettenstation 4`."""
    return (
        house is not None
        and (_PART_CLINIC.match(house) or _OF_A_HOUSE.search(house) or SPECIALTY.match(house.split(maxsplit=1)[0]))
        is not None
    )


_SERVICE = re.compile(r"dienst\b", re.IGNORECASE)


def _is_part(piece: str) -> bool:
    """A department although a house's word is in it: `Zentrum für ...`."""
    return (
        re.match(
            r"^(?:zentrum|klinik|institut|abteilung|abt\.|ambulanz|station) |^(?:zentrale |"
            r"interdisziplinäre )?(?:notaufnahme|"
            r"notfallzentrum|notfallstation|intensivstation|departement)\b",
            piece,
            re.IGNORECASE,
        )
        is not None
    )


_NAMED_HOUSE = (
    r"(?:(?:[^\W\d_]+(?:isches|ischen|ische|ischem)|Städt\.|Evang?\.|Kath\.|St\.|Univ\.-?)\s?)?"
    r"(?:[^\W\d_][\w-]*)?(?i:klinikum|krankenhaus|spital|hospital|uniklinik|universitätsklinik|ärztehaus|\bLKH|\bKH|"
    r"\bUK)\b(?![-\w])"
)
_PART_NAMED = r"(?:Klinik für|Abteilung|Abt\.|Institut für|Department für|Zentrale Notaufnahme|Notaufnahme)\b"
_WITHIN_HOUSE = re.compile(
    rf"^(.{{3,60}}?)\s(?:(?:im|am|der|des|vom|in der|an der)\s)?({_NAMED_HOUSE}(?:\s.{{2,50}})?)$"
)
_HOUSE_THEN_PART = re.compile(rf"^({_NAMED_HOUSE}(?:\s[^\W\d_a-zäöü][\w.-]+){{1,3}}?)\s({_PART_NAMED}.*)$")


def _inner(piece: str) -> tuple[str, str] | None:
    """(department, house) of a piece that names both: `Chirurgie Spital Musterau`, `Ambulanz am Klinikum Musterau`,
    `Klinikum Musterau Klinik für Urologie`."""
    if behind := _HOUSE_THEN_PART.match(piece):
        return behind[2], behind[1]
    within = _WITHIN_HOUSE.match(piece)
    if within and _is_only_part(within[1]):
        return within[1], within[2]
    return None


def _is_only_part(words: str) -> bool:
    """True if the words name a part of a house."""
    return (SPECIALTY.match(words) or _PART_CLINIC.match(words) or _PART_ENDS.search(words)) is not None


_PART_ENDS = re.compile(r"(?:ambulanz|abteilung|sprechstunde|station|notaufnahme|aufnahme)$", re.IGNORECASE)


_PLACE = r"(?:Station|Stat\.|IMC|Sektion|Bereich|\w*[sS]prechstunde|\w*[aA]mbulanz)\b[\w. ]{0,20}"
"""Part of a department that is named behind it."""
_STATION = re.compile(rf"{_PLACE}$")
_TAIL = re.compile(rf"^(?:\s?,\s|\s?/\s|\s[-–]\s)({_PLACE}|[^,;|·\t]{{3,60}})")
_AND = re.compile(r"\s(?:und|u\.)\s|,\s")


def with_tail(department: str, lines: Sequence[str]) -> str:
    """The department with what its line says of it behind a mark: `Unfallchirurgie, Station U3`."""
    for line in lines:
        at = line.find(department)
        if at < 0:
            continue
        rest = re.split(r"\t|\s{2,}|[|·]", line[at + len(department) :])[0]
        found = _TAIL.match(rest)
        if found and (_STATION.match(found[1]) or all(SPECIALTY.match(one.strip()) for one in _AND.split(found[1]))):
            return department + rest[: found.end()].rstrip(" ,")
    return department


_PRACTICE = re.compile(r"praxis|ordination|hausärzt|ärztehaus|\bDr(?:es)?\.|\bFA\b|\bFÄ\b", re.IGNORECASE)


def is_of_practice(house: str | None, department: str) -> bool:
    """True if a department is rather what a practice is for: `Praxis Dr. Kern, Palliativmedizin`."""
    return house is not None and _PRACTICE.search(house) is not None and SPECIALTY.match(department) is not None


_INSURER = re.compile(
    r"(?:AOK|[BI]KK|DAK|TK|KKH|Barmer|BARMER|Techniker|Knappschaft)\b(?!.*(?:[Kk]lini[kc]|krankenhaus))"
)
"""Insurers, which stand above the patient on a card and are neither party."""
_HOURS = re.compile(r":\s|\b(?:Mo|Di|Mi|Do|Fr)\b|\bUhr\b")
"""Opening hours and labelled values are no house."""
_SENTENCE = re.compile(r"\b(?:wir|ich|sie|ist|sind|wird|wurde|hat|war|bitte|dass|und eine|nicht)\b", re.IGNORECASE)


def _is_titled_person(piece: str) -> bool:
    """True for a titled person whose surname looks like a house: `Dr. med. Ursina Spital`."""
    return TITLE.match(piece) is not None and doctor_in(piece) == piece


def _may_be_house(piece: str) -> bool:
    return (
        len(piece) < 110
        and not MAIL.search(piece)
        and not _OF_SPECIALTY.match(piece)
        and not _INSURER.match(piece)
        and not _is_titled_person(piece)
        and not LEADER.search(piece.split(":")[0])
        and not _SENTENCE.search(piece)
        and not PLACE.match(" " + piece)
        and not piece.lower().startswith(
            ("lehrkrankenhaus", "akademisches lehr", "der ", "ein unternehmen", "besuchszeit", "notfallstation")
        )
        and (piece[:1].isupper() or re.match(r"\d\.\s[A-ZÄÖÜ]", piece) is not None)
        and kind_of(piece) is None
        and not _HOURS.search(piece)
        and not re.search(r"\d{3}", piece)
    )
