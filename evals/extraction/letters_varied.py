"""Seeded letters of many more layouts than `letters`: subject lines, columns, one-line contacts, portals, prose, scans.

Made to find out where a reader of forms goes wrong, not to train one: every part is drawn on its own from several
Swiss, German and Austrian forms. All people are invented. What a letter does not show is not in its truth.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from evals.extraction import letter_words as words
from evals.extraction.letter_blocks import DATE_FORMS, dotted
from evals.extraction.letters import Letter
from evals.extraction.scans import scanned

SCANNED = 0.1
"""Share of letters that come through a scan."""
SURNAMES = ("Kern", "Pfister", "Zurbriggen", "Steinbichler", "Straub", "Huber", "Amrein", "Obermoser", "Burri", "Kranz")
_DIAGNOSES = tuple(one for one in words.DIAGNOSES if " n. " not in one)
"""Without operations of the past, which are procedures as well."""
_TITLED = ("Dr. med.", "Prof. Dr. med.", "PD Dr. med.", "Dr.", "OA Dr.", "Prim. Dr.", "Dr. med. univ.")


class Varied:
    """Draws one letter part by part; `truth` fills up as the parts are drawn."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)  # noqa: S311 - reproducible, not secret
        self.kind = self.pick(("zuweisung", "arztbrief"))
        self.country = self.pick(("ch", "de", "at"))
        self.truth: dict[str, Any] = {}
        self.sex = self.pick("mw")
        self.last = self.pick(SURNAMES)
        self.first = self.pick(words.FIRST_W if self.sex == "w" else words.FIRST_M)
        self.day = date(2022, 1, 3) + timedelta(days=self.random.randrange(1_200))
        self.born = date(1932, 1, 1) + timedelta(days=self.random.randrange(29_000))
        self.day_form = self.pick((dotted, dotted, *DATE_FORMS[1:3]))
        self.layout = ""

    def pick(self, options: Any) -> Any:
        return self.random.choice(options)

    def put(self, path: str, value: str) -> str:
        outer, _, inner = path.partition(".")
        self.truth.setdefault(outer, {})[inner] = value
        return value

    def letter(self) -> Letter:
        """The drawn letter, through a scan for one of ten."""
        name, layout = self.pick(tuple(LAYOUTS.items()))
        self.layout = name
        text = layout(self)
        if self.random.random() < SCANNED:
            text = scanned(text, 1, self.seed)
        return Letter(self.kind, text, self.truth, f"varied/{name}", self.seed)

    # parts

    def patient_name(self, form: str) -> str:
        self.put("patient.nachname", self.last.upper() if "{LAST}" in form else self.last)
        self.put("patient.vorname", self.first)
        return form.format(first=self.first, last=self.last, LAST=self.last.upper())

    def birth(self) -> str:
        self.put("patient.geburtsdatum", self.born.isoformat())
        return dotted(self.born)

    def said(self, dative: bool = False) -> str:
        self.put("patient.geschlecht", self.sex)
        return "Frau" if self.sex == "w" else "Herrn" if dative else "Herr"

    def address(self, owner: str) -> tuple[str, str]:
        plz, place = self.pick(words.PLACES[self.country])
        street = f"{self.pick(words.STREETS)} {self.random.randrange(1, 120)}{self.pick(('', '', 'a', ' b'))}"
        self.put(f"{owner}.plz", plz)
        self.put(f"{owner}.ort", place)
        return self.put(f"{owner}.strasse", street), f"{plz} {place}"

    def doctor(self, owner: str) -> str:
        first = self.pick(words.FIRST_M + words.FIRST_W)
        last = self.pick([name for name in words.LAST if name not in SURNAMES])
        return self.put(f"{owner}.name", f"{self.pick(_TITLED)} {first} {last}")

    def phone(self, owner: str) -> str:
        digits = [self.random.randrange(100, 999), self.random.randrange(10, 99), self.random.randrange(10, 99)]
        form = self.pick(("044 {} {} {}", "0531 / {} {} {}", "+43 512 {}{}{}", "(089) {} {}-{}"))
        return self.put(f"{owner}.telefon", form.format(*digits))

    def house(self, owner: str, hospital: bool) -> str:
        names = words.HOSPITALS[self.country] if hospital else words.PRACTICES
        return self.put(f"{owner}.institution", self.pick(names))

    def items(self, path: str, pool: Any, most: int) -> list[str]:
        chosen = self.random.sample(tuple(pool), self.random.randrange(2, most))
        self.truth[path] = chosen
        return chosen

    def drugs(self) -> list[str]:
        chosen = self.random.sample(words.DRUGS, self.random.randrange(2, 6))
        entries = [f"{name} {dose} {self.pick(words.SCHEMES[:6])}" for name, dose in chosen]
        self.truth["medikation"] = entries
        return entries

    def written(self, title: Any, entries: list[str]) -> str:
        """A list under one of its headings, in one of seven forms."""
        form = self.pick(("dash", "dot", "number", "bare", "star", "semicolon", "bracket"))
        head = self.pick(title)
        if form == "semicolon":
            return f"{head}: " + "; ".join(entries)
        marks = {"dash": "- ", "dot": "• ", "bare": "", "star": "* "}
        lines = [
            f"{marks.get(form, f'{n}. ' if form == 'number' else f'{n}) ')}{entry}"
            for n, entry in enumerate(entries, 1)
        ]
        return f"{head}{self.pick((':', '', ':'))}\n" + "\n".join(lines)

    def medical(self) -> list[str]:
        """Sections of the letter's kind, in their usual order."""
        parts = [self.written(("Diagnosen", "DIAGNOSEN", "Diagnose(n)", "Dg.", "Diagnoseliste", "Hauptdiagnosen"),
                              self.items("diagnosen", _DIAGNOSES, 6))]  # fmt: skip
        if self.kind == "zuweisung":
            question = self.pick(words.QUESTIONS)
            self.truth["fragestellung"] = question
            parts.append(f"{self.pick(('Fragestellung', 'Frage', 'Anliegen', 'Konkrete Frage'))}: {question}")
            parts.append(
                self.written(("Medikation", "Aktuelle Medikation", "Medikamente", "Dauermedikation"), self.drugs())
            )
            return parts
        parts.append(f"Anamnese\n{self.pick(words.DENIED)} {self.pick(words.FAMILY)}")
        entry = "\n".join(f"{name} {dose} 1-0-0" for name, dose in self.random.sample(words.DRUGS, 2))
        if self.random.random() < 0.4:
            parts.append(
                f"{self.pick(('Medikation bei Eintritt', 'Aufnahmemedikation', 'Bisherige Medikation'))}:\n{entry}"
            )
        parts.append(self.written(("Medikation bei Austritt", "Entlassungsmedikation", "Medikamente bei Entlassung",
                                   "Therapie bei Entlassung", "Austrittsmedikation"), self.drugs()))  # fmt: skip
        steps = ("Procedere", "Prozedere", "Weiteres Vorgehen", "Empfehlungen", "Empfohlenes Procedere")
        parts.append(self.written(steps, self.items("procedere", words.PROCEDERE, 4)))
        return parts

    def title(self) -> str:
        return self.put("dokument.typ", self.pick(words.KINDS[self.kind]))

    def date_line(self, place: str | None) -> str:
        self.put("dokument.datum", self.day.isoformat())
        day = self.day_form(self.day)
        forms = [f"Datum: {day}", day]
        if place:
            forms += [f"{place}, {day}", f"{place}, den {day}", f"{place}, am {day}"]
        return str(self.pick(forms))

    def opening(self) -> str:
        """Salutation and first sentence with the patient's salutation and the stay."""
        salutation = self.pick(("Sehr geehrte Damen und Herren", "Sehr geehrte Frau Kollegin", "Lieber Herr Kollege"))
        if self.kind == "zuweisung":
            return f"{salutation},\n\nbesten Dank für die Übernahme von {self.said(True)} {self.last}."
        stay = self.put("aufenthalt.art", self.pick(("stationaer", "ambulant")))
        first = self.day - timedelta(days=9)
        how = "stationärer Behandlung" if stay == "stationaer" else "ambulanter Behandlung"
        who = f"{self.said()} {self.last} befand sich vom {dotted(first)} bis {dotted(self.day)} in unserer {how}."
        return f"{salutation},\n\n{who}"

    def signature(self, owner: str = "absender") -> str:
        end = self.pick(
            ("Mit freundlichen Grüssen", "Freundliche Grüsse", "Mit kollegialen Grüßen", "Mit besten Grüßen")
        )
        role = self.pick(("Leitende Ärztin", "Oberarzt", "Facharzt für Innere Medizin", "Assistenzärztin"))
        return f"{end}\n\n{self.doctor(owner)}\n{role}"


