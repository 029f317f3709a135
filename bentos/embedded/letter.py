"""The parts of a letter, found by its form: blocks, labelled values, sections with their lists, who writes to whom.

Knows the habits of Swiss, German and Austrian letters and no vocabulary of diseases or drugs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from clinical.language import MONTH_NAMES

SECTIONS: dict[str, tuple[str, ...]] = {
    "diagnosen": (
        "diagnose", "diagnosen", "diagnose(n)", "hauptdiagnose", "hauptdiagnosen", "nebendiagnosen", "nebendiagnose",
        "haupt- und nebendiagnosen", "entlassungsdiagnosen", "entlassdiagnosen", "austrittsdiagnosen", "dg", "dg.",
        "bekannte diagnosen", "aktuelle diagnosen", "diagnoseliste", "weitere diagnosen", "zuweisungsdiagnose",
        "einweisungsdiagnose", "einweisungsdiagnosen", "dauerdiagnosen", "wir stellten folgende diagnosen",
    ),
    "medikation": (
        "medikation", "aktuelle medikation", "medikamente", "medikation bei austritt", "medikation bei entlassung",
        "austrittsmedikation", "entlassungsmedikation", "entlassmedikation", "medikamente bei entlassung",
        "dauermedikation", "bisherige medikation", "empfohlene therapie", "therapie", "medikamentöse therapie",
        "medikation bei eintritt", "empfohlene medikation", "therapie bei entlassung", "med.", "medikamentenliste",
    ),
    "eingriffe": (
        "eingriffe", "eingriff", "operationen", "operation", "durchgeführte eingriffe", "operation(en)", "op",
        "durchgeführte operationen", "interventionen", "intervention", "prozeduren", "operative eingriffe",
    ),
    "procedere": (
        "procedere", "prozedere", "weiteres vorgehen", "empfehlungen", "empfehlung", "vorgehen",
        "empfohlenes procedere",
        "weiteres procedere", "therapieempfehlung", "nachbehandlung", "therapievorschlag u. procedere",
    ),
    "fragestellung": ("fragestellung", "frage", "fragestellungen", "konkrete frage", "zuweisungsgrund", "auftrag"),
    "": (
        "anamnese", "befund", "befunde", "verlauf", "status", "labor", "epikrise", "beurteilung", "zusammenfassung",
        "familienanamnese", "sozialanamnese", "allergien", "untersuchungsbefund", "klinik", "vorgeschichte", "ekg",
        "kostengutsprache", "dringlichkeit", "priorität", "kontaktperson", "röntgen", "jetziges leiden",
        "systemanamnese",
        "persönliche anamnese", "versicherung", "aktuelle anamnese", "körperliche untersuchung", "histologie",
        "beilagen",
    ),
}  # fmt: skip
"""Headings by the field they begin; those under "" end a section and begin none."""

_HEADING = {heading: field for field, headings in SECTIONS.items() for heading in headings}
LABELS: dict[str, tuple[str, ...]] = {
    "nachname": ("nachname", "name", "familienname", "zuname"),
    "vorname": ("vorname", "vornamen"),
    "patient": ("patient", "patientin", "pat", "name, vorname", "betreff", "betrifft", "betr", "patient/in", "re"),
    "geburtsdatum": ("geburtsdatum", "geb.-datum", "geb-datum", "geboren", "geboren am", "geb", "geb. am"),
    "geschlecht": ("geschlecht", "sex"),
    "adresse": ("adresse", "anschrift", "wohnhaft", "wohnadresse", "strasse", "straße"),
    "wohnort": ("plz/ort", "plz ort", "ort", "wohnort"),
    "versichertennummer": (
        "ahv-nr", "ahv-nummer", "ahv", "ahvn13", "versichertennummer", "versicherten-nr", "vers.-nr", "versichertennr",
        "sv-nr", "svnr", "sv-nummer", "sozialversicherungsnummer", "kvnr", "versicherungsnummer", "policennummer",
        "versichertenkarte", "mitgliedsnummer",
    ),
    "fallnummer": ("fallnummer", "fall-nr", "fallnr", "fall", "fall-nummer", "fallzahl", "aufnahmenummer", "pid"),
    "versicherung": ("versicherung", "krankenkasse", "kostenträger", "krankenversicherung", "kasse", "garant"),
    "klasse": ("versicherungsklasse", "klasse", "versicherungsart", "liegeklasse", "versicherungsstatus"),
    "telefon": ("tel", "telefon", "t", "fon", "tel.nr", "telefonnummer"),
    "email": ("e-mail", "mail", "email"),
    "datum": ("datum", "den", "ausgestellt am", "erstellt am", "berichtsdatum", "vom"),
    "fragestellung": SECTIONS["fragestellung"],
}  # fmt: skip
LINE_MAX = 2_000
"""Characters of a line that are read: a longer one is no line of a letter."""

_LABEL = {label: field for field, labels in LABELS.items() for label in labels}
_LABELLED = re.compile(r"^[|\s]*([^\W\d][\w./, -]{0,26}?)\.?\s*(?:[:|\t]|\s{3,})[\s|]*(.*?)[\s|]*$")
_WORDS_LABEL = "|".join(sorted((re.escape(label) for label in _LABEL if len(label) > 2), key=len, reverse=True))
_INLINE = re.compile(
    rf"(?<![\w-])({_WORDS_LABEL})\.?\s*[:\t ]\s*([^;|\n\t]+?)(?=[;|\n\t]|(?<!\bSt)\.\s|\.?$)", re.IGNORECASE
)
_MARK = re.compile(rf"^\s*(?:[-–•*·▪]|\d{{1,2}}[.)](?!\s+(?:{MONTH_NAMES})[.]?\s\d))\s+", re.IGNORECASE)
BREAK = re.compile(r"\n[ \t]*\n")
GREETING = re.compile(r"^(?:sehr geehrte|liebe|werte|geschätzte|guten tag|grüezi)", re.IGNORECASE | re.MULTILINE)
CLOSING = re.compile(r"^.{0,40}(?:grüssen|grüßen|grüsse|grüße|hochachtungsvoll)\W*$", re.IGNORECASE | re.MULTILINE)
_TITLE = r"(?:Univ\.-?|Prim\.|Prof\.|Priv\.-?Doz\.|PD|OA|Dr\.|Mag\.)"
_DEGREE = r"(?:med|univ|phil|habil|dent)\.?"
_NAMES = r"(?:[A-ZÄÖÜ][\w'’.-]*[ \t]+(?:(?:von|van|de|zu|zur|dos)[ \t]+)?){0,3}[A-ZÄÖÜ][\w'’-]+"
DOCTOR = re.compile(rf"({_TITLE}(?:[ \t]?(?:{_TITLE}|{_DEGREE})){{0,6}}[ \t]+{_NAMES})")
"""Title and name on one line; every repetition is bounded, so that no text can make the search slow."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value behind its label."""

    field: str
    value: str
    at: int


