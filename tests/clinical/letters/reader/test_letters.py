"""The rules reader on invented letters and forms: what is told is read, what is not stays null."""

import pytest

from clinical.letters import RulesReader, read_letter

LETTER = """Spital Seeblick
Klinik für Innere Medizin
Chefarzt: Prof. Dr. med. Urs Altherr
Seestrasse 12, 8006 Zürich, Tel. 044 111 22 33, Fax 044 111 22 34

Frau
Dr. med. Carla Wyss
Dorfplatz 3
8400 Winterthur

Zürich, 14. März 2024

Austrittsbericht

Pat.: Kern, Anna, geb. 01.02.1950, Rosenweg 4, 8400 Winterthur

Sehr geehrte Frau Kollegin Wyss

Wir berichten über Frau Kern, die vom 1.3. bis 13.3.2024 stationär bei uns behandelt wurde.

Diagnosen
1. Pneumonie rechter Unterlappen
2. Arterielle Hypertonie
3. Kein Anhalt für Lungenembolie

Eingriffe:
- Bronchoskopie am 04.03.2024

Medikation bei Eintritt
Ramipril 2,5 mg 1-0-0

Medikation bei Austritt
Ramipril 5 mg 1-0-0
Torasemid 10 mg 1-0-0

Procedere
- Röntgenkontrolle in 6 Wochen
- Wir bitten um eine Laborkontrolle.

Freundliche Grüsse

Dr. med. Beat Keller
Oberarzt
"""


def read(text, kind="arztbrief"):
    return read_letter(text, kind)


def stated(part):
    return {key: value for key, value in part.items() if value is not None}


def test_a_letter_with_all_its_parts():
    data = read(LETTER)
    assert data["dokument"] == {"typ": "Austrittsbericht", "datum": "2024-03-14"}
    assert stated(data["patient"]) == {
        "nachname": "Kern", "vorname": "Anna", "geburtsdatum": "1950-02-01", "geschlecht": "w",
        "strasse": "Rosenweg 4", "plz": "8400", "ort": "Winterthur",
    }  # fmt: skip
    assert stated(data["absender"]) == {
        "institution": "Spital Seeblick", "abteilung": "Klinik für Innere Medizin", "name": "Dr. med. Beat Keller",
        "strasse": "Seestrasse 12", "plz": "8006", "ort": "Zürich", "telefon": "044 111 22 33",
    }  # fmt: skip
    assert stated(data["empfaenger"]) == {
        "name": "Dr. med. Carla Wyss", "strasse": "Dorfplatz 3", "plz": "8400", "ort": "Winterthur",
    }  # fmt: skip
    assert data["aufenthalt"] == {"art": "stationaer"}
    assert data["diagnosen"] == ["Pneumonie rechter Unterlappen", "Arterielle Hypertonie"]
    assert data["eingriffe"] == [{"bezeichnung": "Bronchoskopie", "datum": "2024-03-04"}]
    assert data["medikation"] == ["Ramipril 5 mg 1-0-0", "Torasemid 10 mg 1-0-0"]
    assert data["procedere"] == ["Röntgenkontrolle in 6 Wochen", "Wir bitten um eine Laborkontrolle."]


PATIENT_LINES = [
    "Betr.: Kern, Anna, geb. 01.02.1950",
    "Betrifft: Anna Kern (*1.2.1950)",
    "Patientin: Anna Kern, geboren am 1. Februar 1950",
    "Pat.: KERN Anna, 01.02.1950",
    "Patient/in:\tKern\tAnna\t01.02.1950\tw",
    "Name: Kern\nVorname: Anna\nGeburtsdatum: 01.02.1950",
    "Name\nKern\nVorname\nAnna\nGeburtsdatum\n01.02.1950",
    "Name    Vorname    Geburtsdatum    Geschlecht\nKern    Anna    01.02.1950    w",
    "| Nachname | Kern |\n| Vorname | Anna |\n| Geb.-Datum | 01.02.1950 |",
    "Anna Kern, * 1.2.1950, wohnhaft Rosenweg 4, 8400 Winterthur",
    "Sehr geehrte Damen und Herren\n\nwir berichten über Frau KERN, Anna, 1.2.1950, die bei uns war.",
    "Sehr geehrter Herr Kollege\n\nich überweise Ihnen meine Patientin Anna Kern (geb. O1.O2.195O).",
    "Anna Kern\nRosenweg 4\n8400 Winterthur\n\ngeboren am: 01.02.1950\n\nBefund vom 3.4.2024",
]


