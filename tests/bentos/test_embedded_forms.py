"""Forms of other houses: parts side by side, records, tables of drugs, headings of two words; invented letters."""

from bentos.embedded import second_opinion
from bentos.embedded.columns import unfolded
from bentos.embedded.labels import heading_field
from webapp.workbench.examples import LETTER


def read(text, kind="arztbrief"):
    return second_opinion(text, kind)


COLUMNS = """Anmeldung

Zuweiser\tPatient
Praxis am Bach\tFrau
Dr. med. Ida Moos\tKern Anna
Bachweg 2, 5000 Aarau\tRosenweg 4, 5001 Aarau
Tel. 062 111 22 33\t*01.02.1950

Diagnosen
1. Gonarthrose
"""


def test_parties_side_by_side_are_read_each_by_itself() -> None:
    found = second_opinion(COLUMNS, "zuweisung")
    assert (found["patient"]["nachname"], found["patient"]["vorname"]) == ("Kern", "Anna")
    assert (found["patient"]["strasse"], found["patient"]["plz"]) == ("Rosenweg 4", "5001")
    assert (found["absender"]["institution"], found["absender"]["plz"]) == ("Praxis am Bach", "5000")


def test_records_of_an_export_become_labels() -> None:
    text = "ABSENDER;Praxis am Bach;Bachweg 2;5000 Aarau\nPATIENT;Kern;Anna;F;19500201;\n"
    text += "DIAGNOSE;Gicht\nDIAGNOSE;Gonarthrose"
    found = second_opinion(text, "zuweisung")
    assert found["patient"]["geburtsdatum"] == "1950-02-01"
    assert found["patient"]["nachname"] == "Kern"
    assert found["diagnosen"] == ["Gicht", "Gonarthrose"]


def test_prose_is_not_unfolded() -> None:
    text = "Wir berichten; es geht ihr gut.\nPatient\tgut\nMehr."
    assert unfolded(text) == text


def test_headings_of_two_words_and_with_an_addition() -> None:
    assert heading_field("Diagnose / Verdachtsdiagnose") == "diagnosen"
    assert heading_field("Klinische Angaben / Fragestellung") == "fragestellung"
    assert heading_field("Postoperatives Prozedere") == "procedere"
    assert heading_field("Medikation (Stand heute)") == "medikation"
    assert heading_field("Medikation und der Rest des Satzes") is None


def test_a_table_of_drugs_loses_its_head_row() -> None:
    text = (
        "Entlassmedikation:\nWirkstoff   Stärke   morgens  mittags  abends\nRamipril    5 mg     1        0        1\n"
    )
    assert second_opinion(text, "arztbrief")["medikation"] == ["Ramipril 5 mg 1 0 1"]


def test_how_an_operation_went_is_no_procedere() -> None:
    text = (
        "Operationsbericht\n\nOperateur: Dr. med. Ida Moos\n\nVorgehen\nRückenlage. Schnitt.\n\n"
        "Postoperatives Prozedere\n- Fadenzug nach 10 Tagen\n"
    )
    assert second_opinion(text, "arztbrief")["procedere"] == ["Fadenzug nach 10 Tagen"]


def test_without_a_list_sentences_tell_the_diagnoses() -> None:
    text = "Hallo Karl\n\nSie leidet an einer Gicht und einer Gonarthrose. Keine Hinweise auf ein Asthma.\n\nGruss\nIda"
    assert second_opinion(text, "zuweisung")["diagnosen"] == ["Gicht", "Gonarthrose"]
    text = "Lieber Karl\n\nEs besteht kein Asthma. Die Mutter leidet an einer Gicht.\n\nGruss\nIda"
    assert second_opinion(text, "zuweisung")["diagnosen"] == []


def test_headings_with_numbers_and_dashes() -> None:
    text = "Lieber Karl\n\n1. Diagnosen\n- Gicht\n- Gonarthrose\n\n2. Procedere\n- Labor in 4 Wochen\n\nGruss\nIda"
    found = second_opinion(text, "arztbrief")
    assert (found["diagnosen"], found["procedere"]) == (["Gicht", "Gonarthrose"], ["Labor in 4 Wochen"])


