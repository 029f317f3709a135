"""Batch coding: every row comes back once, in its order, whatever it holds and whenever the run is killed."""

from __future__ import annotations

import csv
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batch.__main__ import Job, main, run
from batch.coder import Coder
from batch.files import CHUNK, TextFile
from batch.run import Run, left
from clinical.errors import BefundError, SettingError, SourceError
from evals.load.batch import BatchWatch, Enough, write_texts
from evals.load.measure import main as load
from tests.serving import interruptible, wait_until

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Erika Mustermann mit Herzinfarkt"


def call(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def program_of(source: Path, catalog: Path, out: Path, *options: object) -> list[str]:
    return [str(word) for word in (sys.executable, "-m", "batch", source, "--catalog", catalog, "--out", out, *options)]


def assert_coded(table: pa.Table, chosen: list[int], texts: list[str | None], catalog: Path) -> None:
    """The chosen rows are coded as these texts are in this process."""
    again = Coder(str(catalog))(table_of(texts))
    for name in ("status", "codes", "confidences", "probabilities"):
        assert table[name].take(chosen).to_pylist() == again[name].to_pylist()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table_of(texts: list[str | bytes | None]) -> pa.Table:
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    columns = {"row": pa.array(range(len(texts)), pa.int64()), "id": pa.array(range(len(texts)))}
    return pa.table(columns | {"text": pa.array(raw, pa.large_binary()), "malformed": pa.array([False] * len(texts))})


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, index) -> Path:
    """Twelve chunks of few different texts, with some that cannot be coded."""
    chance = random.Random(7)
    titles = [code.title for code in index.catalog][::40]
    odd = ["", "  ", "x" * 2_001, None]
    texts = [chance.choice(odd) if chance.random() < 0.01 else chance.choice(titles) for _ in range(12 * CHUNK + 17)]
    path = tmp_path_factory.mktemp("batch") / "many.parquet"
    pq.write_table(pa.table({"case": [f"case-{n}" for n in range(len(texts))], "note": texts}), path)
    return path


# --- what becomes of a row ------------------------------------------------------------------------------------------


def test_every_row_has_a_status_and_keeps_its_place(tmp_path, starter_artifact, capfd):
    lines = [
        b"fall;text",
        b"a;" + SECRET.encode(),
        b"b;",
        b"c;I10.90",
        b'd;"Z. n. I21.9, jetzt Atemnot; ""akut"""',
        b"e;zu;viel",
        b"f;Herz\xff",
        b"g;" + b"Gicht " * 400,
        "h;😀".encode(),
        b"i",
        b"j;Z99.99",
    ]
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join(lines) + b"\r\n")
    done = call(source, "--catalog", starter_artifact, "--out", out, "--id-column", "fall", "--workers", 1)
    shown = capfd.readouterr()
    assert done == 0, shown.err
    rows = rows_of(out)
    assert [row["id"] for row in rows] == list("abcdefghij")
    expected = ["coded", "empty", "coded", "coded", "malformed", "bad-utf-8", "too-long", "nothing-found"]
    assert [row["status"] for row in rows] == [*expected, "malformed", "nothing-found"]
    assert rows[2]["codes"] == "I10.90"
    assert "I21.9" in rows[3]["codes"].split()
    assert "10 rows: 3 coded, 2 nothing-found, 1 empty, 1 too-long, 1 bad-utf-8, 2 malformed" in shown.out
    assert "Mustermann" not in out.read_text("utf-8") + shown.out + shown.err
    assert not out.with_name("out.csv.parts").exists()


def test_the_codes_are_those_of_the_search(tmp_path, starter_artifact, index):
    texts = ["Bluthochdruck", None, "Gürtelrose, Z. n. Herzinfarkt. Kein Fieber.", "", "Bluthochdruck", "Migrane"]
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    column = pa.array(texts).dictionary_encode()
    pq.write_table(pa.table({"text": column, "key": pa.array([5, 4, 3, 2, 1, 1], pa.int16())}), source)
    options = ("--id-column", "key", "--limit", 3, "--keep-text", "--workers", 2)
    assert call(source, "--catalog", starter_artifact, "--out", out, *options) == 0
    table = pq.read_table(out)
    assert table["id"].to_pylist() == [5, 4, 3, 2, 1, 1]
    assert table["text"].to_pylist() == texts
    assert table["status"].to_pylist() == ["coded", "missing", "coded", "empty", "coded", "coded"]
    for row in table.to_pylist():
        found = index.search(row["text"] or "", 3)
        assert row["codes"] == [hit.code for hit in found]
        assert row["confidences"] == [hit.confidence for hit in found]
        assert row["probabilities"] == [hit.probability for hit in found]
    about = json.loads(table.schema.metadata[b"befund"])
    assert about["catalog"] == index.manifest.digest


