"""The pages "Extrahieren" and "Formulieren" in a real browser, before the real text API and before ones that fail."""

import base64
import json
import re
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

from evals.letters.printed import reportlab_pdf
from tests import invented_fields
from tests.webapp.browser import Visitor, picture
from tests.webapp.workbench.conftest import LETTER, Bench, rows
from tests.written_files import LEADING, TOP, pdf_of, word_of


def marked(page: Page) -> list[str]:
    return page.locator("#marks mark.active").all_inner_texts()


def test_a_letter_becomes_fields_tied_to_their_evidence_both_ways_and_leaves_as_json(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    page.get_by_role("button", name="Beispielbrief").click()
    birth = page.locator('[data-path="patient.geburtsdatum"]')
    expect(birth).to_have_value("1957-08-12")
    birth.focus()
    assert marked(page) == ["12.08.1957"]
    picture(page, "extraction")
    diagnosis = page.locator("#marks mark", has_text="Diabetes mellitus Typ 2").bounding_box()
    page.mouse.click(diagnosis["x"] + 20, diagnosis["y"] + 8)
    field = page.locator('[data-path="diagnosen[1]"]')
    expect(field).to_be_focused()
    assert marked(page) == ["Diabetes mellitus Typ 2"]
    field.fill("Diabetes mellitus Typ 1")
    page.keyboard.press("Tab")
    expect(page.get_by_text("von Ihnen geändert")).to_be_visible()
    page.get_by_role("button", name="Änderung zurücknehmen").click()
    expect(field).to_have_value("Diabetes mellitus Typ 2")
    page.locator('[data-path="diagnosen[0]"]').fill("")
    page.keyboard.press("Tab")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Als JSON speichern").click()
    left = json.loads(Path(caught.value.path()).read_text("utf-8"))
    assert left["data"]["diagnosen"][0] == "Diabetes mellitus Typ 2"
    assert left["edited"] == ["diagnosen[0]"]
    assert left["data"]["patient"]["nachname"] == "Musterfrau"


def test_what_was_removed_denied_or_is_doubtful_stands_where_it_belongs(erika: Visitor, bench: Bench) -> None:
    bench.behind.mode = "lying"
    page = erika.open("/extraction/")
    page.locator("#text").fill(LETTER)
    page.keyboard.press("Control+Enter")
    patient = page.get_by_role("region", name="Patient")
    expect(patient).to_contain_text("Entfernt: Hamburg Im Brief steht nirgends: Hamburg")
    expect(patient).to_contain_text("Bitte prüfen: Der Name steht auch in der Unterschrift.")
    expect(page.get_by_role("region", name="Medikation")).to_contain_text("Im Brief steht nirgends: Ibuprofen, 400")
    expect(page.get_by_role("region", name="Diagnosen")).to_contain_text("Der Brief verneint das ausdrücklich.")
    expect(page.get_by_text("Von zwei Listen wurde die letzte genommen.")).to_be_visible()
    expect(page.locator("#marks mark.suspected")).to_have_text("Muster")
    picture(page, "extraction-removed")
    page.locator('[data-path="patient.ort"]').fill("Bremen")
    page.keyboard.press("Tab")
    expect(page.locator('[data-path="patient.ort"]')).to_have_value("Bremen")
    bench.behind.mode = "unusable"
    page.get_by_role("button", name="Felder lesen").click()
    expect(page.locator("#failure")).to_contain_text("Sprachmodell: Es gab keine verwertbare Antwort.")
    expect(page.locator("#text")).to_have_value(LETTER)


def test_fields_that_only_the_text_api_knows_are_shown_with_their_evidence(erika: Visitor, bench: Bench) -> None:
    bench.behind.mode, bench.behind.answer = "given", invented_fields.served()[0].model_dump_json()
    page = erika.open("/extraction/")
    page.locator("#text").fill(invented_fields.LETTER)
    page.keyboard.press("Control+Enter")
    allergies = page.get_by_role("region", name="allergien")
    expect(allergies.locator('[data-path="allergien[0]"]')).to_have_value("Penicillin")
    expect(allergies).to_contain_text("Im Brief steht nirgends: Latex")
    expect(allergies).to_contain_text("Der Regelleser liest diesen Wert bei der Medikation.")
    implants = page.get_by_role("region", name="implantate")
    device = implants.locator('[data-path="implantate[0].bezeichnung"]')
    expect(device).to_have_value("Herzschrittmacher Modell A2")
    expect(implants.locator('[data-path="implantate[0].datum"]')).to_have_value("2024-03-10")
    expect(implants).to_contain_text("Hüftprothese")
    device.focus()
    assert marked(page) == ["Herzschrittmacher Modell A2"]


def test_a_stored_document_is_coded_and_read_from_its_page(erika: Visitor) -> None:
    page = erika.open("/documents/")
    page.get_by_role("link", name="Arztbrief Kardiologie").click()
    page.get_by_role("link", name="Kodieren").last.click()
    expect(page.locator('.code-card[data-code="I10.90"]')).to_be_visible(timeout=20_000)
    assert "Hinterwandinfarkt" in page.locator("#text").input_value()
    page.go_back()
    page.get_by_role("link", name="Auslesen").click()
    expect(page.locator('[data-path="patient.nachname"]')).to_have_value("Mustermann")
    page.go_back()
    page.get_by_role("link", name="Formulieren").last.click()
    expect(page.locator("#text")).to_have_value(re.compile("Hypertonie"))


def test_a_click_before_the_script_runs_is_not_lost(erika: Visitor, bench: Bench) -> None:
    def late(route: Route) -> None:
        time.sleep(0.5)
        route.continue_()

    erika.page.route("**/drafting.js", late)
    erika.page.goto(f"{bench.base}/drafting/", wait_until="commit")
    erika.page.get_by_text("Entwurf schreiben").click()
    expect(erika.page.get_by_label("Anweisung", exact=True)).to_be_focused()  # it is empty


def test_the_text_box_of_a_new_page_has_the_focus(erika: Visitor) -> None:
    expect(erika.open("/coding/").locator("#text")).to_be_focused()


def test_a_draft_is_marked_as_one_and_instructions_are_ones_own(
    erika: Visitor, chromium: Browser, bench: Bench
) -> None:
    page = erika.open("/drafting/")
    page.get_by_label("Anweisung", exact=True).fill("Fasse zusammen.")
    page.get_by_text("Anweisung merken").click()
    page.get_by_label("Name").fill("Kurzfassung")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("status").first).to_contain_text("„Kurzfassung“ ist gespeichert")
    page.get_by_role("button", name="Kurzfassung", exact=True).click()
    page.get_by_label("Text", exact=True).fill("Hypertonie seit 2019.")
    page.get_by_role("button", name="Entwurf schreiben").click()
    expect(page.locator("#draft")).not_to_have_value("", timeout=30_000)
    picture(page, "drafting")
    page.get_by_role("button", name="Kopieren").click()
    expect(page.locator("#said")).to_contain_text("Kopiert")
    assert page.evaluate("navigator.clipboard.readText()").startswith("ENTWURF, nicht am Text geprüft\n\n")
    kept = "".join(rows(bench.app.config["BEFUND"].database_url, "instruction"))
    assert "Fasse zusammen." in kept
    assert "Hypertonie" not in kept
    other = Visitor(chromium, bench)  # type: ignore[arg-type]
    other.open("/accounts/vendor_oauth2/login/?provider_id=demo").locator('button[value="max"]').click()
    other.page.wait_for_url(f"{bench.base}/accounts/")
    other.open("/drafting/")
    assert other.page.get_by_text("Kurzfassung").count() == 0
    other.context.close()
    page.get_by_role("button", name="Kurzfassung löschen").click()
    page.get_by_role("button", name="Nein").click()
    assert len(rows(bench.app.config["BEFUND"].database_url, "instruction")) == 1
    page.get_by_role("button", name="Kurzfassung löschen").click()
    page.get_by_role("button", name="Ja").click()
    expect(page.get_by_text("Die Anweisung ist gelöscht.")).to_be_visible()
    assert rows(bench.app.config["BEFUND"].database_url, "instruction") == []


