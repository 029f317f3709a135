"""The precision rule, without a database or a server."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.fhir import dates

INSTANT = st.datetimes(timezones=st.just(UTC))


def micros(text: str) -> int:
    return dates.to_micros(datetime.fromisoformat(text))


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("2024", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ("2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
        ("2026-03-05T10:20", "2026-03-05T10:20:00Z", "2026-03-05T10:21:00Z"),
        ("2026-03-05T10:20:30.4", "2026-03-05T10:20:30.400000Z", "2026-03-05T10:20:30.500000Z"),
        ("2026-03-05T10:20:30.400Z", "2026-03-05T10:20:30.400000Z", "2026-03-05T10:20:30.401000Z"),
        ("2026-03-05T10:20:30.4005009Z", "2026-03-05T10:20:30.400500Z", "2026-03-05T10:20:30.400501Z"),
        ("2026-03-05T10:20:30-01:30", "2026-03-05T11:50:30Z", "2026-03-05T11:50:31Z"),
        ("2026-03-05T00:00+14:00", "2026-03-04T10:00:00Z", "2026-03-04T10:01:00Z"),
    ],
)
def test_a_value_covers_the_whole_period_it_states(value, start, end):
    assert dates.parse(value) == dates.Window(micros(start), micros(end))


@pytest.mark.parametrize(
    "value",
    [
        *("", "ge", "heute", "2026-3-5", "20260305", "2026-02-29", "2026-13", "0000", "26", " 2026", "2026 ", "2026\n"),
        *(
            "2026-03-05T24:00:00Z",
            "2026-03-05T10:20:60Z",
            "2026-03-05T10:60Z",
            "2026-03-05T10Z",
            "2026-03-05T10:20:30.",
        ),
        *("2026-03-05 10:20:30Z", "2026-03-05T10:20:30 02:00", "2026-03-05T10:20:30+0200", "2026-03-05T10:20:30+15:00"),
        *("2026-03-05T10:20:30+14:01", "2026-03-05T10:20:30z", "2026-03-05t10:20", "2026-03-05Z", "2026-03Z"),
        *(
            "ne2026",
            "sa2026",
            "eb2026",
            "ap2026",
            "GE2026",
            "gege2026",
            "ge 2026",
            "2026,2027",
            "٢٠٢٦",
            "2026-03-05T10:20:30,5",
        ),
    ],
)
def test_everything_else_is_no_date(value):
    assert dates.parse(value) is None


@given(INSTANT)
def test_what_the_api_writes_selects_exactly_that_microsecond(instant):
    at = dates.to_micros(instant)
    assert dates.parse(dates.to_text(at)) == dates.Window(at, at + 1)


@given(INSTANT, INSTANT, st.sampled_from([4, 7, 10, 16, 19, 21, 26]))
def test_prefixes_split_time_into_before_within_and_after(stated, instant, length):
    value, at = dates.to_text(dates.to_micros(stated))[:length], dates.to_micros(instant)
    within, before, after = (at in dates.parse(prefix + value) for prefix in ("eq", "lt", "gt"))
    assert within + before + after == 1
    assert (at in dates.parse("ge" + value)) is (within or after)
    assert (at in dates.parse("le" + value)) is (within or before)


@given(st.lists(st.tuples(st.sampled_from(["ge", "gt", "le", "lt", ""]), INSTANT), max_size=5), INSTANT)
def test_repeated_values_all_hold_at_once(values, instant):
    windows = [dates.parse(prefix + dates.to_text(dates.to_micros(stated))) for prefix, stated in values]
    at = dates.to_micros(instant)
    assert (at in dates.tightest(windows)) is all(at in window for window in windows)


@given(st.text(max_size=40))
def test_no_text_is_an_error(text):
    dates.parse(text)
    dates.parse_bound(text)


def test_the_last_year_of_the_calendar_has_an_end():
    window = dates.parse("le9999-12-31")
    assert dates.to_micros(datetime.max.replace(tzinfo=UTC)) in window
    assert dates.parse("gt9999").start == window.end
    assert (
        window.end - dates.to_micros(datetime.max.replace(tzinfo=UTC)) == timedelta(microseconds=1) // dates.MICROSECOND
    )