def test_bytes_that_are_no_utf_8_in_a_parquet(tmp_path, starter_artifact):
    raw = pa.array([b"Gicht", b"\xff\xfe", None], pa.binary())
    table = pa.table({"text": pa.Array.from_buffers(pa.string(), 3, raw.buffers())})
    pq.write_table(table, tmp_path / "in.parquet")
    job = Job(TextFile(tmp_path / "in.parquet"), starter_artifact, tmp_path / "out.parquet")
    assert run(job) == {"coded": 1, "bad-utf-8": 1, "missing": 1}
    assert pq.read_table(job.output)["id"].to_pylist() == [1, 2, 3]


def test_a_tsv_has_no_quotes_and_one_column_has_empty_texts(tmp_path):
    (tmp_path / "in.tsv").write_text('text\tx\n"akute" Gicht\t1\n5" Nagel\t2\n', "utf-8")
    (tmp_path / "in.csv").write_text("text\nGicht\n\nHusten\n", "utf-8")
    quoted = next(TextFile(tmp_path / "in.tsv").tables())
    assert quoted["text"].to_pylist() == [b'"akute" Gicht', b'5" Nagel']
    source = TextFile(tmp_path / "in.csv")
    assert source.count() == 3
    assert next(source.tables())["text"].to_pylist() == [b"Gicht", b"", b"Husten"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_header_may_be_quoted_whatever_divides_it(tmp_path, delimiter):
    lines = (delimiter.join(row) for row in (('"id"', '"text"'), ('"1"', '"Gicht; links, ""akut"""')))
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", "utf-8")
    assert next(TextFile(tmp_path / "in.csv").tables())["text"].to_pylist() == [b'Gicht; links, "akut"']


def test_a_coder_travels_as_its_options(starter_artifact):
    coder = Coder(str(starter_artifact), limit=2)
    table = table_of(["Husten", None, b"\xff", "Husten"])
    first = coder(table)
    packed = pickle.dumps(coder)
    assert len(packed) < 1_000
    assert pickle.loads(packed)(table).equals(first)


def test_details_say_what_each_code_rests_on(tmp_path, starter_artifact, index, capsys):
    texts = ["Gonarthrose links", "", "V. a. Asthma bronchiale, J18.9", "E11.90"]
    pq.write_table(pa.table({"text": texts, "age": [70, 3, None, 41], "ward": list("abcd")}), tmp_path / "in.parquet")
    kept = ("--columns", "age", "ward")
    arguments = (tmp_path / "in.parquet", "--catalog", starter_artifact, "--workers", 1, "--details", *kept, "--out")
    assert call(*arguments, tmp_path / "out.csv") == 2
    assert ".parquet" in capsys.readouterr().err
    assert call(*arguments, tmp_path / "out.parquet") == 0
    knee, empty, lungs, bare = pq.read_table(tmp_path / "out.parquet").to_pylist()
    names = ("titles", "wordings", "starts", "ends", "claims", "sides")
    first = index.search(texts[0], 1)[0]
    title = index.catalog.get(first.code).title
    assert [knee[name][0] for name in names] == [title, first.text, first.start, first.end, "present", "L"]
    assert all(empty[name] == [] for name in names)
    assert all(len(lungs[name]) == len(lungs["codes"]) for name in names)
    assert "suspected" in lungs["claims"]
    assert bare["wordings"] == ["E11.90"]
    assert [(row["age"], row["ward"]) for row in (knee, empty, lungs, bare)] == [
        (70, "a"),
        (3, "b"),
        (None, "c"),
        (41, "d"),
    ]


def test_kept_columns_of_a_csv_are_handed_on_as_text_also_beside_a_malformed_row(starter_artifact, tmp_path):
    (tmp_path / "in.csv").write_text("text;ward\nGicht;4 West\nGicht;4;West\n", "utf-8")
    (table,) = TextFile(tmp_path / "in.csv", kept=("ward",)).tables()
    assert Coder(str(starter_artifact))(table)["ward"].to_pylist() == ["4 West", "4"]


def test_a_kept_column_may_not_have_the_name_of_one_of_the_outputs(starter_artifact, tmp_path, capsys):
    (tmp_path / "in.csv").write_text("text;codes\nGicht;x\n", "utf-8")
    out = ("--catalog", starter_artifact, "--out", tmp_path / "out.csv", "--columns", "codes")
    assert call(tmp_path / "in.csv", *out) == 2
    assert "--columns codes: the output has its own" in capsys.readouterr().err


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("in.txt", "text\nGicht\n", "'.txt'"),
        ("in.csv", "id,befund\n1,Gicht\n", "no column text; it has id, befund"),
        ("in.csv", "id;Befund\n1;Gicht\n", "has no column text; it has id, Befund"),
        ("in.csv", f'"text\n{SECRET}\nGicht\n', "a quote is not closed"),
        ("in.csv", f'text\n"{SECRET}\nGicht\n', "line 3: a quote is not closed"),
        ("in.csv", f'text\n"Gicht" {SECRET}\n', "line 2: a quote is not closed, or something"),
        ("in.csv", "text\n", "holds no rows"),
        ("in.parquet", "text\nGicht\n", "no Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_sentence(tmp_path, starter_artifact, capsys, name, content, says):
    (tmp_path / name).write_text(content, "utf-8")
    assert call(tmp_path / name, "--catalog", starter_artifact, "--out", tmp_path / "out.csv") == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Mustermann" not in error
    assert not (tmp_path / "out.csv.parts").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--limit", 0), "not in the range"),
        (("--limit", 21), "not in the range"),
        (("--workers", 0), "not in the range"),
        (("--out", "x.xlsx"), "expected"),
    ],
)
def test_options_out_of_range_are_refused(tmp_path, starter_artifact, capsys, options, said):
    (tmp_path / "in.csv").write_text("text\nGicht\n", "utf-8")
    assert call(tmp_path / "in.csv", "--catalog", starter_artifact, "--out", tmp_path / "o.csv", *options) == 2
    assert said in capsys.readouterr().err