LINES = """Spital Seeblick
Seestrasse 12, 8006 Zürich

Austrittsbericht

Herr Max Mustermann, geb. 4.5.1950

Diagnosen:
- Gonarthrose rechts
- Arterielle Hypertonie

Medikation:
- Ramipril 5 mg 1-0-0
""".splitlines()


PRINTED = """KLINIKUM BEISPIELSTADT                                Chefarzt Prof. Dr. med. Jens Ahrens
Klinik für Innere Medizin II                          Sekretariat Tel. 0431 555-210
Am Park 4, 24103 Beispielstadt                        Fax 0431 555-219

Herrn
Dr. med. Erik Sommer
Hauptstraße 7
24837 Musterau
                                                      Beispielstadt, 12.03.2026
Entlassungsbrief

Patientin: Frau Erika Mustermann, geb. 04.05.1950, Wiesenweg 3, 24837 Musterau, AOK NordWest

Sehr geehrter Herr Kollege Sommer,

wir berichten über die stationäre Behandlung Ihrer Patientin vom 03.03. bis 12.03.2026.

Diagnosen:
- Dekompensierte Herzinsuffizienz NYHA III
- Vorhofflimmern
- Arterielle Hypertonie

Medikation bei Entlassung:
Wirkstoff                   Dosis                     Schema
Apixaban                    5 mg                      1-0-1
Torasemid                   10 mg                     1-0-0
Ramipril                    5 mg                      1-0-1

Procedere:
- Kontrolle von Kreatinin und Kalium in einer Woche
- Kardiologische Vorstellung in drei Monaten

Mit freundlichen Grüßen

Prof. Dr. med. Jens Ahrens
"""


