"""The application as a whole: headers, limits, and every word of the pages in both languages."""

from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from flask.testing import FlaskClient

import webapp
from clinical.contract import words_of_fields
from tests.webapp.conftest import make_app
from webapp import wire
from webapp.sso import providers


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/no/such/page"])
def test_every_page_carries_the_strict_headers(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    policy = response.headers["Content-Security-Policy"]
    assert "'unsafe-inline'" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_anonymous_visitor_gets_no_cookie(client: FlaskClient) -> None:
    assert "Set-Cookie" not in client.get("/").headers


def test_limits_per_address_are_shared_through_redis(tmp_path: Path, sqlite_url: str, redis_url: str) -> None:
    """Three servers count together: fewer tries than the limit (120 a minute) at each, and yet it is reached, also
    when a minute ends in between."""

    def answers(limits_url: str) -> set[int]:
        app = make_app(sqlite_url, tmp_path, limits_url=limits_url)
        app.config["WTF_CSRF_ENABLED"] = False  # which is looked at before a try counts
        client = app.test_client()
        return {client.post("/accounts/complete/code/", data={"code": "000000"}).status_code for _ in range(119)}

    assert 429 in answers(redis_url) | answers(redis_url) | answers(redis_url)
    assert 429 not in answers("memory://") | answers("memory://")


ROOT = Path(webapp.__file__).parent
KEYWORDS = {"_": None, "_l": None, "gettext": None, "lazy_gettext": None}


def catalog(locale: str, kind: str) -> dict[str, str]:
    path = ROOT / "translations" / locale / "LC_MESSAGES" / f"messages.{kind}"
    with path.open("rb") as file:
        messages = read_po(file) if kind == "po" else read_mo(file)
    return {str(message.id): str(message.string) for message in messages if message.id}


def test_every_word_is_translated() -> None:
    methods = [("**.py", "python"), ("templates/**.html", "jinja2")]
    used = {message[2] for message in extract_from_dir(ROOT, methods, keywords=KEYWORDS)}
    used |= set(words_of_fields().values())
    english = catalog("en", "po")
    untranslated = {word for word in used if not english.get(str(word))}
    assert untranslated == set()
    assert set(english) <= used, "words nobody uses any more"


def test_the_operators_form_speaks_german() -> None:
    named = {words for name, words in {**vars(wire), **vars(providers)}.items() if name.startswith("BAD_")}
    assert set(catalog("de", "po")) == named | {providers.TOO_LONG, providers.MIX_UP, providers.MOVED}


@pytest.mark.parametrize("locale", ["de", "en"])
def test_compiled_catalogs_are_current(locale: str) -> None:
    assert catalog(locale, "mo") == catalog(locale, "po"), "run: pybabel compile -d webapp/translations"
