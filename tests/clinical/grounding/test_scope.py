"""Denials, relatives, sides, doses and stages in the many ways letters write them."""

import pytest

from clinical.grounding import named_choice
from clinical.grounding.free_text import find_statement
from clinical.language import Reading

DENIED = [
    "Eine {} liegt nicht vor.",
    "{} wurde verneint",
    "ohne Hinweis auf {}",
    "kein Anhalt für {}",
    "kein Nachweis einer {}",
    "negativ für {}",
    "{}: negativ",
    "{} ∅",
    "Ø {}",
    "Kein akuter Hinweis auf {}",
    "{} nicht bestätigt",
    "{} wurde nicht festgestellt",
    "{} fand sich nicht",
    "{} ist unwahrscheinlich",
    "klinisch kein {}",
    "Z.A. {}",
    "Status negativ bezüglich {}",
    "nie {} gehabt",
    "Ausgeschlossen werden konnte eine {}",
    "{} ausschliessen",
    "{} auszuschließen",
    "Es bestand keine {}",
    "Es zeigte sich kein Anhalt für eine frische {}",
    "Kein Hinweis für {}",
    "Keine sicheren Zeichen einer {}",
    "Nicht nachweisbar: {}",
    "Eine {} konnte im CT sicher ausgeschlossen werden",
    "Anhaltspunkte für eine {} hatte ich nicht",
    "Anhaltspunkte für {} fanden sich keine",
    "{} (-)",
    "{} nein",
    "{}: Nein",
    "{}: keine",
    "Verdacht auf {} nicht bestätigt",
    "V. a. {} (ausgeschlossen)",
    "{} - ausgeschlossen",
    "Keine Dyspnoe, Husten oder {}",
    "Fieber, Husten, {} werden verneint",
    "{} sowie Fieber wurden verneint",
    "Ausschluß {}",
    "Ausschlussdiagnose {}",
    "St. n. Ausschluss {}",
    "Kein V. a. {}",
    "Kein Verdacht auf {}",
    "ohne {}",
    "frei von {}",
    "Fehlender Nachweis einer {}",
    "{} wurde widerlegt",
    "keinerlei Hinweise auf eine beginnende {}",
    "nicht vereinbar mit {}",
    "gegen eine {} spricht das Röntgenbild",
    "{} verworfen",
    "{} nicht gesichert",
    "Entgegen der Annahme keine {}",
    "no evidence: keine {}",
    "nicht an {} erkrankt",
    "hat keine {}",
    "KEINE {}",
    "Keine\n{}",
    "kein Hinweis auf eine\n{}",
    "Kein Hinweis auf Tumor.\nKein Hinweis auf {}",
    "Kein Infekt (insb. keine {})",
    "Kein Hinweis auf Pleuraerguss, {}, Stauung",
    "Kein Hinweis auf: {}",
    "keine: {}",
    "Negative Anamnese für {}",
    "{} nicht",
    "Die {} wurde nicht gefunden",
    "{}-Ausschluss",
    "{}ausschluss",
]

OF_A_RELATIVE = [
    "Fam.-Anamnese: {}",
    "Schwester an {} erkrankt",
    "Bei der Mutter besteht {}",
    "Grossvater mütterlicherseits {}",
    "{} bei Vater und Bruder",
    "Familiäre Belastung mit {}",
    "Kindsvater: {}",
    "Tochter mit {}",
    "positive Familienanamnese für {}",
    "{} des Onkels",
    "Eltern: Vater † {}",
    "Familie: {}",
    "Heredität: {}",
    "ein Bruder hatte {}",
    "der Zwillingsbruder leidet an {}",
    "Ehemann: {}",
    "Mutter verstorben mit 60 an {}",
    "Familienanamnese:\n- Vater {}",
    "Familienanamnese\n{} (Mutter)",
    "FA\n{}",
    "F.A.: {}",
    "Fam.anamnese: {}",
    "Vater hatte mit 50 Jahren einen Herzinfarkt, später {}",
    "familiär gehäuft {}",
    "{} familiär",
    "{} in der Familie bekannt",
    "Familiär: {}",
    "Grosseltern mit {}",
    "Mutter ({})",
    "Vater gestorben ({})",
    "Cousine: {}",
    "Vater {}, Mutter gesund",
    "St.n. {} beim Vater",
    "Vater: St.n. {}",
    "Der Vater des Patienten litt an {}",
    "Seine Mutter hatte {}",
    "Die Schwester des Patienten hat {}",
    "Neffe mit {}",
    "Verwandte ersten Grades: {}",
    "Anamnese der Familie: {}",
    "{} väterlicherseits",
    "Sohn: {}",
    "{} der Eltern",
    "Die Ehefrau leidet an {}",
    "Partner mit {}",
    "Geschwister: {}",
    "Enkel mit {}",
    "Schwiegermutter mit {}",
    "Halbschwester: {}",
]

