"""Mentions that are over, of relatives or of a week of pregnancy: searched with their sign and coded as such."""

from dataclasses import replace

import numpy as np
import pytest

from clinical.claims import Reading
from clinical.icd import NONE, Catalog, Code, Note, personal_history_codes
from clinical.reading.claim_stage import TextSpans
from clinical.reading.elapsed import Elapsed
from clinical.reading.elsewhere import Elsewhere
from clinical.reading.gestation import Gestation, stated_weeks
from clinical.reading.index import SearchIndex
from clinical.reading.lattice import CandidateSpan
from clinical.reading.past import says_past, with_sign
from clinical.search.hits import Hits
from clinical.search.terms import Wordings
from clinical.text import Part
from tests.fakes import HashEncoder


def _past(text: str, start: int, end: int) -> str:
    return with_sign(text, start, end, Reading.of(text).claim(start, end))


@pytest.mark.parametrize(
    "text",
    [
        "Z. n. Apoplex",
        "Z.n. Apoplex",
        "Zustand nach Apoplex",
        "Status nach Apoplex",
        "St. n. Apoplex",
        "Zust. n. Apoplex",
        "früherer Apoplex",
        "Apoplex vor 3 Jahren",
        "Apoplex vor 1 ½ Jahren",
        "Apoplex vor ca. zwei Monaten",
        "vor vielen Jahren ein Apoplex",
    ],
)
def test_what_is_over_is_searched_with_its_sign(text):
    assert _past(text, 0, len(text)) == text


@pytest.mark.parametrize(
    "text",
    ["Apoplex", "akuter Apoplex", "Apoplex vor der Aufnahme", "seit 3 Jahren Diabetes", "Z. n.", ""],
)
def test_what_is_not_over_is_left_alone(text):
    assert _past(text, 0, len(text)) == ""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Husten. Die Patientin hatte vor drei Jahren einen Schlaganfall.", "vor drei Jahren einen Schlaganfall"),
        ("Hypertonie, sowie ein Schlaganfall vor 1 ½ Jahren bekannt.", "Schlaganfall vor 1 ½ Jahren"),
        ("Bekannt: Z. n. Schlaganfall.", "Z. n. Schlaganfall"),
    ],
)
def test_the_sign_may_stand_beside_the_mention(text, written):
    start = text.index("Schlaganfall")
    assert _past(text, start, start + len("Schlaganfall")) == written


def test_a_sign_of_another_mention_is_not_taken():
    text = "Z. n. Schlaganfall, Hypertonie"
    assert _past(text, text.index("Hyper"), len(text)) == ""


@pytest.mark.parametrize(
    ("wording", "past"),
    [
        ("Z. n. Apoplex", True),
        ("Alter Myokardinfarkt", True),
        ("Schlaganfallfolgen", True),
        ("Mammakarzinom in der Eigenanamnese", True),
        ("Verlust der Niere(n)", True),
        ("Apoplex", False),
        ("Altersschwerhörigkeit", False),
        ("Zustandsbild, depressiv", False),
    ],
)
def test_wordings_of_the_past(wording, past):
    assert says_past(wording) is past


def test_a_past_infarct_is_not_coded_as_an_acute_one(index: SearchIndex):
    acute = index.search("Myokardinfarkt", 1)[0].code
    assert acute.startswith("I21")
    for text in ("Zustand nach Myokardinfarkt", "Myokardinfarkt vor 3 Jahren", "früherer Myokardinfarkt"):
        assert index.search(text, 1)[0].code.startswith("I25.2"), text
    letter = "Der Patient klagt über Husten. Er hatte vor drei Jahren einen Herzinfarkt. Sonst keine Beschwerden heute."
    found = [hit.code for hit in index.search(letter, 5)]
    assert any(code.startswith("I25.2") for code in found)
    assert not any(code.startswith("I21") for code in found[:2])


TITLES = {
    "O09.0": "Schwangerschaftsdauer: Weniger als 5 vollendete Wochen",
    "O09.1": "Schwangerschaftsdauer: 5 bis 13 vollendete Wochen",
    "O09.2": "Schwangerschaftsdauer: 14. Woche bis 19 vollendete Wochen",
    "O09.6": "Schwangerschaftsdauer: 37. Woche bis 41 vollendete Wochen",
    "O09.7": "Schwangerschaftsdauer: Mehr als 41 vollendete Wochen",
    "O09.9": "Schwangerschaftsdauer: Nicht näher bezeichnet",
}