@pytest.mark.parametrize("lines", PATIENT_LINES)
def test_the_patient_in_every_form(lines):
    patient = read(f"Praxis am Brunnen\n\n{lines}\n\nDiagnosen:\n- Gicht\n")["patient"]
    assert (patient["nachname"].title(), patient["vorname"], patient["geburtsdatum"]) == ("Kern", "Anna", "1950-02-01")


@pytest.mark.parametrize(
    "text",
    [
        "Sehr geehrte Frau Kollegin\n\nder Patient klagt über Husten.",
        "Kontaktperson: Ruth Kern, Tel. 079 111 22 33\n\nDiagnosen:\n- Gicht",
        "Mit freundlichen Grüssen\nDr. med. Beat Keller",
        "Zur Vorlage bei der Kasse\n\nBefund: unauffällig am 3.4.2024",
    ],
)
def test_nobody_is_made_a_patient(text):
    assert read(text)["patient"]["nachname"] is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Zürich, 3.4.2024\n\nDiagnosen:\n- Gicht", "2024-04-03"),
        ("Wien, am 3. April 2024\n\nBefund", "2024-04-03"),
        ("Arztbrief vom 03.04.2024\n\nPat.: Anna Kern, geb. 1.2.1950", "2024-04-03"),
        ("Datum: 3.4.2024\nAufnahme: 1.4.2024", "2024-04-03"),
        ("Liebe Kollegin\n\nKontrolle am 2.4.2024.\n\nFreundliche Grüsse\n\nBern, 3. April 2024", "2024-04-03"),
        ("Sehr geehrte Frau Kollegin\n\nStationär vom 1.4.2024 bis 3.4.2024.", None),
        ("Anna Kern, 01.02.1950\n\nDiagnosen:\n- Gicht", None),
        ("Diagnosen:\n- Gicht\n\nLabor 3.4.2024: CRP 5", None),
    ],
)  # fmt: skip
def test_the_letters_own_date_by_its_role(text, day):
    assert read(text)["dokument"]["datum"] == day


def test_a_list_goes_on_by_form_and_ends_at_prose():
    text = (
        "Diagnosen:\n- Gicht\n- Arthrose beider Knie mit deutlicher Bewegungseinschränkung\n  und Belastungsschmerz\n\n"
        "- Asthma\n\nDie Patientin wurde am Vortag aufgenommen.\n\nFA: Vater Herzinfarkt."
    )
    assert read(text)["diagnosen"] == [
        "Gicht",
        "Arthrose beider Knie mit deutlicher Bewegungseinschränkung und Belastungsschmerz",
        "Asthma",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Medikamente: Ramipril 5 mg 1-0-0, Torasemid 10 mg 1-0-0",
        "Medikation: Ramipril 5 mg 1-0-0; Torasemid 10 mg 1-0-0",
        "Therapie bei Entlassung\n1) Ramipril 5 mg 1-0-0\n2) Torasemid 10 mg 1-0-0",
        "Empfohlene Therapie:\nRamipril 5 mg 1-0-0\nTorasemid 10 mg 1-0-0",
    ],
)
def test_drugs_on_one_line_or_many(line):
    assert read(f"Diagnosen:\n- Gicht\n\n{line}\n")["medikation"] == ["Ramipril 5 mg 1-0-0", "Torasemid 10 mg 1-0-0"]


def test_drugs_of_a_referral_in_prose_but_no_laboratory_values():
    text = "Liebe Kollegin\n\nBisher Ramipril 5 mg 1-0-0 und Novalgin 500 mg bei Bedarf. Kalium 3,1 mg/l.\n"
    assert read(text, "zuweisung")["medikation"] == ["Ramipril 5 mg 1-0-0", "Novalgin 500 mg bei Bedarf"]
    assert read(text)["medikation"] == read(text, "zuweisung")["medikation"]


