"""Events to bytes and back, however the bytes are cut; details leave no trace where they were not asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from clinical.contract import CodeEntry, DetailedCodeEntry, Mention, PartialEvent, ResultEvent, Span, StatusEvent
from clinical.sse import PING, Decoder, encode

TEXT = st.text(max_size=40)
ENTRY = st.builds(
    CodeEntry,
    code=TEXT,
    description=TEXT,
    confidence=st.sampled_from(["high", "medium", "low", "score"]),
    reasoning=TEXT,
    score=st.none() | st.floats(0, 100),
)
EVENT = st.one_of(
    st.builds(StatusEvent, status=st.sampled_from(["searching", "error"]), message=TEXT),
    st.builds(PartialEvent, layer=st.sampled_from([1, 2]), summary=TEXT, codes=st.lists(ENTRY, max_size=3).map(tuple)),
    st.builds(ResultEvent, summary=TEXT, codes=st.lists(ENTRY, max_size=3).map(tuple)),
)


@given(st.lists(EVENT, max_size=4), st.integers(1, 50))
def test_what_is_written_is_read_back_however_it_is_cut(events, size):
    written = PING.join(encode(event) for event in events)
    decoder = Decoder()
    read = [event for at in range(0, len(written), size) for event in decoder.feed(written[at : at + size])]
    assert read == events


@given(EVENT)
def test_an_event_is_one_ascii_line_and_a_blank_line(event):
    written = encode(event)
    assert written.isascii()
    assert written.startswith(b"data: {")
    assert written.decode().splitlines()[1:] == [""]
    assert json.loads(written.removeprefix(b"data: "))["type"] == event.type


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_other_line_ends_comments_and_fields_of_the_standard_are_understood(end):
    lines = [b": hello", b"event: x", b"id: 7", b'data:{"type":"status",', b'data: "status":"error","message":"a"}']
    written = end.join([*lines, b"", b": end", b"", b""])
    assert list(Decoder().feed(written + b": end")) == [StatusEvent(status="error", message="a")]


def test_an_event_without_its_blank_line_is_not_given_yet():
    assert list(Decoder().feed(encode(StatusEvent(status="error", message="a"))[:-1])) == []


def test_what_is_no_event_of_the_contract_is_refused():
    with pytest.raises(ValidationError):
        list(Decoder().feed(b'data: {"type": "other"}\n\n'))


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
