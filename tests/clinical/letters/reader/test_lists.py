"""Lists of a letter: tables with heads, what ends a running list, what is long past, and lines that go on."""

from clinical.letters import RulesReader, read_letter

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
