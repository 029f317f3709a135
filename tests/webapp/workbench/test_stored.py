"""The page "Auslesen" of a stored document in a real browser, before the real text API."""

import io
import json
import re
import uuid
from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle
from playwright.sync_api import Page, expect
from sqlalchemy import select

from tests.webapp.browser import Visitor, picture
from tests.webapp.extracting.test_operation import CANARY, LINES, fields, of_type
from tests.webapp.workbench.conftest import Bench, rows, saved
from tests.written_files import pdf_of
from webapp.extensions import db
from webapp.fhir import store
from webapp.fhir.service import service
from webapp.models import Membership, Organization, User

LONG = 90_000  # ms: a busy machine is no fault of the page


@pytest.fixture
def letter(bench: Bench, erika: Visitor) -> tuple[uuid.UUID, uuid.UUID]:
    """Erika's organization, and a letter stored there as a PDF."""
    with bench.app.app_context(), db.write() as session:
        mine = select(Membership.organization_id).join(User).where(User.given_name == "Erika")
        organization = session.scalars(mine).first()
        assert organization
        new = store.NewDocument(service().files.put(io.BytesIO(pdf_of(LINES))), "brief.pdf", "application/pdf")
        (placed,) = store.store_documents(session, organization, [new])
    return organization, placed.id


def opened(erika: Visitor, letter: tuple[uuid.UUID, uuid.UUID]) -> Page:
    page = erika.open(f"/documents/{letter[0]}/{letter[1]}/")
    page.set_default_timeout(LONG)
    page.get_by_role("link", name="Auslesen").click()
    expect(page.locator('[data-code="I10.90"]')).to_be_visible(timeout=LONG)
    return page


def results(bench: Bench) -> list[str]:
    return [row for row in rows(bench.app.config["BEFUND"].database_url, "document") if "fhir.json" in row]


def test_a_stored_letter_is_read_coded_and_leaves_as_fhir_and_is_kept_when_somebody_presses(
    erika: Visitor, bench: Bench, letter: tuple[uuid.UUID, uuid.UUID]
) -> None:
    before = results(bench)
    page = opened(erika, letter)
    expect(page.locator('[data-path="patient.nachname"]')).to_have_value(CANARY, timeout=LONG)
    expect(page.locator(".sheet img")).to_have_attribute("src", re.compile("^data:image/png;base64,"), timeout=LONG)
    page.locator('[data-path="diagnosen[1]"]').focus()
    expect(page.locator(".sheet .box.active")).to_have_count(1, timeout=LONG)
    picture(page, "stored-letter")

    page.locator('[data-path="patient.nachname"]').fill("Muster")
    page.keyboard.press("Tab")
    page.locator('[data-path="diagnosen[2]"]').fill("")
    page.keyboard.press("Tab")
    expect(page.locator('[data-code="J18.9"]')).to_have_count(0, timeout=LONG)
    expect(page.locator('[data-code="I10.90"]')).to_be_visible(timeout=LONG)
    for code in ("I10.90", "M17.9"):
        page.locator(f'[data-code="{code}"]').set_checked(code == "I10.90")
    bundle = json.loads(saved(page, "Als FHIR speichern"))
    Bundle.model_validate(bundle)
    told = fields(bundle)
    assert told["patient.nachname"] == {"path": "patient.nachname", "value": "Muster"}, "what a person wrote"
    assert told["patient.vorname"]["urn:befund:evidence"]["page"] == 1
    conditions = of_type(bundle, "Condition")
    coded = [one["code"]["coding"][0] for one in conditions if "coding" in one["code"]]
    assert [(one["code"], one["userSelected"]) for one in coded] == [("I10.90", True)]
    assert {one["code"]["text"] for one in conditions} == {"Gonarthrose rechts", "Arterielle Hypertonie"}
    assert of_type(bundle, "Composition")[0]["status"] == "final"
    who = {one["type"]["coding"][0]["code"]: one["who"] for one in of_type(bundle, "Provenance")[0]["agent"]}
    assert "Erika" in who["verifier"]["display"]

    assert results(bench) == before, "nothing is kept unless somebody presses"
    for _ in range(2):
        page.get_by_role("button", name="Ergebnis ablegen").click()
        expect(page.get_by_role("link", name="Zum Ergebnis")).to_be_visible(timeout=LONG)
    assert len(results(bench)) == len(before) + 1
    page.get_by_role("link", name="Zum Ergebnis").click()
    expect(page.get_by_role("heading", name="brief.pdf.fhir.json")).to_be_visible(timeout=LONG)
    assert page.get_by_role("link", name="Auslesen").count() == 0, "a result is no letter"
    assert "Muster" not in bench.log.replace("Mustermann", "")
    assert CANARY not in bench.log


