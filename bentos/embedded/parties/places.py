"""Places: postcodes with their places, streets with their numbers, addresses of mail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bentos.embedded.parties.house_words import HOUSE
from clinical.language import dates_of

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
