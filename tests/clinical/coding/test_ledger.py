"""The ledger: every mention once, its claim, side and codes, or why there is none."""

from clinical.coding.ledger import Hit, ledger
from clinical.language import Reading
from clinical.search import Mentioned

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
    found = ledger(Reading.of(TEXT), mentions, hits)
    assert [TEXT[m.span.start : m.span.end] for m in found] == ["Gonarthrose", "Fieber", "Gicht", "Diabetes"]
    assert [m.claim for m in found] == ["present", "excluded", "suspected", "family"]
    assert [m.certainty for m in found] == ["G", "A", "V", None]
    assert [m.side for m in found] == ["R", None, None, None]
    assert [m.codes for m in found] == [("M17.9",), (), ("M10.99",), ()]
    assert [m.reason for m in found] == [None, "denied", None, "of-a-relative"]


def test_a_code_that_is_not_shown_is_no_code_of_the_ledger():
    found = ledger(Reading.of(TEXT), [mentioned("Gonarthrose", codes=("M17.9",))], [])
    assert found[0].codes == ()
    assert found[0].reason == "no-code-found"


def test_words_that_are_hardly_a_mention_are_no_diagnosis():
    assert ledger(Reading.of(TEXT), [mentioned("Gicht", chance=0.2)], [])[0].reason == "not-a-diagnosis"


def test_a_code_that_the_text_spells_out_is_a_mention():
    text = "Bekannt I25.2, sonst nichts."
    found = ledger(Reading.of(text), [], [Hit("I25.2", 0.8, "medium", 8, 13)])
    assert [(m.span.start, m.span.end, m.codes) for m in found] == [(8, 13, ("I25.2",))]