def test_another_text_on_the_page_is_not_the_stored_letter(
    erika: Visitor, bench: Bench, letter: tuple[uuid.UUID, uuid.UUID]
) -> None:
    page = opened(erika, letter)
    button = page.get_by_role("button", name="Ergebnis ablegen")
    expect(button).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Beispielbrief").click()
    expect(page.locator('[data-path="patient.geburtsdatum"]')).to_have_value("1957-08-12", timeout=LONG)
    expect(button).to_be_hidden(timeout=LONG)
    expect(page.locator("[data-code]").first).to_be_hidden(timeout=LONG)


def test_the_text_api_down_is_said_and_the_letter_stays(
    erika: Visitor, bench: Bench, letter: tuple[uuid.UUID, uuid.UUID]
) -> None:
    bench.behind.mode = "dead"
    page = erika.open(f"/documents/{letter[0]}/{letter[1]}/extract/")
    expect(page.locator("#failure")).to_contain_text("Text-API", timeout=LONG)
    bench.behind.mode = "real"
    page.get_by_role("button", name="Erneut versuchen").click()
    expect(page.locator('[data-code="I10.90"]')).to_be_visible(timeout=LONG)


def test_only_members_reach_the_page_and_what_they_post_is_checked(
    erika: Visitor, bench: Bench, letter: tuple[uuid.UUID, uuid.UUID]
) -> None:
    with bench.app.app_context(), db.write() as session:
        other = Organization(name="Andere Praxis")
        session.add(other)
        session.flush()
        new = store.NewDocument(service().files.put(io.BytesIO(pdf_of(LINES))), "fremd.pdf", "application/pdf")
        (foreign,) = store.store_documents(session, other.id, [new])
        where = other.id
    page = opened(erika, letter)

    def post(organization: uuid.UUID, document: uuid.UUID, what: str, body: Any) -> int:
        script = """async ([url, body]) => (await fetch(url, {method: "POST", body: JSON.stringify(body), headers: {
            "Content-Type": "application/json",
            "X-CSRFToken": document.querySelector('meta[name="csrf-token"]').content}})).status"""
        status: int = page.evaluate(script, [f"/documents/{organization}/{document}/extract/{what}/", body])
        return status

    for what in ("codes", "fhir", "keep"):
        assert post(where, foreign.id, what, {"diagnoses": []}) == 404
        assert post(letter[0], foreign.id, what, {"diagnoses": []}) == 404
        assert post(*letter, what, {"diagnoses": 7}) == 422
    read = {"document_type": "arztbrief", "data": {"diagnosen": ["x"]}, "read": {}, "evidence": [], "review": [],
            "text": "", "model": "m", "codes": []}  # fmt: skip
    assert post(*letter, "fhir", read) == 200
    assert post(*letter, "fhir", read | {"data": {"diagnosen": [{"a": 1}]}}) == 422
    assert post(*letter, "keep", read | {"codes": [{"code": "Q00.00", "title": "erfunden"}]}) == 422
    answer = page.goto(f"{bench.base}/documents/{where}/{foreign.id}/extract/")
    assert answer
    assert answer.status == 404
