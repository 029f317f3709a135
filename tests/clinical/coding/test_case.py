"""The choice of a model follows from the claims of the text: nothing excluded, past or of relatives gets in."""

import pytest

from clinical.coding.case import SHOWN_MAX, Case, Offer, build_case, locate
from clinical.coding.prompts import Finding
from clinical.icd import Code
from tests.fakes import FakeCandidate, FakeIndex


def case(text: str, *findings: tuple[str, str, str]) -> Case:
    return build_case(FakeIndex(), text, [Finding(quote=q, phrase=p, assertion=a) for q, p, a in findings])


PNEUMONIA, CANCER = ("Pneumonie", "Pneumonie"), ("Mammakarzinom", "Mammakarzinom")
CLAIMED = [
    ("art. Hypertonus", [("art. Hypertonus", "arterielle Hypertonie", "present")], {"I10.90"}, set()),
    ("V. a. Pneumonie", [(*PNEUMONIA, "suspected")], {"J18.9"}, set()),
    ("Keine Pneumonie, Husten", [(*PNEUMONIA, "excluded"), ("Husten", "Husten", "present")], {"R05"}, {"J18.9"}),
    ("Z. n. Pneumonie", [(*PNEUMONIA, "history")], set(), {"J18.9"}),
    ("Z. n. Mammakarzinom", [(*CANCER, "history")], {"Z85.3"}, {"C50.9"}),
    ("Z. n. Herzinfarkt", [("Z. n. Herzinfarkt", "Herzinfarkt", "history")], {"I25.22"}, set()),
    ("Mutter: Mammakarzinom", [(*CANCER, "family")], {"Z80.3"}, {"C50.9"}),
    ("Mutter Mammakarzinom. Patientin: Mammakarzinom",
     [("Mutter Mammakarzinom", "Mammakarzinom", "family"), (*CANCER, "present")], {"C50.9"}, set()),
    ("Erledigt: Infarkt I21.9 damals", [("Infarkt I21.9", "Herzinfarkt", "history")], {"I25.22"}, {"I21.9"}),
    *((text, [("Husten", "Husten", "present")], {"R05"}, {"I21.9"})
      for text in ("Z. n. I21.9, jetzt Husten", "I21.9 ausgeschlossen, Husten", "Vater: I21.9, Husten")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "findings", "offered", "barred"), CLAIMED)
def test_the_claim_decides_what_is_on_offer_and_what_is_barred(text, findings, offered, barred):
    found = case(text, *findings)
    assert offered <= set(found.offers)
    assert barred <= set(found.barred)
    assert not barred & set(found.offers)
    if findings[0][2] in ("history", "family") and len(findings) == 1:
        assert set(found.offers) == offered, "what is over, or of a relative, has codes of its own alone"


def test_what_is_barred_bars_no_sibling_but_its_parents_and_children():
    """A past coma is over; the diabetes that it came from is not."""
    assert "J18.0" not in case("Z. n. Pneumonie", (*PNEUMONIA, "history")).barred
    excluded = case("Keine Pneumonie, Husten", (*PNEUMONIA, "excluded"), ("Husten", "Husten", "present"))
    assert not {"J18", "J18.0", "J18.9"} & set(excluded.offers)


def test_a_finding_is_searched_in_the_words_of_the_text_and_in_those_of_the_model():
    index = FakeIndex()
    build_case(index, "art. Hypertonus", [Finding(quote="art. Hypertonus", phrase="Hypertonie", assertion="present")])
    assert index.searched == ["art. Hypertonus", "Hypertonie"]


def test_the_partner_of_a_pair_is_on_offer_beside_it():
    found = case("Kandidose der Vagina", ("Kandidose der Vagina", "Kandidose der Vagina", "present"))
    assert next(iter(found.offers)) == "B37.3"
    assert found.offers["N77.1"].probability is None


def test_more_offers_never_bring_a_barred_code_and_stay_bounded():
    found = case("Keine Pneumonie", ("Pneumonie", "Pneumonie", "excluded"))
    catalog = FakeIndex().catalog
    assert "J18.9" not in found.with_offers([Offer(code) for code in catalog]).offers
    many = [Offer(Code(f"X{n:02}", "t", 3, True, None, "X", "20", "plain", "P", "P")) for n in range(99)]
    assert len(found.with_offers(many).offers) == SHOWN_MAX


def test_a_code_in_the_text_is_on_offer_with_its_place():
    found = case("Bekannt: E11.90, heute Husten", ("Husten", "Husten", "present"))
    assert found.offers["E11.90"].findings == (2,)
    assert found.findings[1].span is not None
    assert (found.findings[1].span.start, found.findings[1].span.end) == (9, 15)


def test_an_invented_code_in_the_text_is_no_finding():
    assert case("Kode X99.99 steht hier").findings == ()


@pytest.mark.parametrize(
    ("quote", "place"),
    [("Husten und Fieber", (6, 23)), ("husten  und\nfieber", (6, 23)), ("Atemnot", None), ("", None)],
)
def test_a_quote_is_located_literally_or_with_other_white_space(quote, place):
    span = locate("Heute Husten und Fieber.", quote)
    assert (span and (span.start, span.end)) == place


def test_every_finding_gets_its_best_candidates_before_any_gets_its_second():
    found = case("Husten, Pneumonie", ("Pneumonie", "Pneumonie", "present"), ("Husten", "Husten", "present"))
    first_two = list(found.offers.values())[:2]
    assert [offer.findings for offer in first_two] == [(1,), (2,)]


def instant(text: str, *hits: tuple[str, str], findings: tuple[tuple[str, str, str], ...] = ()) -> Case:
    """The case of a text in which tier 1 found these codes by these places."""
    found = [
        FakeCandidate(code, 0.8, "medium", place, text.index(place), text.index(place) + len(place))
        for code, place in hits
    ]
    asked = [Finding(quote=q, phrase=p, assertion=a) for q, p, a in findings]
    return build_case(FakeIndex(), text, asked, found)


def test_what_tier_1_found_is_on_offer_for_the_finding_of_that_place():
    found = instant("Husten, Bluthochdruck", ("I10.90", "Bluthochdruck"), findings=(("Bluthochdruck", "x", "present"),))
    assert len(found.findings) == 1
    assert found.offers["I10.90"].findings == (1,)
    assert found.offers["I10.90"].payload()["instant"] == 0.8


def test_a_place_that_the_model_passed_over_becomes_a_finding_with_the_claim_of_the_text():
    found = instant("Husten. V. a. Pneumonie", ("J18.9", "Pneumonie"), findings=(("Husten", "Husten", "present"),))
    assert [(item.phrase, item.assertion) for item in found.findings] == [
        ("Husten", "present"),
        ("Pneumonie", "suspected"),
    ]
    assert 2 in found.offers["J18.9"].findings


@pytest.mark.parametrize("claim", ["excluded", "family", "history"])
def test_what_tier_1_found_gives_no_code_where_the_model_reads_a_claim_against_it(claim: str):
    found = instant("Husten bei Pneumonie", ("J18.9", "Pneumonie"), findings=(("Pneumonie", "Pneumonie", claim),))
    assert "J18.9" not in found.offers
    assert "J18.9" in found.barred


def test_a_denied_place_that_no_finding_covers_gives_no_code():
    assert "J18.9" not in instant("Keine Pneumonie, Husten", ("J18.9", "Pneumonie")).offers