def test_a_letter_that_tells_all_in_sentences():
    text = """Praxis am Ufer

Sehr geehrter Herr Kollege,

wir berichten über Frau Anna Kern, geb. 03.04.1960. Es besteht eine schwere Aortenklappenstenose bei chronischer
Niereninsuffizienz. Daneben fand sich ein Vorhofflimmern. Eine Endokarditis konnte ausgeschlossen werden, ihre Mutter
litt an einer Demenz. Am 12.03.2026 erfolgte die Implantation eines Schrittmachers links. Sie nimmt weiterhin Torasemid
10 mg 1-0-0; Amlodipin wurde abgesetzt.

Wir bitten um Kontrolle der Nierenwerte in zwei Wochen. Der Fadenzug ist am 24.03. vorgesehen.

Mit freundlichen Grüßen
Dr. med. Jan Holm
"""
    got = read(text)
    assert got["diagnosen"] == ["schwere Aortenklappenstenose bei chronischer Niereninsuffizienz", "Vorhofflimmern"]
    assert got["eingriffe"] == [{"bezeichnung": "Implantation eines Schrittmachers links", "datum": "2026-03-12"}]
    assert got["medikation"] == ["Torasemid 10 mg 1-0-0"]
    assert got["procedere"] == [
        "Wir bitten um Kontrolle der Nierenwerte in zwei Wochen.",
        "Der Fadenzug ist am 24.03. vorgesehen.",
    ]


PORTAL = """Herzzentrum Lindenau AG - Online-Zuweisung
Erfasst: 03.02.2026 16:42

Dringlichkeit: [ ] Notfall   [x] dringlich   [ ] elektiv
Versicherungsklasse: [ ] allgemein  [x] halbprivat  [ ] privat

--- Patient/in ---
Name: Kern
Vorname: Anna
AHV-Nr.: 756.1234.5678.97
Krankenkasse: Sanavida (Zusatz)

--- Zuweisende Stelle ---
Dr. med. Carla Wyss, Praxis am Brunnen, Dorfplatz 3, 8400 Winterthur, 052 111 22 33

Diagnosen
Gicht
Fragestellung
Echokardiographie? Schrittmacher?
Kostengutsprache	[ ] liegt vor  [x] beantragt
"""


def test_a_form_of_the_house_that_is_asked():
    data = read(PORTAL, "zuweisung")
    assert (data["dringlichkeit"], data["kostengutsprache"]) == ("dringlich", "beantragt")
    assert data["versicherung"] == {"name": "Sanavida", "klasse": "halbprivat"}
    assert data["patient"]["versichertennummer"] == "756.1234.5678.97"
    assert data["empfaenger"]["institution"] == "Herzzentrum Lindenau AG"
    assert stated(data["absender"]) == {
        "institution": "Praxis am Brunnen", "name": "Dr. med. Carla Wyss", "strasse": "Dorfplatz 3", "plz": "8400",
        "ort": "Winterthur", "telefon": "052 111 22 33",
    }  # fmt: skip
    assert data["fragestellung"] == "Echokardiographie? Schrittmacher?"