def test_columns_are_cut_where_their_heads_stand():
    text = (
        "PATIENT                          ZUWEISER\n"
        "Name: Kern                       Praxis: Gruppenpraxis Dorf\n"
        "Vorname: Martha                  Arzt: Dr. med. Peter Holm\n"
        "Geb.: 02.02.1949   m [ ] w [x]   Adresse: Dorfstrasse 12, 8752 Musterberg\n\n"
        "Diagnosen:\nGonarthrose links\n"
    )
    got = read(text, "zuweisung")
    assert got["patient"]["vorname"] == "Martha"
    assert got["absender"]["institution"] == "Gruppenpraxis Dorf"
    assert got["absender"]["strasse"] == "Dorfstrasse 12"


def test_a_table_of_two_columns_is_a_form():
    rows = {
        "Empfänger": "Rehaklinik Musterblick",
        "Patient": "Kern, Anna",
        "Geschlecht": "weiblich",
        "Diagnosen": "Schwere Aortenklappenstenose; arterielle Hypertonie",
        "Medikation": "Bisoprolol 5 mg 1-0-0; Marcoumar nach INR",
    }
    text = "| Feld | Inhalt |\n|---|---|\n" + "".join(f"| {label} | {value} |\n" for label, value in rows.items())
    got = read(text, "zuweisung")
    assert (got["patient"]["nachname"], got["empfaenger"]["institution"]) == ("Kern", "Rehaklinik Musterblick")
    assert got["diagnosen"] == ["Schwere Aortenklappenstenose", "arterielle Hypertonie"]
    assert got["medikation"] == ["Bisoprolol 5 mg 1-0-0", "Marcoumar nach INR"]


def test_what_is_beside_a_reason_told_in_sentences():
    text = (
        "Guten Tag\n\n"
        "Klinisch Verdacht auf eine akute Appendizitis.\n\nNebendiagnosen: Gicht, Asthma bronchiale, COPD\n"
        "Medikamente: Allopurinol 300 mg 1-0-0; Candesartan 16 mg 1-0-0. Keine Allergien bekannt.\n\nGruss\n"
    )
    got = read(text, "zuweisung")
    assert got["diagnosen"] == ["Verdacht auf eine akute Appendizitis", "Gicht", "Asthma bronchiale", "COPD"]
    assert got["medikation"] == ["Allopurinol 300 mg 1-0-0", "Candesartan 16 mg 1-0-0"]


def test_another_person_of_the_patients_surname_tells_neither_sex_nor_insurer():
    text = (
        "Kurzbrief\n\nSehr geehrte Kollegen,\n\n"
        "wir berichten über Theo Kern, geb. 16.06.2024. Begleitperson war die Mutter, "
        "Frau Nadine Kern (privat versichert, Helsana); das Kind ist bei der CSS versichert.\n"
    )
    got = read(text)
    assert got["patient"]["geschlecht"] is None
    assert got["versicherung"]["name"] == "CSS"


def test_a_letter_without_a_formula_ends_where_names_roles_and_notes_begin() -> None:
    text = (
        "Klinik am Bach\n\nDiagnosen\nGonarthrose links\n\n"
        "Empfehlungen\n- Physiotherapie fortsetzen\n- Kontrolle in vier Wochen\n\n"
        "Dr. med. Ida Moos          Dr. med. Jan Kolb\nOberärztin                 Chefarzt\n"
        "Bankverbindung: Sparkasse Musterdorf, Amtsgericht Musterstadt"
    )
    found = read(text)
    assert found["procedere"] == ["Physiotherapie fortsetzen", "Kontrolle in vier Wochen"]
    assert found["absender"]["name"] == "Dr. med. Ida Moos"


def test_who_operated_is_no_procedure_and_a_planned_day_is_none_either() -> None:
    text = (
        "OP-Bericht vom 03.02.2026\n\nOperation:\nArthroskopie rechtes Knie\nOperateur: Dr. Ida Moos\n"
        "Assistenz: Dr. Jan Kolb\n\nVerlauf: Eine Meniskusresektion ist am 10.03.2026 vorgesehen."
    )
    assert [one["bezeichnung"] for one in read(text)["eingriffe"]] == ["Arthroskopie rechtes Knie"]


