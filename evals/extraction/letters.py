"""Seeded referral and discharge letters with known fields: Swiss, German, Austrian, in many layouts.

A letter is made of a frame (letterhead), a patient block, and sections, each in one of several forms; a layout is one
pair of patient block and list form (`LAYOUTS`, 48 of them). What a letter does not show is not in its truth. Relatives,
denied diseases, a second person and further dates stand in the text and never in the truth.
"""

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from clinical.contract import DocumentType
from evals.extraction import letter_words as words
from evals.extraction.letter_blocks import DATE_FORMS, PATIENTS, dotted, two_digits

SIGNATURE = "Mit freundlichen Grüssen"


@dataclass(frozen=True, slots=True)
class Letter:
    """A text, what kind of document it is, and its true fields in the shape of the contract's `data` (no nulls)."""

    document_type: DocumentType
    text: str
    truth: dict[str, Any]
    layout: str
    seed: int


PATIENT_BLOCKS = ("sentence", "form", "table", "pipes", "line", "register", "subject", "cells")
LIST_FORMS = ("dashes", "bullets", "numbers", "lines", "commas", "sentence")
LAYOUTS = tuple(f"{block}/{form}" for block in PATIENT_BLOCKS for form in LIST_FORMS)


def make_letter(seed: int, layout: str | None = None) -> Letter:
    """The letter of a seed; the same seed is always the same letter."""
    return _Writer(seed, layout or LAYOUTS[seed % len(LAYOUTS)]).letter()


def letters(count: int, seed: int = 0) -> list[Letter]:
    """`count` letters, all layouts in turn."""
    return [make_letter(seed * 100_000 + number) for number in range(count)]


