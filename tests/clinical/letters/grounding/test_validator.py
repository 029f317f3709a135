"""Names, addresses, numbers, dates and fixed lists: evidenced as such, never by a part or an implication."""

import pytest

from clinical.contract import Arztbrief, Zuweisung
from clinical.letters.grounding.policy import Verdict
from clinical.letters.grounding.validator import judge, unruled_paths

SAID = [
    ("Anna Muster", "patient.nachname", "Muster", None),
    ("Dr. med. Anna Muster", "absender.name", "Dr. Anna Muster", None),
    ("Muster, Anna", "absender.name", "Anna Muster", None),
    ("JOUBERT, Pierre", "patient.nachname", "Joubert", None),
    ("Prof. Dr. Burkhard zur Hausen", "absender.name", "Prof. Dr. Burkhard zur Hausen", None),
    ("Herrn Muster", "empfaenger.name", "Herr Muster", None),
    ("Müller Anna", "patient.nachname", "Müller", None),
    ("Mueller", "patient.nachname", "Müller", None),
    ("Carlo  Weißenberger", "absender.name", "Carlo Weissenberger", None),
    ("Meier-\nhofer Anna", "patient.nachname", "Meierhofer", None),
    ("Bernd Kern", "patient.nachname", "Kem", None),
    ("Anna Müller-Lüdi", "patient.nachname", "Müller-Lüdi", None),
    ("Hauptstrasse 8, 8006 Zürich", "patient.strasse", "Hauptstr. 8", None),
    ("Bahnhofstr. 12a", "patient.strasse", "Bahnhofstraße 12a", None),
    ("CH-8006 Zürich", "patient.plz", "8006", None),
    ("Hauptstr. 8 47809 Krefeld", "patient.plz", "47809", None),
    ("A-2236 Opfing", "patient.plz", "2236", None),
    ("D-47809 Krefeld", "patient.plz", "47809", None),
    ("Tel. +41 (0)44 123 45 67, Fax 1", "absender.telefon", "044 123 45 67", None),
    ("Tel 0531 / 12345-0", "absender.telefon", "0531 12345-0", None),
    ("Tel.: 044 123\n45 67", "absender.telefon", "044 123 45 67", None),
    ("AHV 756.1234.5678.97", "patient.versichertennummer", "7561234567897", None),
    ("Fall-Nr. 4711 12.03.2024", "patient.fallnummer", "4711", None),
    ("KVNR A123456780", "patient.versichertennummer", "A123456780", None),
    ("Fall F2024/00123", "patient.fallnummer", "F2024/00123", None),
    ("Mail: a.muster@spital.example.", "absender.email", "a.muster@spital.example", None),
    ("Kantonsspital Winterthur\nKlinik für Chirurgie", "absender.institution", "Kantonsspital Winterthur", None),
    ("geb. 12.3.60", "patient.geburtsdatum", "1960-03-12", None),
    ("Zürich, 12. März 2024", "dokument.datum", "2024-03-12", None),
    ("Geschlecht: m", "patient.geschlecht", "m", None),
    ("Geschlecht: männlich", "patient.geschlecht", "m", None),
    ("unsere Patientin", "patient.geschlecht", "w", None),
    ("wir berichten über Herrn Max Muster", "patient.geschlecht", "m", "Muster"),
    ("Frau Anna Muster, geb. 12.3.60", "patient.geschlecht", "w", None),
    ("Muster Max, m, 12.3.60", "patient.geschlecht", "m", None),
    ("Ihren Patienten Max", "patient.geschlecht", "m", None),
    ("[x] m [ ] w", "patient.geschlecht", "m", None),
    ("privat versichert", "versicherung.klasse", "privat", None),
    ("Versicherungsklasse: halbprivat", "versicherung.klasse", "halbprivat", None),
    ("Versicherung: CSS, privat", "versicherung.klasse", "privat", None),
    ("allgemein versichert", "versicherung.klasse", "allgemein", None),
    ("Klasse\tallgemein", "versicherung.klasse", "allgemein", None),
    ("Klasse\nprivat", "versicherung.klasse", "privat", None),
    ("Halbprivat-Versicherung", "versicherung.klasse", "halbprivat", None),
    ("stationäre Aufnahme", "aufenthalt.art", "stationaer", None),
    ("zur ambulanten Abklärung", "aufenthalt.art", "ambulant", None),
    ("stationär, nicht ambulant", "aufenthalt.art", "stationaer", None),
    ("☒ stationär ☐ ambulant", "aufenthalt.art", "stationaer", None),
    ("stationär ☒ ambulant ☐", "aufenthalt.art", "stationaer", None),
    ("Art: [ ] stationär [x] ambulant", "aufenthalt.art", "ambulant", None),
    ("Notfallmässige Zuweisung", "dringlichkeit", "notfall", None),
    ("Dringlichkeit: dringlich", "dringlichkeit", "dringlich", None),
    ("elektiver Eingriff", "dringlichkeit", "elektiv", None),
    ("Zuweisung als Notfall", "dringlichkeit", "notfall", None),
    ("Kostengutsprache liegt vor", "kostengutsprache", "liegt_vor", None),
    ("Die Kostengutsprache wurde beantragt.", "kostengutsprache", "beantragt", None),
    ("Kostengutsprache wird von uns eingeholt", "kostengutsprache", "wird_eingeholt", None),
    ("KoGu: liegt vor", "kostengutsprache", "liegt_vor", None),
    ("Kostengutsprache: beantragt", "kostengutsprache", "beantragt", None),
    ("Eine Kostengutsprache liegt bereits vor.", "kostengutsprache", "liegt_vor", None),
]

