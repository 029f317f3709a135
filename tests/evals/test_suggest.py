"""The measure of suggestions: what is right is found, what is wrong is not."""

from pathlib import Path

from clinical.reading.index import SearchIndex
from evals.coding.suggest import main, rows_of
from evals.data.cards import read_dataset
from evals.data.examples import Example

TYPED = Path(__file__).resolve().parents[2] / "evals" / "benchmark" / "data" / "typed.tsv"


def test_a_right_code_counts_and_a_wrong_one_does_not(index: SearchIndex) -> None:
    assert index.suggester is not None
    examples = [Example("bluthochdruck", frozenset({"I10.90"})), Example("gicht", frozenset({"R05"}))]
    rows = {(row.measure, row.set): row.value for row in rows_of(index.suggester, examples, cuts=(5, None))}
    assert rows["in_8", "5 characters"] == rows["in_8", "all"] == 0.5
    assert rows["mrr_8", "all"] == 0.5
    assert rows["milliseconds_p50", "calls"] > 0


def test_the_set_of_the_benchmark_is_found(index: SearchIndex) -> None:
    examples = [each for each in read_dataset(TYPED).examples if each.codes & {code.code for code in index.catalog}]
    assert index.suggester is not None
    assert next(row.value for row in rows_of(index.suggester, examples, (None,)) if row.measure == "in_3") > 0.9


def test_the_command_prints_the_table(starter_artifact: Path, capsys: object) -> None:
    assert main(["--catalog", str(starter_artifact), "--queries", str(TYPED), "--whole"]) == 0
    assert "in_8" in capsys.readouterr().out  # type: ignore[attr-defined]
