"""A slow measurement that was interrupted goes on where it stopped."""

from __future__ import annotations

import json

import pytest

from evals.coding.journal import journalled, place_of
from evals.coding.measure import main
from evals.coding.targets import Coded

ABOUT = {"model": "a", "tier": "3"}
QUERIES = ["Husten", "Fieber", "Husten", "kaputt", "Gicht"]


class Slow:
    """A target that counts what it is asked, fails on one text, and is interrupted at another."""

    about = ABOUT

    def __init__(self, stops_at: str | None = None) -> None:
        self.asked: list[str] = []
        self.stops_at = stops_at

    def ask(self, query):
        if query == self.stops_at:
            raise KeyboardInterrupt
        self.asked.append(query)
        return None if query == "kaputt" else (Coded(query[:1], "high", True, None),)


def test_it_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "a.json.partial"
    stopped = Slow(stops_at="Gicht")
    with pytest.raises(KeyboardInterrupt):
        list(journalled(stopped, QUERIES, path, ABOUT))
    assert stopped.asked == ["Husten", "Fieber", "kaputt"]
    with path.open("a") as file:
        file.write('["torn')
    second = Slow()
    found = list(journalled(second, QUERIES, path, ABOUT))
    assert second.asked == ["kaputt", "Gicht"]
    assert found == list(journalled(Slow(), QUERIES, tmp_path / "fresh", ABOUT))
    assert found[3] is None
    third = Slow()
    assert list(journalled(third, QUERIES, path, ABOUT)) == found
    assert third.asked == ["kaputt"]
    assert "Husten" not in path.read_text()


def test_answers_of_another_model_are_not_taken(tmp_path):
    path = tmp_path / "a.json.partial"
    list(journalled(Slow(), QUERIES, path, ABOUT))
    other = Slow()
    list(journalled(other, QUERIES, path, ABOUT | {"model": "b"}))
    assert other.asked == ["Husten", "Fieber", "kaputt", "Gicht"]


def test_the_journal_goes_when_the_result_is_there(monkeypatch, starter_artifact, tmp_path, capsys):
    monkeypatch.setenv("BEFUND_LLM", "rehearsal")
    queries, out = tmp_path / "a.tsv", tmp_path / "a.json"
    queries.write_text("query\tcodes\nBluthochdruck\tI10.90\n")
    arguments = ["--catalog", str(starter_artifact), "--queries", str(queries), "--tier", "2", "--out", str(out)]
    place_of(out).write_text("something else\n")
    assert main(arguments) == 0
    assert json.loads(out.read_text())["model"] == "rehearsal-rules"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.tsv"]
