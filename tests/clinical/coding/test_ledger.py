"""The ledger: every mention once, its claim, side and codes, or why there is none; so of any text."""

import asyncio
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog_build.training.texts import TextWriter
from clinical.claims import Reading
from clinical.coding import research
from clinical.coding.instant import most_probable, tier_one
from clinical.coding.ledger import Hit, ledger
from clinical.contract import ABOVE_THE_LIMIT, DetailedCodeEntry, Event, PartialEvent, ResearchRequest
from clinical.icd import SYMPTOMS
from clinical.reading import Mentioned, SearchIndex, Understood
from evals.reading.inputs import WRITTEN, read_inputs
from tests.fakes import FakeModel, chosen, payload, step

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


DIAGNOSES = {
    "Hypertonie": "I10.90",
    "Diabetes mellitus Typ 2": "E11.90",
    "Asthma bronchiale": "J45.99",
    "Gonarthrose": "M17.9",
    "Migräne": "G43.9",
    "Pneumonie": "J18.9",
    "Kopfschmerzen": "R51",
    "Leistenhernie rechts": "K40.90",
    "akute Bronchitis": "J20.9",
    "Vorhofflimmern": "I48.9",
    "Gicht": "M10.99",
    "Psoriasis": "L40.9",
    "Hypothyreose": "E03.9",
    "Osteoporose": "M81.99",
    "Gürtelrose": "B02.9",
}
LINES = "\n".join(DIAGNOSES)


def told(index: SearchIndex, text: str, rerank: bool = False) -> PartialEvent:
    request = ResearchRequest(query=text, details=True, rerank=rerank)
    return tier_one(request, index.catalog, index.read(text))


@pytest.mark.parametrize("rerank", [False, True])
def test_fifteen_diagnoses_in_lines_are_fifteen_codes_of_the_ledger(index: SearchIndex, rerank: bool):
    event = told(index, LINES, rerank)
    assert event.mentions is not None
    ledger = {LINES[m.span.start : m.span.end]: m for m in event.mentions}
    assert {words: m.codes for words, m in ledger.items()} == {words: (code,) for words, code in DIAGNOSES.items()}
    shown = {entry.code for entry in event.codes}
    assert len(shown) == 10
    for words, code in DIAGNOSES.items():
        assert ledger[words].reason == (None if code in shown else ABOVE_THE_LIMIT)


def test_the_event_holds_the_ten_most_probable_diseases_and_the_others_follow_with_all_an_entry_says(
    index: SearchIndex,
):
    event = told(index, LINES)
    beyond = event.beyond or ()
    assert len(beyond) == 5
    assert all(isinstance(entry, DetailedCodeEntry) and entry.evidence and entry.certainty == "G" for entry in beyond)
    left = [entry.probability for entry in beyond if entry.code not in SYMPTOMS]
    assert left
    assert min(entry.probability for entry in event.codes) >= max(left)
    assert not any(entry.code in SYMPTOMS for entry in event.codes)


def test_without_details_the_event_is_exactly_the_contracts(index: SearchIndex):
    event = tier_one(ResearchRequest(query=LINES), index.catalog, index.read(LINES))
    assert len(event.codes) == 10
    assert set(event.model_dump()) == {"type", "layer", "summary", "codes"}


def test_a_list_of_sixty_names_is_read_to_its_end(index: SearchIndex):
    text = "\n".join(4 * list(DIAGNOSES))
    mentions = told(index, text).mentions or ()
    assert [text[one.span.start : one.span.end] for one in mentions] == 4 * list(DIAGNOSES)
    assert [one.codes for one in mentions] == [(code,) for code in 4 * list(DIAGNOSES.values())]


def test_most_probable_keeps_the_order():
    hits = [Hit(code, chance, "medium", 0, 1) for code, chance in (("A", 0.5), ("B", 0.9), ("C", 0.7))]
    assert [hit.code for hit in most_probable(hits, 2)] == ["B", "C"]


def test_symptoms_give_way_to_diseases_where_not_all_have_room():
    hits = [Hit(code, chance, "medium", 0, 1) for code, chance in (("R05", 0.9), ("J18.9", 0.6), ("I10.90", 0.7))]
    assert [hit.code for hit in most_probable(hits, 2)] == ["J18.9", "I10.90"]
    assert [hit.code for hit in most_probable(hits, 3)] == ["R05", "J18.9", "I10.90"]


def test_tiers_2_and_3_start_from_every_code_of_tier_1(index: SearchIndex):
    """Also where the model itself names nothing."""
    model = FakeModel(Findings={"findings": []}, Selection=chosen(), Step=step(done=True), Recommendation=chosen())

    async def collect() -> list[Event]:
        return [event async for event in research(ResearchRequest(query=LINES), index, model)]

    asyncio.run(collect())
    offered = {
        kind: {candidate["code"] for candidate in payload(messages)["candidates"]}
        for kind, messages, _ in model.asked
        if kind in ("Selection", "Recommendation")
    }
    assert set(offered) == {"Selection", "Recommendation"}
    assert set(DIAGNOSES.values()) <= offered["Selection"] & offered["Recommendation"]


def test_what_is_suspected_first_and_ruled_out_later_is_denied_in_the_ledger(index: SearchIndex):
    event = told(index, "Bei Verdacht auf Pneumonie Röntgen. Pneumonie ausgeschlossen. Migräne")
    assert [(m.claim, m.reason) for m in event.mentions or ()] == [
        ("excluded", "denied"),
        ("excluded", "denied"),
        ("present", None),
    ]


def test_a_general_name_beside_the_specific_one_says_so(index: SearchIndex):
    event = told(index, "Depression. Jetzt mittelgradige depressive Episode")
    assert [(m.codes, m.reason) for m in event.mentions or ()] == [((), "said-more-precisely"), (("F32.1",), None)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I10.90 G Hypertonie\nE03.9 A Hypothyreose\nI25.19 V KHK", {"I10.90": "G", "I25.19": "V"}),
        ("Hypothyreose (E03.9 A), Hypertonie (I10.90 G)", {"I10.90": "G"}),
        ("E11.90G; I10.90 G R; K29.7 A", {"E11.90": "G", "I10.90": "G"}),
        ("Dauerdiagnosen: F32.9 Z, M54.5 GL", {"F32.9": "Z", "M54.5": "G"}),
        ("Kopfumfang P50, Hypertonie", {"I10.90": "G"}),
        ("Diagnosen (ICD-10)\nI10.90 | G | Hypertonie\nE03.9 | A | Hypothyreose", {"I10.90": "G"}),
        ("Dauerdiagnosen: Hypertonie G, KHK V, Hypothyreose A", {"I10.90": "G", "I25.19": "V"}),
        ("COPD (J44.-), Hypertonie", {"J44.99": "G", "I10.90": "G"}),
    ],
)
def test_a_diagnosis_with_its_code_is_as_sure_as_its_letter_says(index: SearchIndex, text: str, shown: dict[str, str]):
    entries = [*told(index, text).codes]
    assert {entry.code: entry.certainty for entry in entries if not entry.code.startswith("Z8")} == shown  # type: ignore[attr-defined]