@pytest.fixture(scope="module")
def catalog(index) -> Catalog:
    some = replace(index.catalog.codes[0], terminal=True)
    codes = [replace(some, code=code, title=title) for code, title in TITLES.items()]
    return Catalog("2026", codes, index.catalog.chapters, index.catalog.blocks)


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("in der 39. SSW", [38]),
        ("6. Schwangerschaftswoche", [5]),
        ("SSW 38+4", [38]),
        ("38+4 SSW", [38]),
        ("38 + 4. SSW", [38]),
        ("SSW 12", [11]),
        ("12. ſchwangerſchaftswoche", [11]),
        ("Aufnahme in der 20. SSW, jetzt 31. SSW", [19, 30]),
        ("99. SSW", []),
        ("39 Wochen", []),
        ("Frühgeborenes der 32. SSW", []),
        ("Zwillingsfrühgeborenes, 29+4 SSW", []),
        ("Z. n. Frühgeburt 28+2 SSW", []),
        ("Abort in der 8. SSW", []),
        ("ASS ab 12. SSW", []),
        ("seit der 16. SSW keine Anfälle", []),
        ("Mutter schwanger, 14. SSW", []),
        ("", []),
    ],
)
def test_weeks_are_read_as_completed_weeks(text, weeks):
    assert [stated.weeks for stated in stated_weeks(text)] == weeks


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("4. SSW", "O09.0"),
        ("5. SSW", "O09.0"),
        ("6. SSW", "O09.1"),
        ("14. SSW", "O09.1"),
        ("SSW 14+0", "O09.2"),
        ("38. SSW", "O09.6"),
        ("SSW 41+6", "O09.6"),
        ("SSW 42+0", "O09.7"),
    ],
)
def test_the_code_is_that_of_the_completed_weeks_and_where_it_stands_is_said(catalog, text, code):
    written = f"Patientin in der {text}, wohlauf"
    ((number, stated),) = Gestation.of(catalog).codes(written)
    assert (catalog.codes[number].code, written[stated.start : stated.end]) == (code, text)


def test_a_catalog_without_these_codes_gives_none():
    assert list(Gestation({}).codes("39. SSW")) == []


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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Z. n. NSTEMI vor 6 Wochen", "I25.20"),
        ("fünf Monate nach Myokardinfarkt", "I25.21"),
        ("Z. n. Myokardinfarkt 2014", "I25.22"),
        ("2003 Myokardinfarkt", "I25.22"),
        ("Z. n. Myokardinfarkt 05/2019 mit Stent", "I25.22"),
        ("Z. n. Myokardinfarkt im Jahr 2016", "I25.22"),
        ("Z. n. Myokardinfarkt vor Jahren", "I25.22"),
        ("Z. n. Myokardinfarkt 2025", "I25.29"),  # of the year before the catalog's, the year does not tell
        ("Z. n. Myokardinfarkt. Stent 2014", "I25.29"),
        ("Z. n. Myokardinfarkt vor 3 Tagen", "I25.29"),  # not old yet
        ("Z. n. Myokardinfarkt 2014\nGicht", "I25.22"),
        ("Z. n. Myokardinfarkt\n2014 Gicht", "I25.29"),
    ],
)
def test_an_old_infarction_has_the_code_of_the_time_since(index: SearchIndex, text: str, code: str):
    at = text.index("Myokardinfarkt") if "Myo" in text else text.index("NSTEMI")
    words = text[at:].split()[0].rstrip(".,")
    draft = TextSpans(Reading.of(text), (CandidateSpan(Part(words, at, at + len(words)), 1, 1.0),), (), (), False)
    number, share = index.catalog.number("I25.29"), np.ones(1, dtype=np.float32)
    hits = Hits(np.zeros(1, dtype=np.int64), np.array([number]), share, share, np.zeros(1, dtype=np.int64))
    dated = Elapsed.of(index.catalog).dated(draft, hits)
    assert index.catalog.codes[int(dated.code[0])].code == code


def test_only_codes_by_the_time_since_are_dated(index: SearchIndex):
    text = "Z. n. Apoplex 2014"
    draft = TextSpans(Reading.of(text), (CandidateSpan(Part("Apoplex", 6, 13), 1, 1.0),), (), (), False)
    number, share = index.catalog.number("Z86.7"), np.ones(1, dtype=np.float32)
    hits = Hits(np.zeros(1, dtype=np.int64), np.array([number]), share, share, np.zeros(1, dtype=np.int64))
    assert Elapsed.of(index.catalog).dated(draft, hits) is hits


def test_a_disease_that_the_catalog_has_as_an_old_one_has_that_code(index: SearchIndex):
    catalog, past = index.catalog, personal_history_codes(index.catalog)
    old = catalog.number("I25.29")
    held = {code.code for number, code in enumerate(catalog) if past[number] == old}
    assert {"I21", "I21.0", "I21.40", "I21.9"} <= held
    assert not held & {"I25.29", "I25.22", "I20.0", "I50.9"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("COVID-19, Pneumonie", "U07.1"),
        ("Pat. hat COVID-19, Fieber seit 2 Tagen", "U07.1"),
        ("Z. n. COVID-19 im März", "U08.9"),
        ("Z. n. COVID-19", "U08.9"),
    ],
)
def test_a_disease_that_is_there_is_not_its_own_past(index: SearchIndex, text: str, code: str):
    found = {one.code for one in index.read(text).codes}
    assert found & {"U07.1", "U08.9"} == {code}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("KHK (2019)", ["present"]),
        ("COPD GOLD III (2015)", ["present"]),
        ("Diabetes mellitus Typ 2 (2010), Pneumonie (2019)", ["present", "history"]),
        ("Pneumonie (2019)", ["history"]),
        ("Z. n. KHK (2019)", ["history"]),
    ],
)
def test_a_year_beside_a_disease_that_lasts_is_that_in_which_it_began(index: SearchIndex, text, claims):
    assert [one.claim for one in index.read(text).mentions] == claims
