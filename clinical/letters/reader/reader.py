"""Every field of a letter by the letter's form, null where the form does not determine it.

Answers where no language model is configured, and is the second opinion beside one (`letters.review`).
"""

from __future__ import annotations

import re
from typing import Any

from clinical.budget import Budget
from clinical.claims import either, names_relative
from clinical.contract import DocumentType
from clinical.letters.grounding import Circumstances, named_sex
from clinical.letters.layout import LetterLayout
from clinical.letters.reader.choices import ChoiceReader
from clinical.letters.reader.hashed import ReaderModels
from clinical.letters.reader.kinds import title_of
from clinical.letters.reader.letter_dates import letter_date
from clinical.letters.reader.lists import ListReader
from clinical.letters.reader.names import given, is_name_word
from clinical.letters.reader.parties import PartyReader
from clinical.letters.reader.patient import AddressReader, PatientReader, stated_sex
from clinical.letters.reader.question import question_of
from clinical.letters.reader.values import ValueFeatures, settled
from clinical.text import SourceText, dates_of

_NUMBER = re.compile(r"[A-Z]{0,3}[-/]?\d(?:-[A-Z]{1,3}-|[\d./-])*(?:\s\d{2,})*")
_AHV = re.compile(r"\b756(?:[.\s]\d{4}[.\s]\d{4}[.\s]\d{2}|\d{10})\b")
_KVNR = re.compile(r"(?<![\w])[A-Z]\s?\d{3}\s?\d{3}\s?\d{3}\b")
_PENSION = re.compile(r"(?<![\d.])\d{2}\s?\d{6}\s?[A-Z]\s?\d{3}(?!\d)")
_CARD = re.compile(r"(?<!\d)80756\d{15}(?!\d)")
_CASE = re.compile(
    r"\b(?:Fall(?:nummer|nr|zahl|-Nr|-ID|(?=\s(?:[A-Z]{2}-)?\d[\d-]{5,}))|Aufn(?:ahme)?\.?-?(?:Nr|zahl|nummer)|(?-i:AZ|FID))"
    r"\.?(?:\s(?:Spital|Klinik))?\s?:?\s{0,3}"
    r"((?:[A-Z]{1,2}-?)?\d[\d./-]{3,16})",
    re.IGNORECASE,
)
_BORN_NUMBER = re.compile(r"(?<![\d.])[1-9]\d{3}[\s/-]?(\d{6})(?![\d.])")
_SVNR = re.compile(r"\b(?:SV|SVN|VSN|VNR|VSNR|SVNR)\b[-.\s]{0,2}(?:Nr\b\.?|Nummer)?[:\s]{0,3}(\d{4}\s?\d{6})\b")
"""Insurance numbers: Swiss AHV, German and Austrian, the last by its label."""
_INSURERS = re.compile(
    r"\b(?:AOK(?:\s(?:PLUS|[A-ZÄÖÜ][\w-]+(?:[- ][A-ZÄÖÜ][\w-]+)?))?|BARMER|Barmer|Techniker Krankenkasse|TK|"
    r"DAK(?:-Gesundheit)?|KKH|IKK(?:\s[\w-]+)?|(?:[\w]{3,12}\s)?BKK(?:\s(?![A-Z]?\d)[A-ZÄÖÜ][\w-]+)?|"
    r"Knappschaft|hkk|HEK|SVLFG|Debeka|DKV|Signal Iduna|CSS|Helsana|Swica|SWICA|Sanitas|Concordia|"
    r"CONCORDIA|Visana|KPT|Atupri|"
    r"Assura|Sympany|ÖKK|EGK|Groupe Mutuel|Agrisano|SLKK|Sumiswalder|Aquilana|Intras|Philos|ÖGK|BVAEB|BVA|SVS|SVA|"
    r"WGKK|NÖGKK|STGKK|OÖGKK|KFA|"
    r"Merkur Versicherung|UNIQA|Uniqa|Wiener Städtische)\b(?!-(?!versichert))"
)
_INSURED = re.compile(r"(?:krankenkasse|versichert|versicherung|kasse|cassa malati|zusatz|KK)", re.IGNORECASE)
HEADED = frozenset(("diagnosen", "medikation", "eingriffe", "procedere", "fragestellung"))
"""Fields whose values stand below a heading."""


def read_letter(text: str, kind: DocumentType, budget: Budget | None = None) -> dict[str, Any]:
    """All fields of a letter in the shape of the contract's `data`: None and [] where the rules are unsure.

    Raises ModelTimeout where the budget is used up."""
    return RulesReader(text, budget).read(kind)


