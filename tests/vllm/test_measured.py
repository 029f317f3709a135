"""`python -m evals model` against a real vLLM: a random model knows nothing, and the report says so with its costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.measures.results import read_result
from evals.model.measure import main

pytestmark = pytest.mark.timeout(1_200)  # the model server may have to start before


def test_a_random_model_is_measured_and_not_asked_twice(
    language_server, starter_artifact: Path, tmp_path: Path, capsys
):
    """Two items of each set: random answers of 4,000 tokens take their time on a processor."""
    given = ["--base-url", language_server.base_url, "--catalog", str(starter_artifact), "--folder", str(tmp_path)]
    given += ["--limit", "2", "--price", "0.5", "1.5", "--concurrency", "4", "--only", "check", "tiers", "speed"]
    assert main(given) == 0
    rows = read_result(tmp_path / "result.json").rows.set_index(["measure", "set"])["value"]
    assert rows["tokens_in", "cost: written inputs, tier 2"] > 100, "the server counts the tokens of the question"
    assert rows["first_token_s", "speed: 1 at once"] > 0
    assert rows["tokens_a_second", "speed: 4 at once"] > rows["failed", "speed: 4 at once"] == 0
    report = (tmp_path / "report.md").read_text()
    assert "# random-llama" in report
    assert "| German | fail |" in report
    written, before = language_server.tokens(), (tmp_path / "answers.jsonl").read_text().splitlines()
    assert main([*given[:-3], "speed"]) == 0
    assert (tmp_path / "answers.jsonl").read_text().splitlines() == before
    assert language_server.tokens() - written < 100, "a first word alone: the speed is kept"
    assert "random-llama" in capsys.readouterr().out
