"""The ledger: every mention once, its claim, side and codes, or why there is none."""

import pytest

from clinical.claims import Reading
from clinical.coding.ledger import Hit, ledger
from clinical.reading import Mentioned

TEXT = "Gonarthrose rechts, kein Fieber, V. a. Gicht. Mutter hatte Diabetes."


def mentioned(words: str, claim: str = "present", chance: float = 0.9, codes: tuple[str, ...] = ()) -> Mentioned:
    start = TEXT.index(words)
    return Mentioned(start, start + len(words), claim, chance, codes)  # type: ignore[arg-type]


def test_every_mention_stands_there_once_with_its_codes_or_a_reason():
    mentions = [
        mentioned("Gonarthrose", codes=("M17.9",)),
        mentioned("Fieber", "excluded"),
        mentioned("Gicht", "suspected", codes=("M10.99",)),
        mentioned("Diabetes", "family"),
    ]
    hits = [Hit("M17.9", 0.9, "high", 0, 11), Hit("M10.99", 0.8, "medium", 39, 44)]
    found = ledger(Reading.of(TEXT), mentions, hits, {"M17.9", "M10.99"})
    assert [TEXT[m.span.start : m.span.end] for m in found] == ["Gonarthrose", "Fieber", "Gicht", "Diabetes"]
    assert [m.claim for m in found] == ["present", "excluded", "suspected", "family"]
    assert [m.certainty for m in found] == ["G", "A", "V", None]
    assert [m.side for m in found] == ["R", None, None, None]
    assert [m.codes for m in found] == [("M17.9",), (), ("M10.99",), ()]
    assert [m.reason for m in found] == [None, "denied", None, "of-a-relative"]


def test_a_code_that_is_not_shown_is_no_code_of_the_ledger():
    found = ledger(Reading.of(TEXT), [mentioned("Gonarthrose", codes=("M17.9",))], [], set())
    assert found[0].codes == ()
    assert found[0].reason == "no-code-found"


def test_codes_above_the_limit_are_listed_and_named_as_such():
    hits = [Hit("M17.9", 0.9, "high", 0, 11), Hit("M10.99", 0.8, "medium", 39, 44)]
    mentions = [mentioned("Gonarthrose", codes=("M17.9",)), mentioned("Gicht", codes=("M10.99",))]
    found = ledger(Reading.of(TEXT), mentions, hits, {"M17.9"})
    assert [(m.codes, m.reason) for m in found] == [
        (("M17.9",), None),
        (("M10.99",), "über der Grenze von zehn Kodes"),
    ]


def test_a_code_that_another_mention_says_more_precisely_is_no_code_that_was_not_found():
    found = ledger(Reading.of(TEXT), [mentioned("Gicht", codes=("M10.99",))], [], set(), general={"M10.99"})
    assert [(m.codes, m.reason) for m in found] == [((), "said-more-precisely")]


@pytest.mark.parametrize(
    ("chance", "best", "reason"),
    [
        (0.2, 0.01, "not-a-diagnosis"),
        (0.2, 0.4, "no-code-found"),  # hardly a mention by its marks, but a code was nearly sure enough
        (0.8, 0.01, "no-code-found"),
    ],
)
def test_words_are_no_diagnosis_where_neither_marks_nor_search_takes_them_for_one(chance, best, reason):
    one = mentioned("Gicht", chance=chance)._replace(best=best)
    assert ledger(Reading.of(TEXT), [one], [], set())[0].reason == reason


@pytest.mark.parametrize(
    ("text", "words", "claim", "reason", "certainty"),
    [
        ("Kein Fieber.", "Fieber", "excluded", "denied", "A"),
        ("Aufklärung über das Risiko einer Pneumonie.", "Pneumonie", "excluded", "hypothetical", None),
        ("Die Mutter hatte Gicht.", "Gicht", "family", "of-a-relative", None),
        ("Kind der Nachbarin hat Asthma.", "Asthma", "family", "of-somebody-else", None),
    ],
)
def test_what_is_not_the_patients_now_says_whose_or_why(text, words, claim, reason, certainty):
    reading, start = Reading.of(text), text.index(words)
    end = start + len(words)
    one = Mentioned(start, end, claim, 0.9, (), said=reading.claim(start, end))
    found = ledger(reading, [one], [], set())
    assert [(m.claim, m.reason, m.certainty) for m in found] == [(claim, reason, certainty)]


def test_a_code_that_the_text_spells_out_is_a_mention():
    text = "Bekannt I25.2, sonst nichts."
    found = ledger(Reading.of(text), [], [Hit("I25.2", 0.8, "medium", 8, 13)], {"I25.2"})
    assert [(m.span.start, m.span.end, m.codes) for m in found] == [(8, 13, ("I25.2",))]