def test_of_twenty_thousand_characters_the_current_list_wins_and_the_remark_says_so():
    stays = "\n\n".join(
        f"Aufenthalt {year}: stationär vom 2.3.{year} bis 9.3.{year}.\nDiagnosen\n- Gicht {year}\n\n"
        f"Anamnese\n{'Der Verlauf war ruhig und ohne Komplikationen. ' * 38}"
        for year in range(2010, 2020)
    )
    entry = "Medikation bei Eintritt\nAspirin cardio 100 mg 1-0-0\nRamipril 2,5 mg 1-0-0"
    stay = "Medikation während des Aufenthalts\nNovalgin 500 mg 1-1-1"
    text = LETTER.replace("Medikation bei Eintritt\nRamipril 2,5 mg 1-0-0", f"{entry}\n\n{stay}").replace(
        "Torasemid 10 mg 1-0-0\n", "Torasemid 10 mg 1-0-0\nTORASEMID 10 mg 1-0-0\n"
    )
    text += f"\n\nBeilagen\n{stays}"
    assert 18_000 < len(text) <= 20_000
    data = read(text)
    assert data["medikation"] == ["Ramipril 5 mg 1-0-0", "Torasemid 10 mg 1-0-0"]
    assert data["diagnosen"] == ["Pneumonie rechter Unterlappen", "Arterielle Hypertonie"]
    assert data["dokument"]["datum"] == "2024-03-14"
    assert RulesReader(text).remarks() == ("Medikation: von 3 Listen des Briefs zählt „Medikation bei Austritt“.",)
    assert RulesReader("Medikation\nRamipril 5 mg 1-0-0").remarks() == ()


DOCTORS = """Spital Musterthal AG, Klinik für Orthopädie, Postfach, 9000 Musterthal
Musterthal, 12.11.2024/ab

Herr Dr. med.
Peter Zwicky
Bahnhofstrasse 1
9001 Musterthal

Operationsbericht
Herr Brunner Werner, geb. 02.03.1955, Bergweg 2, 9002 Musterdorf

Lieber Peter

Operation vom 06.11.2024
Knietotalprothese rechts

Prozedere
Vollbelastung. Fadenentfernung am 14. postop. Tag.

Freundliche Grüsse

PD Dr. med. A. Meier
"""


def test_a_letter_whose_parts_are_written_close():
    data = read(DOCTORS)
    assert data["dokument"] == {"typ": "Operationsbericht", "datum": "2024-11-12"}
    assert stated(data["empfaenger"]) == {
        "name": "Dr. med. Peter Zwicky", "strasse": "Bahnhofstrasse 1", "plz": "9001", "ort": "Musterthal",
    }  # fmt: skip
    assert data["patient"]["nachname"] == "Brunner"
    assert data["eingriffe"] == [{"bezeichnung": "Knietotalprothese rechts", "datum": "2024-11-06"}]
    assert data["procedere"] == ["Vollbelastung.", "Fadenentfernung am 14. postop. Tag."]


def test_sender_and_recipient_of_one_town_are_kept_apart():
    data = read(
        "Praxis am Brunnen\nDr. med. Carla Wyss\nDorfplatz 3\n8400 Winterthur\nTel. 052 111 22 33\n\n"
        "An das\nSpital Seeblick\nAbteilung für Kardiologie\nAm Spital 1\n8400 Winterthur\n\n"
        "Winterthur, den 05.06.2025\n\nSehr geehrte Damen und Herren,\n\nich bitte um Mitbeurteilung.\n",
        "zuweisung",
    )
    assert (data["absender"]["strasse"], data["absender"]["plz"]) == ("Dorfplatz 3", "8400")
    assert (data["empfaenger"]["strasse"], data["empfaenger"]["plz"]) == ("Am Spital 1", "8400")


def test_of_the_last_and_the_recommended_drugs_the_recommended_count():
    text = "Letzte Medikation:\nRamipril 5 mg 1-0-0\n\nEmpfohlene Medikation:\nTorasemid 10 mg 1-0-0\n"
    assert read(text)["medikation"] == ["Torasemid 10 mg 1-0-0"]


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


@pytest.mark.parametrize("heading", ["Dg. 1. Gicht\n    2. Asthma", "Diagnosen: 1) Gicht\n    2) Asthma"])
def test_a_numbered_list_may_begin_on_its_headings_line(heading: str) -> None:
    listed = f"{heading}\n    (ICD: M10.9, J45.9)"
    text = f"Liebe Anna\n\n{listed}\n\nEmpfehlungen für die Nachsorge:\nRehasport wird empfohlen.\n\nGruß Kunz\n"
    found = read_letter(text, "arztbrief")
    assert found["diagnosen"] == ["Gicht", "Asthma"]
    assert found["procedere"] == ["Rehasport wird empfohlen."]
