"""Details are there when asked for and leave no trace when not: a strict client sees exactly the contract."""

from clinical.contract import CodeEntry, DetailedCodeEntry, Mention, PartialEvent, Span

PLAIN = CodeEntry(code="E11.90", description="Diabetes mellitus, Typ 2", confidence="high", score=0)
DETAILED = DetailedCodeEntry(
    **PLAIN.model_dump(),
    evidence=Span(start=0, end=8),
    assertion="present",
    terminal=True,
    pair=None,
    probability=0.91,
    notes=(),
)


def test_an_entry_without_details_has_exactly_the_fields_of_the_contract():
    event = PartialEvent(layer=1, codes=(PLAIN,))
    assert set(event.model_dump()["codes"][0]) == {"code", "description", "confidence", "reasoning", "score"}


def test_details_survive_the_way_to_the_client_and_back():
    event = PartialEvent(layer=2, codes=(DETAILED, PLAIN))
    read = PartialEvent.model_validate_json(event.model_dump_json())
    assert read == event
    assert isinstance(read.codes[0], DetailedCodeEntry)
    assert type(read.codes[1]) is CodeEntry


def test_the_ledger_is_there_when_asked_for_and_leaves_no_trace_when_not():
    assert "mentions" not in PartialEvent(layer=1, codes=()).model_dump()
    mention = Mention(span=Span(start=0, end=8), claim="excluded", certainty="A", side=None, codes=(), reason="denied")
    event = PartialEvent(layer=1, codes=(DETAILED,), mentions=(mention,))
    assert PartialEvent.model_validate_json(event.model_dump_json()) == event
    assert PartialEvent(layer=1, codes=(), mentions=()).model_dump()["mentions"] == ()
