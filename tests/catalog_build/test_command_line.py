"""python -m catalog_build: what it prints, and one sentence with exit code 2 for whatever is wrong."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from catalog_build.__main__ import main
from catalog_build.checks import counts, quality_installed
from catalog_build.official.source import read_source
from tests.catalog_build.official_files import KODES, folder, release, text

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    source = read_source(folder(tmp_path / "source", release()))
    place = tmp_path / "artifact"
    place.mkdir()
    source.catalog.save(place / "codes.json")
    manifest = {"system": "ICD-10-GM", "year": 2026, **counts(source), "sources": source.files, "thresholds": {}}
    (place / "manifest.json").write_bytes(orjson.dumps(manifest))
    return place


def test_check_says_what_was_read_what_is_missing_and_what_holds(tmp_path: Path, capsys) -> None:
    assert main(["check", str(folder(tmp_path, release(claml=None)))]) == 0
    printed = capsys.readouterr().out
    assert "ICD-10-GM 2026: 8 codes, 5 of them terminal; 7 synonyms" in printed
    assert "read     icd10gm2026syst_kodes.txt" in printed
    assert "missing  ClaML" in printed
    assert "holds    parent-exists" in printed


def test_check_writes_the_data_docs(tmp_path: Path) -> None:
    if not quality_installed():
        pytest.skip("Great Expectations (extra 'checks') is not installed")
    assert main(["check", str(folder(tmp_path / "source", release())), "--docs", str(tmp_path / "docs")]) == 0
    assert (tmp_path / "docs" / "index.html").exists()


def test_check_compares_with_an_artifact(tmp_path: Path, artifact: Path, capsys) -> None:
    source = folder(tmp_path / "source", release())
    assert main(["check", str(source), "--previous", str(artifact)]) == 0
    assert "counts-stable" in capsys.readouterr().out
    (source / "icd10gm2026_alphaidse_edvtxt_20250926.txt").unlink()
    assert main(["check", str(source), "--previous", str(artifact)]) == 2
    assert "counts-stable fails" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check", "{place}/nowhere"], "there is no such file or folder"),
        (["check", "{place}/cut"], "line 3: 9 fields; expected 28 fields; the file seems cut off"),
        (["build", "{place}/good", "--out", "{place}/x", "--holdout", "3"], "--holdout without --train"),
        (["build", "{place}/good", "--out", "{place}/x", "--train", "--holdout", "20"], "there is no fold 20"),
        (["build", "{place}/good", "--out", "{place}/x", "--train", "--encoder", "e"], "--train with --encoder"),
        (["build", "{place}/good", "--out", "{place}/x", "--over-official"], "--over-official without --synonyms"),
        (["train", "{place}/good", "--out", "{place}/x", "--holdout", "-1"], "there is no fold -1"),
        (["check", "{place}/good", "--docs", "/dev/null/docs"], "Not a directory: /dev/null/docs"),
        (["show", "{place}/nowhere"], "there is no finished artifact"),
        (["show", "{place}/nowhere", "E11"], "there is no codes.json"),
        (["check", "{place}/good", "--previous", "{place}/nowhere"], "there is no manifest.json"),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_2(tmp_path: Path, capsys, arguments: list[str], sentence: str) -> None:
    if "--docs" in arguments and not quality_installed():
        pytest.skip("Great Expectations (extra 'checks') is not installed")
    folder(tmp_path / "good", release())
    folder(tmp_path / "cut", release(kodes=text(KODES)[: len(text(KODES[:2])) + 40]))
    before = sorted(tmp_path.rglob("*"))
    assert main([argument.format(place=tmp_path) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("befund: ")
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before  # nothing half-built


def test_show_prints_the_manifest(artifact: Path, capsys) -> None:
    assert main(["show", str(artifact)]) == 0
    assert "year            2026\n" in capsys.readouterr().out


def test_show_prints_a_code_in_any_spelling(artifact: Path, capsys) -> None:
    assert main(["show", str(artifact), "e118"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("E11.8+  Typ 2: Mit Komplikationen\n")
    assert "block       E10-E14 Diabetes mellitus" in printed
    assert "limits      sex W, age j010 to t028" in printed


def test_show_of_a_code_that_does_not_exist_names_the_nearest(artifact: Path, capsys) -> None:
    assert main(["show", str(artifact), "E11.99"]) == 2
    assert "the nearest that exists is E11.9" in capsys.readouterr().err


def test_checking_and_showing_need_no_torch(tmp_path: Path, artifact: Path) -> None:
    """In a process of its own: what the command imports is what counts."""
    program = (
        "import sys; from catalog_build.__main__ import main\n"
        f"assert main(['show', {str(artifact)!r}, 'E11']) == 0\n"
        f"assert main(['check', {str(tmp_path / 'source')!r}]) == 0\n"
        "assert 'torch' not in sys.modules and 'sentence_transformers' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
