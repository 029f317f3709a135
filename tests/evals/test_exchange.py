"""A model behind files: questions are written, answers are read, and the same command goes on with them."""

import json
from pathlib import Path

import pytest

from evals.coding.measure import main

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
