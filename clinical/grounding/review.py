"""Which kept values may belong into another field: the role check of every value, with a German reason.

Every place of a value is asked for its role (`roles`). One that supports the field is enough. Where none does and some
stand in another role of the same sort, the value is named; nothing is removed (decisions, "review").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from clinical.grounding.policy import Verdict, field_of
from clinical.grounding.roles import Role, Roles, Standing
from clinical.language import Reading, by_iso

MOST_PLACES: Final = 20
"""Places of one value that are asked for their role."""

_NAMES: Final[Mapping[Role, str]] = {
    "patient": "bei der Patientin oder dem Patienten", "absender": "beim Absender", "empfaenger": "beim Empfänger",
    "versicherung": "als Versicherung", "angehörige": "bei einer anderen Person", "birth": "als Geburtsdatum",
    "letter": "als Datum des Briefs", "operation": "als Datum eines Eingriffs", "stay": "als Datum des Aufenthalts",
    "finding": "als Datum eines Befunds", "diagnosen": "bei den Diagnosen", "medikation": "bei der Medikation",
    "eingriffe": "bei den Eingriffen", "procedere": "beim weiteren Vorgehen", "fragestellung": "in der Fragestellung",
    "anamnese": "in der Vorgeschichte", "versichertennummer": "als Versichertennummer", "fallnummer": "als Fallnummer",
}  # fmt: skip
_OWN: Final[Mapping[str, tuple[Role, ...]]] = {
    "dokument.datum": ("letter",), "patient.geburtsdatum": ("birth",), "eingriffe.datum": ("operation", "stay"),
    "patient.versichertennummer": ("versichertennummer",), "patient.fallnummer": ("fallnummer",),
    "versicherung.name": ("versicherung",),
    "diagnosen": ("diagnosen", "anamnese"), "medikation": ("medikation",), "eingriffe.bezeichnung": ("eingriffe",),
    "procedere": ("procedere",), "fragestellung": ("fragestellung",),
}  # fmt: skip
"""The roles that support a field."""
_CONTACTS: Final[Mapping[str, tuple[Role, ...]]] = {
    "patient": ("patient",), "absender": ("absender",), "empfaenger": ("empfaenger",),
}  # fmt: skip
"""Of whoever a field that is none of these belongs to."""
_TOLD: Final[Mapping[str, tuple[Role, ...]]] = {
    "diagnosen": ("medikation", "procedere", "eingriffe", "fragestellung"),
    "medikation": ("diagnosen", "eingriffe", "fragestellung"),
    "eingriffe.bezeichnung": ("medikation", "procedere", "diagnosen"),
    "procedere": ("diagnosen", "eingriffe", "medikation"),
    "fragestellung": ("diagnosen", "medikation", "eingriffe", "procedere"),
}  # fmt: skip
"""Headings that speak against a field of free text."""
_DOSE = re.compile(
    r"\d\s?(?:mg|µg|mcg|ml|IE|E|g|gtt|Tbl|Hub|Hübe|Einh\w*|EL)\b(?!\s?/\s?d?l)|\b[\dO]-[\dO]-[\dO]\b|"
    r"\b\d(?:[.,/]\d)?\s?-\s?\d(?:[.,/]\d)?\s?-\s?\d"
    r"|\b\d\s?x\s?\d\b(?!\s?[cm]m)|\b\d/\d/\d\b",
    re.IGNORECASE,
)
_DEPARTMENT = re.compile(
    r"\b(?:Abteilung|Abt\.|Klinik für|Departement|Ambulanz|Station|Institut für|Sprechstunde)\b", re.I
)
_PLAN = re.compile(
    r"\b(?:Kontroll\w*|Wiedervorstell\w*|empfehlen|empfohlen|erbeten|bitten?|geplant|in \d+ (?:Wochen|Tagen|Monaten)"
    r"|Fadenentfernung|Physiotherapie|Nachsorge\w*|Verlaufskontroll\w*)\b"
)
_PROCEDURE = re.compile(
    r"injektion|reposition|spaltung|explantation|replant|SLNB|beatmung|gips|enukleat|phako|\bHKL\b|schält|ektomie|"
    r"tomie\b|skopie|plastik|these|resektion|punktion|implantation|exstirpation|exzision|operation|operativ"
    r"|amputation|naht|entfernung|anlage|biopsie|embolisation|version|abtragung|lavage|debridement|graphie|revision"
    r"|refixation|diss?ektion|transplant|stent|deckung|wechsel|ablation|dilatation|PTCA|PCI|\b(?:OP|TEP|TE|"
    r"NE)\b"
    r"|trepanation|drainage|osteosynthese|chemotherapie|bestrahlung|intervention|ersatz|katheter|transfusion",
    re.IGNORECASE,
)
_TOLD_TO_DO = re.compile(
    r"\b(?:wir|wird|wurden?|haben|dass|ist|sind|werden|sollten?|soll|kann|können|muss|erfolgt\w*|gepflegt|durchgeführt|"
    r"getragen|steigern|reduzieren"
    r"|absetzen|fortführen|weiterführen|nehmen|bis|dann|ggf\.?|falls)\b"
)
_TAKEN = re.compile(
    r"bedarf|\bbed\b|b\.\s?b\b|lokal|lotion|pille|mahlzeit|i\.\s?v\.|früh|abends|morgens|gelegentlich|löffel|tablette|"
    r"^[\w-]+(?: forte| ret\.?| retard)? \d{1,4}(?:[.,]\d+)?$|tropfen|\btr\.|tbl|kps|salbe|creme|spray|pflaster|"
    r"nach \w+$|jährlich|täglich|tgl|insulin|heparin",
    re.I,
)
_ASKED = re.compile(
    r"rehabilitation|klärung|titration|\bziel|selbständig|wunsch|bitte|frage|indikation|abklär|beurteil|übernahme|"
    r"ersuch|erbeten|therapie|behandlung|empfehlung|konsil|komplex",
    re.I,
)
_ADVISED = re.compile(
    r"therapie|vorstell|aufnahme|eingliederung|fadenzug|krankenstand|fortsetz|beendig|bitte|messung|wechsel|sofort|"
    r"\b(?:am|ab|um) \d|jährlich|wieder\b|einstell|training|gymnastik|schonung|belast|weiter|termin|observanz|"
    r"diät|kost\b|einnahme|entfern|mobilis|vermeid|schutz"
    r"|steigerung|reduktion|versorg|pflege|transfer|verleg|jahr|woche|tag|rezept|hausarzt|fortführung|impf|sport|karenz"
    r"|abklär|untersuch|kontroll|beobacht|re-?staging|anbindung|mrt|ct\b|sono|labor",
    re.IGNORECASE,
)
_HOUSE = re.compile(r"praxis|klinik|spital|krankenhaus|zentrum|institut|ordination|station|ärzte", re.IGNORECASE)
_OVER = re.compile(r"\W*(?:Z\.?\s?n|St\.?\s?[pn]|Zustand|Status|nach)\b", re.I)
_TITLED = re.compile(r"(?:Herrn?\s+|Frau\s+)?(?:Dr|Prof|PD|Doz|Prim|Univ|OA|OÄ|Dipl|Priv)\b|.* (?:MD|PhD|FMH)$")
LONGEST_DIAGNOSIS: Final = 25
"""Words of a diagnosis that stands under no heading of diagnoses."""
SENTENCE: Final = 6
"""Words a diagnosis with a verb in it has at most."""
OLD_YEARS: Final = 12
"""Years a date of a letter may lie before the latest day it names: anything older is rather a birth."""


def explained(findings: Sequence[Verdict], source: Reading) -> tuple[Verdict, ...]:
    """The findings with what supports their field, and with doubt where the letter has them in another role."""
    roles = Roles(source)
    values = {one.path: one.value for one in findings if one.kept}
    found = [_explained(one, roles, values) if one.kept else one for one in findings]
    return tuple(found)


def _explained(finding: Verdict, roles: Roles, values: Mapping[str, str]) -> Verdict:
    field = field_of(finding.path)
    expected = _roles_of(field)
    if field.endswith(("geschlecht", "klasse", "art", "dringlichkeit", "kostengutsprache")):
        return replace(finding, support="label")
    if not expected:
        return finding
    places = [_standing(field, at, roles) for at in _places(finding, roles)]
    support = next((one for one in places if one is not None and one.role in expected), None)
    shape = None if support else _shape(field, finding.value)
    if shape or support:
        return replace(finding, support=support.by if support else None, doubt=shape)
    return replace(finding, doubt=_doubt(field, finding, places, values, roles))


def _roles_of(field: str) -> tuple[Role, ...]:
    return _OWN.get(field) or _CONTACTS.get(field.partition(".")[0], ())


def _places(finding: Verdict, roles: Roles) -> Iterator[int]:
    """The places of a value's stretch, of a date every mention of its day."""
    source = roles.source
    if finding.match == "date":
        birth = finding.path.endswith("geburtsdatum")
        yield from (one.start for one in by_iso(source.dates, birth).get(finding.value, ())[:MOST_PLACES])
        return
    stretch = source.text[finding.start : finding.end]
    at = source.text.find(stretch)
    for _ in range(MOST_PLACES):
        if at < 0:
            return
        yield at
        at = source.text.find(stretch, at + 1)


