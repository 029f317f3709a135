"""Ten codes are the limit of tier 1's first event, not of the text: the ledger and tiers 2 and 3 have them all."""

import asyncio

import pytest

from clinical.coding import research
from clinical.coding.instant import most_probable, tier_one
from clinical.coding.ledger import Hit
from clinical.contract import ABOVE_THE_LIMIT, DetailedCodeEntry, Event, PartialEvent, ResearchRequest
from clinical.reading import SearchIndex
from tests.fakes import FakeModel, chosen, payload, step

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


def test_the_event_holds_the_ten_most_probable_and_the_others_follow_with_all_that_an_entry_says(index: SearchIndex):
    event = told(index, LINES)
    beyond = event.beyond or ()
    assert len(beyond) == 5
    assert all(isinstance(entry, DetailedCodeEntry) and entry.evidence and entry.certainty == "G" for entry in beyond)
    assert min(entry.probability for entry in event.codes) >= max(entry.probability for entry in beyond)


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
