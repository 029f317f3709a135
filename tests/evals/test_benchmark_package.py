"""The benchmark as a package: built and installed without a network where nothing but numpy is, and read by others."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from evals.benchmark import making
from evals.benchmark.befund_bench import card, texts
from evals.benchmark.befund_bench.hub import dataset

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """As much of a clone as the package is built from: building writes beside its sources."""
    folder = tmp_path_factory.mktemp("clone")
    away = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for part in ("evals/benchmark", "catalog_build/training/authors", "catalog_build/training/letters"):
        shutil.copytree(ROOT / part, folder / part, ignore=away)
    for part in ("evals/__init__.py", "evals/data/everyday.tsv"):
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / part, folder / part)
    return folder


@pytest.fixture(scope="module")
def installed(clone, tmp_path_factory):
    """The Python of an empty environment with this numpy and the package."""
    folder = tmp_path_factory.mktemp("installed")
    offline = ("--no-index", "--no-deps", "--disable-pip-version-check", "--quiet")
    _run(
        sys.executable, "-m", "pip", "wheel", *offline, "--no-build-isolation", "-w", folder, clone / "evals/benchmark"
    )
    (wheel,) = folder.glob("*.whl")
    _run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    for path in Path(numpy.__file__).parents[1].glob("numpy*"):
        (packages / path.name).symlink_to(path)
    _run(sys.executable, "-m", "pip", "install", *offline, "--target", packages, wheel)
    return folder / "venv" / "bin" / "python"


def _run(*command):
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def test_it_works_where_nothing_but_numpy_is(installed, tmp_path):
    (tmp_path / "mine.jsonl").write_text('{"id": "lists-test-0001", "codes": ["I10.9-"]}\n')
    code = f"""
import importlib.util, sys
from pathlib import Path
assert not [name for name in ("clinical", "evals", "click", "sklearn", "pandas") if importlib.util.find_spec(name)]
import befund_bench
from befund_bench.__main__ import main
from befund_bench.data import checked
assert checked() == [], checked()
rows = befund_bench.texts("claims", "test")
said = [{{"claims": ["present"] * len(row["mentions"])}} for row in rows]
print(befund_bench.score("claims", rows, said)["accuracy"][0])
print(main(["check", {str(tmp_path / "mine.jsonl")!r}]))
main(["run", "--task", "lies", "--task", "notes", "--test"])
main(["table"])
"""
    said = _run(installed, "-I", "-c", code).splitlines()
    assert 0.3 < float(said[0]) < 0.7
    assert said[1] == "line 1: the malformed code 'I10.9-'; write I10.9"
    assert said[4] == "1"
    assert any(line.startswith("lies") and "overlap of words" in line for line in said)
    assert any(line.startswith("| Befund, tier 1 |") for line in said)


def test_its_version_is_that_of_its_card(installed):
    code = "from importlib import metadata as m; print(m.version('befund-bench'), m.requires('befund-bench'))"
    said = _run(installed, "-I", "-c", code)
    assert said.split()[0] == card()["version"] == making.VERSION
    assert [one for one in said.split("[")[1].split(", '") if "extra" not in one] == ["'numpy>=2'"]


def test_datasets_loads_every_task(data):
    for task in card()["tasks"]:
        found = dataset(task, data)
        assert {split: len(rows) for split, rows in found.items()} == {
            split: card()["tasks"][task][split] for split in ("train", "dev", "test")
        }
        assert json.loads(found["dev"][0]["answer"]) == texts(task, "dev", data)[0]["answer"]


def test_mteb_evaluates_a_model_on_the_wordings(data, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path))
    mteb = pytest.importorskip("mteb")
    from evals.benchmark.befund_bench.baselines import CodeTable, static_model, train_wordings
    from evals.benchmark.befund_bench.mteb_task import BefundWordings

    task = BefundWordings()
    task.folder = data
    model = static_model(CodeTable(train_wordings(data)), 0)
    found = mteb.evaluate(model, [task], cache=None, show_progress_bar=False, encode_kwargs={"batch_size": 64})
    (scores,) = found.task_results[0].scores["dev"]
    assert 0.2 < scores["ndcg_at_10"] < 1
    assert scores["main_score"] == scores["ndcg_at_10"]