def _standing(field: str, at: int, roles: Roles) -> Standing | None:
    inner = field.rpartition(".")[2]
    if field.endswith("datum"):
        birth = any(one.birth for one in roles.source.dates if one.start == at)
        return roles.day(at, birth)
    if inner in ("versichertennummer", "fallnummer"):
        return roles.number(at)
    if field == "versicherung.name":
        return roles.payer(at)
    if field in _TOLD:
        return roles.section(at)
    if inner == "institution" and (payer := roles.payer(at)) is not None and payer.role == "versicherung":
        return payer
    return roles.person(at) if inner in ("nachname", "vorname", "name") else roles.owner(at)


def _doubt(
    field: str, finding: Verdict, places: Sequence[Standing | None], values: Mapping[str, str], roles: Roles
) -> str | None:
    """The German reason, where every place of the value stands in another role; None where one is not known."""
    standings = [one for one in places if one is not None]
    if field in _TOLD:
        if field == "eingriffe.bezeichnung" and _PROCEDURE.search(finding.value):
            return None
        other = next((one for one in standings if one.role in _TOLD[field]), None)
        return _reason(other) if other else _bare(field, finding.value)
    if field == "dokument.datum" and roles.days and int(roles.days[-1][:4]) - int(finding.value[:4]) > OLD_YEARS:
        return "Das Datum liegt Jahre vor den anderen Daten des Briefs."
    if field == "patient.geburtsdatum":
        born = any(one.birth for one in roles.source.dates)
        older = not roles.days or (finding.value <= roles.days[0] and finding.value[:4] < roles.days[-1][:4])
        return None if older and not born else "Der Brief nennt diesen Tag nicht als Geburtsdatum."
    if field == "patient.nachname" and _TITLED.match(finding.value):
        return "Der Wert ist der Name einer Ärztin oder eines Arztes."
    if field.endswith(".institution") and _is_a_department(field, finding, values):
        return "Der Wert klingt nach einer Abteilung, nicht nach einer Institution."
    patient = next((one for one in standings if one.role == "patient"), None)
    if field in ("absender.name", "empfaenger.name") and patient:
        return _reason(patient)
    return _reason(standings[0]) if standings and len(standings) == len(places) else None


