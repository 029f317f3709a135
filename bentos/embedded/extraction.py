"""The rehearsal model's extraction: a letter's fields by its form, for the demo and as the baseline of evaluations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from bentos.embedded.budget import Budget
from bentos.embedded.letter import DOCTOR, GREETING, Sheet
from clinical.contract import Arztbrief, Zuweisung
from clinical.grounding import find_keyword, find_sex
from clinical.language import DateMention, Source, dates_of

_PLACE = re.compile(
    r"(?:(?:CH|A|D)[- ])?\b(\d{4,5})\s+([A-ZÄÖÜ][\w.'’-]+(?:[ -](?:am|an|im|ob|bei|[A-ZÄÖÜ(][\w.'’)-]*))*)"
)
_STREET_END = r"(?:[Ss]tra(?:ss|ß)e|[Ss]tr\.|[Ww]eg|[Gg]asse|[Pp]latz|[Aa]llee|[Rr]ing|[Uu]fer|hof|rain|matt|[Dd]amm)"
_STREET = re.compile(
    rf"([A-ZÄÖÜ][\w'’-]{{0,40}}?(?:[ -][A-ZÄÖÜ][\w'’-]{{0,40}}?){{0,3}}?{_STREET_END}\s*\d+\s?[a-h]?\b(?:[/-]\d+)*)"
)
_ANY_STREET = re.compile(r"^([A-ZÄÖÜ][\w.'’ -]+?\s\d{1,4}\s?[a-h]?)(?:,|$)")
_PHONE = re.compile(r"(?:Tel(?:efon)?|Fon|T)\b[.:\s]*(?:Nr\.?)?[:\s]*([+(]?\d[\d ()/–-]{5,}\d)")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_HOUSE = re.compile(
    r"klinik|spital|krankenhaus|klinikum|praxis|zentrum|hospital|\bLKH\b|\bMVZ\b|institut|ambulatorium|sanatorium",
    re.IGNORECASE,
)
_DEPARTMENT = re.compile(
    r"^(?:(?:universitäts)?(?:klinik|abteilung|institut|ambulanz|department|zentrum|bereich)\s+für\b"
    r"|abteilung\b|abt\.|\w+ische[rn]?\s+(?:klinik|abteilung)|chirurgie|innere)",
    re.IGNORECASE,
)
_KINDS = re.compile(
    r"\b(?:(?:definitiver|vorläufiger|provisorischer)\s+)?\w*"
    r"(?:bericht|brief|zuweisung|überweisung|einweisung|zuweisungsschreiben|befund|konsilium|epikrise)\b",
    re.IGNORECASE,
)
_NAME = r"[A-ZÄÖÜ][\w'’-]+"
_PERSON = re.compile(rf"(?:Herrn?|Frau|Patientin|Patienten|Patient|Ihre?n?)\s+({_NAME}(?:[ \t]+{_NAME}){{0,3}})")
_WITH_BIRTH = re.compile(
    rf"({_NAME}(?:,?[ \t]+(?:(?:von|van|de|zu)[ \t]+)?{_NAME}){{1,4}})[ \t]*,?\s?(?:[mw],\s?)?(?:\(|\*|geb(?:\.|oren))"
)


def extract_zuweisung(question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """The form of a referral, filled in from the question's text."""
    return _Reader(str(question["text"])).document("zuweisung")