THE_PATIENTS = [
    "{} rechts",
    "V. a. {}",
    "Z. n. {}",
    "{} nicht ausgeschlossen",
    "{} kann nicht ausgeschlossen werden",
    "Bekannte {}",
    "Patient mit {}",
    "Kein Fieber. {}",
    "Keine Komplikationen. {}.",
    "Diagnosen:\n- keine Allergien\n- {}",
    "FA: blande\n\nDiagnosen\n{}",
    "Mutter von 2 Kindern. {}.",
    "Die Mutter berichtet über {}",
    "Kein Fieber, aber {}",
    "Kein Fieber, jedoch {}",
    "{} ohne Erguss",
    "{}, kein Fieber",
    "{}; kein Fieber",
    "{} mit Erguss, ohne Fieber",
    "{}. Keine Dyspnoe",
    "{} bei negativem Corona-Test",
    "{}, HIV negativ",
    "{} (kein Hinweis auf Abszess)",
    "Wir behandelten die {} stationär, nicht ambulant.",
    "{}, nicht näher bezeichnet",
    "{}, nicht gut eingestellt",
    "rezidivierende {}",
    "DD {}",
    "FA: Vater KHK.\nDiagnosen: {}",
    "Familienanamnese: unauffällig.\n\n{}",
    "Vater: Herzinfarkt.\nPatient: {}",
    "Verdacht auf {}",
    "Ausschluss Tumor; {}",
    "Kein Diabetes\n{}",
    "1. Kein Diabetes\n2. {}",
    "Nikotin: nein\n{}",
    "Alkohol: keine\nDiagnose: {}",
    "Allergien: keine\nDiagnosen: {}",
    "Nachweis einer {}",
    "{} nicht ausgeheilt",
    "{} ist bekannt",
    "gesicherte {}",
    "{} nicht auszuschliessen",
    "Begleitet von der Ehefrau. {}",
    "Frau Muster hat {}",
    "Ehefrau informiert; {}",
]

CHANGED = [
    ("Ramipril 2x5 mg", "Ramipril 5 mg"),
    ("Ramipril 5 mg morgens", "Ramipril 5 mg abends"),
    ("Ramipril 5 mg 2x tgl", "Ramipril 5 mg 3x tgl"),
    ("Methotrexat 10 mg wöchentlich", "Methotrexat 10 mg täglich"),
    ("Ramipril 5 mg\nMetoprolol 50 mg", "Ramipril 50 mg"),
    ("Ramipril 5 mg\nMetoprolol 50 mg", "Metoprolol 5 mg"),
    ("Ramipril 5 mg, Ramipril abgesetzt", "Ramipril 50 mg"),
    ("Ramipril 5mg", "Ramipril 5 ml"),
    ("Ramipril 5/12,5 mg", "Ramipril 5 mg"),
    ("Ramipril 1,25 mg", "Ramipril 25 mg"),
    ("Ramipril 0.5 mg", "Ramipril 5 mg"),
    ("Ramipril 5 mg", "Ramipril 5 mg 1-0-0"),
    ("Ramipril 5 mg 1-0-0", "Ramipril 5 mg 0-0-1"),
    ("Insulin 10-0-8 IE", "Insulin 10-0-0 IE"),
    ("Ramipril 1'000 mg", "Ramipril 100 mg"),
    ("Marcumar nach INR", "Marcumar 3 mg"),
    ("Ramipril ½-0-0", "Ramipril 1-0-0"),
    ("Ramipril 5 mg", "Ramiprilat 5 mg"),
    ("Prednison 5 mg", "Prednisolon 5 mg"),
    ("Hypertonie", "Hypotonie"),
    ("Dysphagie", "Dysphasie"),
    ("Hypokaliämie schwer", "Hyperkaliämie schwer"),
    ("Fraktur Radius links, Ulna rechts", "Fraktur Radius rechts"),
    ("Re. Gonarthrose, li. Coxarthrose", "Gonarthrose links"),
    ("re. Gonarthrose li. Coxarthrose", "Coxarthrose rechts"),
    ("li. Knie: Meniskusläsion, re. Knie: Gonarthrose", "Meniskusläsion rechts"),
    ("Stadium IIIa", "Stadium IIIb"),
    ("pT2 N0 M0", "pT3 N0 M0"),
    ("pT2N0M0", "pT2N1M0"),
    ("Gleason 3+4", "Gleason 4+3"),
    ("Grad II", "Grad III"),
    ("G2", "G3"),
    ("Diabetes mellitus Typ I", "Diabetes mellitus Typ II"),
    ("Diabetes mellitus Typ 1", "Diabetes mellitus Typ 2"),
    ("NYHA II-III", "NYHA III"),
    ("CKD G3a", "CKD G3b"),
    ("Child A", "Child B"),
    ("Child-Pugh A", "Child-Pugh C"),
    ("Rutherford 2b", "Rutherford 2a"),
    ("Weber B Fraktur", "Weber C Fraktur"),
    ("Typ A Dissektion", "Typ B Dissektion"),
    ("Hepatitis B", "Hepatitis C"),
    ("chronische Hepatitis C", "chronische Hepatitis B"),
    ("LWK 3 Fraktur", "LWK 4 Fraktur"),
    ("Vitamin B12", "Vitamin B6"),
    ("Metatarsale V Fraktur", "Metatarsale IV Fraktur"),
    ("Fraktur Dig. II", "Fraktur Dig. III"),
    ("Faktor V Leiden", "Faktor VII Leiden"),
    ("oberer linker Quadrant", "oberer rechter Quadrant"),
    ("Ulcus cruris sin.", "Ulcus cruris dext."),
    ("Amaurosis OD", "Amaurosis OS"),
    ("Knie bds.", "Knie links"),
    ("Coxarthrose L > R", "Coxarthrose R"),
    ("beginnende Coxarthrose", "fortgeschrittene Coxarthrose"),
    ("leichte Aortenstenose", "schwere Aortenstenose"),
    ("leichtgradige Stenose der ACI links", "hochgradige Stenose der ACI links"),
    ("Appendektomie 2010", "Appendektomie 2011"),
    ("vor 3 Jahren", "vor 5 Jahren"),
    ("3 x täglich", "2 x täglich"),
    ("EF 56 %", "EF 65 %"),
    ("RR 140/80", "RR 150/80"),
]


