"""Suggestions for the first characters, beside a plain loop over all wordings."""

from pathlib import Path

import numpy as np
import pytest

from clinical.icd import Catalog
from clinical.reading.index import SearchIndex
from clinical.search.suggest import MATCH, KnownPatient, Suggester
from clinical.text import folded_words

COMMONEST = {
    "diab": "E11.90", "bluthochdr": "I10.90", "I10": "I10.90", "rücken": "M54.99", "depr": "F32.9", "gicht": "M10.99",
    "asthma": "J45.99", "schwindel": "R42", "copd": "J44.99",
}  # fmt: skip
SLIPS = {"daib": "E11", "blutochdr": "I10", "gihct": "M10", "astma": "J45", "shwindel": "R42"}


@pytest.fixture(scope="module")
def suggester(index: SearchIndex) -> Suggester:
    assert index.suggester is not None
    return index.suggester


def suggested(suggester: Suggester, typed: str, limit: int = 8) -> list[str]:
    return [each.code.code for each in suggester.suggest(typed, limit)]


@pytest.mark.parametrize(("typed", "code"), COMMONEST.items())
def test_the_commonest_terminal_code_is_among_the_first(suggester: Suggester, typed: str, code: str) -> None:
    assert code in suggested(suggester, typed, 3)


@pytest.mark.parametrize(("typed", "category"), SLIPS.items())
def test_one_slip_of_the_keyboard_is_forgiven(suggester: Suggester, typed: str, category: str) -> None:
    assert any(code.startswith(category) for code in suggested(suggester, typed, 3))


@pytest.mark.parametrize("typed", ["di", "herz", "herzins", "chronische n", "insuff", "neph", "nep"])
def test_every_wording_that_begins_so_is_found(index: SearchIndex, suggester: Suggester, typed: str) -> None:
    """A plain loop: codes with a wording that goes on like the typed text from one of its words."""
    wanted = " ".join(folded_words(typed))
    plain = set()
    for number, code in enumerate(index.wordings.tables.code.tolist()):
        words = folded_words(index.wordings.text(number))
        if any(" ".join(words[at:]).startswith(wanted) for at in range(len(words))):
            plain.add(code)
    found = suggester.matches(typed)
    typed_so = found.columns[:, MATCH.index("typed")] > 0
    assert plain <= set(found.codes[typed_so].tolist())


def test_a_wording_is_found_inside_a_compound(suggester: Suggester) -> None:
    found = suggester.matches("insuffizienz")
    begins = found.columns[:, MATCH.index("begins")]
    assert (begins == 0).any(), "some are inside a word"


def test_the_wording_shown_is_one_of_the_code(index: SearchIndex, suggester: Suggester) -> None:
    for code, wording in suggester.suggest("zuckerkr", 20):
        own = index.wordings.of_code(index.catalog.number(code.code))
        assert wording in [index.wordings.text(number) for number in own]


def test_codes_typed_give_terminal_ones_first(suggester: Suggester, index: SearchIndex) -> None:
    found = suggester.suggest("e11", 50)
    terminal = [each.code.terminal for each in found if each.code.code.startswith("E11")]
    assert terminal == sorted(terminal, reverse=True)
    assert suggested(suggester, "E11.9", 3)[:2] == ["E11.90", "E11.91"]
    assert all(each.wording == "" for each in found if each.code.code.startswith("E11"))


def test_only_codes_of_the_set_are_suggested(index: SearchIndex, suggester: Suggester) -> None:
    mask = np.array([code.code.startswith("O24") for code in index.catalog])
    found = [each.code.code for each in suggester.suggest("diab", 8, within=mask)]
    assert found
    assert all(code.startswith("O24") for code in found)
    assert suggester.suggest("E11", 8, within=mask) == ()


def test_codes_of_others_come_last(suggester: Suggester) -> None:
    for patient in (KnownPatient("M", 365 * 40), KnownPatient("W", 3)):
        found = suggester.suggest("schwanger", 30, patient)
        fitting = [each.code.fits(patient.sex, patient.age_days) for each in found]
        assert fitting == sorted(fitting, reverse=True)


@pytest.mark.parametrize("typed", ["", " ", "?!", "x" * 200, "ä" * 100, "q" * 23 + " z", "§", "\u200b", "1234567"])
def test_anything_may_be_typed(suggester: Suggester, typed: str) -> None:
    found = suggester.suggest(typed)
    assert len({each.code.code for each in found}) == len(found) <= 8


def test_what_is_saved_is_what_is_loaded(index: SearchIndex, suggester: Suggester, tmp_path: Path) -> None:
    suggester.save(tmp_path)
    again = Suggester.load(tmp_path, index.catalog, index.wordings)
    for typed in ("d", "diab", "herzinsufiz", "I10"):
        assert again.suggest(typed) == suggester.suggest(typed)


def test_ages_and_sexes_limit_only_where_they_are_known(index: SearchIndex) -> None:
    catalog: Catalog = index.catalog
    prostate = catalog.get("N40")
    assert prostate is not None
    assert [prostate.fits(sex, None) for sex in ("M", "W", None)] == [True, False, True]
    assert prostate.fits("M", 3) is False
