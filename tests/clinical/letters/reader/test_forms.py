"""Forms of referrals: personal data in one line, parts numbered through, teams greeted, whose head is the recipient."""

import pytest

from clinical.letters import read_letter

IN_ONE_LINE = [
    "Personalien: Zellweger Ruth / 04.11.1961 / Frau / Erlenweg 7 / 8570 Musterfelden",
    "Patientendaten: Zellweger, Ruth; geb. 04.11.1961; 8570 Musterfelden, Erlenweg 7",
    "Patientin: Zellweger Ruth; weiblich; geb. 04.11.1961; Erlenweg 7, 8570 Musterfelden",
    "Einweisung: ZELLWEGER Ruth, Frau, geb. 04.11.1961, Erlenweg 7, 8570 Musterfelden",
]


@pytest.mark.parametrize("line", IN_ONE_LINE)
def test_personal_data_in_one_line_is_read_whatever_divides_it(line: str) -> None:
    found = read_letter(f"Zuweisung\n\n{line}\n\nDiagnosen: Gicht; Asthma bronchiale\n", "zuweisung")["patient"]
    assert found["nachname"].casefold() == "zellweger"
    assert found["vorname"] == "Ruth"
    assert found["geburtsdatum"] == "1961-11-04"
    assert (found["strasse"], found["plz"], found["ort"]) == ("Erlenweg 7", "8570", "Musterfelden")


def test_a_child_lives_with_parents_of_the_same_surname_and_no_others() -> None:
    text = "Zuweisung: KELLER Timo, Knabe, geb. 12.07.2025\n{}: {}, Am Bach 3, 7013 Domdorf. Krankenkasse CSS\n"
    found = read_letter(text.format("Eltern", "Eva & Jan Keller"), "zuweisung")
    assert (found["patient"]["plz"], found["patient"]["strasse"]) == ("7013", "Am Bach 3")
    assert found["patient"]["geschlecht"] == "m"
    assert found["versicherung"]["name"] == "CSS"
    other = read_letter(text.format("Mutter", "Eva Huber"), "zuweisung")["patient"]
    assert other["strasse"] is None


NUMBERED = """Anmeldeformular Gelenkzentrum
1 Name, Vorname: Ott, Karin    geb. 02.02.1970
2 Einweisende Ärztin: Dr. med. Lea Kunz, Talweg 1, 8400 Musterthur, Tel. 052 111 22 33
3 Diagnosen: Gonarthrose links; Adipositas Grad I; arterielle Hypertonie
4 Medikamente: Ramipril 5 mg 1-0-0; Dafalgan 1 g 1-1-1
5 Besondere Wünsche: Einzelzimmer
"""
DOTTED = """Aufnahmebogen

1. Diagnosen
Gonarthrose links
Adipositas Grad I
Arterielle Hypertonie

2. Vorgeschichte
Beschwerden seit Jahren, eine Injektion half nicht.

3. Medikation: Ramipril 5 mg 1-0-0; Dafalgan 1 g 1-1-1
"""


@pytest.mark.parametrize("text", [NUMBERED, DOTTED])
def test_parts_that_are_numbered_through_end_one_another(text: str) -> None:
    found = read_letter(text, "zuweisung")
    assert [one.casefold() for one in found["diagnosen"]] == [
        "gonarthrose links",
        "adipositas grad i",
        "arterielle hypertonie",
    ]
    assert found["medikation"] == ["Ramipril 5 mg 1-0-0", "Dafalgan 1 g 1-1-1"]


def test_a_numbered_list_of_diagnoses_is_no_form() -> None:
    text = "Diagnosen:\n1. Gonarthrose links\n2. Arterielle Hypertonie\n3. Gicht\n\nMedikation: keine\n"
    expected = ["Gonarthrose links", "Arterielle Hypertonie", "Gicht"]
    assert read_letter(text, "zuweisung")["diagnosen"] == expected