class RulesReader:
    """One letter as the rules read it."""

    def __init__(self, text: str, budget: Budget | None = None, models: ReaderModels | None = None) -> None:
        """`models`: in place of the shipped ones."""
        budget = budget or Budget()
        budget.check()
        self.sheet = LetterLayout(text, budget)
        self.text = text
        self.dates = dates_of(self.sheet.text)
        self.patients = PatientReader(self.sheet, self.dates)
        self.found = self.patients.read()
        self.parties = PartyReader(self.sheet, self.found.name)
        self.written = letter_date(self.sheet, self.dates, self.found.born)
        self.lists = ListReader(self.sheet, self.written, models)

    def lists_by_heading(self) -> list[tuple[str, str]]:
        """The sections of the letter that head a list or the question: (field, text)."""
        return [(one.field, "\n".join(one.lines)) for one in self.sheet.sections if one.field in HEADED]

    def remarks(self) -> tuple[str, ...]:
        """German remarks on the reading: of several lists of drugs, the one that was used."""
        count, (_, title) = self.lists.drug_lists(), self.lists.drugs()
        return (f"Medikation: von {count} Listen des Briefs zählt „{title[:60]}“.",) if title and count > 1 else ()

    def read(self, kind: DocumentType) -> dict[str, Any]:
        """All fields of the document, as `read_letter`."""
        form = self.by_rules(kind)
        for field, value in settled(ValueFeatures(self.sheet, self.dates, form, kind), form).items():
            outer, _, inner = field.partition(".")
            form[outer][inner] = value
        return form

    def by_rules(self, kind: DocumentType) -> dict[str, Any]:
        """All fields of the document by the rules alone, without the networks of single values."""
        title, _ = title_of(self.sheet)
        circumstances = Circumstances(SourceText(self.text), kind)
        choices = ChoiceReader(self.sheet, circumstances)
        lists = self.lists.read()
        form: dict[str, Any] = {
            "dokument": {"typ": title, "datum": self.written},
            "patient": self._patient(circumstances),
            "versicherung": {"name": self._insurer(), "klasse": choices.read("versicherung.klasse")},
            "absender": self.parties.sender(kind == "zuweisung").model_dump(),
            "empfaenger": self.parties.recipient(kind == "zuweisung").model_dump(),
            "aufenthalt": {"art": choices.read("aufenthalt.art")},
            "fragestellung": question_of(self.lists.statements, kind),
            "diagnosen": lists["diagnosen"],
            "medikation": lists["medikation"],
        }
        if kind == "zuweisung":
            return form | {key: choices.read(key) for key in ("kostengutsprache", "dringlichkeit")}
        form["eingriffe"] = [
            {"bezeichnung": one.name, "datum": one.day} for one in self.lists.dated(lists["eingriffe"])
        ]
        form["procedere"] = lists["procedere"]
        return form

    def _patient(self, circumstances: Circumstances) -> dict[str, Any]:
        name = self.found.name
        street, plz, ort = AddressReader(self.sheet).read(self.found)
        return {
            "nachname": name.last if name else None,
            "vorname": name.first if name else None,
            "geburtsdatum": self.found.born,
            "geschlecht": stated_sex(self.sheet, name, self.found.lines)
            or named_sex(circumstances, name.last if name else None),
            "strasse": street,
            "plz": plz,
            "ort": ort,
            "versichertennummer": self._insurance_number(),
            "fallnummer": _number(self.sheet.value("fallnummer")) or self._case_number(),
        }

    def _insurance_number(self) -> str | None:
        for pattern in (_AHV, _KVNR, _SVNR, _PENSION, _CARD):
            if found := pattern.search(self.sheet.text):
                return found[found.lastindex or 0]
        if self.found.born and (number := self._by_birth(self.found.born)):
            return number
        return _number(self.sheet.value("versichertennummer"))

    def _case_number(self) -> str | None:
        """Within a line: `..., Fallnr. 55023981, ...`."""
        found = _CASE.search(self.sheet.text[:8_000])
        return _number(found[1]) if found else None

    def _by_birth(self, born: str) -> str | None:
        """An Austrian number without a label: four digits before the patient's own day of birth."""
        day = born[8:10] + born[5:7] + born[2:4]
        return next((found[0] for found in _BORN_NUMBER.finditer(self.sheet.text) if found[1] == day), None)

    def _insurer(self) -> str | None:
        for one in self.sheet.labelled:
            if one.field != "versicherung":
                continue
            named = map(self._insurer_of, (*one.cells[:1], " ".join(one.cells[:2])))
            if name := next(filter(None, named), None):
                return name
        for found in _INSURERS.finditer(self.sheet.text[:8_000]):
            before = self.sheet.text[max(0, found.start() - 90) : found.start()]
            said = re.split(r"(?<=[^\W\d_]{4})\.\s|\.\s(?=(?:Krankenkasse|Kasse|KK|Versichert)\b)|[;\n]", before)[-1]
            if names_relative(said):
                continue
            if _INSURED.search(self.sheet.text[max(0, found.start() - 30) : found.end() + 16]) or self._near_number(
                found.start()
            ):
                return found[0]
        return None

    def _near_number(self, at: int) -> bool:
        """A number of the insured, or the patient's address, stands on the same lines."""
        line = self.sheet.text.count("\n", 0, at)
        near = "\n".join(self.sheet.lines[line : line + 5])
        return bool(_KVNR.search(near) or _AHV.search(near) or line in self.found.lines)

    def _insurer_of(self, value: str) -> str | None:
        name = re.split(r"[;(|,•]|\s/\s|\.\s|\s{2,}|\s[A-Z]?\d|\bKl\.", value)[0].strip(" .")
        name = re.sub(r"\s(?:allgemein|halbprivat|privat|grundversichert)$", "", name, flags=re.IGNORECASE)
        words = name.split()
        unsuited = re.search(
            rf"^(?:(?:UVG|KVG|VVG)\b|privat|allgemein|halbprivat|gesetzlich|ja\b|(?:{either('@answered_no')})\b|selbst|"
            rf"grundvers|"
            r"muster\b|[\d.]+$)",
            name,
            re.IGNORECASE,
        )
        if 1 <= len(words) <= 4 and name[:1].isupper() and not unsuited and not _is_person(words):
            return name
        known = _INSURERS.search(value)
        return known[0] if known else None


def _is_person(words: list[str]) -> bool:
    """True if the words name a person who pays, and no insurer: `Garant: Anna Kern`."""
    return 1 < len(words) < 4 and given(words[0]) > 1 and all(map(is_name_word, words))


def _number(value: str | None) -> str | None:
    found = _NUMBER.match(value or "")
    return found[0].strip(" .-/") if found else None