def _reason(standing: Standing) -> str:
    return f"Der Wert steht im Brief {_NAMES[standing.role]}, nicht bei diesem Feld."


def _shape(field: str, value: str) -> str | None:
    """What the value sounds like, where that is another field: a dose, a plan, a procedure."""
    if field in ("diagnosen", "fragestellung") and _DOSE.search(value):
        return "Der Wert hat eine Dosis oder ein Einnahmeschema und klingt nach Medikation."
    if field == "procedere" and _DOSE.search(value) and not _TOLD_TO_DO.search(value):
        return "Der Wert hat eine Dosis oder ein Einnahmeschema und klingt nach Medikation."
    if field in ("diagnosen", "medikation", "eingriffe.bezeichnung") and _PLAN.search(value):
        return "Der Wert klingt nach weiterem Vorgehen."
    if field == "versicherung.name" and _HOUSE.search(value):
        return "Der Wert klingt nach einer Praxis oder Klinik, nicht nach einer Versicherung."
    sentence = len(value.split()) > SENTENCE and _TOLD_TO_DO.search(value) is not None
    if field == "diagnosen" and (sentence or len(value.split()) > LONGEST_DIAGNOSIS):
        return "Der Wert ist ein ganzer Satz und klingt nicht nach einer Diagnose."
    return None


def _bare(field: str, value: str) -> str | None:
    """What a value lacks that stands under no heading of its field."""
    if field == "medikation" and not _DOSE.search(value) and not (_TAKEN.search(value) and len(value.split()) < 8):
        return "Der Wert hat keine Dosis und steht nicht bei der Medikation."
    if field == "eingriffe.bezeichnung":
        return "Der Wert klingt nicht nach einem Eingriff und steht nicht bei den Eingriffen."
    if field == "fragestellung" and "?" not in value and not _ASKED.search(value):
        return "Der Wert klingt nicht nach einer Frage."
    if field == "procedere" and not (_PLAN.search(value) or _TOLD_TO_DO.search(value) or _ADVISED.search(value)):
        return "Der Wert klingt nicht nach weiterem Vorgehen."
    if field == "diagnosen" and _PROCEDURE.search(value) and not _OVER.match(value):
        return "Der Wert klingt nach einem Eingriff."
    return None


def _is_a_department(field: str, finding: Verdict, values: Mapping[str, str]) -> bool:
    department = values.get(field.replace("institution", "abteilung"), "")
    return bool(department) and bool(_DEPARTMENT.search(finding.value)) and not _DEPARTMENT.search(department)