@dataclass(frozen=True)
class Sheet:
    """A letter's text and its parts."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        return [line.rstrip()[:LINE_MAX] for line in self.text.replace("\r\n", "\n").split("\n")]

    @cached_property
    def blocks(self) -> list[list[str]]:
        """Runs of lines without a blank one."""
        return [
            lines
            for part in BREAK.split("\n".join(self.lines))
            if (lines := [line.strip() for line in part.split("\n") if line.strip()])
        ]

    @cached_property
    def greeting(self) -> int:
        """The number of the first block that greets; all blocks where none does."""
        found = (n for n, lines in enumerate(self.blocks) if GREETING.match(lines[0]))
        return next(found, len(self.blocks))

    @cached_property
    def closing(self) -> int:
        """The number of the line behind the closing formula; past the last line where there is none."""
        found = [n for n, line in enumerate(self.lines) if CLOSING.match(line)]
        return found[-1] + 1 if found else len(self.lines)

    @cached_property
    def labelled(self) -> list[Labelled]:
        """Every labelled value: on lines of their own, in table cells, on the line below, or within running text."""
        found: list[Labelled] = []
        for n, line in enumerate(self.lines):
            match = _LABELLED.match(line)
            field = _LABEL.get(_label_key(match[1])) if match else None
            if match and field:
                value = match[2].strip() or (self.lines[n + 1].strip() if n + 1 < len(self.lines) else "")
                found.append(Labelled(field, value, n))
            else:
                found += [Labelled(_LABEL[_label_key(one[1])], one[2].strip(" ,"), n) for one in _INLINE.finditer(line)]
        return found

    def value(self, field: str, lines: range | None = None) -> str | None:
        """The first value behind one of the field's labels, within the lines where named."""
        found = (one.value for one in self.labelled if one.field == field and (lines is None or one.at in lines))
        return next((value for value in found if value), None)

    @cached_property
    def sections(self) -> dict[str, list[str]]:
        """Entries by field: list items, lines, or pieces of a line divided by semicolons or commas."""
        sections: dict[str, list[str]] = {}
        field: str | None = None
        for n, line in enumerate(self.lines[: self.closing - 1]):
            found, rest = heading_of(line)
            if found is not None:
                field = found or None
                if field and rest:
                    sections.setdefault(field, []).extend(self._running(n, rest))
                    field = None if self._running_ends(n) else field
                    field = None
                continue
            if not line.strip():
                field = field if field and not sections.get(field) else None
            elif field:
                self._add(sections.setdefault(field, []), line)
        return sections

    def _add(self, entries: list[str], line: str) -> None:
        """A new entry, or the rest of one that was wrapped."""
        wrapped = entries and not _MARK.match(line) and line.strip()[0].islower() and len(entries[-1]) > 45
        if wrapped:
            entries[-1] = f"{entries[-1]} {line.strip()}"
        else:
            entries.append(_MARK.sub("", line).strip().rstrip(";"))

    def _running_ends(self, n: int) -> bool:
        return n + 1 >= len(self.lines) or not self.lines[n + 1].strip()

    def _running(self, n: int, rest: str) -> list[str]:
        """A list on the heading's own line, with what the line breaks of a wrapped text put on the next ones."""
        text = rest
        for line in self.lines[n + 1 :]:
            if not line.strip() or _MARK.match(line) or heading_of(line)[0] is not None:
                break
            text = f"{text} {line.strip()}"
        sign = ";" if ";" in text else ","
        pieces = re.split(r";\s*" if sign == ";" else r",\s+(?![a-zäöü\d]+ )", text)
        last = re.split(r"\s+und\s+(?=[A-ZÄÖÜ])", pieces[-1]) if sign == "," and len(pieces) > 1 else [pieces[-1]]
        whole = [piece.strip() for piece in (*pieces[:-1], *last) if piece.strip()]
        return [*whole[:-1], whole[-1].rstrip(".")] if whole else []


def heading_of(line: str) -> tuple[str | None, str]:
    """The field a line's heading begins ("" for another section) and what follows on the line; (None, "") for none."""
    text = line.strip().lstrip("#*_ ")
    head, colon, rest = text.partition(":")
    key = " ".join(head.lower().replace("  ", " ").strip("*_ ").split())
    if key in _HEADING and (colon or len(text) < 40):
        return _HEADING[key], rest.strip() if colon else ""
    if colon and re.search(r"\b(wir stellten folgende diagnosen|folgende diagnosen|diagnosen sind)$", key):
        return "diagnosen", rest.strip()
    shouted = text.isupper() and 4 < len(text) < 40 and not re.search(r"\d", text) and len(text.split()) < 4
    return ("", "") if shouted else (None, "")


def _label_key(label: str) -> str:
    return " ".join(label.lower().strip(" .|").split())