def test_a_parquet_column_of_numbers_is_refused(tmp_path):
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "in.parquet")
    with pytest.raises(SourceError, match="column text is int64"):
        TextFile(tmp_path / "in.parquet").count()


def test_a_run_goes_on_only_with_the_same_input_catalog_and_options(tmp_path, starter_artifact):
    source = TextFile(tmp_path / "in.csv")
    source.path.write_text("text\nGicht\nHusten\n", "utf-8")
    job = Job(source, starter_artifact, tmp_path / "out.csv")
    coded = Coder(str(starter_artifact))(next(source.tables()))
    with Run(job.output, job.record(2)) as begun:
        begun.add(coded.slice(1))
        with pytest.raises(SettingError, match="another run is writing"):
            run(job)
    with pytest.raises(SettingError, match="begun with another options"):
        run(Job(source, starter_artifact, job.output, limit=3))
    source.path.write_text("text\nGicht\nFieber\n", "utf-8")
    with pytest.raises(SettingError, match="begun with another input"):
        run(job)
    source.path.write_text("text\nGicht\nHusten\n", "utf-8")
    with (
        pytest.raises(SettingError, match="begun with another catalog"),
        Run(job.output, job.record(2) | {"catalog": ""}),
    ):
        pass
    assert run(job) == {"coded": 2}
    before = job.output.read_bytes()
    with pytest.raises(SettingError, match="exists already"):
        run(job)
    assert job.output.read_bytes() == before


# --- killed at any moment -------------------------------------------------------------------------------------------


def begun(source: Path, catalog: Path, out: Path) -> subprocess.Popen[str]:
    command = program_of(source, catalog, out, "--column", "note", "--id-column", "case", "--workers", 2)
    program = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
    end = time.monotonic() + 60
    while not list(out.with_name(f"{out.name}.parts").glob("0*.parquet")):
        assert program.poll() is None, program.stderr and program.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.01)
    return program


def test_killed_and_started_again_no_row_is_lost_or_twice(tmp_path, starter_artifact, many):
    out = tmp_path / "out.parquet"
    program = begun(many, starter_artifact, out)
    workers = psutil.Process(program.pid).children(recursive=True)
    program.kill()
    program.communicate()
    assert len(workers) >= 2
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive, "workers outlive the program that started them"
    folder = tmp_path / "out.parquet.parts"
    kept = list(folder.glob("0*.parquet"))
    (folder / f"{CHUNK * 9:012d}-{CHUNK:06d}.parquet").write_bytes(b"PAR1 cut off")
    (folder / "x.tmp").write_bytes(b"half")
    steps: list[int] = []
    job = Job(TextFile(many, "note", "case"), starter_artifact, out, workers=2)
    counts = run(job, each=steps.append)
    table = pq.read_table(out)
    source = pq.read_table(many)
    assert counts.total() == steps[-1] == len(table) == len(source)
    assert steps[0] > CHUNK * len(kept), "what was done is not done again"
    assert table["id"].to_pylist() == source["case"].to_pylist()
    chosen = random.Random(1).sample(range(len(source)), 300)
    assert_coded(table, chosen, source["note"].take(chosen).to_pylist(), starter_artifact)
    assert os.listdir(tmp_path) == ["out.parquet"]


