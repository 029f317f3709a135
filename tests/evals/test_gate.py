"""The gate on the starter catalog of this checkout; `make evals` is the whole of it, with every variant."""

from __future__ import annotations

import json
import shutil

import pytest

from evals.data.cards import read_dataset
from evals.gate import QUERIES, RESULTS, drops_of, main
from evals.measures.results import MeasuredResult, Row, read_result


def test_quality_has_not_dropped(starter_artifact, capsys):
    assert main(["--catalog", str(starter_artifact), "--only", "none"]) == 0, capsys.readouterr().err


@pytest.fixture
def kept(tmp_path):
    return shutil.copytree(RESULTS, tmp_path / "results")


def test_a_drop_fails_and_says_what_to_do(starter_artifact, kept, capsys):
    path = kept / "everyday-none.json"
    result = json.loads(path.read_text())
    for row in result["queries"]:
        row |= {"rank": 1.0, "category": True}
    path.write_text(json.dumps(result))
    arguments = ["--catalog", str(starter_artifact), "--results", str(kept), "--only", "none"]
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert "everyday-none: top_1 1.000 ->" in said.err
    assert "ACCEPT=1" in said.err
    assert main([*arguments, "--accept"]) == 0
    assert main(arguments) == 0


def test_a_figure_outside_its_kept_interval_fails(kept, capsys):
    path = kept / "letters.json"
    arguments = ["--catalog", "none", "--results", str(kept), "--only", "letters"]
    assert main(arguments) == 0
    result = json.loads(path.read_text())
    (positives,) = [row for row in result["rows"] if row[:2] == ["truths_removed", "OCR strength 3"]]
    positives[3:] = [-0.02, -0.03, -0.01]
    (negatives,) = [row for row in result["rows"] if row[:2] == ["lies_kept", "near name"]]
    negatives[3:] = [-0.01, -0.02, 1.0]
    path.write_text(json.dumps(result))
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert "truths_removed of OCR strength 3" in said
    assert "lies_kept of near name" in said, "of negatives not one more may pass"


def test_reading_may_fall_as_far_as_its_kept_interval():
    def result(shown, high):
        rows = [Row("stated_shown", "list", 100, shown, shown - 0.1, 1.0), Row("high_right", "list", 9, high, 0.5, 1.0)]
        return MeasuredResult.of("reading", "make evals", rows)

    assert drops_of("reading", result(0.8, 0.9), result(0.75, 0.6)) == []
    (drop,) = drops_of("reading", result(0.8, 0.9), result(0.6, 0.9))
    assert drop == "reading: stated_shown of list 0.600, 0.800 (0.700-1.000) before"


def test_of_our_own_inputs_not_one_more_may_be_read_as_not_there():
    def result(hidden):
        return MeasuredResult.of("reading", "make evals", [Row("there_read_as_not", "written", 1000, hidden, 0.0, 1.0)])

    assert drops_of("reading", result(0.02), result(0.02)) == []
    (drop,) = drops_of("reading", result(0.02), result(0.021))
    assert drop.startswith("reading: there_read_as_not of written 0.021, 0.020 ")


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
        assert result.about["dataset"] == read_dataset(QUERIES).about
        assert result.about["variant"] == variant
        assert len(result.queries) == result.about["dataset"]["rows"] > 0