def _letterhead(w: Varied) -> tuple[str, str]:
    """(sender's block, its place)."""
    lines = [w.house("absender", w.kind == "arztbrief")]
    if w.kind == "arztbrief" and w.random.random() < 0.7:
        lines.append(w.put("absender.abteilung", w.pick(words.DEPARTMENTS)))
    street, place = w.address("absender")
    phone = w.phone("absender")
    form = w.pick(("lines", "one", "bars"))
    if form == "one":
        lines.append(f"{street}, {place}, Tel. {phone}")
    elif form == "bars":
        lines.append(f"{street} | {place} | Tel. {phone} | Fax {phone[:-1]}0")
    else:
        lines += [street, place, w.pick((f"Tel. {phone}", f"Telefon: {phone}", f"Tel.: {phone}"))]
    return "\n".join(lines), w.truth["absender"]["ort"]


def _addressee(w: Varied) -> str:
    doctor = w.doctor("empfaenger")
    street, place = w.address("empfaenger")
    first = w.pick(("Herrn", "Frau", "Frau/Herrn", ""))
    return "\n".join(line for line in (first, doctor, street, place) if line)


def _subject(w: Varied) -> str:
    form = w.pick((
        "Betr.: {last}, {first}, geb. {born}, {address}", "Betreff: Patient {first} {last}, geboren am {born}",
        "Pat.: {last}, {first}, geb. {born}", "Patientendaten: {LAST} {first}, {born}, {address}",
        "Patient/in: {last} {first}, {born}", "Re: {first} {last} (*{born})",
        "{first} {last}, geb. {born}, wohnhaft {address}",
    ))  # fmt: skip
    w.layout += "+" + form[:8]
    address = ", ".join(w.address("patient")) if "{address}" in form else ""
    w.patient_name("{LAST}" if "{LAST}" in form else "")
    return str(form.format(last=w.last, LAST=w.last.upper(), first=w.first, born=w.birth(), address=address))