def test_interrupted_it_ends_with_130_and_says_how_to_go_on(tmp_path, starter_artifact, many):
    program = begun(many, starter_artifact, tmp_path / "out.csv")
    workers = psutil.Process(program.pid).children(recursive=True)
    program.send_signal(signal.SIGINT)
    _, error = program.communicate(timeout=30)
    assert program.returncode == 130, error
    assert "the same command goes on where it was" in error
    assert "Traceback" not in error
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive


@settings(deadline=None, max_examples=50)
@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8),
    done=st.lists(st.integers(0, 40), unique=True, max_size=40),
)
def test_what_is_left_and_what_is_done_are_all_rows(tmp_path_factory, sizes, done):
    rows = sum(sizes)
    done = [row for row in done if row < rows]
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    tables = [pa.table({"row": range(at, at + size)}) for at, size in zip(starts, sizes, strict=True)]
    rest = [row for table in left(tables, [(row, row + 1) for row in done]) for row in table["row"].to_pylist()]
    assert sorted(rest + done) == list(range(rows))
    with Run(tmp_path_factory.mktemp("run") / "out.csv", {}) as work:
        for some in (rest[::-1], done):
            if some:
                work.add(pa.table({"row": some, "id": some, "status": ["coded"] * len(some)}))
        assert work.finish(rows) == {"coded": rows}
        assert [int(row["id"]) for row in rows_of(work.output)] == list(range(rows))


def test_a_lost_row_is_noticed(tmp_path):
    with Run(tmp_path / "out.csv", {}) as work:
        work.add(pa.table({"row": [0, 2], "id": [1, 3], "status": ["coded"] * 2}))
        with pytest.raises(RuntimeError, match="do not cover"):
            work.finish(3)


# --- on Ray ---------------------------------------------------------------------------------------------------------

STARTS = 4
"""Tries: Ray gives a node 30 s to start, which a busy machine may need for one process."""


def test_ray_with_two_workers_gives_the_same(tmp_path, starter_artifact, many):
    """The same step through Ray Data: a local Ray in a process of its own, which ends it."""
    pytest.importorskip("ray")
    rows = 2 * CHUNK
    source = tmp_path / "in.parquet"
    pq.write_table(pq.read_table(many).slice(0, rows), source)
    options = ("--column", "note", "--workers", 2, "--ray", "local")
    command = program_of(source, starter_artifact, tmp_path / "ray.parquet", *options)
    for _ in range(STARTS):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
        if "timed out during startup" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr[-2_000:]
    job = Job(TextFile(source, "note"), starter_artifact, tmp_path / "own.parquet", workers=2)
    assert run(job).total() == rows
    assert pq.read_table(tmp_path / "ray.parquet").equals(pq.read_table(tmp_path / "own.parquet"))


def test_without_ray_the_extra_is_named(tmp_path, starter_artifact, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "in.csv").write_text("text\nGicht\n", "utf-8")
    job = Job(TextFile(tmp_path / "in.csv"), starter_artifact, tmp_path / "out.csv", ray="local")
    with pytest.raises(BefundError, match=r"befund\[ray\]"):
        run(job)


