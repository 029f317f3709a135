"""Diseases that are over or of relatives are coded by the disease, as the notes of the classification say."""

import numpy as np
import pytest

from clinical.icd import NONE, Catalog, Code, Note
from clinical.reading.elsewhere import Elsewhere
from clinical.search.hits import Hits
from clinical.search.terms import Wordings
from tests.fakes import HashEncoder


def entry(code: str, title: str, *references: str, text: str = "Zustände, klassifizierbar unter") -> Code:
    notes = (Note("inclusion", text, references),) if references or "H90" in text else ()
    return Code(code, title, len(code), True, None, "block", code[0], "plain", "P", "P", notes=notes)


CODES = (
    entry("C50", "Bösartige Neubildung der Brustdrüse"),
    entry("H90", "Hörverlust durch Schallleitungsstörung"),
    entry("I10", "Essentielle Hypertonie"),
    entry("I21", "Akuter Myokardinfarkt"),
    entry("I25", "Alter Myokardinfarkt"),
    entry("R05", "Husten"),
    entry("Z80", "Bösartige Neubildung der Brustdrüse in der Familienanamnese", "C50.-"),
    entry("Z82", "Behinderungen in der Familienanamnese", text="Taubheit (Zustände, klassifizierbar unter H90-H91)"),
    entry("Z85", "Bösartige Neubildung der Brustdrüse in der Eigenanamnese", "C50.-"),
    entry("Z86", "Krankheiten des Kreislaufsystems in der Eigenanamnese", "I00-I99"),
)
NUMBER = {code.code: number for number, code in enumerate(CODES)}


@pytest.fixture(scope="module")
def elsewhere() -> Elsewhere:
    catalog = Catalog("2026", CODES, {}, {})
    titles = [code.title for code in CODES]
    return Elsewhere(catalog, Wordings.build(titles, list(range(len(CODES))), [True] * len(CODES), HashEncoder()))


def hits(*found: tuple[int, str, float]) -> Hits:
    part, code = np.array([n for n, _, _ in found]), np.array([NUMBER[name] for _, name, _ in found])
    chance = np.array([chance for *_, chance in found], dtype=np.float32)
    return Hits(part, code, chance, chance, code)


def shown(found: Hits) -> dict[tuple[int, str], float]:
    rows = zip(found.part.tolist(), found.code.tolist(), found.probability.tolist(), strict=True)
    return {(part, CODES[code].code): round(chance, 3) for part, code, chance in rows}


@pytest.mark.parametrize(
    ("code", "past", "family"),
    [("C50", "Z85", "Z80"), ("I21", "Z86", "Z82"), ("H90", None, "Z82"), ("R05", None, None)],
)
def test_each_disease_has_the_code_whose_notes_name_it(elsewhere, code, past, family):
    for target, expected in ((elsewhere.past, past), (elsewhere.family, family)):
        assert target[NUMBER[code]] == (NONE if expected is None else NUMBER[expected])


def test_diseases_of_one_code_add_up_and_others_are_left_out(elsewhere):
    found = elsewhere.moved(hits((0, "I10", 0.5), (0, "I21", 0.3), (0, "R05", 0.9), (3, "C50", 0.8)), elsewhere.past)
    assert shown(found) == {(0, "Z86"): 0.8, (3, "Z85"): 0.8}


def test_the_general_code_gives_way_to_what_the_catalog_words_itself(elsewhere):
    found = elsewhere.with_past(hits((0, "I25", 0.9)), hits((0, "I21", 0.8), (1, "I21", 0.8)))
    assert shown(found) == {(0, "I25"): 0.9, (0, "Z86"): 0.08, (1, "Z86"): 0.8}
