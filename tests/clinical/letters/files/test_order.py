"""Reading order: columns, tables, wrapped lines, running heads and feet; and where every character stands."""

from __future__ import annotations

import asyncio
import io

import numpy as np
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from clinical.contract import ExtractRequest
from clinical.letters import extract_by_rules, placed
from clinical.letters.files.order import ordered
from clinical.letters.files.page_text import Box, SheetPage, unpacked
from clinical.letters.files.reading import read
from clinical.letters.files.scan import RecognisedTable, recognised
from clinical.letters.files.words import spread, word_of
from tests.written_files import LEADING, LEFT, SIZE, TOP, lying, pdf_of, scan_of


def drawn(*texts: tuple[float, float, str], size: float = SIZE) -> bytes:
    """A page with texts at places, in points from the top left."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Helvetica", size)
    for x, y, text in texts:
        canvas.drawString(x, A4[1] - y, text)
    canvas.save()
    return out.getvalue()


def block(x: float, y: float, lines: list[str], leading: float = 12.0) -> list[tuple[float, float, str]]:
    return [(x, y + n * leading, line) for n, line in enumerate(lines)]


@pytest.mark.parametrize("shown", [0, 90, 180, 270])
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_text_that_is_set_sideways_or_upside_down_is_read_as_it_runs_and_its_boxes_are_where_it_is_shown(turn, shown):
    lines = ["Herr Max Mustermann", "geboren am 4.5.1950", "", "Diagnosen: Hypertonie"]
    upright = read(pdf_of(lines))
    found = read(lying(pdf_of(lines), turn, shown))
    assert found.text == upright.text
    (page,) = found.pages
    assert page.turn == -(turn + shown) % 360
    assert (page.width > page.height) == ((turn + shown) % 180 == 90)
    (want,), (have,) = (one.places(5, 19)[0].boxes for one in (upright, found))
    (sheet,) = upright.pages
    assert have == pytest.approx(want.turned((turn + shown) % 360, sheet.width, sheet.height), abs=0.1)
    assert len(found.places(0, len(found.text))[0].boxes) == 3


def test_what_stands_sideways_on_a_page_is_read_behind_its_text():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.setFont("Helvetica", SIZE)
    for n, line in enumerate(("Diagnosen", "Hypertonie", "Diabetes mellitus")):
        canvas.drawString(62, 700 - 13 * n, line)
    canvas.rotate(90)
    canvas.drawString(640, -80, "Formular 17, Fassung 3")
    canvas.save()
    found = read(out.getvalue())
    assert found.text == "Diagnosen\nHypertonie\nDiabetes mellitus\n\nFormular 17, Fassung 3"
    start = found.text.index("Formular")
    for box in found.places(start, start + 8)[0].boxes:
        assert 70 < box.left < box.right < 85
        assert A4[1] - 690 < box.top < box.bottom < A4[1] - 635


ADDRESS = ["Frau", "Dr. med. Anna Kern", "Seestrasse 12", "8006 Zürich"]
HOUSE = ["Spital Seeblick", "Klinik für Kardiologie", "Chefarzt Prof. B. Moos", "Telefon 044 555 10 10"]


def test_an_address_and_a_letterhead_beside_it_or_on_its_lines_are_read_one_after_the_other():
    for house in (block(380, 97, HOUSE, 10.5), block(380, 100, HOUSE)):
        assert read(drawn(*block(62, 100, ADDRESS), *house)).text == "\n".join([*ADDRESS, "", *HOUSE])


COLUMNS = (
    [
        "Anamnese: Der Patient klagt seit drei Wochen",
        "über Schmerzen im rechten Knie, die beim",
        "Gehen auf der Treppe",
    ],
    ["Beurteilung: Es handelt sich am ehesten um", "eine Reizung bei Arthrose. Wir haben eine", "Schonung empfohlen."],
)


@pytest.mark.parametrize("address", [None, 100, 170])
def test_a_letterhead_at_the_right_is_read_before_the_two_columns_below_it(address):
    lines = [] if address is None else block(62, address, ADDRESS)
    text = read(drawn(*block(380, 97, HOUSE), *lines, *block(62, 240, COLUMNS[0]), *block(310, 240, COLUMNS[1]))).text
    head = [HOUSE] if address is None else [ADDRESS, HOUSE]
    assert [one.split() for one in text.split("\n\n")] == [" ".join(one).split() for one in (*head, *COLUMNS)]


def test_rows_of_a_table_are_read_across():
    columns = (["Patient", "Geburtsdatum", "Fallnummer"], ["Anna Kern", "1.2.1960", "2601-88"])
    text = read(drawn(*block(62, 100, columns[0]), *block(220, 100, columns[1]))).text
    assert text == "Patient\tAnna Kern\nGeburtsdatum\t1.2.1960\nFallnummer\t2601-88"


def test_a_cell_that_goes_on_below_is_one_cell():
    labels = [(62, 100, "Medikation"), (62, 130, "Diagnosen")]
    values = [(150, 100, "Ramipril 5 mg morgens und abends,"), (150, 112, "Metoprolol"), (150, 130, "Hypertonie")]
    notes = [(330, 100, "seit gestern"), (330, 130, "bekannt")]
    text = read(drawn(*labels, *values, *notes)).text
    assert text.split("\n")[0] == "Medikation\tRamipril 5 mg morgens und abends, Metoprolol\tseit gestern"


LONG = "Wir berichten über die Patientin, die sich vom 19. März bis zum 7. Mai in unserer stationären Behandlung be-"


def test_lines_of_one_cell_stand_nearer_than_rows_and_are_joined_where_the_column_ends():
    rows = [
        (100, "Zuweiser", "Dr. med. Anna Kern-"),
        (110, "", "Odermatt"),
        (122, "", "Rheumatologie"),
        (134, "", "anna@praxis-"),
        (144, "", "kern-odermatt.example"),
        (156, "Klasse", "[ ] allgemein  [ ] halb-"),
        (166, "", "privat  [x] privat"),
        (178, "Region", "Knie"),
        (190, "Datum", "3.4.2026"),
        (202, "Patient", "Max Muster"),
    ]
    found = read(drawn(*((x, y, told) for y, *cells in rows for x, told in zip((62, 160), cells, strict=True) if told)))
    assert found.text.replace("\n\n", "\n") == (
        "Zuweiser\tDr. med. Anna Kern-Odermatt\n\tRheumatologie\n\tanna@praxis-kern-odermatt.example\n"
        "Klasse\t[ ] allgemein [ ] halbprivat [x] privat\nRegion\tKnie\nDatum\t3.4.2026\nPatient\tMax Muster"
    )


def test_lines_of_a_cell_that_had_room_for_more_stay_lines():
    rows = [(100, "Zuweiser", "Dr. med. Anna Kern"), (110, "", "Rheuma"), (120, "", "6003 Luzern")]
    rows += [(134, "Patient", "Max Mustermann, geboren am 4.5.1950 in Bern"), (148, "Region", "Knie")]
    found = read(drawn(*((x, y, told) for y, *cells in rows for x, told in zip((62, 160), cells, strict=True) if told)))
    assert found.text.startswith("Zuweiser\tDr. med. Anna Kern\n\tRheuma\n\t6003 Luzern\nPatient")


def test_a_row_that_begins_with_a_label_is_no_part_of_the_row_above():
    rows = [
        (100, "Zuweiser", "Dr. med. Stephan Lanz", "Augenarzt FMH"),
        (112, "Empfänger", "Augenklinik Bodensee", "Katarakt"),
    ]
    places = (62, 130, 250)
    found = read(drawn(*((x, y, told) for y, *cells in rows for x, told in zip(places, cells, strict=True))))
    assert found.text == ("Zuweiser\tDr. med. Stephan Lanz\tAugenarzt FMH\nEmpfänger\tAugenklinik Bodensee\tKatarakt")


def test_three_spaces_in_a_line_of_many_words_divide_cells():
    found = read(pdf_of(["Ihre Anmeldung wurde gespeichert.   Vorgang 556120   12.01.2026"]))
    assert found.text == "Ihre Anmeldung wurde gespeichert.\tVorgang 556120\t12.01.2026"


def test_wrapped_lines_are_joined_and_short_ones_are_not():
    lines = [LONG, "fand. Der Verlauf war ohne Besonderheiten.", "Hypertonie", "Diabetes"]
    text = read(pdf_of(lines)).text
    assert text == f"{LONG[:-1]}fand. Der Verlauf war ohne Besonderheiten.\nHypertonie\nDiabetes"


@pytest.mark.parametrize(
    ("end", "beginning", "joined"),
    [
        ("Hepatitis-", "B-Virus", "Hepatitis-B-Virus"),
        ("Haupt-", "und", "Haupt- und"),
        ("Patien-", "tin", "Patientin"),
        ("aus", "dem", "aus dem"),
    ],
)
def test_divided_words_are_joined_as_they_are_written(end, beginning, joined):
    filler = ["Wir berichten über den Verlauf seit dem letzten Aufenthalt in unserem Hause wegen einer chronischen"]
    line = " ".join(filler) + " Form von " + end
    text = read(drawn((62, 100, line), (62, 112, f"{beginning} mehr"), (62, 136, "x" * 93))).text
    assert joined in text.split("\n")[0]


def test_a_list_item_never_goes_on_with_the_line_above():
    text = read(pdf_of([LONG, "- Hypertonie", "2. Diabetes"])).text
    assert text.split("\n")[1:] == ["- Hypertonie", "2. Diabetes"]


def test_heads_and_feet_of_later_pages_are_left_out_and_the_first_foot_ends_the_text():
    pages = []
    for n in range(3):
        lines = ["Spital Seeblick, Austrittsbericht", "", f"Inhalt der Seite {'abc'[n]}"]
        pages.append([*lines, *[""] * 52, "Bankverbindung: Kantonalbank", f"Seite {n + 1} von 3"])
    text = read(pdf_of(*pages)).text
    assert text.count("Spital Seeblick") == text.count("Bankverbindung") == 1
    assert "Seite 2 von 3" not in text
    assert text.startswith("Spital Seeblick")
    assert text.endswith("Bankverbindung: Kantonalbank")
    assert [text.index(f"Seite {one}") for one in "abc"] == sorted(text.index(f"Seite {one}") for one in "abc")


def test_rows_of_a_table_at_the_end_of_pages_are_no_feet_though_they_differ_in_numbers_alone():
    pages = [
        [*[""] * 57, f"Insulin {drug} Einheiten", f"Spital Seeblick, Seite {n}"] for n, drug in enumerate((4, 12), 1)
    ]
    text = read(pdf_of(*pages)).text
    assert text.split("\n\n") == ["Insulin 4 Einheiten", "Insulin 12 Einheiten", "Spital Seeblick, Seite 1"]


def test_every_visible_character_has_its_place_and_every_line_its_box():
    lines = ["Herr Max Mustermann", "Diagnose: Größe, Ödeme"]
    found = read(pdf_of(lines))
    assert found.text == "\n".join(lines)
    for n, line in enumerate(lines):
        start = found.text.index(line)
        (place,) = found.places(start, start + len(line))
        (box,) = place.boxes
        foot = A4[1] - (TOP - n * LEADING)
        assert place.page == 1
        assert box.left == pytest.approx(LEFT, abs=1)
        assert box.top < foot - 0.6 * SIZE < foot < box.bottom
    (both,) = found.places(0, len(found.text))
    assert len(both.boxes) == 2


def test_bytes_of_a_page_text_are_read_back():
    found = read(pdf_of(["Größe 1,80 m, Gewicht 70 kg"]))
    again = unpacked(found.packed())
    assert (again.text, again.pages) == (found.text, found.pages)
    assert np.array_equal(again.box_of, found.box_of)
    for broken in (b"", b"\x00" * 40, found.packed()[:-5]):
        with pytest.raises(ValueError, match=r"."):
            unpacked(broken)


def test_values_of_form_fields_are_read_where_they_stand():
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4)
    canvas.drawString(62, 700, "Nachname:")
    canvas.acroForm.textfield(name="n", value="Mustermann", x=150, y=693, width=200, height=18)
    canvas.drawString(62, 670, "Notfall")
    canvas.acroForm.checkbox(name="e", checked=True, x=150, y=668, size=12)
    canvas.drawString(62, 640, "elektiv")
    canvas.acroForm.checkbox(name="f", checked=False, x=150, y=638, size=12)
    canvas.save()
    found = read(out.getvalue())
    assert found.text.replace("\t", " ").replace("\n\n", "\n") == "Nachname: Mustermann\nNotfall [x]\nelektiv [ ]"
    start = found.text.index("Mustermann")
    (place,) = found.places(start, start + 10)
    assert 150 <= place.boxes[0].left < place.boxes[0].right <= 350


def test_the_pages_of_an_image_have_the_size_it_says():
    assert read(scan_of(pdf_of(["x"]), 150)).pages == ((1, 0),)


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "iso-8859-1", "iso-8859-15", "cp437",
     "cp850", "mac_roman"],
)  # fmt: skip
def test_a_text_in_any_common_encoding_is_the_same_text(encoding):
    told = "Müller, Größe 1,80 m, Übelkeit, ödematös, Straße"
    assert read(told.encode(encoding)).text == told


def test_small_print_over_a_line_is_a_line_of_its_own():
    page = io.BytesIO()
    canvas = Canvas(page, pagesize=A4)
    for size, text in ((10, "Vorstellung zur weiteren Behandlung in sechs Wochen"), (7, "Vertraulich, nur für Sie")):
        canvas.setFont("Helvetica", size)
        canvas.drawString(62, A4[1] - 100, text)
    canvas.save()
    assert read(page.getvalue()).text.split("\n") == [
        "Vorstellung zur weiteren Behandlung in sechs Wochen",
        "Vertraulich, nur für Sie",
    ]


def test_a_card_whose_lines_go_on_below_its_place_is_read_across():
    card = ["Muster, Max", "Ziegeleiweg 3", "49201 Bad Hessel", "Vers.-Nr. T767224852"]
    ticks = ["[x] Notfall", "[ ] Unfall", "geb. 02.02.1941", "Datum 11.02.2026"]
    text = read(drawn(*block(62, 100, card), *block(220, 100, ticks))).text
    assert text.split("\n") == [f"{left}\t{right}" for left, right in zip(card, ticks, strict=True)]


def test_an_address_of_mail_that_was_recognised_in_two_is_one_word():
    rows = ["level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext"]
    for n, (left, text) in enumerate(((250, "E-Mail"), (500, "n.muster"), (760, "@praxis-muster.example"))):
        rows.append(f"5\t1\t1\t1\t1\t{n}\t{left}\t400\t230\t40\t90\t{text}")
    found = ordered([recognised(SheetPage(1, 595.2, 841.9), {0: RecognisedTable(("\n".join(rows) + "\n").encode())})])
    assert found.text == "E-Mail n.muster@praxis-muster.example"


def test_a_value_that_was_poorly_recognised_is_to_be_looked_at():
    rows = ["level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext"]
    said = ("Herr", 95), ("Max", 95), ("Mustermann,", 95), ("geb.", 95), ("4.5.1950", 41)
    for n, (text, sure) in enumerate(said):
        rows.append(f"5\t1\t1\t1\t1\t{n}\t{250 + 300 * n}\t400\t280\t40\t{sure}\t{text}")
    file = ordered([recognised(SheetPage(1, 595.2, 841.9), {0: RecognisedTable(("\n".join(rows) + "\n").encode())})])
    asked = ExtractRequest(document_type="arztbrief", text=file.text, evidence=True)
    answer = placed(asyncio.run(extract_by_rules(asked)), file)
    assert (answer.data.patient.nachname, answer.data.patient.geburtsdatum) == ("Mustermann", "1950-05-04")
    noted = [one.path for one in answer.review if one.reason == "Die Stelle ist im Scan schlecht zu lesen."]
    assert noted == ["patient.geburtsdatum"]


def test_ligatures_soft_hyphens_and_marks_over_letters_are_characters():
    place = Box(0.0, 0.0, 10.0, 10.0)
    said = [*spread("a\ufb03n\u00adit", place), *spread("a", Box(20.0, 0.0, 25.0, 10.0))]
    word = word_of([*said, ("\u0308", Box(20.0, 0.0, 25.0, 10.0))])
    assert word.text == "affinitä"
    assert len(word.boxes) == len(word.text)
    f, i = word.boxes[1], word.boxes[3]
    assert place.left < f.left < f.right <= i.left < i.right < place.right


def test_lines_of_a_page_that_lay_askew_are_level_and_their_boxes_are_not():
    rows = ["level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext"]
    for line in range(6):
        for word, left in enumerate((250, 900, 1_600)):  # of 2,480 pixels; the page falls by three of a hundred
            top = 400 + 52 * line + round(0.03 * left)
            rows.append(f"5\t1\t1\t1\t{line}\t{word}\t{left}\t{top}\t300\t40\t90\tWort{line}{word}")
    table = ("\n".join(rows) + "\n").encode()
    found = ordered([recognised(SheetPage(1, 595.2, 841.9), {0: RecognisedTable(table)})])
    assert found.text.split("\n") == [f"Wort{n}0\tWort{n}1\tWort{n}2" for n in range(6)]
    last = found.text.index("Wort02")
    assert found.places(last, last + 6)[0].boxes[0].top == pytest.approx((400 + 48) * 72 / 300, abs=0.1)
