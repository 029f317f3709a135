"""Progress in a log: lines, at most one a minute, with what is done, gone and left; nothing of what is over at once."""

import io
import re
import sys
from types import SimpleNamespace

import pytest

from clinical.progress import MINUTE, Lines, in_notebook, note, progress

pytest.importorskip("tqdm", reason="tqdm (extra 'build') is not installed")

LINE = re.compile(r"\d\d:\d\d:\d\d queries: (\d+) of 40 asked, \S+ gone, (\S+) left")


@pytest.fixture
def log(monkeypatch, capsys):
    """The lines of the log since it was last asked for."""
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    return lambda: capsys.readouterr().err


def test_work_that_is_over_within_a_minute_says_nothing(log):
    assert list(progress(range(40), "queries", "asked")) == list(range(40))
    assert log() == ""


def test_longer_work_has_a_line_a_minute_with_the_time_that_is_left(log):
    """Twenty seconds a query by a clock of our own."""
    bar = progress(range(40), "queries", "asked")
    now = bar.start_t
    bar._time = lambda: now
    for _ in bar:
        now += 20.0
    lines = log().splitlines()
    said = [LINE.fullmatch(line) for line in lines]
    assert all(said)
    assert 40 * 20 / MINUTE - 2 <= len(lines) <= 40 * 20 / MINUTE + 1
    counted = [int(found[1]) for found in said]
    assert counted == sorted(set(counted))
    assert said[3][2] != "?"


def test_in_a_notebook_it_is_a_bar(log, monkeypatch):
    """A module IPython whose shell has a kernel, as in the process behind a notebook."""
    assert not in_notebook()
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    assert in_notebook()
    assert list(progress(range(3), "queries", "asked")) == [0, 1, 2]
    assert "queries:" in log()
    assert "\n" not in log()


def test_a_bar_that_is_drawn_again_is_no_second_line():
    stream = io.StringIO()
    lines = Lines(stream)
    for drawn in ("\ra: 1 of 2", "\ra: 1 of 2", "\r      ", "\ra: 2 of 2", "\n"):
        assert lines.write(drawn) == len(drawn)
    assert [line.split(" ", 1)[1] for line in stream.getvalue().splitlines()] == ["a: 1 of 2", "a: 2 of 2"]


def test_a_note_has_the_time_of_day(log):
    note("reading")
    assert re.fullmatch(r"\d\d:\d\d:\d\d reading\n", log())