def test_a_printed_letter_shows_each_of_its_values_where_it_stands(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    pdf = {"name": "brief.pdf", "mimeType": "application/pdf", "buffer": reportlab_pdf(PRINTED, letterhead=True)}
    page.locator("#file").set_input_files([pdf])
    for path, value in {"absender.institution": "KLINIKUM BEISPIELSTADT", "empfaenger.ort": "Musterau"}.items():
        expect(page.locator(f'[data-path="{path}"]')).to_have_value(value, timeout=20_000)
        expect(page.locator(f'[data-box="{path}"]')).not_to_have_count(0)
    expect(page.locator('[data-path="medikation[1]"]')).to_have_value(re.compile("^Torasemid.*1-0-0$"))
    page.locator('[data-path="diagnosen[1]"]').focus()
    expect(page.locator(".sheet .box.active")).to_have_count(1)
    page.evaluate("scrollTo(0, 0)")
    picture(page, "extraction-file")


def test_a_pdf_is_shown_as_its_sheet_and_its_boxes_are_tied_to_the_fields_both_ways(
    erika: Visitor, bench: Bench
) -> None:
    page = erika.open("/extraction/")
    pdf = {"name": "brief.pdf", "mimeType": "application/pdf", "buffer": pdf_of(LINES)}
    page.locator("#file").set_input_files([pdf])
    diagnosis = page.locator('[data-path="diagnosen[1]"]')
    expect(diagnosis).to_have_value("Arterielle Hypertonie", timeout=20_000)
    image = page.locator(".sheet img")
    expect(image).to_have_attribute("src", re.compile("^data:image/png;base64,"))
    assert page.locator("#written").is_hidden()
    diagnosis.focus()
    active = page.locator(".sheet .box.active")
    expect(active).to_have_count(1)
    sheet, box = image.bounding_box(), active.bounding_box()
    top = (842 - (TOP - LINES.index("- Arterielle Hypertonie") * LEADING)) / 842
    assert box["y"] < sheet["y"] + top * sheet["height"] < box["y"] + box["height"] + 4
    drug = page.locator('[data-box="medikation[0]"]').bounding_box()
    page.mouse.click(drug["x"] + 5, drug["y"] + 5)
    expect(page.locator('[data-path="medikation[0]"]')).to_be_focused()
    page.get_by_role("button", name="Als Text zeigen").click()
    expect(page.locator("#text")).to_have_value(re.compile("Herr Max Mustermann"))
    assert "Mustermann" not in bench.log


def test_a_file_that_is_dropped_on_the_page_is_read_and_keys_go_from_box_to_box(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    make = """([name, data]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))], name));
        return transfer;
    }"""
    carried = page.evaluate_handle(make, ["brief.pdf", base64.b64encode(pdf_of(LINES)).decode()])
    page.dispatch_event("#text", "dragover", {"dataTransfer": carried})
    expect(page.locator(".source")).to_have_class(re.compile(r"\bover\b"))
    page.dispatch_event("#text", "drop", {"dataTransfer": carried})
    expect(page.locator(".source")).not_to_have_class(re.compile(r"\bover\b"))
    expect(page.locator(".sheet img")).to_have_attribute("src", re.compile("^data:image/png;base64,"), timeout=20_000)
    page.locator('[data-path="diagnosen[0]"]').focus()
    expect(page.locator(".sheet .box.active")).to_have_attribute("data-box", "diagnosen[0]")
    page.keyboard.press("Enter")
    expect(page.locator('[data-path="diagnosen[1]"]')).to_be_focused()
    expect(page.locator(".sheet .box.active")).to_have_attribute("data-box", "diagnosen[1]")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".sheet .box.active")).not_to_have_attribute("data-box", "diagnosen[1]")


def test_several_files_are_read_one_after_the_other_and_one_that_cannot_be_read_says_so(erika: Visitor) -> None:
    page = erika.open("/extraction/")
    files = [
        ("eins.docx", word_of(LINES)),
        ("zwei.pdf", b"%PDF-1.7"),
        ("drei.txt", "Patient: Anna Kern, geb. 1.2.1960".encode("utf-16")),
    ]
    page.locator("#file").set_input_files([{"name": name, "mimeType": "", "buffer": data} for name, data in files])
    expect(page.get_by_role("button", name="✓ drei.txt")).to_be_visible(timeout=30_000)
    expect(page.locator('[data-path="patient.nachname"]')).to_have_value("Mustermann")
    expect(page.locator("#text")).to_have_value(re.compile("Gonarthrose"))
    page.get_by_role("button", name="drei.txt").click()
    expect(page.locator('[data-path="patient.nachname"]')).to_have_value("Kern")
    page.get_by_role("button", name="✗ zwei.pdf").click()
    expect(page.locator("#failure")).to_contain_text("Sie kann diese Datei nicht lesen.")
    expect(page.locator("#text")).to_have_value("")  # nothing of another file stands under its name
    expect(page.locator("#marks mark")).to_have_count(0)
    page.locator("#text").fill(LETTER)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-path="patient.nachname"]')).to_have_value("Muster")
