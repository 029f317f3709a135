"""A real browser walks the pages of sign-in and of the operator."""

import re

from playwright.sync_api import expect

from tests.webapp.browser import PHONE, Visitor, chromium, operator, picture, violations, visitor
from tests.webapp.sso import live

__all__ = ["chromium", "visitor"]  # fixtures


def test_sign_in_account_and_sign_out(visitor):
    visitor.open("/accounts/")
    assert visitor.page.url.endswith("/accounts/login/?next=/accounts/")
    picture(visitor.page, "login")
    visitor.page.get_by_role("link", name="Mit Klinikum Musterstadt anmelden").click()
    visitor.at_vendor("erika")
    assert visitor.page.url == f"{visitor.stage.base}/accounts/"
    assert visitor.page.get_by_role("definition").all_inner_texts()[:2] == ["Erika Mustermann", "erika@example.org"]
    picture(visitor.page, "account")
    cookies = {cookie["name"]: cookie for cookie in visitor.context.cookies(visitor.stage.base)}
    assert cookies["befund_session"]["httpOnly"]
    assert cookies["befund_session"]["sameSite"] == "Lax"
    assert not [name for name in cookies if name.startswith("befund_signin")]
    visitor.page.get_by_role("button", name="Abmelden").click()
    expect(visitor.page.get_by_text("Sie sind abgemeldet.")).to_be_visible()
    visitor.open("/accounts/")
    assert "login" in visitor.page.url


def test_denial_at_the_vendor(visitor):
    visitor.choose("Klinikum Musterstadt")
    visitor.page.get_by_role("link", name="Cancel").click()
    visitor.page.wait_for_url(f"{visitor.stage.base}/**")
    expect(visitor.page.get_by_role("heading", name="Anmeldung abgelehnt")).to_be_visible()
    expect(visitor.page.get_by_text("access_denied")).to_be_visible()
    picture(visitor.page, "denied")
    visitor.page.get_by_role("link", name="Zur Anmeldung").click()
    expect(visitor.page.get_by_role("heading", name="Anmelden")).to_be_visible()


def test_completion_with_a_code(visitor):
    visitor.choose("Praxisverbund Nord")
    visitor.at_vendor("ohne")
    page = visitor.page
    expect(page.get_by_role("heading", name="E-Mail-Adresse bestätigen")).to_be_visible()
    page.get_by_label("E-Mail-Adresse").fill("keine adresse")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Bitte geben Sie eine gültige E-Mail-Adresse ein")).to_be_visible()
    picture(page, "complete-address")
    page.get_by_label("E-Mail-Adresse").fill("otto@example.org")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Code aus der E-Mail")).to_be_visible()
    page.get_by_label("Code aus der E-Mail").fill("000000" if visitor.stage.latest_code() != "000000" else "111111")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Noch 4 Versuche")).to_be_visible()
    picture(page, "complete-code")
    page.get_by_label("Code aus der E-Mail").fill(visitor.stage.latest_code())
    page.keyboard.press("Enter")
    page.wait_for_url(f"{visitor.stage.base}/accounts/")
    expect(page.get_by_text("otto@example.org")).to_be_visible()


def test_the_operator_adds_a_vendor(visitor):
    operator(visitor)
    page = visitor.open("/operator/providers/")
    picture(page, "providers")
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.reload()
    page.get_by_role("button", name="Kopieren").click()
    expect(page.get_by_role("button", name="Kopiert")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{visitor.stage.base}{live.CALLBACK}"
    page.get_by_role("link", name="Anbieter hinzufügen").click()
    page.get_by_label("Kennung").fill("labor")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_text("Hier wird eine Zeile Text gebraucht").first).to_be_visible()
    picture(page, "provider")
    page.get_by_label("Name auf der Anmeldeseite").fill("Labor Süd")
    for label in ("Authorization URL", "Token URL", "Userinfo URL"):
        page.get_by_label(label).fill(f"https://sso.labor.example/{label.split()[0].lower()}")
    page.get_by_label("Client ID", exact=True).fill("befund")
    page.get_by_label("Client Secret", exact=True).fill("ein-langes-geheimnis")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_text("braucht jeder seinen Issuer oder eine eigene Callback-URL")).to_be_visible()
    picture(page, "provider-mix-up")
    page.get_by_label("Client Secret", exact=True).fill("ein-langes-geheimnis")
    page.get_by_label("Eigene Callback-URL").check()
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_text("Der Anbieter ist gespeichert.")).to_be_visible()
    expect(page.get_by_text(f"{live.CALLBACK}labor/")).to_be_visible()
    page.get_by_role("link", name="labor").click()
    assert page.get_by_label("Client Secret", exact=True).input_value() == ""
    visitor.open("/operator/audit/")
    picture(visitor.page, "audit")
    visitor.open("/operator/members/")
    picture(visitor.page, "members")


