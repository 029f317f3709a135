"""A real browser on the pages "Zugriffstokens" and "Dokumente", and what a hostile upload can do there."""

import contextlib
import json

import pytest
from playwright.sync_api import Browser, Error, expect

from tests.webapp.browser import PHONE, PICTURES, Stage, Visitor, chromium, operator, picture, visitor

__all__ = ["chromium", "visitor"]  # fixtures

LETTER = "Arztbrief (erfunden)\n\nPatient: Max Mustermann\nDiagnose: Arterielle Hypertonie.\n"
PICTURE = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63b8b2c0030003fc01c1" \
          "6c8dbb080000000049454e44ae426082"  # fmt: skip
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 92>>stream
BT /F1 18 Tf 40 240 Td (Laborbefund, erfunden) Tj /F1 12 Tf 0 -40 Td (HbA1c 7,1 %, CRP < 5 mg/l) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF"""
# Tells that it ran by asking our origin, as code that steals would.
SCRIPT = "new Image().src='/has-run';fetch('/has-run')"
HOSTILE = {
    "page.html": ("text/html", f'<!doctype html><body onload="{SCRIPT}"><script>{SCRIPT}</script>'),
    "drawing.svg": ("image/svg+xml", f'<svg xmlns="http://www.w3.org/2000/svg"><script>{SCRIPT}</script></svg>'),
    "letter.txt": ("text/plain", f"<!doctype html><script>{SCRIPT}</script>"),
    "letter.pdf": ("application/pdf", f"<!doctype html><script>{SCRIPT}</script>"),
    "photo.png": ("image/png", f'<svg xmlns="http://www.w3.org/2000/svg"><script>{SCRIPT}</script></svg>'),
}


@pytest.fixture(scope="module")
def organization(stage: Stage) -> str:
    """An organization with documents of every kind that is previewed."""
    folder = stage.folder / "letters"
    folder.mkdir()
    files = {"Arztbrief.txt": LETTER.encode(), "Laborbefund.pdf": PDF, "Foto.png": bytes.fromhex(PICTURE)}
    types = {"txt": "text/plain", "pdf": "application/pdf", "png": "image/png"}
    lines = []
    for name, body in files.items():
        (folder / name).write_bytes(body)
        lines.append({"path": name, "content_type": types[name[-3:]], "patient": "urn:oid:1.2.276.0.76|4711"})
    (folder / "manifest.jsonl").write_text("\n".join(map(json.dumps, lines)))
    made = stage.run("orgs", "add", "Radiologie am Beispielplatz").split("\t")[0].strip()
    stage.run("documents", "import", "--org", made, str(folder / "manifest.jsonl"))
    return made


@pytest.fixture
def member(visitor: Visitor, organization: str) -> Visitor:
    """A member of that organization, signed in."""
    return sign_in(visitor, organization)


def sign_in(visitor: Visitor, organization: str, link: str = "Mit Klinikum Musterstadt anmelden") -> Visitor:
    operator(visitor, link)
    visitor.stage.run("orgs", "members", "add", organization, "erika@example.org", "--role", "operator")
    return visitor


def make_account(visitor: Visitor) -> str:
    """A service account with a secret; the path of its page."""
    page = visitor.open("/operator/services/")
    page.locator("#name").fill("Archiv")
    page.locator("main form button").last.click()
    page.locator("#secret").wait_for()
    return f"/operator/services/{page.locator('dd code').first.inner_text()}/"


def test_a_token_is_made_and_copied(member: Visitor, organization: str) -> None:
    page = member.open("/tokens/")
    page.get_by_label("Wofür").fill("Abruf durch das Praxisprogramm")
    page.get_by_role("button", name="Erstellen").click()
    token = page.locator("#token").inner_text()
    picture(page, "tokens")
    base = f"{member.stage.base}/{organization}/fhir/r4"
    answer = member.context.request.get(f"{base}/DocumentReference", headers={"Authorization": f"Bearer {token}"})
    assert answer.json()["total"] == 3
    assert base in page.locator("main").inner_text()


def test_a_service_account_is_made_and_its_secret_shown_once(member: Visitor, organization: str) -> None:
    path = make_account(member)
    page = member.page
    secret = page.locator("#secret").inner_text()
    picture(page, "service")
    base = page.locator("dd code").nth(1).inner_text()
    answer = member.context.request.get(f"{base}/DocumentReference", headers={"Authorization": f"Bearer {secret}"})
    assert answer.ok
    expect(member.open(path).locator("#secret")).to_have_count(0)
    member.open("/operator/services/")
    picture(page, "services")


def test_documents_are_previewed_in_a_frame_that_belongs_to_no_origin(member: Visitor, organization: str) -> None:
    for title in ("Arztbrief.txt", "Foto.png", "Laborbefund.pdf"):
        page = member.open(f"/documents/{organization}/")
        picture(page, "documents")
        page.get_by_role("link", name=title).click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        page.wait_for_timeout(500)  # a refused frame turns into the browser's error page
        (frame,) = page.main_frame.child_frames
        assert not frame.url.startswith("chrome-error:"), f"the browser refuses to show {title}"
        assert title.endswith("pdf") or frame.evaluate("self.origin") == "null"  # nobody looks into a PDF viewer
    page.wait_for_timeout(1500 if PICTURES else 0)
    picture(page, "document")


def test_no_page_scrolls_sideways_on_a_phone(chromium: Browser, stage: Stage, organization: str) -> None:
    options = {"viewport": PHONE, "color_scheme": "dark", "locale": "en-US"}
    visitor = sign_in(Visitor(chromium, stage, **options), organization, "Sign in with Klinikum Musterstadt")
    page, pages = visitor.open("/tokens/"), {"tokens-phone-dark": "/tokens/"}
    visitor.open(f"/documents/{organization}/")
    page.get_by_role("link", name="Laborbefund.pdf").click()
    pages |= {"documents-phone-dark": f"/documents/{organization}/", "document-phone-dark": page.url}
    pages |= {"service-phone-dark": make_account(visitor), "services-phone-dark": "/operator/services/"}
    for name, path in pages.items():
        visitor.open(path.removeprefix(stage.base))
        page.wait_for_timeout(1000 if name.startswith("document-") else 0)
        picture(page, name)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"{name} is {width} wide"
    visitor.context.close()


def test_a_hostile_upload_runs_nothing(member: Visitor, organization: str) -> None:
    asked: list[str] = []
    member.context.on("request", lambda request: asked.append(request.url))
    files = [
        {"name": title, "mimeType": content_type, "buffer": body.encode()}
        for title, (content_type, body) in HOSTILE.items()
    ]
    page = member.open(f"/documents/{organization}/")
    page.get_by_label("Dateien").set_input_files(files)
    page.get_by_role("button", name="Hochladen").click()
    for title in HOSTILE:
        member.open(f"/documents/{organization}/")
        page.get_by_role("link", name=title).first.click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        shown = page.url
        for address in (f"{shown}file?preview=1", f"{shown}file"):
            alone = page.context.new_page()
            with contextlib.suppress(Error):  # it became a download
                alone.goto(address)
            alone.wait_for_timeout(200)
            alone.close()
        assert f"{shown}file?preview=1" in asked, title
    assert [url for url in asked if "has-run" in url] == []
    member.complaints.clear()  # what the browser says of scripts that it did not run


def test_the_hostile_script_would_tell_if_it_ran(member: Visitor) -> None:
    asked: list[str] = []
    member.context.on("request", lambda request: asked.append(request.url))
    body = HOSTILE["page.html"][1]
    member.context.route("**/unguarded", lambda route: route.fulfill(body=body, content_type="text/html"))
    member.open("/unguarded")
    member.page.wait_for_timeout(300)
    assert f"{member.stage.base}/has-run" in asked
