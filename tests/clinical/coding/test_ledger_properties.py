"""Whatever a text says, its ledger holds: mentions once, none across another, each shown code where it was found."""

from collections import Counter
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog_build.training.texts import TextWriter
from clinical.coding.instant import tier_one
from clinical.contract import ABOVE_THE_LIMIT, PartialEvent, ResearchRequest
from clinical.reading import SearchIndex, Understood
from evals.reading.inputs import WRITTEN, read_inputs

WORDINGS = [
    ("Hypertonie", "I10.90"),
    ("Diabetes mellitus Typ 2", "E11.90"),
    ("Asthma bronchiale", "J45.99"),
    ("Gonarthrose", "M17.9"),
    ("Migräne", "G43.9"),
    ("Pneumonie", "J18.9"),
    ("Kopfschmerzen", "R51"),
    ("Leistenhernie rechts", "K40.90"),
    ("akute Bronchitis", "J20.9"),
    ("Vorhofflimmern", "I48.9"),
]
PIECES = [row["text"] for row in read_inputs(WRITTEN)] + [
    *("I10.90", "J45.0 G", "39. SSW", "(E11.90)", "Z. n. Apoplex 2015", "???", "RR 140/90", "\n", "; ", " - ", "😀 "),
]


def generated(seed: int) -> str:
    return TextWriter(WORDINGS, seed).write().text


TEXTS = st.one_of(
    st.integers(0, 10_000).map(generated),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join),
    st.tuples(st.integers(0, 10_000).map(generated), st.sampled_from(PIECES), st.integers(0, 200)).map(
        lambda parts: parts[0][: parts[2]] + parts[1] + parts[0][parts[2] :]
    ),
).filter(lambda text: len(text.strip()) > 0 and len(text) <= 2_000)


def answered(index: SearchIndex, text: str) -> tuple[Understood, PartialEvent]:
    found = index.read(text)
    return found, tier_one(ResearchRequest(query=text, details=True), index.catalog, found)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(TEXTS)
def test_every_mention_once_and_every_shown_code_where_it_was_found(index: SearchIndex, text: str) -> None:
    found, event = answered(index, text)
    ledger, shown = event.mentions or (), [entry.code for entry in event.codes]
    places = [(one.span.start, one.span.end) for one in ledger]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places)), places
    assert not Counter((one.start, one.end) for one in found.mentions) - Counter(places)
    assert len(set(shown)) == len(shown)
    assert len(shown) <= 10
    beyond = [entry.code for entry in event.beyond or ()]
    assert not set(beyond) & set(shown)
    assert {code for one in ledger for code in one.codes} == {*shown, *beyond}
    for one in ledger:
        assert (one.reason is None) == bool(set(one.codes) & set(shown))
        assert (one.reason == ABOVE_THE_LIMIT) == (bool(one.codes) and not set(one.codes) & set(shown))
    for entry in (*event.codes, *(event.beyond or ())):
        near = [one for one in ledger if entry.evidence.start < one.span.end and one.span.start < entry.evidence.end]
        assert any(entry.code in one.codes for one in near)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(TEXTS)
def test_what_is_denied_has_no_codes_and_says_so(index: SearchIndex, text: str) -> None:
    _, event = answered(index, text)
    for one in event.mentions or ():
        if one.claim == "excluded":
            assert not one.codes
            assert one.reason in ("denied", "hypothetical")
        if one.claim == "family" and not one.codes:
            assert one.reason in ("of-a-relative", "of-somebody-else")
