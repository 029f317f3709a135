"""Where the patient lives: behind `wohnhaft`, in the labelled address, or around the name."""

from __future__ import annotations

import re

from bentos.embedded.about.patient import NamedPatient
from bentos.embedded.letter import Labelled, Sheet
from bentos.embedded.names import Name
from bentos.embedded.parties import PLACE, place_in, segments, street_in
from bentos.embedded.trigger_words import either

_LIVES = re.compile(
    r"\b(?:wohnhaft|wh\.|wohnh\.|wohnt(?:\s\w+)?(?=\s(?:in|an)\b)|whft\.?|aus(?=\s(?:der|dem)\s[A-ZÄÖÜ]\w+\s\d)|"
    r"aus(?=\s[A-ZÄÖÜ][\wäöü]+\s?(?:\(|"
    r",)))\s*(?:der\s+|dem\s+|in\s+der\s+|an\s+der\s+|in\s+|an\s+|am\s+)?([^\n]{3,90})"
)


_DAY = re.compile(r"[(*]{0,2}\b\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}\b\)?")
_BEFORE_PLACE = re.compile(r"(?<=\d)\s(?:in\s)?(?=\d{4,5}\s[A-ZÄÖÜ])")
"""Between a house's number and a postcode on the same line."""


_PARENTS = re.compile(
    rf"(?i:^\s*(?:(?:Kindes)?(?:{either('@relative')})|(?:Erziehungs|Sorge)berechtigte\w?|gesetzl\w*\.? Vertret\w*)"
    r"\s?(?:\([^()]{2,30}\)\s?)?:)\s*(\S.*)$"
)
NAMED_LINES = 40
"""First lines in which the patient's name is looked for again with an address."""


class AddressReader:
    """Reads the patient's address of one sheet."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    def read(self, found: NamedPatient) -> tuple[str | None, str | None, str | None]:
        """(street, postcode, place): behind wohnhaft, in the labelled address, or around the name."""
        sheet = self.sheet
        if lives := _LIVES.search(sheet.text[:6_000]):
            pieces = segments(
                re.split(
                    r",\s(?:der|die|das|welche\w*|in)\s|(?<!tr)(?<!\bSt)(?<!Bgm)\.\s|\sin(?=\s\d{4})|;",
                    lives[1].replace("-", " ", 0),
                )[:2]
            )
            plz, ort = place_in(pieces)
            street = street_in(pieces)
            if plz or street:
                return street, plz, ort
            village = re.match(r"([^\W\d_a-zäöü][\w.-]+(?:\s[^\W\d_a-zäöü][\w.-]+)?)\s*(?:\(|,|$|\.)", lives[1])
            if village:
                return None, None, village[1]
        mine = [one for one in sheet.labelled if one.owner in (None, "patient")]
        pieces = [
            piece
            for one in mine
            if one.field in ("adresse", "strasse", "wohnort", "plz")
            for piece in segments([*one.cells, " ".join(one.cells[1:3]), *self._continued(one)])
        ]
        if pieces:
            street, (plz, ort) = street_in(pieces), place_in(pieces)
            town = next((one.value for one in mine if one.field == "wohnort" and one.value.isalpha()), None)
            if street or plz:
                return street, plz, ort or town
        around = self._around(found)
        if not around[1]:
            around = self._told_of(found)
        return around if around[1] else self._of_parents(found)

    def _of_parents(self, found: NamedPatient) -> tuple[str | None, str | None, str | None]:
        """`Eltern: Anna und Urs Kern, Rosenweg 4, ...`: a child lives with parents of the same surname."""
        for line in self.sheet.lines[:NAMED_LINES] if found.name else ():
            told = _PARENTS.match(line[:400])
            if told and found.name and found.name.last.casefold() in told[1].casefold():
                pieces = segments(re.split(r"(?<=[^\W\d_]{3})\.(?=\s)", told[1])[:1])
                plz, ort = place_in(pieces)
                return (street_in(pieces), plz, ort) if plz else (None, None, None)
        return None, None, None

    def _told_of(self, found: NamedPatient) -> tuple[str | None, str | None, str | None]:
        """Another of the first lines that has the patient's whole name and an address behind it."""
        if found.name is None or found.name.first is None:
            return None, None, None
        whole = (f"{found.name.first} {found.name.last}", f"{found.name.last} {found.name.first}")
        for n, line in enumerate(self.sheet.lines[:NAMED_LINES]):
            if any(one in line[:600] for one in whole):
                told = self._around(NamedPatient(found.name, found.born, range(n, n + 2)))
                if told[1] and told[0]:
                    return told
        return None, None, None

    def _continued(self, one: Labelled) -> list[str]:
        behind = self.sheet.lines[one.at + 1 : one.at + 2]
        return behind if one.field == "adresse" and behind and PLACE.match(" " + behind[0].strip()) else []

    def _around(self, found: NamedPatient) -> tuple[str | None, str | None, str | None]:
        if found.name is None or not found.lines:
            return None, None, None
        at = found.lines.start + (
            found.lines.start + 1 < found.lines.stop and not self._named_in(found.name, found.lines.start)
        )
        rows: list[str] = []
        for n in range(at, min(found.lines.stop, len(self.sheet.lines))):
            line = self.sheet.lines[n]
            if rows and (
                not line.strip()
                or any(one.at == n and one.owner in ("absender", "empfaenger") for one in self.sheet.labelled)
            ):
                break
            if (other := _PARENTS.match(line[:400])) and found.name.last.casefold() not in other[1].casefold():
                break
            rows.append(line[:600])
            if len(line) > 200:
                break
        text = "\n".join(rows)
        start = text.find(found.name.last)
        told = _DAY.sub(" , ", text[max(0, start) :].replace(found.name.last, f"{found.name.last} , ", 1))
        pieces = segments(_BEFORE_PLACE.sub(", ", told).split("\n"))
        plz, ort = place_in(pieces)
        return (street_in(pieces), plz, ort) if plz else (None, None, None)

    def _named_in(self, name: Name, n: int) -> bool:
        return name.last in self.sheet.lines[n]
