"""Reviewed codings: what is kept, what is reported, and how an approved wording gets into a catalog."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from catalog_build.official.source import read_source
from catalog_build.own_synonyms import STARTER
from catalog_build.training.feedback import command, side_of, waiting
from catalog_build.vocabulary import read_file
from clinical.command_line import entry
from evals.coding.measure import main as coding
from evals.data.cards import read_dataset

main = entry(command, "python -m catalog_build feedback")
LINES = [
    '{"query": "Zuckerwerte  entgleist beim Opa", "accepted": ["e1191"], "rejected": ["E10.90"], "reviewer": "a"}',
    '{"query": "Bluthochdruck", "accepted": ["I10.90"]}',
    '{"query": "Zuckerkrankheit", "accepted": ["J06.9"], "date": "2026-11-01"}',
    '{"query": "Pilz im Intimbereich der Frau", "accepted": ["B37.3+", "N77.1*"], "rejected": []}',
    '{"query": "Kopf tut weh", "accepted": ["R51"]}',
    '{"query": "Kopf tut weh", "accepted": [], "rejected": ["R51"]}',
    '{"query": "nur abgelehnt", "rejected": ["R51"]}',
    "",
    '{"query": "", "accepted": ["R51"]}',
    '{"query": "geheimer Text", "accepted": ["Q00.0"]}',
    '{"query": "geheimer Text", "accepted": ["R51"], "rejected": ["R51"]}',
    '{"query": "geheimer Text", "accepted": "kein Kode"}',
    '{"query": "geheimer Text"}',
    '{"query": ["geheimer Text"], "accepted": ["R51"]}',
    "[]",
    "{geheimer",
    '{"query": "geheimer Text \\ud800", "accepted": ["R51"]}',
    '{"query": "Schädelbrummen", "accepted": ["R51"], "reviewer": "a"}',
    '{"query": "schädelbrummen", "accepted": ["R51"], "reviewer": "b"}',
]


@pytest.fixture
def folder(tmp_path, starter_artifact, capsys) -> Path:
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text("\n".join(LINES), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(out)]) == 1
    return out


def shown(folder: Path, capsys) -> dict[str, dict]:
    capsys.readouterr()
    assert main(["show", str(folder), "--json"]) == 0
    return {row["query"]: row for row in json.loads(capsys.readouterr().out)}


def test_bad_lines_are_reported_by_number_without_their_text(folder, capsys):
    said = capsys.readouterr().err
    for line in (9, 10, 11, 12, 13, 14, 15, 16, 17):
        assert f"line {line}:" in said
    assert "line 5: one review accepts what another rejects" in said
    assert "line 6: one review accepts what another rejects" in said
    assert "geheim" not in said
    assert "line 8:" not in said


def test_texts_are_split_for_good(folder, starter_artifact, capsys):
    data = read_dataset(folder / "reviewed.tsv")
    assert {example.query: example.codes for example in data.examples} == {
        "Schädelbrummen": {"R51"},
        "schädelbrummen": {"R51"},
    }
    assert data.card.rows == 2
    assert {example.query: example.codes for example in read_dataset(folder / "training.tsv").examples} == {
        "Zuckerwerte entgleist beim Opa": {"E11.91"},
        "Bluthochdruck": {"I10.90"},
        "Zuckerkrankheit": {"J06.9"},
        "Pilz im Intimbereich der Frau": {"B37.3", "N77.1"},
    }
    assert {side_of(query) for query in shown(folder, capsys)} == {"training"}
    assert side_of("SCHÄDELBRUMMEN ") == side_of("schaedelbrummen")
    assert coding(["--catalog", str(starter_artifact), "--queries", str(folder / "reviewed.tsv")]) == 0


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_import_twice_loses_and_doubles_nothing(folder, starter_artifact, capsys):
    before = everything(folder)
    arguments = ["import", str(folder.parent / "reviews.jsonl"), "--catalog", str(starter_artifact)]
    assert main([*arguments, "--out", str(folder)]) == 1
    assert ", 0 of them new" in capsys.readouterr().out
    assert everything(folder) == before
    assert len((folder / "reviews.jsonl").read_text().splitlines()) == 9


def test_a_second_file_is_added_to_the_first(folder, starter_artifact, capsys):
    second = folder.parent / "second.csv"
    second.write_text("query,accepted,reviewer\nHexenschuss,R51,b\nschädelbrummen,I10.90,b\nOhrensausen,R51,b\n")
    capsys.readouterr()
    assert main(["import", str(second), "--catalog", str(starter_artifact), "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "1 pairs of reviewers, same codes 0.00" in said
    total, *parts = re.search(r"in all (\d+): (\d+) for .*?, (\d+) for training, (\d+) in neither", said).groups()
    assert int(total) == sum(map(int, parts))
    assert len((folder / "reviews.jsonl").read_text().splitlines()) == 12
    assert {"Schädelbrummen", "Hexenschuss"} <= {each.query for each in read_dataset(folder / "reviewed.tsv").examples}
    assert {"Ohrensausen", "Bluthochdruck"} <= set(shown(folder, capsys))


def test_what_became_nothing_stands_by_line(folder):
    dropped = dict(line.split("\t") for line in (folder / "dropped.tsv").read_text().splitlines()[1:])
    assert set(dropped) == {f"reviews.jsonl, line {line}" for line in (5, 6, 7)}
    assert "rejects" in dropped["reviews.jsonl, line 5"]
    assert "no code is accepted" in dropped["reviews.jsonl, line 7"]


def test_the_queue_begins_with_what_is_frequent_and_unsure(folder, starter_artifact, capsys):
    texts = folder.parent / "texts.txt"
    texts.write_text("Gicht\nbrummt so seltsam im Ohr\nBrummt so seltsam im Ohr\nBluthochdruck\n\n")
    capsys.readouterr()
    assert main(["queue", str(texts), "--catalog", str(starter_artifact), "--folder", str(folder)]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["query"], row["times"]) for row in rows] == [("brummt so seltsam im Ohr", "2"), ("Gicht", "1")]
    assert float(rows[0]["worth"]) > float(rows[1]["worth"])


def test_a_higher_tier_that_disagrees_makes_a_text_useful(index):
    one, other = waiting(["Gicht", "Kopfschmerz"], [], index, lambda text: "R51")
    assert (one.query, one.other, one.worth) == ("Gicht", "R51", 1.0)
    assert other.other == ""


def test_candidates_say_what_the_catalog_has_already(folder, capsys):
    rows = shown(folder, capsys)
    assert {query: row["kind"] for query, row in rows.items()} == {
        "Zuckerwerte entgleist beim Opa": "new",
        "Bluthochdruck": "duplicate",
        "Zuckerkrankheit": "conflict",
        "Pilz im Intimbereich der Frau": "new",
    }
    assert {row["status"] for row in rows.values()} == {"proposed"}
    assert "I10.90" in rows["Bluthochdruck"]["says"][0]
    assert rows["Zuckerkrankheit"]["same_words"]
    assert not (folder / "synonyms.tsv").exists()
    assert main(["show", str(folder), "--status", "approved"]) == 0
    assert capsys.readouterr().out.startswith("0 candidates")


def test_only_what_a_person_approved_is_written_and_the_build_reads_it(folder, starter_artifact, tmp_path, capsys):
    rows = shown(folder, capsys)
    catalog = ["--catalog", str(starter_artifact)]
    assert main(["approve", str(folder), rows["Bluthochdruck"]["id"], *catalog]) == 2
    assert main(["approve", str(folder), rows["Zuckerkrankheit"]["id"], *catalog]) == 2
    assert "--conflicts" in capsys.readouterr().err
    assert main(["approve", str(folder), "00000000", *catalog]) == 2
    assert main(["reject", str(folder), rows["Zuckerkrankheit"]["id"], *catalog]) == 0
    news = [row["id"] for row in rows.values() if row["kind"] == "new"]
    assert main(["approve", str(folder), *news, *catalog]) == 0
    lines = (folder / "synonyms.tsv").read_text().splitlines()
    assert [line.split("\t")[:2] for line in lines] == [
        ["text", "code"],
        ["Zuckerwerte entgleist beim Opa", "E11.91"],
        ["Pilz im Intimbereich der Frau", "B37.3+ N77.1*"],
    ]
    entries = read_file(folder / "synonyms.tsv", read_source(STARTER).catalog)
    assert [(each.state, each.codes) for each in entries] == [("taken", ("E11.91",)), ("taken", ("B37.3", "N77.1"))]


def test_importing_again_keeps_what_was_decided(folder, starter_artifact, capsys):
    rows = shown(folder, capsys)
    chosen = rows["Pilz im Intimbereich der Frau"]["id"]
    assert main(["approve", str(folder), chosen, "--catalog", str(starter_artifact)]) == 0
    reviews = folder.parent / "reviews.jsonl"
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(folder)]) == 1
    assert {query for query, row in shown(folder, capsys).items() if row["status"] == "approved"} == {
        "Pilz im Intimbereich der Frau"
    }
    reviews.write_text('{"query": "Ohrensausen", "accepted": ["R51"]}\n')
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(folder)]) == 0
    rows = shown(folder, capsys)
    assert {"Ohrensausen", "Bluthochdruck"} <= set(rows)
    assert rows["Pilz im Intimbereich der Frau"]["status"] == "approved"


def test_csv_with_semicolons_and_a_long_text(starter_artifact, tmp_path, capsys):
    reviews, out = tmp_path / "reviews.csv", tmp_path / "out"
    long = "Patient kommt mit Husten und Fieber, dazu alte Hüftschmerzen und Bluthochdruck, " * 3
    reviews.write_text(f"query;accepted;rejected\nOhrensausen;R51;\n{long};R05 R50.9;I10.90\n", encoding="utf-8-sig")
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(out)]) == 0
    assert list(shown(out, capsys)) == ["Ohrensausen"]


def test_what_is_not_utf_8_is_a_fault_of_its_line(starter_artifact, tmp_path, capsys):
    reviews = tmp_path / "reviews.csv"
    reviews.write_bytes("query,accepted\nSchädelbrummen,R51\n".encode() + "Rücken,M54.5\n".encode("latin-1"))
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr()
    assert "line 3: query is not UTF-8" in said.err
    assert "1 of them new, 1 faults" in said.out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'query,accepted\n"' + "x" * 200_000),
        ("a.csv", "text,codes\nA,R51\n"),
        ("a.csv", ""),
        ("a.jsonl", "\n"),
        ("a.jsonl", "{}"),
        ("a.jsonl", '{"query": "A", "rejected": ["R51"]}'),
    ],
)
def test_a_file_without_reviews_is_refused_whole(starter_artifact, tmp_path, capsys, name, content):
    (tmp_path / name).write_text(content)
    arguments = ["import", str(tmp_path / name), "--catalog", str(starter_artifact), "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert main(["show", str(tmp_path)]) == 2


def test_a_file_without_texts_becomes_counts_and_says_so(tmp_path, starter_artifact, capsys):
    line = '{"page": "p", "date": "2026-11-22", "code": "R51", "confidence": "high", "accepted": 3, "rejected": 1}'
    wrong = ['{"code": "Q00.0"}', '{"code": "R51", "confidence": "sure"}', "{", '{"query": "geheim", "code": "R51"}']
    nothing = '{"code": "R51", "confidence": "high", "accepted": 0, "rejected": true}'
    file, out = tmp_path / "feedback-counts.jsonl", tmp_path / "out"
    command = ["import", str(file), "--catalog", str(starter_artifact), "--out", str(out)]
    file.write_text("\n".join([line, *wrong, nothing]), "utf-8")
    assert main(command) == 1
    said = capsys.readouterr()
    assert [f"line {number}" in said.err for number in range(1, 8)] == [False] + 5 * [True] + [False]
    assert "geheim" not in said.err
    assert "high               3         1  0.75" in said.out
    assert "rejected most often: R51 1" in said.out
    assert "holds no texts, only how often 1 codes were accepted and rejected" in said.out

    later = line.replace('"accepted": 3', '"accepted": 5')
    other = line.replace('"p"', '"q"').replace('"high"', '"hand"')
    file.write_text(f"{later}\n{other}\n", "utf-8")
    assert main(command) == 0
    assert main(command) == 0, "the same file twice changes nothing"
    rows = list(csv.DictReader((out / "counts.tsv").open(encoding="utf-8"), delimiter="\t"))
    assert [(row["page"], row["confidence"], row["accepted"]) for row in rows] == [
        ("p", "high", "5"),
        ("q", "hand", "3"),
    ]
    assert not (out / "reviewed.tsv").exists()
