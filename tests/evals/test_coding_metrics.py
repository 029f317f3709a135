"""evals coding: its measures against values worked out by hand, its files, its variants of queries."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from clinical.errors import SourceError
from clinical.reading.index import SearchIndex
from clinical.search.manifest import Manifest
from clinical.search.ranking import Ranker
from clinical.text import folded_words
from evals.coding import variants
from evals.coding.measure import VARIANTS, main, run
from evals.coding.outcomes import Outcome, frame_of
from evals.coding.targets import Coded
from evals.data.examples import Example, read_examples
from evals.measures.intervals import mean, share
from evals.measures.queries import label_rows, rows_of
from evals.measures.results import SCHEMA, checked, table
from tests.fakes import hash_index, tiny_catalog

CATALOG = tiny_catalog()
QUERY = "Chronische Herzinsuffizienz, Zustand nach Karzinom"
GERMAN = st.text("abcdefghijklmnopqrstuvwxyzäöüßABCKZÄÖÜ -", max_size=40)


def hits(*codes: str, level: str = "low") -> tuple[Coded, ...]:
    return tuple(Coded(code, level) for code in codes)


def outcome(codes: str, found: tuple[Coded, ...] | None, overlap: float = 0.5, verbatim: bool = False) -> Outcome:
    return Outcome(Example("Frage", frozenset(codes.split())), found, overlap, verbatim)


OUTCOMES = [
    outcome("I10.90", hits("I10.90", "I10.00", level="high"), overlap=1.0, verbatim=True),
    outcome("E11.90", hits("E11.91", "E11.90", level="high"), overlap=0.1),
    outcome("J18.9 J20.9", hits("A00.0", "B00.1", "C61", "J18.9"), overlap=0.3),
    outcome("K37", hits("A00.0")),
    outcome("G43.9", ()),
    outcome("B02.9", None),
]


def measured(outcomes: list[Outcome], of: str = "all") -> dict[str, tuple[float, float, float, float]]:
    rows = rows_of(frame_of(outcomes, CATALOG))
    return {row.measure: (row.n, row.value, row.low, row.high) for row in rows if row.set == of}


def test_a_failed_query_is_left_out_and_a_first_code_of_the_category_counts_there() -> None:
    found = measured(OUTCOMES)
    assert found["failed"][:2] == (6, 1)
    assert found["top_1"][:2] == pytest.approx((5, 1 / 5))
    assert found["top_1_category"][1] == pytest.approx(2 / 5)


def test_labels_by_hand() -> None:
    asked = frame_of(OUTCOMES[:-1], CATALOG)
    high = {row.measure: row.value for row in label_rows(asked, "high")}
    assert high["high_precision"] == pytest.approx(1 / 2)
    assert high["high_coverage"] == pytest.approx(2 / 5)
    assert high["high_of_all_codes"] == pytest.approx(2 / 4)
    assert [row.measure for row in label_rows(asked, "medium")] == ["medium_coverage"]


def test_the_rows_are_a_table_of_the_schema_and_each_measure_has_an_interval() -> None:
    rows = table(rows_of(frame_of(OUTCOMES, CATALOG)), "coding", "python -m evals coding", "0" * 64)
    assert {name: str(kind) for name, kind in rows.dtypes.items()} == SCHEMA
    assert set(rows["catalog"]) == {"0" * 12}
    basic = rows[rows["measure"].isin(["top_1", "top_10", "top_1_category", "mrr", "recall_10"])]
    assert len(basic) > 20
    assert ((basic["low"] >= 0) & (basic["low"] <= basic["value"]) & (basic["high"] <= 1)).all()
    assert measured(OUTCOMES, "not verbatim in the index")["top_1"][0] == 4
    sizes = rows[(rows["measure"] == "mrr") & rows["set"].str.startswith("overlap ")]["n"]
    assert sizes.sum() == 5
    for broken in (rows.drop(columns="n"), rows.assign(value=9.0), rows.iloc[[0, 0]]):
        with pytest.raises(ValueError, match=r"columns|interval|twice"):
            checked(broken)


def test_nothing_answered_is_no_measure() -> None:
    assert set(measured([outcome("I10", None)])) == {"failed"}
    assert measured([outcome("I10", None)])["failed"][:2] == (1, 1)
    assert set(measured([])) == {"failed"}


def test_of_nothing_there_is_no_share_and_of_one_value_no_interval() -> None:
    assert share(0, 0) is None
    assert mean([]) is None
    assert mean([0.5] * 30) == (0.5, 0.5, 0.5)


def test_a_failed_query_is_not_a_wrong_one(starter_artifact: Path) -> None:
    manifest, ranker = Manifest.load(starter_artifact), Ranker.load(starter_artifact / "ranker.safetensors")
    index = hash_index(manifest, ranker, fails_on="kaputt")
    examples = [Example(query, frozenset({"I21.9"})) for query in ("Herzinfarkt", "kaputt", "😀")]
    outcomes = run(index, examples)
    assert [one.found is None for one in outcomes] == [False, True, False]
    rows = {row.measure: row for row in rows_of(frame_of(outcomes, index.catalog)) if row.set == "all"}
    assert (rows["top_10"].n, rows["failed"].value) == (2, 1)
    assert rows["top_10"].value == 0.5


def test_the_command_prints_json_with_its_keys(starter_artifact: Path, tmp_path: Path, capsys) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text("query\tcodes\tkind\nBluthochdruck\tI10.90\tx\nHerpes zoster\tB02.9, B02.8\tx\n")
    for variant in ("none", "typo", "spelling"):
        arguments = ["--catalog", str(starter_artifact), "--queries", str(queries), "--variant", variant, "--json"]
        assert main(arguments) == 0
        printed = json.loads(capsys.readouterr().out)
        about, rows = printed["about"], printed["rows"]
        assert (about["dataset"]["rows"], about["variant"]) == (2, variant)
        assert about["manifest"] == Manifest.load(starter_artifact).digest
        assert list(rows[0]) == list(SCHEMA)
        (first,) = [row for row in rows if (row["measure"], row["set"]) == ("top_1", "all")]
    assert first["value"] == 1.0


def test_the_command_prints_a_table(starter_artifact: Path, tmp_path: Path, capsys) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"text": "Bluthochdruck", "codes": ["I10.90"]}\n')
    assert main(["--catalog", str(starter_artifact), "--queries", str(queries)]) == 0
    assert "1.000" in capsys.readouterr().out


def test_the_command_says_in_one_sentence_what_is_wrong(tmp_path: Path, capsys) -> None:
    assert main(["--catalog", str(tmp_path), "--queries", str(tmp_path / "none.tsv")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_queries_are_read_from_both_formats(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes('\ufeffcodes\tquery\nI10.90, I10.00,\tSog. "Hochdruck"\r\n'.encode())
    assert read_examples(tmp_path / "a.tsv") == [Example('Sog. "Hochdruck"', frozenset({"I10.90", "I10.00"}))]
    lines = ['{"text": "A", "codes": ["I10"]}', '{"query": "B", "codes": ["K37"], "clean": true}']
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, '{"text": "C", "codes": ["R05"], "clean": false}']))
    assert [example.query for example in read_examples(tmp_path / "a.jsonl")] == ["A", "B"]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.tsv", "text\tcodes\nA\tI10\n", "line 1"),
        ("a.tsv", "query\tcodes\nA\tI10\n\tI10\n", "line 3"),
        ("a.tsv", "query\tcodes\nA\tI10\nB\n", "line 3"),
        ("a.tsv", "query\tcodes\nA\t , \n", "line 2"),
        ("a.tsv", "query\tcodes\n", "a.tsv"),
        ("a.jsonl", '{"text": "A", "codes": ["I10"]}\n{"text": "B"}\n', "line 2"),
        ("a.jsonl", "[]\n", "line 1"),
        ("a.jsonl", '{"text": "A", "codes": "I10"}\n', "line 1"),
        ("a.jsonl", '{"text": "A", "codes": []}\n', "line 1"),
        ("a.jsonl", '{"text": "A", "codes": [10]}\n', "line 1"),
        ("a.jsonl", '{"text": "A", "codes": ["I10"]\n', "line 1"),
    ],
)
def test_an_unreadable_line_is_named(tmp_path: Path, name: str, content: str, line: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=line):
        read_examples(tmp_path / name)


@given(query=st.text(max_size=40) | GERMAN, seed=st.integers(0, 1_000))
def test_a_typo_is_at_most_one_edit(query: str, seed: int) -> None:
    assert OSA.distance(query, variants.typo(query, random.Random(seed))) <= 1  # Damerau 1964


def test_typos_are_made_and_of_several_kinds() -> None:
    made = {variants.typo("Herzinfarkt", random.Random(seed)) for seed in range(100)}
    assert len(made) > 20
    assert {len(typo) for typo in made} == {10, 11, 12}


@given(query=GERMAN, seed=st.integers(0, 1_000))
def test_spelling_variants_fold_to_the_same_words(query: str, seed: int) -> None:
    assume("ee" not in query)  # no word has an umlaut before two e
    varied = variants.spelling(query, random.Random(seed))
    assert folded_words(varied) == folded_words(query)


def test_spelling_variants_are_made() -> None:
    made = {variants.spelling("Ösophagus, Karzinom", random.Random(seed)) for seed in range(50)}
    assert "Oesophagus, Carcinom" in made
    assert len(made) > 2
    assert variants.spelling("Achsel", random.Random(1)) == "Achsel"


def test_other_hands_write_otherwise() -> None:
    made = {name: {VARIANTS[name](QUERY, random.Random(seed)) for seed in range(60)} for name in VARIANTS}
    assert {
        "Chronische Herz Insuffizienz, Zustand nach Karzinom",
        "Chronische Herz-Insuffizienz, Zustand nach Karzinom",
    } == (made["apart"])
    assert made["abbreviated"] == {"chron. HI, Z.n. Ca"}
    assert variants.abbreviated("Nasenscheidewandabszess", random.Random(1)) == "Nasenscheidewandabszess"
    assert {variants.abbreviated("Tiefe Venenentzündung", random.Random(seed)) for seed in range(20)} == {
        "Tiefe Vene.",
        "Tiefe Venen.",
    }
    assert variants.flattened("Übelkeit, großes Ödem", random.Random(1)) == "Ubelkeit, grosses Odem"
    assert all(f" {QUERY}. " in note for note in made["in_a_note"])
    assert len(made["in_a_note"]) == len(variants.OPENINGS) * len(variants.CLOSINGS)


def test_words_are_cut_off_by_rule_with_a_dot_or_without() -> None:
    made = {variants.cut_off("Hypertensive Herzkrankheit", random.Random(seed)) for seed in range(60)}
    assert {"Hypertensive Herzkr.", "Hypert. Herzkrankheit", "Hypertens. Herzkrankh."} <= made
    assert "Hypertensive Herzkrankheit" not in made
    assert variants.cut_off("Herzkrankheit", random.Random(1)) == "Herzkrankheit"
    assert variants.without_dots("Hypertens. Herzkrankh., I10.0") == "Hypertens Herzkrankh, I10.0"


def test_the_frame_of_a_note_holds_nothing_to_code(index: SearchIndex) -> None:
    for frame in (*variants.OPENINGS, *variants.CLOSINGS):
        assert [hit.code for hit in index.search(frame) if hit.confidence == "high"] == []
