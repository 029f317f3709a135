"""Results: one table with its schema, written and read, compared in pairs; how the commands end."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys

import pandas as pd
import pytest
from scipy.stats import binomtest

from catalog_build.files import readable, write_text
from clinical.errors import SourceError
from evals import __main__ as command
from evals.coding.measure import main as coding
from evals.data.cards import place_of, read_card, read_dataset, write_card
from evals.measures.paired import Pairs, changes, flips, label_changes, pairs_of
from evals.measures.results import MeasuredResult, Row, beside, read_result
from evals.report.compare import main as compare
from tests.serving import interruptible

QUERIES = "query\tcodes\nBluthochdruck\tI10.90\nHerpes zoster\tB02.9\nZuckerkrankheit\tE14.90\nBluthochdruck\tI10.90\n"


def said(ranks: list[int | None], name: str = "A") -> MeasuredResult:
    """A result in which query n has this rank (0: failed)."""
    rows = [
        {
            "id": f"{n}.1", "codes": ["I10.90"], "kind": "", "failed": rank == 0, "rank": rank or None,
            "first": "I10.90" if rank == 1 else "R05", "confidence": "high", "probability": None,
            "category": rank == 1, "recall_10": float(bool(rank)), "f1": float(rank == 1),
            "distance": 0 if rank == 1 else 9,
        }
        for n, rank in enumerate(ranks)
    ]  # fmt: skip
    kinds = {"rank": float, "probability": float}
    return MeasuredResult.of("coding", "a test", [], pd.DataFrame(rows).astype(kinds))


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "small.tsv"
    path.write_text(QUERIES)
    write_card(path, "small", "1", source="ours", licence="CC0", about="four queries", faults=("one comes twice",))
    return path


def test_a_result_says_on_what_and_with_what_it_was_measured(starter_artifact, queries, tmp_path, capsys):
    out = tmp_path / "results" / "a.json"
    arguments = ["--catalog", str(starter_artifact), "--queries", str(queries), "--json", "--out", str(out)]
    assert coding(arguments) == 0
    printed, result = json.loads(capsys.readouterr().out), read_result(out)
    assert set(printed) == {"about", "rows"}
    assert printed["about"] == result.about
    about = result.about
    assert about["dataset"] == {"name": "small", "version": "1", "sha256": read_card(queries).sha256, "rows": 4}
    assert about["kind"] == "coding"
    assert {"manifest", "encoder", "target", "tier", "variant", "seed", "code", "made_at"} <= about.keys()
    assert len(about["code"]["commit"] or "x" * 40) >= 40
    assert set(result.rows["catalog"]) == {about["manifest"][:12]}
    assert len(set(result.queries["id"])) == len(result.queries) == 4
    written = out.read_text()
    assert "Bluthochdruck" not in written
    assert "Zuckerkrankheit" not in written
    assert coding([*arguments, "--keep-texts"]) == 0
    assert read_result(out).queries["text"][0] == "Bluthochdruck"


def test_two_runs_on_the_same_are_the_same(starter_artifact, queries, tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for file in files:
        assert coding(["--catalog", str(starter_artifact), "--queries", str(queries), "--out", file]) == 0
    capsys.readouterr()
    assert compare([*files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["context"]) == (4, {})
    assert all(change["difference"] == [0, 0, 0] and change["p"] == 1 for change in found["changes"])


def test_a_real_change_is_found_and_listed(tmp_path, capsys):
    before, after = said([1] * 20 + [None] * 20), said([1] * 18 + [None] * 2 + [1] * 12 + [3] * 8)
    (top_1, top_10, *_, distance) = changes(pairs_of(before, after))
    assert (top_1.won, top_1.lost, top_1.before, top_1.after) == (12, 2, 0.5, 0.75)
    assert top_1.p == pytest.approx(binomtest(2, 14).pvalue)
    assert top_1.real
    assert (top_10.won, top_10.lost) == (20, 2)
    assert distance.better > 0 > distance.difference[0]
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, result in zip(files, (before, after), strict=True):
        result.write(file)
    assert compare([*map(str, files), "--flips", "1"]) == 0
    printed = capsys.readouterr().out
    assert "top_1 lost: 2, the first 1" in printed
    assert "better" in printed


def test_chance_is_called_chance():
    """Under no change the tests come out under 0.05 about as rarely as they say."""
    chance, real = random.Random(3), {"top_1": 0, "mrr": 0}
    for _ in range(60):
        rows = [[chance.choice([1, 2, 5, None]) for _ in range(60)] for _ in range(2)]
        for change in changes(pairs_of(said(rows[0]), said(rows[1]))):
            if change.name in real:
                real[change.name] += change.real
    assert all(count <= 8 for count in real.values()), real


def test_a_query_that_failed_is_left_out_of_both_and_is_a_flip():
    pairs = pairs_of(said([1, 1, None]), said([1, 0, None]))
    assert changes(pairs)[0].lost == 0
    assert list(flips(pairs)[1].before["id"]) == ["1.1"]


def test_other_queries_cannot_be_compared(tmp_path, capsys):
    files = [tmp_path / "a.json", tmp_path / "b.json", tmp_path / "c.json", tmp_path / "d.json"]
    said([1, 1]).write(files[0])
    said([1]).write(files[1])
    MeasuredResult.of("coding", "a test", []).write(files[2])
    files[3].write_text("[]")
    for other, words in ((files[1], "1 queries only here"), (files[2], "--out"), (files[3], "no result")):
        assert compare([str(files[0]), str(other)]) == 2
        assert words in capsys.readouterr().err
    assert compare([str(files[0]), str(tmp_path / "none.json")]) == 2


def test_a_data_set_that_is_not_the_one_of_its_card_is_refused(queries):
    assert read_dataset(queries).about["version"] == "1"
    queries.write_text(QUERIES.replace("zoster", "labialis"))
    with pytest.raises(SourceError, match="sha256"):
        read_dataset(queries)
    card = json.loads(place_of(queries).read_text())
    for broken in ("{", "[]", json.dumps(card | {"more": 1}), json.dumps(card | {"source": ""})):
        place_of(queries).write_text(broken)
        with pytest.raises(SourceError, match=r"small\.card\.json"):
            read_dataset(queries)


def test_the_card_command(tmp_path, capsys):
    path = tmp_path / "mine.tsv"
    path.write_text(QUERIES)
    assert command.main(["card", str(path), "--version", "1"]) == 2
    assert "source" in capsys.readouterr().err
    texts = ["--source", "ours", "--licence", "CC0", "--about", "four"]
    assert command.main(["card", str(path), "--version", "1", *texts, "--fault", "few"]) == 0
    path.write_text(QUERIES + "Gicht\tM10.99\n")
    assert command.main(["card", str(path)]) == 2
    assert command.main(["card", str(path), "--version", "2"]) == 0
    card = read_card(path)
    assert (card.version, card.rows, card.faults, card.source) == ("2", 5, ("few",), "ours")


def test_an_interrupted_command_ends_with_a_sentence(starter_artifact, tmp_path):
    queries, out = tmp_path / "queries.tsv", tmp_path / "out.json"
    os.mkfifo(queries)
    arguments = ["--catalog", str(starter_artifact), "--queries", str(queries), "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "evals", "coding", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )
    try:
        with queries.open("wb"):  # opens once the command reads
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
    finally:
        process.kill()
    assert process.stderr.read().splitlines() == [
        "interrupted: no half-written result is left; run the same command again, what a model answered is kept"
    ]
    assert list(tmp_path.iterdir()) == [queries]


def test_what_cannot_be_read_or_written_is_said_before_anything_is_measured(
    starter_artifact, queries, tmp_path, capsys
):
    start = ["coding", "--catalog", str(starter_artifact), "--queries"]
    assert command.main([*start, str(queries), "--out", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert command.main([*start, str(queries), "--keep-texts"]) == 2
    assert "--keep-texts needs --out" in capsys.readouterr().err
    for name in ("a.tsv", "a.jsonl"):
        (tmp_path / name).write_bytes(b"query\tcodes\n\xff\xfe\tI10.90\n")
        assert command.main([*start, str(tmp_path / name)]) == 2
        assert f"{name}: is no text in UTF-8" in capsys.readouterr().err


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "a.json"
    write_text(path, "first")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_text() == "first"
    assert list(path.parent.iterdir()) == [path]
    tree = {"a": [1, 2.5, -3e-05], "b": {"c": [], "d": "x [1,\n 2]"}, "e": [None, "x"]}
    assert json.loads(readable(tree)) == tree
    assert '"a": [ 1, 2.5, -3e-05 ]' in readable(tree)


# --- labels and calibration -----------------------------------------------------------------------------------------


def _marked(right, confidence, probability, kind="", category="I10"):
    return {"rank": 1 if right else 2, "confidence": confidence, "probability": probability, "kind": kind,
            "failed": False, "codes": [f"{category}.90"]}  # fmt: skip


def _pairs(before, after):
    return Pairs(pd.DataFrame(before), pd.DataFrame(after))


def test_a_label_that_is_worth_less_is_seen_though_no_rank_changed():
    """Before: high is right. After: everything is high, with a probability of one."""
    rows = [(n % 2 == 0, f"A{n:02}") for n in range(60)]
    before = [_marked(right, "high" if right else "low", 0.95 if right else 0.05, "list", at) for right, at in rows]
    after = [_marked(right, "high", 1.0, "list", at) for right, at in rows]
    found = {change.name: change for change in label_changes(_pairs(before, after))}
    assert (found["high_precision"].before, found["high_precision"].after) == (1.0, 0.5)
    assert found["high_precision list"].difference == found["high_precision"].difference
    assert found["high_coverage"].better > 0
    assert found["calibration_error"].before == pytest.approx(0.05)
    assert found["calibration_error"].after == 0.5
    assert {name for name, one in found.items() if one.real and one.better < 0} == {
        "high_precision", "high_precision list", "calibration_error", "calibration_error list"
    }  # fmt: skip
    assert all(one.p == 1 for one in label_changes(_pairs(before, before)))


def test_mistakes_of_one_category_count_once():
    """The same ten mistakes in one category say far less than in ten."""
    widths = []
    for places in (["C01"] * 10, [f"C{n:02}" for n in range(10)]):
        at = [*places, *(f"D{n:02}" for n in range(50))]
        before = [_marked(True, "high", 0.9, "", one) for one in at]
        pairs = _pairs(before, [_marked(n >= 10, "high", 0.9, "", one) for n, one in enumerate(at)])
        change = {found.name: found for found in label_changes(pairs)}["high_precision"]
        widths.append(change.difference[2] - change.difference[1])
    assert widths[0] > 1.5 * widths[1]


# --- `python -m evals` -----------------------------------------------------------------------------------------------


def test_every_name_is_explained_and_an_unknown_one_is_refused(capsys):
    explained = re.findall(r"^([a-z-]+) +\S", command.__doc__.partition("\n\n")[2], re.MULTILINE)
    assert sorted(explained) == sorted(command.MEASURES)
    assert command.main(["codeing"]) == 2
    assert capsys.readouterr().err.endswith("there is no 'codeing'; the names are above\n")
    assert command.main([]) == 2
    assert "\ncoding " in capsys.readouterr().err
    assert command.main(["--help"]) == 0
    assert "\ncoding " in capsys.readouterr().out


def test_measures_of_sets_stand_beside_each_other():
    rows = [Row("top_1", "all", 30, 0.5, 0.4, 0.6), Row("words", "all", 20, 1234.5), Row("top_1", "typed", 9, 1.0)]
    assert [re.split(r"\s{2,}", line.strip()) for line in beside(rows).splitlines()] == [
        ["n", "top_1", "words"],
        ["all", "30", "0.500 (0.400 to 0.600)", "1,234"],
        ["typed", "9", "1.000", "-"],
    ]
    assert beside(rows, ["words"]).split() == ["n", "words", "all", "20", "1,234"]
    assert beside(rows, ["mrr"]) == beside([]) == ""
