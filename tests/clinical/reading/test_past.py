"""Past diseases of a text: found in and beside a mention, searched with its sign, and coded as such."""

import pytest

from clinical.claims import Reading
from clinical.reading.index import SearchIndex
from clinical.reading.past import says_past, with_sign


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