HEADS = [
    "Anmeldung zur ambulanten Operation\nTagesklinik am Wall, Wallstr. 2, 61231 Musterhagen\n\n",
    "Anmeldung\nTagesklinik am Wall\nWallstr. 2\n61231 Musterhagen\n\n",
]
SENDERS = [
    "Einweisende Praxis: Praxis am Markt\nAnschrift: Mittelweg 8, 61169 Musterfeld\n\n",
    "Anmeldende Ordination: Praxis am Markt\nAdresse: Mittelweg 8, 61169 Musterfeld\n\n",
]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("sender", SENDERS)
def test_a_form_of_the_house_that_is_asked_names_the_recipient_in_its_head(head: str, sender: str) -> None:
    text = f"{head}{sender}Patientin: Ott, Karin, geb. 02.02.1970\n\nDiagnosen: Nabelhernie\n"
    found = read_letter(text, "zuweisung")
    assert (found["absender"]["institution"], found["absender"]["plz"]) == ("Praxis am Markt", "61169")
    assert (found["empfaenger"]["institution"], found["empfaenger"]["plz"]) == ("Tagesklinik am Wall", "61231")


TAKEN = [
    "Sie nimmt Ramipril 5 mg 1-0-0, Spiriva 2 Hübe morgens und ASS 100 abends.",
    "Derzeit erhält die Patientin Ramipril 5 mg 1-0-0, Spiriva 2 Hübe morgens sowie ASS 100 abends.",
]


@pytest.mark.parametrize("sentence", TAKEN)
def test_drugs_enumerated_in_a_sentence_are_all_read(sentence: str) -> None:
    introduced = "Liebe Kollegin\n\nich überweise Ihnen Frau Karin Ott, geb. 02.02.1970."
    text = f"{introduced} {sentence}\n\nLiebe Grüsse\nDr. A. Kunz\n"
    assert read_letter(text, "zuweisung")["medikation"] == [
        "Ramipril 5 mg 1-0-0",
        "Spiriva 2 Hübe morgens",
        "ASS 100 abends",
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Konsiliaranforderung intern", "Konsiliaranforderung"),
        ("Betreff: Überweisung Hr. K. Ott", "Überweisung"),
        ("EINWEISUNG (stationäre Behandlung erforderlich)", "EINWEISUNG"),
    ],
)
def test_the_kind_of_document_stands_before_whom_and_what_for(line: str, title: str) -> None:
    assert read_letter(f"{line}\n\nPatient: Ott, Kai, geb. 02.02.1970\n", "zuweisung")["dokument"]["typ"] == title


def test_a_greeted_team_is_the_recipient_and_the_signature_names_the_sender() -> None:
    text = (
        "Sehr geehrtes Team der Notaufnahme, Klinikum Musterau,\n\n"
        "bitte sehen Sie sich Herrn Kai Ott, geb. 3.3.1955, an.\n\n14.01.2026\n"
        "Dr. Ute Blum\nHausärztin, Am Anger 4, 08301 Musterau, Handy 0170 5550099\n"
    )
    found = read_letter(text, "zuweisung")
    recipient, sender = found["empfaenger"], found["absender"]
    assert (recipient["institution"], recipient["abteilung"]) == ("Klinikum Musterau", "Notaufnahme")
    assert (sender["name"], sender["strasse"], sender["plz"]) == ("Dr. Ute Blum", "Am Anger 4", "08301")
    assert (recipient["plz"], sender["telefon"]) == (None, "0170 5550099")


def test_a_street_that_begins_like_an_address_is_no_recipient() -> None:
    text = (
        "KLINIKUM MUSTERAU                            Klinik für Kardiologie\n"
        "An der Promenade 4, 27599 Musterau           Sekretariat: 04744 555-2310\n\n"
        "Frau\nDr. med. Silke Blum\nSielweg 17\n27612 Musterhude\n\n"
        "Sehr geehrte Frau Kollegin Blum,\n\nDiagnosen\n- Gicht\n\nGruß Kunz\n"
    )
    found = read_letter(text, "arztbrief")
    assert (found["absender"]["plz"], found["empfaenger"]["plz"]) == ("27599", "27612")
    assert found["diagnosen"] == ["Gicht"]


@pytest.mark.parametrize("heading", ["Dg. 1. Gicht\n    2. Asthma", "Diagnosen 1) Gicht\n    2) Asthma"])
def test_a_numbered_list_may_begin_on_its_headings_line(heading: str) -> None:
    listed = f"{heading}\n    (ICD: M10.9, J45.9)"
    text = f"Liebe Anna\n\n{listed}\n\nEmpfehlungen für die Nachsorge:\nRehasport wird empfohlen.\n\nGruß Kunz\n"
    found = read_letter(text, "arztbrief")
    assert found["diagnosen"] == ["Gicht", "Asthma"]
    assert found["procedere"] == ["Rehasport wird empfohlen."]