NOT_SAID = [
    ("Meierhofer Anna", "patient.nachname", "Meier", None),
    ("Meier-Huber", "patient.nachname", "Meier", None),
    ("Meier-\nhofer", "patient.nachname", "Meier", None),
    ("kurz nach", "patient.nachname", "Kurz", None),
    ("Dr. Anna Muster", "absender.name", "Prof. Dr. Anna Muster", None),
    ("Anna Maria Muster", "absender.name", "Anna Muster", None),
    ("Anna-Maria", "patient.vorname", "Anna", None),
    ("Hauptstr. 18", "patient.strasse", "Hauptstr. 8", None),
    ("Hauptstr. 8a", "patient.strasse", "Hauptstr. 8", None),
    ("Hauptstr. 8", "patient.strasse", "Hauptstr. 18", None),
    ("Hauptstr. 3, Nebengasse 8", "patient.strasse", "Hauptstr. 8", None),
    ("Alte Landstr. 8", "patient.strasse", "Landstr. 8", None),
    ("Hauptstr. 8/12", "patient.strasse", "Hauptstr. 8", None),
    ("0448006123", "patient.plz", "8006", None),
    ("12 8006 123", "patient.plz", "8006", None),
    ("Tel 044 123 45 67", "patient.fallnummer", "123", None),
    ("044 123 45 67", "absender.telefon", "123 45 67", None),
    ("A123456780", "patient.versichertennummer", "B123456780", None),
    ("47110", "patient.fallnummer", "4711", None),
    ("12.03.1960", "patient.fallnummer", "1960", None),
    ("geb. 12.3.1960", "dokument.datum", "1960-03-12", None),
    ("31.02.2024", "dokument.datum", "2024-02-31", None),
    ("12.03.2024", "dokument.datum", "2024-03-13", None),
    ("Geschlecht: m/w", "patient.geschlecht", "m", None),
    ("Frau Dr. Huber", "patient.geschlecht", "w", "Muster"),
    ("Patient: Frau Anna", "patient.geschlecht", "m", None),
    ("Patient/in", "patient.geschlecht", "m", None),
    ("Patient(in)", "patient.geschlecht", "m", None),
    ("[ ] m [x] w", "patient.geschlecht", "m", None),
    ("Herr Dr. Max Huber berichtet über Frau Anna Muster", "patient.geschlecht", "m", "Muster"),
    ("Länge 5 m, Tiefe", "patient.geschlecht", "m", None),
    ("Privatklinik Linde", "versicherung.klasse", "privat", None),
    ("Klinik für Allgemeine Innere Medizin, Abteilung A", "versicherung.klasse", "allgemein", None),
    ("Tel. privat: 044, Versicherung: CSS", "versicherung.klasse", "privat", None),
    ("Versicherung: CSS, Tel. privat: 079", "versicherung.klasse", "privat", None),
    ("nicht privat versichert", "versicherung.klasse", "privat", None),
    ("halbprivat versichert", "versicherung.klasse", "privat", None),
    ("Klasse: allgemein / halbprivat / privat", "versicherung.klasse", "privat", None),
    ("Privatversicherung: nein", "versicherung.klasse", "privat", None),
    ("stationär nicht erforderlich", "aufenthalt.art", "stationaer", None),
    ("stationär, nicht ambulant", "aufenthalt.art", "ambulant", None),
    ("☒ stationär ☐ ambulant", "aufenthalt.art", "ambulant", None),
    ("stationär ☒ ambulant ☐", "aufenthalt.art", "ambulant", None),
    ("Wir bitten um einen Termin", "aufenthalt.art", "ambulant", None),
    ("kein Notfall", "dringlichkeit", "notfall", None),
    ("im Notfall Tel. 144", "dringlichkeit", "notfall", None),
    ("Notfall: nein", "dringlichkeit", "notfall", None),
    ("Dringlichkeit: Notfall / dringlich / elektiv", "dringlichkeit", "dringlich", None),
    ("Dringlichkeit: elektiv", "dringlichkeit", "dringlich", None),
    ("nicht dringlich", "dringlichkeit", "dringlich", None),
    ("Notfallstation", "dringlichkeit", "notfall", None),
    ("bitte um baldigen Termin", "dringlichkeit", "dringlich", None),
    ("selektiv", "dringlichkeit", "elektiv", None),
    ("Kostengutsprache liegt noch nicht vor", "kostengutsprache", "liegt_vor", None),
    ("Sobald die Kostengutsprache vorliegt", "kostengutsprache", "liegt_vor", None),
    ("Kostengutsprache nicht beantragt", "kostengutsprache", "beantragt", None),
    ("Keine Kostengutsprache beantragt", "kostengutsprache", "beantragt", None),
    ("Kostengutsprache wird eingeholt", "kostengutsprache", "beantragt", None),
    ("Kostengutsprache abgelehnt", "kostengutsprache", "liegt_vor", None),
    ("Kostengutsprache wurde noch nicht erteilt", "kostengutsprache", "liegt_vor", None),
]