class _Writer:
    def __init__(self, seed: int, layout: str) -> None:
        self.seed, self.layout = seed, layout
        self.block, self.form = layout.split("/")
        self.random = random.Random(seed)  # noqa: S311 - reproducible, not secret
        self.kind: DocumentType = self.random.choice(("zuweisung", "arztbrief"))
        self.country = self.random.choice(("ch", "de", "at"))
        self.truth: dict[str, Any] = {}
        self.date_form = self.random.choice((dotted, *DATE_FORMS))
        self.day = date(2019, 1, 1) + timedelta(days=self.random.randrange(2_500))
        self.heading = self.random.choice(("{}:", "{}", "upper", "{}:"))
        self.width = self.random.choice((0, 0, 72, 60))
        self.sex = self.random.choice("mw")
        self.last = self.random.choice(words.LAST)
        self.first = self.random.choice(words.FIRST_W if self.sex == "w" else words.FIRST_M)

    def letter(self) -> Letter:
        parts = [self._sender(), self._recipient(), self._head(), self._patient(), *self._body(), self._foot()]
        text = "\n\n".join(part for part in parts if part)
        return Letter(self.kind, text, self.truth, self.layout, self.seed)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def put(self, outer: str, inner: str, value: str) -> str:
        self.truth.setdefault(outer, {})[inner] = value
        return value

    def day_text(self, day: date) -> str:
        return self.date_form(day)

    def _address(self, owner: str) -> tuple[str, str]:
        plz, place = self.random.choice(words.PLACES[self.country])
        letter = self.random.choice(("", "", "a"))
        street = f"{self.random.choice(words.STREETS)} {self.random.randrange(1, 140)}{letter}"
        self.put(owner, "strasse", street)
        self.put(owner, "plz", plz)
        self.put(owner, "ort", place)
        prefix = {"ch": "CH-", "de": "D-", "at": "A-"}[self.country] if self.chance(0.2) else ""
        return street, f"{prefix}{plz} {place}"

    def _doctor(self, owner: str) -> str:
        first = self.random.choice(words.FIRST_M + words.FIRST_W)
        last = self.random.choice([name for name in words.LAST if name != self.last])
        return self.put(owner, "name", f"{self.random.choice(words.TITLES)} {first} {last}")

    def _sender(self) -> str:
        hospital = self.kind == "arztbrief"
        names = words.HOSPITALS[self.country] if hospital else words.PRACTICES
        lines = [self.put("absender", "institution", self.random.choice(names))]
        if hospital and self.chance(0.8):
            lines.append(self.put("absender", "abteilung", self.random.choice(words.DEPARTMENTS)))
        if self.chance(0.8):
            street, place = self._address("absender")
            lines += [f"{street}, {place}"] if self.chance(0.4) else [street, place]
        if self.chance(0.7):
            lines.append(
                self.random.choice(("Tel. {}", "Telefon: {}", "Tel.: {}", "T {}")).format(self._phone("absender"))
            )
        if self.chance(0.5):
            mail = self.put("absender", "email", f"info{self.random.randrange(99)}@praxis-beispiel.example")
            lines.append(self.random.choice(("E-Mail: {}", "{}", "Mail {}")).format(mail))
        return "\n".join(lines)

    def _phone(self, owner: str) -> str:
        digits = [self.random.randrange(100, 999), self.random.randrange(10, 99), self.random.randrange(10, 99)]
        forms = {
            "ch": ("044 {} {} {}", "+41 44 {} {} {}", "044/{} {} {}"),
            "de": ("0531 / {}{}-{}", "0531 {}{}{}"),
            "at": ("0512 {} {} {}", "+43 512 {}{}{}"),
        }
        return self.put(owner, "telefon", self.random.choice(forms[self.country]).format(*digits))

    def _recipient(self) -> str:
        if self.chance(0.15):
            return ""
        lines = []
        if self.kind == "zuweisung" or self.chance(0.3):
            lines.append(self.put("empfaenger", "institution", self.random.choice(words.HOSPITALS[self.country])))
            if self.chance(0.7):
                lines.append(self.put("empfaenger", "abteilung", self.random.choice(words.DEPARTMENTS)))
        if not lines or self.chance(0.5):
            lines += (
                [self.random.choice(("Herrn", "Frau")), self._doctor("empfaenger")]
                if self.chance(0.7)
                else [self._doctor("empfaenger")]
            )
        if self.chance(0.7):
            lines += self._address("empfaenger")
        return "\n".join(lines)

    def _head(self) -> str:
        kind = self.put("dokument", "typ", self.random.choice(words.KINDS[self.kind]))
        day = self.day_text(self.day)
        self.put("dokument", "datum", self.day.isoformat())
        place = self.truth.get("absender", {}).get("ort")
        line = (
            f"{place}, {day}"
            if place and self.chance(0.6)
            else self.random.choice((f"Datum: {day}", day, f"den {day}"))
        )
        return f"{line}\n\n{kind}" if self.chance(0.7) else f"{kind} vom {day}"

    def _patient(self) -> str:
        self.put("patient", "nachname", self.last)
        self.put("patient", "vorname", self.first)
        self.put("patient", "geschlecht", self.sex)
        born = date(1930, 1, 1) + timedelta(days=self.random.randrange(31_000))
        self.put("patient", "geburtsdatum", born.isoformat())
        born_text = dotted(born) if self.date_form is two_digits else self.day_text(born)
        more: list[tuple[str, str]] = []
        if self.chance(0.6):
            street, place = self._address("patient")
            more.append(("Adresse", f"{street}, {place}"))
        if self.chance(0.6):
            label, number = self._insurance_number()
            more.append((label, self.put("patient", "versichertennummer", number)))
        if self.chance(0.6):
            number = self.random.choice(
                (f"{self.random.randrange(10**5, 10**7)}", f"F-{self.random.randrange(10**5, 10**6)}")
            )
            more.append(
                (self.random.choice(("Fallnummer", "Fall-Nr.", "Fallnr.")), self.put("patient", "fallnummer", number))
            )
        if self.chance(0.7):
            insurer = self.put("versicherung", "name", self.random.choice(words.INSURERS[self.country]))
            more.append((self.random.choice(("Versicherung", "Krankenkasse", "Kostenträger")), insurer))
            if self.chance(0.6):
                more.append(self._class())
        return PATIENTS[self.block](self, born_text, more)

    def _class(self) -> tuple[str, str]:
        value = self.random.choice(tuple(words.CLASSES))
        self.put("versicherung", "klasse", value)
        label, _, text = self.random.choice(words.CLASSES[value]).rpartition(": ")
        return label or "Versicherungsart", text

    def _insurance_number(self) -> tuple[str, str]:
        number = self.random.randrange
        if self.country == "ch":
            return "AHV-Nr.", f"756.{number(1000, 9999)}.{number(1000, 9999)}.{number(10, 99)}"
        if self.country == "de":
            return "Versichertennummer", f"{self.random.choice('ABKMTX')}{number(10**8, 10**9)}"
        return "SV-Nr.", f"{number(1000, 9999)} {number(10, 28):02}{number(1, 12):02}{number(30, 99)}"

    def _body(self) -> list[str]:
        sections = [self._opening(), self._diagnoses()]
        if self.kind == "zuweisung":
            sections += [self._question(), self._costs(), self._urgency()]
        else:
            sections += [self._procedures()]
        sections += [self._history(), self._drugs()]
        if self.kind == "arztbrief":
            sections.append(self._next_steps())
        return sections

    def _opening(self) -> str:
        greeting = self.random.choice(
            ("Sehr geehrte Damen und Herren", "Sehr geehrter Herr Kollege", "Sehr geehrte Frau Kollegin")
        )
        who = f"{'Frau' if self.sex == 'w' else 'Herrn'} {self.last}"
        stay = self.random.choice(tuple(words.STAYS)) if self.chance(0.7) else None
        if stay:
            self.put("aufenthalt", "art", stay)
        what = self.random.choice(words.STAYS[stay]) if stay else "weitere Abklärung"
        if self.kind == "zuweisung":
            text = f"besten Dank für die {what.replace('stationären Aufenthalt', 'stationäre Aufnahme')} von {who}."
        else:
            admitted = self.day_text(self.day - timedelta(days=self.random.randrange(3, 20)))
            what = {"stationaer": "stationären Behandlung", "ambulant": "ambulanten Behandlung", None: what}[stay]
            text = f"wir berichten über {who}, Eintritt am {admitted} zur {what}."
        return f"{greeting}\n\n{self.wrap(text)}"

    def _history(self) -> str:
        parts = [self.random.choice(words.DENIED)]
        if self.chance(0.7):
            parts.insert(0, self.random.choice(words.FAMILY))
        if self.chance(0.5):
            contact = self.random.choice([name for name in words.FIRST_M + words.FIRST_W if name != self.first])
            phone = f"079 {self.random.randrange(100, 999)} 11 22"
            parts.append(f"Kontaktperson: {contact} {self.random.choice(words.LAST)}, Tel. {phone}.")
        if self.chance(0.5):
            parts.append(
                f"Letzte Kontrolle am {self.day_text(self.day - timedelta(days=self.random.randrange(200, 900)))}."
            )
        return f"{self._title('Anamnese')}\n{self.wrap(' '.join(parts))}"

    def _title(self, name: str) -> str:
        return name.upper() if self.heading == "upper" else self.heading.format(name)

    def wrap(self, text: str) -> str:
        return textwrap.fill(text, self.width, break_on_hyphens=False) if self.width else text

    def _list(self, title: str, items: list[str], introduction: str) -> str:
        if self.form in ("commas", "sentence") and any("," in item for item in items):
            return f"{self._title(title)}\n" + "\n".join(f"- {item}" for item in items)
        if self.form == "sentence":
            return self.wrap(f"{introduction}: {', '.join(items)}.")
        if self.form == "commas":
            return f"{self._title(title).rstrip(':')}: " + "; ".join(items)
        mark = {"dashes": "- ", "bullets": "• ", "lines": ""}.get(self.form)
        lines = [f"{f'{n}. ' if mark is None else mark}{item}" for n, item in enumerate(items, 1)]
        return f"{self._title(title)}\n" + "\n".join(lines)

    def _diagnoses(self) -> str:
        items = self.random.sample(words.DIAGNOSES, self.random.randrange(1, 6))
        self.truth["diagnosen"] = items
        title = self.random.choice(("Diagnosen", "Diagnose", "Hauptdiagnosen", "Diagnosen"))
        return self._list(title, items, "Wir stellten folgende Diagnosen")

    def _drugs(self) -> str:
        if self.chance(0.15):
            return ""
        chosen = self.random.sample(words.DRUGS, self.random.randrange(1, 7))
        items = [f"{name} {dose} {self.random.choice(words.SCHEMES)}".strip() for name, dose in chosen]
        self.truth["medikation"] = items
        title = self.random.choice(("Medikation", "Aktuelle Medikation", "Medikamente", "Medikation bei Austritt"))
        if self.form in ("commas", "sentence"):
            return f"{self._title(title).rstrip(':')}: " + "; ".join(items)
        return self._list(title, items, "")

    def _procedures(self) -> str:
        if self.chance(0.3):
            return ""
        chosen = self.random.sample(words.PROCEDURES, self.random.randrange(1, 4))
        items, truth = [], []
        for name in chosen:
            day = self.day - timedelta(days=self.random.randrange(1, 30))
            dated = self.chance(0.8)
            truth.append({"bezeichnung": name, "datum": day.isoformat()} if dated else {"bezeichnung": name})
            forms = (
                f"{self.day_text(day)}: {name}",
                f"{name} am {self.day_text(day)}",
                f"{name} ({self.day_text(day)})",
            )
            items.append(self.random.choice(forms) if dated else name)
        self.truth["eingriffe"] = truth
        title = self.random.choice(("Eingriffe", "Operationen", "Durchgeführte Eingriffe", "Operation"))
        return f"{self._title(title)}\n" + "\n".join(f"- {item}" if self.form != "lines" else item for item in items)

    def _next_steps(self) -> str:
        items = self.random.sample(words.PROCEDERE, self.random.randrange(1, 5))
        self.truth["procedere"] = items
        title = self.random.choice(("Procedere", "Weiteres Vorgehen", "Empfehlungen", "Prozedere"))
        return f"{self._title(title)}\n" + "\n".join(f"- {item}" if self.form != "lines" else item for item in items)

    def _question(self) -> str:
        if self.chance(0.2):
            return ""
        question = self.random.choice(words.QUESTIONS)
        self.truth["fragestellung"] = question
        title = self.random.choice(("Fragestellung", "Frage", "Fragestellung"))
        return f"{title}: {question}" if self.chance(0.6) else f"{self._title(title)}\n{question}"

    def _costs(self) -> str:
        if self.chance(0.4):
            return self.random.choice(words.NO_COSTS)
        value = self.random.choice(tuple(words.COSTS))
        self.truth["kostengutsprache"] = value
        return self.random.choice(words.COSTS[value])

    def _urgency(self) -> str:
        if self.chance(0.4):
            return self.random.choice(words.NO_URGENCY)
        value = self.random.choice(tuple(words.URGENCIES))
        self.truth["dringlichkeit"] = value
        return self.random.choice(words.URGENCIES[value])

    def _foot(self) -> str:
        name = self._doctor("absender")
        greeting = self.random.choice((SIGNATURE, "Freundliche Grüsse", "Mit freundlichen kollegialen Grüßen"))
        role = self.random.choice(("Leitender Arzt", "Oberärztin", "Facharzt für Allgemeinmedizin", ""))
        return "\n".join(part for part in (greeting, "", name, role) if part or part == "")
