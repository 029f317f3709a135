"""The catalog's search in the browser: while one types, and by an address that was handed on."""

from playwright.sync_api import expect

from tests.webapp.browser import Visitor

FOUND = "#live a[href$='/catalog/E11.90/']"


def test_codes_appear_while_one_types(erika: Visitor) -> None:
    page = erika.open("/catalog/")
    page.locator("#q").press_sequentially("dia")
    expect(page.locator(FOUND)).to_be_visible()
    assert "dia" not in page.url
    page.locator("#q").fill("d")
    expect(page.locator("#live a")).to_have_count(0)
    page.locator("#q").fill("xqzxqz")
    expect(page.locator("#live")).to_have_text("Kein Kode mit diesen Worten.")


def test_a_search_is_handed_on_by_its_address(erika: Visitor) -> None:
    page = erika.open("/catalog/")
    page.locator("#q").fill("zuckerkr")
    page.locator("#share a").click()
    assert page.url.endswith("/catalog/#q=zuckerkr")
    other = erika.open("/catalog/#q=zuckerkr")
    expect(other.locator(FOUND)).to_be_visible()


def test_a_code_shows_the_notes_that_it_inherits_and_its_usual_ages_in_german(erika: Visitor) -> None:
    page = erika.open("/catalog/E11.90/")
    inherited = page.get_by_role("region", name="Gilt auch: von E11")
    expect(inherited).to_contain_text("Schließt aus: Diabetes mellitus in der Schwangerschaft")
    inherited.get_by_role("link", name="O24.-").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("O24")
    page = erika.open("/catalog/N40/")
    expect(page.locator(".tags")).to_contain_text("üblich ab 30 Jahren")