def says(text: str, value: str, kind: str = "diagnosis") -> bool:
    return find_statement(Reading.of(text), value, kind) is not None


@pytest.mark.parametrize("form", DENIED)
def test_what_is_denied_is_no_evidence(form):
    text = form.format("Pneumonie")
    assert not says(text, "Pneumonie")
    assert not says(f"Vorher.\n\n{text}\n\nNachher.", "Pneumonie")


@pytest.mark.parametrize("form", OF_A_RELATIVE)
def test_what_a_relative_has_is_no_evidence(form):
    text = form.format("Pneumonie")
    assert not says(text, "Pneumonie")
    assert not says(f"Vorher.\n\n{text}\n\nNachher.", "Pneumonie")


@pytest.mark.parametrize("form", THE_PATIENTS)
def test_what_the_patient_has_is_evidence(form):
    text = form.format("Pneumonie")
    assert says(text, "Pneumonie")
    assert says(f"Vorher.\n\n{text}\n\nNachher.", "Pneumonie")


@pytest.mark.parametrize(("text", "value"), CHANGED)
@pytest.mark.parametrize("kind", ["diagnosis", "statement"])
def test_a_changed_dose_side_or_stage_is_no_evidence(text, value, kind):
    assert not says(text, value, kind)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("versicherung.klasse", "Kontakt: Mutter, Frau Elke Kern (privat versichert)"),
        ("aufenthalt.art", "Wir bitten um Übernahme, tagesklinisch oder stationär nach Ermessen."),
        ("dringlichkeit", "Ein Notfall im engeren Sinne ist es nicht."),
        ("dringlichkeit", "Notfall ist es keiner."),
    ],
)
def test_what_is_of_a_relative_left_open_or_denied_at_its_end_names_nothing(field, text):
    assert named_choice(Reading.of(text), field, "zuweisung") is None


def test_what_follows_an_apposition_or_no_denial_still_names_its_value():
    assert named_choice(Reading.of("Frau Kern (privat versichert)"), "versicherung.klasse", "zuweisung") == "privat"
    assert named_choice(Reading.of("Es ist ein Notfall."), "dringlichkeit", "zuweisung") == "notfall"


def test_a_year_at_the_end_of_a_line_does_not_make_the_next_line_past():
    text = "Koronare Herzkrankheit mit Stentimplantation in den Ramus im Jahr 2019\nVorhofflimmern besteht weiterhin."
    at = text.index("Vorhof")
    assert Reading.of(text).claim(at, at + 14).temporality == "present"
