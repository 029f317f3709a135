"""evals coding: its files of queries, its variants of them, queries that fail, and the full catalog."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from catalog_build.build import BuildOptions, build_artifact
from catalog_build.official import read_source
from catalog_build.own_synonyms import STARTER
from clinical.errors import SourceError
from clinical.reading.index import SearchIndex
from clinical.search.manifest import Manifest
from clinical.search.ranking import Ranker
from clinical.text import folded_words
from evals.coding import heldout, variants
from evals.coding.measure import VARIANTS, main, run
from evals.coding.outcomes import NEAR, NearTexts, frame_of, similarity
from evals.data.cards import read_dataset
from evals.data.examples import Example, read_examples
from evals.measures.queries import rows_of
from tests.fakes import hash_index

QUERY = "Chronische Herzinsuffizienz, Zustand nach Karzinom"
WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=8)
GERMAN = st.text("abcdefghijklmnopqrstuvwxyzäöüßABCKZÄÖÜ -", max_size=40)


def test_a_failed_query_is_not_a_wrong_one(starter_artifact: Path) -> None:
    manifest, ranker = Manifest.load(starter_artifact), Ranker.load(starter_artifact / "ranker.safetensors")
    index = hash_index(manifest, ranker, fails_on="kaputt")
    examples = [Example(query, frozenset({"I21.9"})) for query in ("Herzinfarkt", "kaputt", "😀")]
    outcomes = run(index, examples)
    assert [one.found is None for one in outcomes] == [False, True, False]
    rows = {row.measure: row for row in rows_of(frame_of(outcomes, index.catalog)) if row.set == "all"}
    assert (rows["top_10"].n, rows["failed"].value) == (2, 1)
    assert rows["top_10"].value == 0.5


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


@given(st.lists(WORDS, max_size=30), WORDS)
def test_exactly_what_a_comparison_with_every_text_finds(texts, own):
    assert NearTexts(texts).has_near(own) == any(similarity(own, text) >= NEAR for text in texts)


def test_the_synonyms_of_a_fold_become_a_data_set(tmp_path: Path) -> None:
    assert heldout.main([str(STARTER), "--fold", "3", "--out", str(tmp_path / "fold.tsv")]) == 0
    data = read_dataset(tmp_path / "fold.tsv")
    assert data.about["name"] == "fold-3"
    assert data.examples == heldout.held_out(read_source(STARTER), 3) != []


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


@pytest.mark.timeout(900)
def test_the_full_catalog_finds_most_of_a_practitioners_queries(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "catalog"
    build_artifact(shared_data / "icd10gm/2026-reconstructed", full, BuildOptions())
    manifest = Manifest.load(full)
    assert (manifest.codes, manifest.terminal_codes, manifest.synonyms) == (16_903, 14_369, 85_676)
    queries = shared_data / "eval-dev/gp_queries.tsv"
    assert main(["--catalog", str(full), "--queries", str(queries), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["measure"]: row for row in found["rows"] if row["set"] == "all"}
    assert (rows["top_10"]["n"], rows["failed"]["value"]) == (404, 0)
    assert rows["top_10"]["value"] > 0.6  # far below what is reached: this catches a broken build, not a worse one