def finding(text: str, path: str, value: str, surname: str | None) -> Verdict:
    outer, _, inner = path.partition(".")
    answer = {"patient": {"nachname": surname}, outer: {inner: value} if inner else value}
    if outer == "patient":
        answer["patient"] = {"nachname": surname, inner: value}
    return next(one for one in judge(answer, text) if one.path == path)


@pytest.mark.parametrize(("text", "path", "value", "surname"), SAID)
def test_what_the_text_says_is_kept_with_its_place(text, path, value, surname):
    found = finding(text, path, value, surname)
    assert found.kept
    assert 0 <= found.start < found.end <= len(text)


@pytest.mark.parametrize(("text", "path", "value", "surname"), NOT_SAID)
def test_what_the_text_does_not_say_is_removed_with_a_reason(text, path, value, surname):
    assert finding(text, path, value, surname).reason


def test_every_value_of_both_documents_has_a_rule():
    assert [unruled_paths(document) for document in (Zuweisung, Arztbrief)] == [(), ()]
    assert set(Zuweisung.model_fields) ^ set(Arztbrief.model_fields) == {
        "kostengutsprache", "dringlichkeit", "eingriffe", "procedere",
    }  # fmt: skip


def test_a_title_set_apart_and_a_procedure_that_excluded_something_are_evidenced():
    text = "Z u w e i s u n g\n\nEine Meningitis konnte durch Lumbalpunktion ausgeschlossen werden. A. B. Muster\n"
    answer = {
        "dokument": {"typ": "Zuweisung"},
        "diagnosen": ["Meningitis"],
        "eingriffe": [{"bezeichnung": "Lumbalpunktion"}, {"bezeichnung": "Meningitis"}],
    }
    kept = {one.path: one.kept for one in judge(answer, text, document=Arztbrief)}
    assert kept == {
        "dokument.typ": True,
        "diagnosen[0]": False,
        "eingriffe[0].bezeichnung": True,
        "eingriffe[1].bezeichnung": False,
    }


def test_a_surname_set_apart_is_evidenced_and_no_part_of_it():
    text = "Pat.: B U C H N E R , Erna, geb. 05.10.1938"
    for name, kept in (("Buchner", True), ("Buch", False), ("Büchner", False), ("Erna", True)):
        assert judge({"patient": {"nachname": name}}, text)[0].kept is kept, name


def test_a_house_number_with_characters_of_a_scan_is_evidenced_as_it_stands_and_no_other():
    text = "Deichstrasse 1l, 26736 Musterau"
    judged = {
        value: judge({"absender": {"strasse": value}}, text)[0].kept
        for value in ("Deichstrasse 1l", "Deichstrasse 1", "Deichstrasse 1O")
    }
    assert judged == {"Deichstrasse 1l": True, "Deichstrasse 1": False, "Deichstrasse 1O": False}