def _letter(w: Varied) -> str:
    head, place = _letterhead(w)
    parts = [head, _addressee(w), w.date_line(place), w.title(), _subject(w), w.opening(), *w.medical(), w.signature()]
    return "\n\n".join(parts)


def _form(w: Varied) -> str:
    """A form of labels and values: with colons, tabs, columns, or values on the lines below."""
    gap = w.pick((": ", "\t", "    ", ":\n", ":\t"))
    w.patient_name("")
    rows = [("Name", w.last), ("Vorname", w.first), ("Geburtsdatum", w.birth())]
    rows.append(("Geschlecht", w.put("patient.geschlecht", w.sex)))
    street, place = w.address("patient")
    rows += [("Strasse", street), ("PLZ/Ort", place)]
    rows.append(("Krankenkasse", w.put("versicherung.name", w.pick(words.INSURERS[w.country]))))
    form = "\n".join(f"{label}{gap}{value}" for label, value in rows)
    house = w.house("absender", False)
    street, place = w.address("absender")
    sender = f"Zuweiser{gap}{w.doctor('absender')}, {house}, {street}, {place}, Tel. {w.phone('absender')}"
    return "\n\n".join([w.title(), w.date_line(None), form, sender, *w.medical()])


def _columns(w: Varied) -> str:
    """A header row with its values below, as a flattened table."""
    head, place = _letterhead(w)
    w.patient_name("")
    gap = w.pick(("\t", "    ", " | "))
    table = gap.join(("Name", "Vorname", "Geburtsdatum", "Geschlecht"))
    row = gap.join((w.last, w.first, w.birth(), w.put("patient.geschlecht", w.sex)))
    return "\n\n".join(
        [head, w.title(), w.date_line(place), f"{table}\n{row}", w.opening(), *w.medical(), w.signature()]
    )


def _bare(w: Varied) -> str:
    """A letter whose head was cut off: salutation, sentence, sections, signature."""
    born = w.birth()
    name = w.patient_name(w.pick(("{first} {last}", "{LAST} {first}", "{last}, {first}")))
    mark = w.pick((f", geb. {born}", f" (*{born})", f", geboren am {born}", f", * {born}"))
    who = f"{w.said(True)} {name}{mark}"
    stay = w.put("aufenthalt.art", "stationaer") if w.kind == "arztbrief" else None
    text = f"wir berichten über {who}, die Behandlung erfolgte stationär." if stay else f"wir überweisen Ihnen {who}."
    return "\n\n".join(["Liebe Kollegin, lieber Kollege,", text, *w.medical(), w.signature()])


LAYOUTS: dict[str, Callable[[Varied], str]] = {"letter": _letter, "form": _form, "columns": _columns, "bare": _bare}


def varied(count: int, seed: int = 0) -> list[Letter]:
    """`count` letters of all layouts; the same seed always gives the same letters."""
    return [Varied(seed * 100_000 + number).letter() for number in range(count)]
