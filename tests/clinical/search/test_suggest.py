"""Suggestions for the first characters, beside a plain loop over all wordings."""

from pathlib import Path

import numpy as np
import pytest

from clinical.icd import Catalog
from clinical.reading.index import SearchIndex
from clinical.search.cosines import whole
from clinical.search.retrieval import nearest_wordings
from clinical.search.suggest import MATCH, MOST_CLOSE, SHARPNESS, KnownPatient, Suggester
from clinical.text import folded_words

COMMONEST = {
    "diab": "E11.90", "bluthochdr": "I10.90", "I10": "I10.90", "rücken": "M54.99", "depr": "F32.9", "gicht": "M10.99",
    "asthma": "J45.99", "schwindel": "R42", "copd": "J44.99", "herzinsuff": "I50.9",
    "daib": "E11.90", "hezinsuff": "I50.9", "herzinusff": "I50.9", "blutochdr": "I10.90", "cpod": "J44.99",
    "rücjen": "M54.99", "dper": "F32.9", "gihct": "M10.99", "astma": "J45.99", "shwindel": "R42",
}  # fmt: skip
"""Ten words and a code, as they are and with one slip."""


@pytest.fixture(scope="module")
def suggester(index: SearchIndex) -> Suggester:
    assert index.suggester is not None
    return index.suggester


def suggested(suggester: Suggester, typed: str, limit: int = 8) -> list[str]:
    return [each.code.code for each in suggester.suggest(typed, limit)]


@pytest.mark.parametrize(("typed", "code"), COMMONEST.items())
def test_the_commonest_terminal_code_is_among_the_first(suggester: Suggester, typed: str, code: str) -> None:
    assert code in suggested(suggester, typed, 3)


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


def test_a_slip_mended_counts_like_what_is_typed(suggester: Suggester) -> None:
    right, wrong = suggester.matches("herzins"), suggester.matches("hezrins")
    columns = [MATCH.index(name) for name in ("cover", "matched", "share")]
    both = np.intersect1d(right.codes, wrong.codes)
    assert len(both)
    for one in both.tolist():
        typed, mended = (found.columns[found.codes == one][0] for found in (right, wrong))
        assert mended[MATCH.index("slip")] == typed[MATCH.index("typed")] == 1
        assert np.allclose(typed[columns], mended[columns])


def test_words_in_another_order_are_found_by_their_vectors(suggester: Suggester) -> None:
    assert "I10.90" in suggested(suggester, "hypertonie essentielle")
    for typed, some in (("hyperto", False), ("hyperton", True)):
        assert (suggester.matches(typed).columns[:, MATCH.index("closeness")] > 0).any() == some


def test_closeness_is_that_of_a_plain_loop(index: SearchIndex, suggester: Suggester) -> None:
    typed = "zuckerkrankheit der alten"
    rows = index.encoder.encode([" ".join(folded_words(typed))])
    unit = rows / np.linalg.norm(rows)
    cosine = index.wordings.vectors(np.arange(len(index.wordings))) @ unit[0]
    near = nearest_wordings(unit, whole(rows).numbers, index.wordings, MOST_CLOSE, MOST_CLOSE)[0]
    nearest = [number for number in near.tolist() if number >= 0 and cosine[number] > 0]
    assert len({*nearest} & {*np.argsort(-cosine)[:MOST_CLOSE].tolist()}) >= MOST_CLOSE - 5, "the graph misses few"
    found = suggester.matches(typed)
    assert len(found.codes) > 1
    for code, columns in zip(found.codes.tolist(), found.columns, strict=True):
        own = [float(cosine[each]) for each in nearest if index.wordings.tables.code[each] == code]
        votes = sum(np.exp(SHARPNESS * each) for each in own)
        assert columns[MATCH.index("closeness")] == pytest.approx(max(own, default=0), abs=1e-2)
        assert columns[MATCH.index("votes")] == pytest.approx(np.log1p(votes), abs=0.1)


def test_no_more_than_an_entry_holds_is_compared(index: SearchIndex, suggester: Suggester) -> None:
    longest = max(range(len(index.wordings)), key=lambda number: len(index.wordings.text(number)))
    found = suggester.matches(index.wordings.text(longest))
    assert int(index.wordings.tables.code[longest]) in found.codes.tolist()


def test_a_wording_is_found_inside_a_compound(suggester: Suggester) -> None:
    found = suggester.matches("insuffizienz")
    begins = found.columns[:, MATCH.index("begins")]
    assert (begins == 0).any(), "some are inside a word"


def test_the_wording_shown_is_one_of_the_code(index: SearchIndex, suggester: Suggester) -> None:
    found = suggester.suggest("zuckerkr", 20)
    assert len(found) > 1
    for code, wording in found:
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
    again = Suggester.load(tmp_path, index.catalog, index.wordings, index.encoder)
    for typed in ("d", "diab", "herzinsufiz", "I10"):
        assert again.suggest(typed) == suggester.suggest(typed)


def test_ages_and_sexes_limit_only_where_they_are_known(index: SearchIndex) -> None:
    catalog: Catalog = index.catalog
    prostate = catalog.get("N40")
    assert prostate is not None
    assert [prostate.fits(sex, None) for sex in ("M", "W", None)] == [True, False, True]
    assert prostate.fits("M", 3) is False
