"""A slow measurement that was interrupted goes on where it stopped; prompts and answers are exchanged as files."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from evals.coding.measure import main, own_queries
from evals.coding.targets import Coded, answers, journal_of, journalled
from evals.data.examples import Example
from evals.load.rigs import model_server
from evals.measures.results import read_result

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
    monkeypatch.setenv("BEFUND_LLM", "rules")
    queries, out = tmp_path / "a.tsv", tmp_path / "a.json"
    queries.write_text("query\tcodes\nBluthochdruck\tI10.90\n")
    arguments = ["--catalog", str(starter_artifact), "--queries", str(queries), "--tier", "2", "--out", str(out)]
    journal_of(out).write_text("something else\n")
    assert main(arguments) == 0
    assert json.loads(out.read_text())["about"]["model"] == "rules"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.tsv"]


class Together:
    """A target that answers only when `together` texts are asked at once."""

    about = ABOUT

    def __init__(self, together: int) -> None:
        self.all_here = threading.Barrier(together)

    def ask(self, query):
        self.all_here.wait(timeout=30)
        return (Coded(query[:1], "high", True, None),)


def test_many_are_asked_at_once_and_answered_in_order(tmp_path):
    texts = [f"{letter} Text" for letter in "ABCDEFGH"]
    found = list(journalled(Together(8), texts, tmp_path / "a", ABOUT, 8))
    assert [codes[0].code for codes in found] == list("ABCDEFGH")
    assert [codes[0].code for codes in answers(Together(4), texts, 4)] == list("ABCDEFGH")
    assert list(journalled(Slow(stops_at=texts[0]), texts, tmp_path / "a", ABOUT, 8)) == found


def test_an_interrupted_run_keeps_what_came_out_of_turn(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(KeyboardInterrupt):
        list(journalled(Slow(stops_at="Husten"), QUERIES, path, ABOUT, 1))
    went = threading.Event()

    class Late(Slow):
        def ask(self, query):
            if query == "Husten":
                assert went.wait(30)
                raise KeyboardInterrupt
            found = super().ask(query)
            if query == "Gicht":
                went.set()
            return found

    with pytest.raises(KeyboardInterrupt):
        list(journalled(Late(), ["Husten", "Fieber", "Gicht", "Ende"], path, ABOUT, 2))
    third = Slow()
    list(journalled(third, QUERIES, path, ABOUT))
    assert "Fieber" not in third.asked
    assert "Husten" in third.asked


def test_tier_3_of_a_model_server_at_once(monkeypatch, starter_artifact, tmp_path, capsys):
    queries, out = tmp_path / "a.tsv", tmp_path / "a.json"
    queries.write_text("query\tcodes\n" + "".join(f"Bluthochdruck seit {n} Jahren\tI10.90\n" for n in range(2, 10)))
    with model_server(0.05) as url:
        monkeypatch.setenv("BEFUND_LLM_BASE_URL", f"{url}/v1")
        arguments = ["--catalog", str(starter_artifact), "--queries", str(queries), "--tier", "3", "--out", str(out)]
        assert main([*arguments, "--concurrency", "8"]) == 0
    result = read_result(out)
    assert result.about["model"] == "slow-model"
    assert (len(result.queries), result.figure("failed")[0]) == (8, 0)


def test_queries_that_are_own_synonyms_are_named(tmp_path, capsys):
    head = "file\tline\tstate\ttext\tcodes\tweight\tsource\twhy\n"
    (tmp_path / "vocabulary.tsv").write_text(head + "a.tsv\t2\ttaken\tSüßes Blut\tE11.91\t1.0\t\tadded\n")
    examples = [Example("suesses Blut", frozenset({"E11.91"})), Example("Gicht", frozenset({"M10.99"}))]
    assert own_queries(tmp_path, examples) == 1
    assert "1 of 2 queries" in capsys.readouterr().err
    assert own_queries(tmp_path / "none", examples) == 0


# --- A model behind files --------------------------------------------------------------------------------------------


CHOICE = {"finding": 1, "reasoning": "x", "code": "B02.9", "confidence": "high"}
ANSWERS = {
    "Findings": {"findings": [{"quote": "Gürtelrose", "phrase": "Zoster", "assertion": "present"}]},
    "Step": {"thought": "", "searches": [], "open": [], "done": True},
    "Selection": {"codes": [CHOICE], "summary": "Zoster."},
    "Recommendation": {"codes": [CHOICE], "summary": "Zoster."},
}


def answered(folder: Path) -> list[str]:
    """Answer every open question of the folder as a model would; the names of their forms."""
    forms = []
    for prompt in folder.glob("*.prompt.txt"):
        answer = prompt.with_name(prompt.name.replace(".prompt.txt", ".answer.json"))
        if not answer.exists():
            forms.append(prompt.read_text("utf-8").split("\n")[0].removeprefix("### "))
            answer.write_text(json.dumps(ANSWERS[forms[-1]]), "utf-8")
    return forms


def test_a_tier_is_measured_with_whoever_answers_its_questions(starter_artifact: Path, tmp_path: Path, capsys) -> None:
    queries, folder = tmp_path / "queries.tsv", tmp_path / "asked"
    queries.write_text("query\tcodes\nGürtelrose seit drei Tagen\tB02.9\n", "utf-8")
    command = ["--catalog", str(starter_artifact), "--queries", str(queries), "--tier", "2", "--json"]
    asked = []
    for _ in range(5):
        assert main([*command, "--exchange", str(folder)]) == 0
        said = capsys.readouterr()
        asked.append(sorted(answered(folder)))
        assert (f"{len(asked[-1])} questions wait" in said.err) == bool(asked[-1])
    assert asked == [["Findings"], ["Selection", "Step"], ["Recommendation"], [], []]
    rows = {row["measure"]: row for row in json.loads(said.out)["rows"] if row["set"] == "all"}
    assert (rows["top_1"]["value"], rows["offered"]["value"], rows["failed"]["value"]) == (1, 1, 0)


@pytest.mark.parametrize("other", [["--tier", "1"], ["--tier", "2", "--target", "http://127.0.0.1:1"]])
def test_only_a_model_in_this_process_can_be_answered_for(
    starter_artifact: Path, tmp_path: Path, other, capsys
) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text("query\tcodes\nGürtelrose\tB02.9\n", "utf-8")
    command = ["--catalog", str(starter_artifact), "--queries", str(queries), "--exchange", str(tmp_path), *other]
    assert main(command) == 2
    assert "--exchange is for tiers 2 and 3 in this process" in capsys.readouterr().err
