"""Every word of the pages exists in English, and the compiled catalogs are those of the .po files."""

from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

import webapp
from clinical.contract import words_of_fields
from webapp import wire
from webapp.sso import providers

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
