"""Invented heads of letters in many layouts and forms, and the lists under them: what is read of each.

`letter_heads.txt` holds them, each under a line `### kind | date | surname | first name | sender | recipient`; `-`
where a head does not say it. Sender and recipient count where what was read holds, or is part of, what is expected.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clinical.letters import RulesReader, read_letter

HEADS = [
    part.split("\n", 1) for part in (Path(__file__).parent / "letter_heads.txt").read_text("utf-8").split("### ")[1:]
]


def _party(found: dict[str, str | None]) -> str:
    return " / ".join(value for key in ("institution", "abteilung", "name") if (value := found[key]))


@pytest.mark.parametrize(("expected", "text"), HEADS, ids=[head.split(" | ")[2] for head, _ in HEADS])
def test_a_head_is_read(expected: str, text: str) -> None:
    kind, day, last, first, sender, recipient = expected.strip().split(" | ")
    found = read_letter(text, kind)
    assert found["dokument"]["datum"] == day
    read = tuple((found["patient"][key] or "").casefold() for key in ("nachname", "vorname"))
    assert read == (last.casefold(), first.casefold())
    assert sender == "-" or sender.casefold() in _party(found["absender"]).casefold(), found["absender"]
    assert recipient == "-" or recipient.removeprefix("Herrn ") in _party(found["empfaenger"]), found["empfaenger"]


NAMED = [line.split("\t") for line in (Path(__file__).parent / "named_patients.tsv").read_text("utf-8").splitlines()]
"""Surname, first name (`-` where it is not told), a short letter with its line breaks and tabs as `\\n` and `\\t`."""


def test_the_patient_is_named() -> None:
    read = []
    for *_, text in NAMED:
        found = read_letter(text.replace("\\n", "\n").replace("\\t", "\t"), "arztbrief")["patient"]
        read.append([found["nachname"], found["vorname"] or "-", text])
    assert read == NAMED


HEAD = "Spital Musterau\n\nMusterau, 12.03.2026\n\nAustrittsbericht\n\nPatient: Anna Kern, geb. 01.02.1960\n\n"


def read(body: str) -> dict:
    return read_letter(HEAD + body, "arztbrief")


def procedures(body: str) -> list[tuple[str, str | None]]:
    return [(one["bezeichnung"], one["datum"]) for one in read(body)["eingriffe"]]


def test_tables_are_read_by_their_heads_and_what_was_excluded_is_left_out():
    found = read(
        "[DIAGNOSEN]\nNr | Typ | Text | ICD | Sich\n1 | HD | Gonarthrose links | M17.1 | G\n"
        "2 | ND | Lungenembolie | I26.9 | A\n3 | ND | Arterielle Hypertonie | I10.90 | G\n\n"
        "[OPS/MASSNAHMEN]\nDatum | Text | OPS\n03.03.2026 | Knie-Totalendoprothese links | 5-822\n"
    )
    assert found["diagnosen"] == ["Gonarthrose links", "Arterielle Hypertonie"]
    assert found["eingriffe"] == [{"bezeichnung": "Knie-Totalendoprothese links", "datum": "2026-03-03"}]


def test_a_running_list_of_earlier_operations_ends_at_the_next_label():
    assert procedures(
        "Frühere Operationen: Cholezystektomie 1988, Leistenhernie links 2001.\nAllergien: keine bekannt.\n"
        "Familie: Vater an Schlaganfall verstorben.\n\n3. Sozialanamnese\nVerheiratet.\n"
    ) == [("Cholezystektomie", None), ("Leistenhernie links", None)]


def test_an_operation_of_this_stay_is_read_with_its_day_behind_a_number_of_two_parts():
    assert procedures("1. Diagnosen\n\n1.1  Z. n. Implantation einer Hüft-TEP rechts am 03.03.2026\n1.2  Gicht\n") == [
        ("Implantation einer Hüft-TEP rechts", "2026-03-03")
    ]


def test_a_sentence_of_the_therapy_goes_on_in_the_next_line():
    told = "Therapie:\nGastroskopie am 04.03.2026 mit Ligatur aller blutenden\nVarizen im Magen.\n"
    whole = ("Gastroskopie mit Ligatur aller blutenden Varizen im Magen", "2026-03-04")
    found = RulesReader(f"{HEAD}Diagnosen:\n- Ulkusblutung\n\n{told}").lists.operations
    assert whole in [(one.name, one.day) for one in found]


BODY = (
    "\n\nSehr geehrte Frau Kollegin,\n\nwir berichten über den Verlauf.\n\nMit freundlichen Grüßen\nDr. med. Jan Ahrens"
)


def _value(text: str, path: str, kind: Any) -> Any:
    outer, _, inner = path.partition(".")
    found = read_letter(text, kind)[outer]
    return found[inner] if inner else found


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Zuweisung zur genetischen Beratung", "Zuweisung zur genetischen Beratung"),
        ("Ärztlicher Entlassungsbericht über die Anschlussheilbehandlung", None),
        ("Gesuch um Kostengutsprache für pulmonale Rehabilitation", None),
        ("Verlegungsbericht Intensivstation            30.06.2025", "Verlegungsbericht Intensivstation"),
        ("Operationsbericht Nr. 2025/1877", "Operationsbericht"),
        ("Zuweisung an Herrn Dr. Kern", "Zuweisung"),
        ("Einweisung Spital Musterau, Notaufnahme", "Einweisung"),
        ("Kurzbericht (Kontrolle 3.4.2026)", "Kurzbericht"),
    ],
)
def test_a_title_goes_on_with_what_it_is_about_and_not_with_whom_it_is_for(line: str, title: str | None) -> None:
    text = f"Spital Seeblick\nSeestrasse 12, 8006 Zürich\n\n{line}\n\nPatientin: Erika Muster, geb. 12.08.1957{BODY}"
    assert _value(text, "dokument.typ", "arztbrief") == (title or line)


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Notfallbericht - ambulant        17.01.2026 21:38        Fall 26-005120", "2026-01-17"),
        ("Zentrale Notaufnahme, Chirurgie                  07.04.2026 03:50", "2026-04-07"),
        ("Bad Segeberg, den 28.11.2025", "2025-11-28"),
        ("Unser Zeichen: UCH/mb                            27. November 2025", "2025-11-27"),
        ("11. Dezember 2025/ni-hs", "2025-12-11"),
        ("Musterau, 21. Januar 2026, diktiert am 19., geschrieben rö", "2026-01-21"),
        ("Datum:                    09.01.2026", "2026-01-09"),
        ("An den Kinderarzt                    So 22.02.2026  16:40", "2026-02-22"),
        ("Musterau                                        19. Febr. 2026", "2026-02-19"),
        ("Gefäßzentrum Lahn, Gefäßambulanz                Musterau, 07.05.2026", "2026-05-07"),
        ("Musterau, 19.02.2026 / AB, rk", "2026-02-19"),
        ("Aufnahme:      12.03.2026", None),
        ("Eintritt       12.03.2026", None),
        ("Endoskopiebefund              Untersuchungsdatum: 21.01.2026", None),
    ],
)
def test_a_day_beside_a_line_of_the_head_is_the_letters_unless_its_label_says_otherwise(
    line: str, day: str | None
) -> None:
    text = f"Spital Seeblick\nSeestrasse 12, 8006 Zürich\n\n{line}\n\nPatientin: Erika Muster, geb. 12.08.1957{BODY}"
    assert _value(text, "dokument.datum", "arztbrief") == day


def test_a_procedures_day_in_the_text_is_not_the_letters() -> None:
    course = "Verlauf:\nGut.\n\nDas Gehen gelang.\n\nDie Wunde war reizlos."
    text = f"Erika Muster, geb. 12.08.1957\n\nLiebe Anna,\n\nDiagnosen:\nRevision am 19.11.2025\n\n{course}"
    assert _value(text, "dokument.datum", "arztbrief") is None


@pytest.mark.parametrize(
    ("said", "sex"),
    [
        ("Dein Patient kam gestern zu uns.", "m"),
        ("Das Mädchen geht seit dem Sommer kaum zur Schule.", "w"),
        ("Der 15-jährige Jugendliche wurde vorgestellt.", "m"),
        ("Der Patient klagte über Schwindel.", "m"),
        ("Die Mutter klagte über Schwindel.", None),
    ],
)
def test_sex_is_read_where_the_letter_says_it_once(said: str, sex: str | None) -> None:
    text = f"Kim Muster, geb. 12.08.2011\n\nLieber Claudio,\n\n{said}\n\nGruß Anna"
    assert _value(text, "patient.geschlecht", "arztbrief") == sex


@pytest.mark.parametrize(
    ("head", "house", "department"),
    [
        ("Landesklinikum Waldau Klinik für Urologie", "Landesklinikum Waldau", "Klinik für Urologie"),
        ("Spital Seeblick\nUnfallchirurgie, Station U3", "Spital Seeblick", "Unfallchirurgie, Station U3"),
        (
            "Klinikum Musterau\nMedizinische Klinik II - Kardiologie und Angiologie",
            "Klinikum Musterau",
            "Medizinische Klinik II - Kardiologie und Angiologie",
        ),
        ("KH St. Anna Musterau\nChirurgie", "KH St. Anna Musterau", "Chirurgie"),
    ],
)
def test_a_house_and_its_department_are_told_apart_on_one_line(head: str, house: str, department: str) -> None:
    text = f"{head}\nSeestrasse 12, 8006 Zürich\n\nPatientin: Erika Muster, geb. 12.08.1957{BODY}"
    sender = read_letter(text, "arztbrief")["absender"]
    assert (sender["institution"], sender["abteilung"]) == (house, department)


@pytest.mark.parametrize(
    ("text", "path", "kind", "value"),
    [
        ("Spital Seeblick, Station 4, Arztzimmer 05183 / 40-0812", "absender.telefon", "arztbrief", "05183 / 40-0812"),
        ("Landesklinikum Waldau, Chirurgie, DW 2240", "absender.telefon", "arztbrief", "2240"),
        ("Max Muster, *01.02.1960, Fall DE-26-55102, m", "patient.fallnummer", "arztbrief", "DE-26-55102"),
        ("Max Muster, *01.02.1960, SV 1234, AZ: 26-003318", "patient.fallnummer", "arztbrief", "26-003318"),
        ("OP-Bericht\nMax Muster, *01.02.1960\nOperateur:  Dr. Kai Kunze   Assistenz: Dr. B. Lau",
         "absender.name", "arztbrief", "Dr. Kai Kunze"),
        ("Max Muster, *01.02.1960\nWundkontrolle heute gut.\n\nJana Mertin, diensthabende Ärztin",
         "absender.name", "arztbrief", "Jana Mertin"),
        ("Max Muster, geb. 01.02.1960, privat (Debeka)", "versicherung.klasse", "arztbrief", "privat"),
    ],
)  # fmt: skip
def test_a_value_is_read_in_the_forms_of_short_letters(text: str, path: str, kind: str, value: str) -> None:
    assert _value(text, path, kind) == value


@pytest.mark.parametrize(
    ("head", "institution", "department"),
    [
        ("Frauenklinik, Kreisspital Lindental\nAm Bach 2, 8001 Zürich", "Kreisspital Lindental", "Frauenklinik"),
        ("Sozialpädiatrisches Zentrum\nam Kreiskrankenhaus Lahrbach\nAm Bach 2, 77933 Lahrbach",
         "Kreiskrankenhaus Lahrbach", "Sozialpädiatrisches Zentrum"),
        ("Klinikum der Universität Musterau\nNeurologische Klinik und Poliklinik\nAm Bach 2, 37099 Musterau",
         "Klinikum der Universität Musterau", "Neurologische Klinik und Poliklinik"),
        ("Spital Thurfeld, Ambulatorium Dermatologie\nAm Bach 2, 8467 Thurfeld",
         "Spital Thurfeld", "Ambulatorium Dermatologie"),
        ("Zentrale Notaufnahme Kreiskrankenhaus Lahrbach\nAm Bach 2, 77933 Lahrbach",
         "Kreiskrankenhaus Lahrbach", "Zentrale Notaufnahme"),
    ],
)  # fmt: skip
def test_a_house_and_its_part_are_told_apart_whichever_stands_first(
    head: str, institution: str, department: str
) -> None:
    text = f"{head}\n\nFrau Dr. med. Anna Kern\nWeg 4\n8002 Zürich\n\nPatientin: Erika Muster, geb. 12.08.1957{BODY}"
    assert _value(text, "absender.institution", "arztbrief") == institution
    assert _value(text, "absender.abteilung", "arztbrief") == department


@pytest.mark.parametrize(
    ("letterhead", "signature", "name"),
    [
        ("Hausarztpraxis am Wehr\nKerstin Bahlo * Dr. med. Jost Wieg", "K. Bahlo", "Kerstin Bahlo"),
        ("Praxis Rosengarten\nDr. med. Anna Kern · Dr. med. Peter Kern", "P. Kern", "Dr. med. Peter Kern"),
        ("Zentrum am Wald", "Stempel, Unterschrift    Dr. Annegret Fromm, Internistin", "Dr. Annegret Fromm"),
        ("Klinik Musterau", "4.12.2025      OA Dr. Klaus Schrei       Stempel", "OA Dr. Klaus Schrei"),
        ("Klinik Musterau", "Prof. Dr. H.-J. Rade           Dr. A. Zick", "Prof. Dr. H.-J. Rade"),
    ],
)
def test_who_signs_is_named_as_the_letterhead_names_them(letterhead: str, signature: str, name: str) -> None:
    text = (
        f"{letterhead}\nWeg 4, 37099 Musterau\n\nPatientin: Erika Muster, geb. 12.08.1957\n\n"
        f"Sehr geehrte Frau Kollegin,\n\nwir berichten über den Verlauf.\n\nMit freundlichen Grüßen\n{signature}\n"
    )
    assert _value(text, "absender.name", "arztbrief") == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("An Dr. Renate Pohl                                     23.01.2026", "Dr. Renate Pohl"),
        ("Zuweiser: Dr. Ulrike Asam, FÄ f. Psychiatrie", "Dr. Ulrike Asam"),
        ("An die BKK Weser\nLeistungszentrum, Frau Detter\nPostfach 11\n31785 Hameln", "Detter"),
    ],
)
def test_a_recipient_is_named_beside_a_day_by_a_label_or_without_a_title(line: str, name: str) -> None:
    text = f"Klinik Mariahilf\nWeg 4, 97421 Musterau\n\n{line}\n\nFrau Erika Muster, *12.08.1957{BODY}"
    assert _value(text, "empfaenger.name", "arztbrief") == name


@pytest.mark.parametrize(
    "foot",
    [
        "Kliniken Musterau, Ringweg 3-9, 97421 Musterau; Bank IBAN DE72 3706 0193 0030; Geschäftsführer: H. Breuer",
        "Kliniken Musterau gGmbH - Ringweg 3-9 - 97421 Musterau - Aufsichtsratsvorsitz Landrat G. Fritsche",
        "Ringweg 3-9, 97421 Musterau. Sparkasse DE20 7935 0101 0009 4400 18. Gericht Musterau HRB 9931",
        "Kliniken Musterau · Ringweg 3-9 · 97421 Musterau · Tel. 09721 771-33\nAnstalt des Rechts · Bank DE83",
    ],
)
def test_the_address_of_a_house_is_read_in_its_foot_beside_bank_and_register(foot: str) -> None:
    text = f"Kliniken Musterau\nKlinik für Urologie\n\nFrau Erika Muster, *12.08.1957, 8001 Zürich{BODY}\n\n{foot}\n"
    found = read_letter(text, "arztbrief")["absender"]
    assert (found["strasse"], found["plz"], found["ort"]) == ("Ringweg 3-9", "97421", "Musterau")
    assert found["institution"].startswith("Kliniken Musterau")


@pytest.mark.parametrize(
    "line", ["Kopie: Praxis Dr. Kern, Ringweg 3, 97421 Musterau", "Frau Erika Muster, Ringweg 3, 97421 Musterau"]
)
def test_the_address_of_another_at_the_foot_is_not_the_senders(line: str) -> None:
    text = f"Kliniken Musterau\nKlinik für Urologie\n\nFrau Erika Muster, *12.08.1957{BODY}\n\n{line}\n"
    assert read_letter(text, "arztbrief")["absender"]["strasse"] is None