def test_lists_divided_by_slashes_and_followed_by_sentences() -> None:
    text = (
        "Aktuelle Medikation: Ramipril 5 mg 1-0-0 / Torasemid 10 mg 1-0-0 / Novalgin b. Bed.\n\nD: Gicht, Gonarthrose"
    )
    assert read(text)["medikation"] == ["Ramipril 5 mg 1-0-0", "Torasemid 10 mg 1-0-0", "Novalgin b. Bed."]
    told = "Diagnosen: Gonarthrose links, Adipositas, Gicht. Sie raucht nicht mehr. Aktuell Ibuprofen 400 mg."
    assert read(told)["diagnosen"] == ["Gonarthrose links", "Adipositas", "Gicht"]


def test_of_drugs_below_one_another_the_one_that_is_not_taken_is_left_out() -> None:
    text = "Therapievorschlag\nMadopar 100 mg 1-1-1\nXadago bitte nicht zusätzlich.\nCircadin 2 mg 0-0-0-1"
    assert read(text)["medikation"] == ["Madopar 100 mg 1-1-1", "Circadin 2 mg 0-0-0-1"]


def test_details_under_numbered_diagnoses_are_procedures_or_nothing() -> None:
    text = (
        "DIAGNOSEN\nA) Chronische Herzinsuffizienz\n- HFrEF, NYHA II\n- ICD-Implantation 2021\nB) "
        "Diabetes mellitus Typ 2\n"
        "- HbA1c 7.2 %\n\nTHERAPIE BEI AUSTRITT\nEntresto 49/51 mg 1-0-1\nTorem 10 mg 1-0-0 (neu)\nMetfin 1000 mg STOPP"
    )
    found = read(text)
    assert found["diagnosen"] == ["Chronische Herzinsuffizienz", "Diabetes mellitus Typ 2"]
    assert [one["bezeichnung"] for one in found["eingriffe"]] == ["ICD-Implantation"]
    assert found["medikation"] == ["Entresto 49/51 mg 1-0-1", "Torem 10 mg 1-0-0 (neu)"]


def test_the_house_above_an_addressed_line_is_the_senders_as_in_the_example_of_the_start_page() -> None:
    found = second_opinion(LETTER, "arztbrief")
    sender = {key: value for key, value in found["absender"].items() if value}
    assert sender == {
        "institution": "Klinikum am Beispielplatz",
        "abteilung": "Innere Medizin",
        "name": "Dr. med. Anna Muster",
    }
    assert found["empfaenger"]["institution"] == "Praxis Dr. med. Berta Beispiel"


def test_a_form_in_numbered_parts_tells_the_patients_part_from_the_senders() -> None:
    found = second_opinion(
        "Anmeldung zur Rehabilitation\nRehaklinik Musterau AG, Disposition, Kurweg 5, 3899 Musterau\n"
        "1  Anmeldende Institution\n   Spital / Abteilung      Regionalspital Seeblick, Klinik für Kardiologie\n"
        "   Strasse                 Uferweg 2\n   PLZ, Ort                3898 Seeblick\n"
        "2  Patient\n   Name, Vorname           Kern, Anna\n   Geburtsdatum            08.07.1946\n"
        "   Wohnadresse             Bergweg 3, 3897 Talwil\n3  Versicherung\n   Krankenversicherer      Visana AG\n",
        "zuweisung",
    )
    assert (found["patient"]["strasse"], found["patient"]["plz"]) == ("Bergweg 3", "3897")
    assert (found["absender"]["institution"], found["absender"]["strasse"]) == ("Regionalspital Seeblick", "Uferweg 2")
    assert found["empfaenger"]["institution"] == "Rehaklinik Musterau AG"


def test_a_fathers_insurer_is_not_the_childs_who_is_insured_through_the_mother() -> None:
    found = second_opinion(
        "Überweisung Theo Kern, geb. 9.8.2020\nVater: Dr. jur. Jan Kern (*1986, privat versichert bei der Debeka)\n"
        "Kind gesetzlich über die Mutter versichert: Techniker Krankenkasse, S778899001\n",
        "zuweisung",
    )
    assert found["versicherung"]["name"] == "Techniker Krankenkasse"