def extract_arztbrief(question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
    """The form of a discharge letter, filled in from the question's text."""
    return _Reader(str(question["text"])).document("arztbrief")


class _Reader:
    def __init__(self, text: str) -> None:
        self.sheet = Sheet(text)
        self.source = Source(text)
        self.dates = dates_of(text)
        self.text = text
        self.patient_lines: range = range(0)

    def document(self, kind: str) -> dict[str, Any]:
        patient = self._patient()
        form: dict[str, Any] = {
            "dokument": self._document(),
            "patient": patient,
            "versicherung": {"name": self._insurer(), "klasse": self._choice(Zuweisung, "versicherung.klasse")},
            "absender": self._sender(),
            "empfaenger": self._recipient(),
            "aufenthalt": {"art": self._choice(Zuweisung, "aufenthalt.art")},
            "fragestellung": self._question(),
            "diagnosen": self.sheet.sections.get("diagnosen", []),
            "medikation": self.sheet.sections.get("medikation", []),
        }
        if kind == "zuweisung":
            form |= {key: self._choice(Zuweisung, key) for key in ("kostengutsprache", "dringlichkeit")}
        else:
            form["eingriffe"] = [self._procedure(entry) for entry in self.sheet.sections.get("eingriffe", [])]
            form["procedere"] = self.sheet.sections.get("procedere", [])
        return form

    def _choice(self, document: type[Zuweisung] | type[Arztbrief], path: str) -> str | None:
        """The value whose word comes first in the text."""
        outer, _, inner = path.partition(".")
        field = document.model_fields[outer]
        if inner:
            field = type(field.default).model_fields[inner]
        allowed = [value for option in get_args(field.annotation) for value in get_args(option)]
        found = [(place.first, value) for value in allowed if (place := find_keyword(self.source, path, value))]
        return min(found)[1] if found else None

    def _patient(self) -> dict[str, Any]:
        last, first = self._names()
        birth = self._birth()
        address = self.sheet.value("adresse") or self._line_of_patient()
        place = _PLACE.search(address or "") or _PLACE.search(self.sheet.value("wohnort") or "")
        street = _STREET.search(address or "") or _ANY_STREET.search(address or "")
        sex = next((one for one in ("w", "m") if find_sex(self.source, one, (last or "",))), None)
        return {
            "nachname": last,
            "vorname": first,
            "geburtsdatum": birth.iso(birth=True) if birth else None,
            "geschlecht": self._own_sex(last) or sex,
            "strasse": street[1].strip() if street else None,
            "plz": place[1] if place else None,
            "ort": place[2].strip() if place else None,
            "versichertennummer": _number(self.sheet.value("versichertennummer")),
            "fallnummer": _number(self.sheet.value("fallnummer")),
        }

    def _own_sex(self, last: str | None) -> str | None:
        said = (self.sheet.value("geschlecht") or "").lower()[:1]
        if said in ("m", "w"):
            return said
        if last and (one := re.search(rf"\b(Herrn?|Frau)\s+(?:[\w.'’-]+\s+){{0,3}}{re.escape(last)}\b", self.text)):
            return "w" if one[1] == "Frau" else "m"
        return None

    def _names(self) -> tuple[str | None, str | None]:
        labelled = self.sheet.value("nachname"), self.sheet.value("vorname")
        if all(labelled):
            return labelled
        whole = self.sheet.value("patient") or ""
        found = _split_name(whole) or _split_name(self._before_birth()) or self._by_salutation()
        return self._in_order(*found) if found else labelled

    def _in_order(self, last: str, first: str) -> tuple[str, str]:
        """`Patient Muster Anna` is a register's order where the letter speaks of Frau Muster."""
        spoken_of = re.compile(rf"(?:Herrn?|Frau)\s+{re.escape(first)}(?!\s+{re.escape(last)})\b")
        return (first, last) if spoken_of.search(self.text) else (last, first)

    def _before_birth(self) -> str:
        found = _WITH_BIRTH.search(self.text)
        return found[1] if found else ""

    def _by_salutation(self) -> tuple[str, str] | None:
        for found in _PERSON.finditer(self.text):
            if (names := _split_name(found[1])) and "Kolleg" not in found[1]:
                return names
        return None

    def _birth(self) -> DateMention | None:
        labelled = self.sheet.value("geburtsdatum")
        if labelled and (found := dates_of(labelled)):
            return found[0]
        return next((one for one in self.dates if one.birth), None)

    def _line_of_patient(self) -> str | None:
        found = re.search(r"wohnhaft\s+(?:in\s+|an\s+der\s+)?([^\n]{5,80}(?:\n[^\n]{3,40})?)", self.text)
        return found[1].replace("\n", " ") if found else None

    def _insurer(self) -> str | None:
        value = self.sheet.value("versicherung")
        return re.split(r"[;(|]|,\s|\.\s|\s{2,}", value)[0].strip(" .") if value else None

    def _document(self) -> dict[str, Any]:
        head = self.sheet.blocks[: self.sheet.greeting] or self.sheet.blocks[:4]
        kind = next((one for lines in head for line in lines if (one := _kind_of(line))), None)
        return {"typ": kind, "datum": self._letter_date(head)}

    def _letter_date(self, head: list[list[str]]) -> str | None:
        lines = [line for block in head for line in block]
        for pattern in (
            r"^(?:\S+,?\s+)?(?:Datum|den|am|vom)\b",
            r"^[A-ZÄÖÜ][\w. ]+,\s*(?:den|am)?\s*\d",
            r"^\d",
            r"\bvom\b",
        ):
            for line in lines:
                if re.search(pattern, line, re.IGNORECASE if pattern[1] == "(" else 0) and not _is_birth_line(line):
                    found = [one for one in dates_of(line) if not one.birth]
                    if found:
                        return found[-1].iso()
        free = [one for one in self.dates if not one.birth]
        return free[0].iso() if free else None

    def _sender(self) -> dict[str, Any]:
        blocks = self.sheet.blocks
        own = [line for line in blocks[0] if not _is_letter_line(line)] if blocks and self.sheet.greeting else []
        contact = _contact(own)
        contact["name"] = self._signature() or contact["name"]
        return contact

    def _signature(self) -> str | None:
        for line in self.sheet.lines[self.sheet.closing :]:
            text = re.split(r"\s{3,}|\t", line.strip())[0]
            if found := DOCTOR.match(text):
                return found[1]
        for line in self.sheet.lines[self.sheet.closing :]:
            if re.fullmatch(rf"{_NAME}(?:\s+(?:von|zur|van|de|{_NAME}))+", line.strip()):
                return line.strip()
        return None

    def _recipient(self) -> dict[str, Any]:
        for lines in self.sheet.blocks[1 : self.sheet.greeting]:
            if any(_is_letter_line(line) for line in lines[:1]) or _kind_of(lines[0]) == lines[0]:
                break
            if _HOUSE.search(lines[0]) or DOCTOR.search(lines[0]) or lines[0] in ("Herrn", "Herr", "Frau", "An"):
                return _contact([line for line in lines if line not in ("Herrn", "Herr", "Frau", "An")])
        return _contact([])

    def _question(self) -> str | None:
        entries = self.sheet.sections.get("fragestellung")
        return (
            entries[0]
            if entries and len(entries) == 1
            else " ".join(entries)
            if entries
            else self.sheet.value("fragestellung")
        )

    def _procedure(self, entry: str) -> dict[str, str | None]:
        found = dates_of(entry)
        if not found:
            return {"bezeichnung": entry, "datum": None}
        one = found[0]
        rest = f"{entry[: one.start]} {entry[one.end :]}"
        name = re.sub(r"^[\s:,–-]+|[\s(,–-]*(?:\bam|\bvom)?[\s(,)–-]*$", "", re.sub(r"\(\s*\)", "", rest))
        return {"bezeichnung": name.strip() or None, "datum": one.iso()}


def _kind_of(line: str) -> str | None:
    text = re.split(r"\s+vom\s+|:|,", line)[0].strip()
    found = _KINDS.search(text)
    return text if found and len(text.split()) < 4 and text[0].isupper() and not _HOUSE.search(text) else None


def _is_birth_line(line: str) -> bool:
    return re.search(r"\bgeb|\*|geburt", line, re.IGNORECASE) is not None


def _is_letter_line(line: str) -> bool:
    return bool(_kind_of(line) or GREETING.match(line) or (dates_of(line) and len(line) < 45))


def _number(value: str | None) -> str | None:
    found = re.match(r"[A-Z]{0,3}[-/]?\d[\d./-]*(?:\s\d{2,})*", value or "")
    return found[0].strip(" .-/") if found else None


def _split_name(text: str) -> tuple[str, str] | None:
    """(surname, first name) of `Muster, Anna`, `Herr Max Muster`, `Muster Anna` after `Patient`."""
    text = re.sub(r"^(?:(?:Ihre?n?|Unsere?n?|Patientin|Patienten|Patient|Herrn?|Frau)\s+)+", "", text.strip())
    text = re.split(r"\s*(?:\*|\(|,?\s*geb\b|,?\s*geboren|,\s*[mw]\b|,?\s*\d|;|\t)", text)[0].strip(" ,")
    names = re.findall(rf"(?:(?:von|van|de|zur|dos)\s+)?{_NAME}", text)
    if len(names) < 2 or len(names) > 4:
        return None
    if "," in text:
        last, _, first = text.partition(",")
        return last.strip(), first.strip()
    return names[-1], " ".join(names[:-1])


def _contact(lines: list[str]) -> dict[str, Any]:
    text = "\n".join(lines)
    place, street = _PLACE.search(text), _STREET.search(text)
    street = street or next(
        (one for line in lines if (one := _ANY_STREET.match(line)) and not _PHONE.match(line)), None
    )
    doctor = next((one[1] for line in lines if (one := DOCTOR.match(line))), None)
    department = next((line for line in lines if _DEPARTMENT.match(line)), None)
    house = next((line for line in lines if _HOUSE.search(line) and line != department), None)
    if house is None and department and lines and lines[0] == department:
        house, department = department, None
    phone, mail = _PHONE.search(text), _MAIL.search(text)
    return {
        "institution": house,
        "abteilung": department,
        "name": doctor,
        "strasse": street[1].strip() if street else None,
        "plz": place[1] if place else None,
        "ort": place[2].strip() if place else None,
        "telefon": phone[1].strip() if phone else None,
        "email": mail[0] if mail else None,
    }
