"""The gate on the starter catalog of this checkout; `make evals` is the whole of it, with every variant."""

from __future__ import annotations

import json
import shutil

import pytest

from evals.coding.card import read_dataset
from evals.gate import QUERIES, RESULTS, main
from evals.reports.results import read_result


def test_quality_has_not_dropped(starter_artifact, capsys):
    assert main(["--catalog", str(starter_artifact), "--only", "none"]) == 0, capsys.readouterr().err


@pytest.fixture
def kept(tmp_path):
    return shutil.copytree(RESULTS, tmp_path / "results")


def test_a_drop_fails_and_says_what_to_do(starter_artifact, kept, capsys):
    path = kept / "everyday-none.json"
    result = json.loads(path.read_text())
    for row in result["queries"]:
        row |= {"rank": 1, "category": True}
    path.write_text(json.dumps(result))
    arguments = ["--catalog", str(starter_artifact), "--results", str(kept), "--only", "none"]
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert "everyday-none: top_1 1.000 ->" in said.err
    assert "ACCEPT=1" in said.err
    assert main([*arguments, "--accept"]) == 0
    assert main(arguments) == 0


def test_more_removed_truths_fail(kept, capsys):
    path = kept / "extraction.json"
    result = json.loads(path.read_text())
    arguments = ["--catalog", "none", "--results", str(kept), "--only", "extraction"]
    assert main(arguments) == 0
    assert result["lies"].keys() == read_result(RESULTS / "extraction.json")["lies"].keys()
    result["truths"]["OCR strength 3"]["n"] *= 1_000
    result["truths"]["OCR strength 3"]["removed"] = 0
    path.write_text(json.dumps(result))
    assert main(arguments) == 1
    assert "OCR strength 3" in capsys.readouterr().err


def test_other_queries_are_no_basis(starter_artifact, kept, tmp_path, capsys):
    queries = tmp_path / "everyday.tsv"
    queries.write_text("query\tcodes\nGürtelrose am Bauch\tB02.9\n")
    arguments = ["--catalog", str(starter_artifact), "--results", str(kept), "--queries", str(queries)]
    assert main([*arguments, "--only", "none"]) == 2
    assert "the same queries" in capsys.readouterr().err


def test_a_part_without_a_kept_result_is_named(starter_artifact, tmp_path, capsys):
    assert main(["--catalog", str(starter_artifact), "--results", str(tmp_path), "--only", "none"]) == 2
    assert "everyday-none.json: is not there" in capsys.readouterr().err


def test_the_phrasings_are_of_the_starter_catalog_and_not_in_it(index):
    from evals.coding.outcomes import Nearness

    data = read_dataset(QUERIES)
    nearness = Nearness(index, data.examples)
    assert len({example.query for example in data.examples}) == len(data.examples) >= 150
    for example in data.examples:
        assert all(index.catalog.get(code).terminal for code in example.codes), example.query
        assert not nearness.of(example)[1], f"{example.query} stands in the starter catalog"
    assert sum(len({code[0] for code in example.codes}) == 1 for example in data.examples) > 150
    assert len({code[0] for example in data.examples for code in example.codes}) > 15


def test_the_kept_results_are_of_these_queries():
    for variant in ("none", "typo", "spelling"):
        result = read_result(RESULTS / f"everyday-{variant}.json")
        assert result["dataset"] == read_dataset(QUERIES).about
        assert result["variant"] == variant
        assert len(result["queries"]) == result["n"]
