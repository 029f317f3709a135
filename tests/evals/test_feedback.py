"""Reviewed codings: what is kept, what is reported, and how an approved wording gets into a catalog."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from catalog_build.official.source import read_source
from catalog_build.own_synonyms import STARTER
from evals.coding.card import read_dataset
from evals.coding.measure import main as coding
from evals.feedback.commands import main
from evals.feedback.synonyms import next_number

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
    assert "lines 5, 6: one review accepts what another rejects" in said
    assert "geheim" not in said
    assert "line 8:" not in said


def test_the_reviews_are_a_data_set_with_a_card(folder, starter_artifact, capsys):
    data = read_dataset(folder / "reviewed.tsv")
    assert {example.query: example.codes for example in data.examples} == {
        "Zuckerwerte entgleist beim Opa": {"E11.91"},
        "Bluthochdruck": {"I10.90"},
        "Zuckerkrankheit": {"J06.9"},
        "Pilz im Intimbereich der Frau": {"B37.3", "N77.1"},
    }
    assert data.card.rows == 4
    assert coding(["--catalog", str(starter_artifact), "--queries", str(folder / "reviewed.tsv")]) == 0


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
    assert not (folder / "synonyms.txt").exists()
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
    lines = (folder / "synonyms.txt").read_text().splitlines()
    number = next_number()
    assert lines == [
        f"1|B{number:06}|E11.91|||||Zuckerwerte entgleist beim Opa",
        f"1|B{number + 1:06}|B37.3+|N77.1*||||Pilz im Intimbereich der Frau",
    ]
    copy = shutil.copytree(STARTER, tmp_path / "starter")
    file = next(copy.glob("*alphaidse*.txt"))
    file.write_text(file.read_text().rstrip("\n") + "\n" + "\n".join(lines) + "\n")
    found = {each.text: (each.code, each.secondary) for each in read_source(copy).synonyms}
    assert found["Zuckerwerte entgleist beim Opa"] == ("E11.91", ())
    assert found["Pilz im Intimbereich der Frau"] == ("B37.3", ("N77.1",))


def test_importing_again_keeps_what_was_decided(folder, starter_artifact, capsys):
    rows = shown(folder, capsys)
    chosen = rows["Pilz im Intimbereich der Frau"]["id"]
    assert main(["approve", str(folder), chosen, "--catalog", str(starter_artifact)]) == 0
    reviews = folder.parent / "reviews.jsonl"
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(folder)]) == 1
    assert {query for query, row in shown(folder, capsys).items() if row["status"] == "approved"} == {
        "Pilz im Intimbereich der Frau"
    }
    reviews.write_text('{"query": "Schädelbrummen", "accepted": ["R51"]}\n')
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(folder)]) == 0
    assert set(shown(folder, capsys)) == {"Schädelbrummen", "Pilz im Intimbereich der Frau"}


def test_csv_with_semicolons_and_a_long_text(starter_artifact, tmp_path, capsys):
    reviews, out = tmp_path / "reviews.csv", tmp_path / "out"
    long = "Patient kommt mit Husten und Fieber, dazu alte Hüftschmerzen und Bluthochdruck, " * 3
    reviews.write_text(f"query;accepted;rejected\nSchädelbrummen;R51;\n{long};R05 R50.9;I10.90\n", encoding="utf-8-sig")
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(out)]) == 0
    assert "1 texts make none" in capsys.readouterr().out
    assert list(shown(out, capsys)) == ["Schädelbrummen"]


def test_what_is_not_utf_8_is_a_fault_of_its_line(starter_artifact, tmp_path, capsys):
    reviews = tmp_path / "reviews.csv"
    reviews.write_bytes("query,accepted\nSchädelbrummen,R51\n".encode() + "Rücken,M54.5\n".encode("latin-1"))
    assert main(["import", str(reviews), "--catalog", str(starter_artifact), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr()
    assert "line 3: query is not UTF-8" in said.err
    assert said.out.startswith("1 reviews, 1 faults")


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