def test_a_dry_run_with_two_accounts_leads_to_going_live(chromium, stage):
    visitor = Visitor(chromium, stage, bypass_csp=True)
    operator(visitor)
    stage.run("providers", "deactivate", "post")
    page = visitor.open("/operator/providers/post/dry-run/")
    for account, person in (("A", "eigen"), ("A", "eigen"), ("B", "offen")):
        page.get_by_role("link", name=f"Mit Konto {account} anmelden").click()
        visitor.at_vendor(person)
        assert page.url == f"{stage.base}/operator/providers/post/dry-run/"
    expect(page.get_by_text("Gut: Konto A behält seine Kennung")).to_be_visible()
    expect(page.get_by_text("POST", exact=False).first).to_be_visible()
    picture(page, "dry-run")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == [], scheme
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="Anbieter einschalten").click()
    expect(page.get_by_text("inaktiv")).to_have_count(0)
    visitor.open("/accounts/")
    expect(page.get_by_text("erika@example.org")).to_be_visible()
    visitor.context.close()


def test_pictures_of_phone_and_dark_mode(chromium, stage):
    """No page scrolls sideways on a phone."""
    visitor = Visitor(chromium, stage, viewport=PHONE, color_scheme="dark", locale="en-US")
    visitor.open("/accounts/login/")
    picture(visitor.page, "login-phone-dark")
    operator(visitor, "Sign in with Klinikum Musterstadt")
    for path, name in (
        ("/accounts/", "account-phone-dark"), ("/operator/members/", ""),
        ("/operator/providers/add/", ""), ("/operator/providers/", ""),
        ("/operator/audit/", ""), ("/nowhere", ""),
    ):  # fmt: skip
        visitor.open(path)
        if name:
            picture(visitor.page, name)
        width = visitor.page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"{path} is {width} wide"
    visitor.context.close()


def test_the_pages_in_english(chromium, stage):
    """Whoever's browser asks for English gets English, the operator's pages and the dry run too."""
    visitor = Visitor(chromium, stage, locale="en-US")
    visitor.open("/accounts/login/")
    picture(visitor.page, "login-en")
    operator(visitor, "Sign in with Klinikum Musterstadt")
    for path, name, heading in (
        ("/operator/providers/add/", "provider-en", "Add provider"),
        ("/operator/providers/post/dry-run/", "dry-run-en", "Dry run"),
        ("/operator/members/", "members-en", "Members"),
        ("/operator/audit/", "audit-en", "Audit"),
    ):
        page = visitor.open(path)
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        assert page.locator("html").get_attribute("lang") == "en"
        picture(page, name)
    visitor.context.close()


def test_nothing_secret_is_in_the_logs_of_gunicorn(stage):
    """After all walks above, with gunicorn at debug and its access log on."""
    log = (stage.folder / "webapp.log").read_text(errors="replace")
    assert "/accounts/vendor_oauth2/login/callback/" in log, "the access log is on"
    for word in ("code=", "state=", "geheimnis-von", "ein-langes-geheimnis", "Bearer "):
        assert word not in log
    for mail in (stage.folder / "outbox").glob("*.eml"):
        code = re.search(r"\b(\d{6})\b", mail.read_text().split("\n\n", 1)[1])
        assert code or "Linked" in mail.read_text() or "verkn" in mail.read_text()
        assert not code or not re.search(rf"\b{code[1]}\b", log)