@pytest.mark.parametrize(
    ("address", "says"), [("local", "Ray did not start on this machine: "), ("auto", "no Ray at auto: ")]
)
def test_why_ray_does_not_start_is_one_sentence(tmp_path, starter_artifact, monkeypatch, address, says):
    """A folder whose name no socket can have; and no cluster anywhere."""
    pytest.importorskip("ray")
    (tmp_path / ("long" * 30)).mkdir()
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path / ("long" * 30)))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    (tmp_path / "in.csv").write_text("text\nGicht\n", "utf-8")
    job = Job(TextFile(tmp_path / "in.csv"), starter_artifact, tmp_path / "out.csv", ray=address)
    with pytest.raises(BefundError, match=says) as said:
        run(job)
    assert "code without --ray" in str(said.value)
    assert "\n" not in str(said.value)


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Any, list[Any]]]:
    """A cluster that was there before, of two raylets of one core each on this machine, and its nodes."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    for tries in range(STARTS, 0, -1):
        cluster = Cluster()
        try:
            nodes = [cluster.add_node(**small) for _ in range(2)]
            break
        except Exception:
            cluster.shutdown()
            if tries == 1:
                raise
    yield cluster, nodes
    cluster.shutdown()


def test_a_cluster_without_room_says_so_within_30_seconds(tmp_path, starter_artifact, cluster):
    from batch.ray import PLACED_SECONDS

    assert PLACED_SECONDS < 30
    pq.write_table(pa.table({"text": ["Gicht", "Husten", "I10.90"]}), tmp_path / "in.parquet")
    places = tmp_path / "in.parquet", starter_artifact, tmp_path / "out.parquet"
    command = program_of(*places, "--ray", cluster[0].address, "--workers", 3)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if "--workers" in line]
    assert said[0].startswith("befund: --workers 3 find no place: the Ray cluster has 2 cores, "), done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_node_lacks_is_one_sentence(tmp_path, starter_artifact, cluster):
    """The catalog is there for the program, and gone where the workers look for it."""
    (tmp_path / "in.csv").write_text("text\nGicht\n", "utf-8")
    code = "import sys; from pathlib import Path; from clinical.errors import BefundError\n"
    code += "from batch.coder import Coder; from batch.files import TextFile; from batch.workers import in_ray\n"
    code += "try: list(in_ray(Coder('/nowhere'), TextFile(Path(sys.argv[1])).tables, 1, sys.argv[2]))\n"
    code += "except BefundError as error: print(error)"
    command = [sys.executable, "-c", code, str(tmp_path / "in.csv"), cluster[0].address]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    assert done.stdout.startswith("there is no finished artifact in /nowhere; "), done.stderr[-2_000:]
    assert done.stdout.count("\n") == 1


@pytest.mark.timeout(900)
def test_a_node_that_is_killed_in_mid_run_loses_no_row(tmp_path, starter_artifact, cluster):
    """Its worker's batch is coded by another; each row is in the output once and coded as without Ray. Workers on every
    core of the cluster would leave the reader none, and nothing would ever be read."""
    rows = 5 * CHUNK
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"text": [f"Gicht, {number}. Besuch" for number in range(rows)]}), source)
    command = program_of(source, starter_artifact, out, "--ray", cluster[0].address)
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said)
    try:
        parts = tmp_path / "out.parquet.parts"
        wait_until(lambda: process.poll() is not None or any(parts.glob("*.parquet")), "no part is coded", 200)
        assert process.poll() is None, (tmp_path / "said").read_text("utf-8", "replace")[-2_000:]
        cluster[0].remove_node(cluster[1][-1], allow_graceful=False)
        assert process.wait(400) == 0, (tmp_path / "said").read_text("utf-8", "replace")[-2_000:]
    finally:
        process.kill()
        process.wait(30)
    table = pq.read_table(out)
    assert table["id"].to_pylist() == list(range(1, rows + 1))
    chosen = list(range(0, rows, 29))
    assert_coded(table, chosen, [f"Gicht, {number}. Besuch" for number in chosen], starter_artifact)


# --- measured -------------------------------------------------------------------------------------------------------


def test_speed_and_memory_are_measured_on_distinct_texts(tmp_path, starter_artifact, capsys):
    write_texts(starter_artifact, tmp_path / "texts.parquet", CHUNK + 100)
    texts = pq.read_table(tmp_path / "texts.parquet")["text"].to_pylist()
    assert len(texts) == CHUNK + 100
    assert len(set(texts[:CHUNK])) == CHUNK
    assert all(len(text) < 80 for text in texts)
    assert load(["batch", "--catalog", str(starter_artifact), "--rows", "2500", "--workers", "1", "--json"]) == 0
    found = {row["measure"]: row for row in json.loads(capsys.readouterr().out)}
    assert {row["n"] for row in found.values()} == {2_500}
    assert 0 < found["memory_at_end_mb"]["value"] <= found["memory_most_mb"]["value"] < 4_000
    assert found["rows_per_core_second"]["value"] > 0


def test_the_measure_stops_when_the_time_is_over():
    watch = BatchWatch(seconds=0.0)
    with pytest.raises(Enough):
        watch(2_000)
    assert {row.n for row in watch.rows()} == {2_000}
