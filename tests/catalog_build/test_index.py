"""The build: what the artifact says of itself, its pairs, and that a stopped or failed build harms nothing."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from catalog_build.build import BuildOptions, Weights, build_artifact, calibration_folds
from catalog_build.checks import counts
from catalog_build.official.source import read_source
from catalog_build.official.tables import Synonym
from catalog_build.synonyms import FOLDS, fold, with_pairs
from clinical.errors import BefundError, CheckFailed, SourceError
from clinical.icd import PAIR_NOTE, Catalog, Code, Note
from clinical.reading.index import SearchIndex
from clinical.search.manifest import Manifest
from tests.catalog_build.official_files import KODES, TAIL, folder, release, text
from tests.serving import interruptible

REPOSITORY = Path(__file__).resolve().parents[2]
STARTER = REPOSITORY / "catalog_build" / "starter"


def command(source: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "catalog_build", "build", str(source), "--out", str(out), *more]


def everything(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_the_manifest_says_what_it_was_made_from(starter_artifact: Path) -> None:
    manifest, source = Manifest.load(starter_artifact), read_source(STARTER)
    now = counts(source)
    assert (manifest.system, manifest.year, manifest.holdout) == ("ICD-10-GM", 2026, None)
    assert (manifest.codes, manifest.terminal_codes, manifest.synonyms) == tuple(now.values())
    assert manifest.sources == source.files
    assert manifest.wordings >= manifest.synonyms
    assert manifest.encoder == Weights.load().encoder.name
    assert 0 < manifest.thresholds.medium <= manifest.thresholds.high <= 1
    assert manifest.built_at.endswith("+00:00")
    assert all(result["holds"] or not result["fatal"] for result in manifest.checks["results"])


def test_two_builds_give_the_same_files(starter_artifact: Path, tmp_path: Path) -> None:
    """The second in a process of its own, with as many threads as it likes."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(command(STARTER, tmp_path / "out"), cwd=REPOSITORY, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    one, other = Manifest.load(starter_artifact), Manifest.load(tmp_path / "out")
    assert {name for name in one.files if one.files[name] != other.files.get(name)} == set()
    assert set(one.files) == set(other.files)
    assert (one.sources, one.checks, one.thresholds) == (other.sources, other.checks, other.thresholds)


@pytest.fixture
def built(small_build: Path, tmp_path: Path) -> Path:
    """A folder of one's own with both."""
    shutil.copytree(small_build, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_small_source_builds_with_the_shipped_weights(small_build: Path) -> None:
    manifest = Manifest.load(small_build / "out")
    assert (manifest.codes, manifest.synonyms) == (8, 7)
    found = SearchIndex.load(small_build / "out").search("Altersdiabetes")
    assert found[0].code == "E11.90"
    assert sorted(path.name for path in small_build.iterdir()) == ["out", "source"]


def test_a_source_without_synonyms_builds_and_says_what_is_missing(tmp_path: Path) -> None:
    source = folder(tmp_path / "source", release(alphaid=None, alphabet=None, claml=None))
    manifest = build_artifact(source, tmp_path / "out", BuildOptions())
    assert any("Alpha-ID" in sentence for sentence in manifest.missing)
    assert SearchIndex.load(tmp_path / "out").search("Meningitis")[0].code == "G01"


def test_calibration_never_uses_the_held_out_fold() -> None:
    for held_out in range(FOLDS):
        folds = calibration_folds(held_out)
        assert held_out not in folds
        assert all(0 <= number < FOLDS for number in folds)
    assert 0 not in calibration_folds(None)


BROKEN = [line for line in KODES if ";E11.9-;" not in line]


@pytest.mark.parametrize(
    ("changed", "error", "sentence"),
    [
        ({"kodes": text(BROKEN)}, CheckFailed, "parent-exists"),
        ({"kodes": text(KODES)[:300]}, SourceError, "the file seems cut off"),
        ({"alphaid": text(["1|I1|E99.99|||||Altersdiabetes"])}, BefundError, "E99.99"),
    ],
)
def test_a_failed_build_leaves_the_old_artifact_and_nothing_else(
    built: Path, changed: dict[str, bytes], error: type[Exception], sentence: str
) -> None:
    before = everything(built / "out")
    source = folder(built / "broken", release(**changed))
    for place in (built / "out", built / "new"):
        with pytest.raises(error, match=sentence):
            build_artifact(source, place, BuildOptions())
    assert everything(built / "out") == before
    assert sorted(path.name for path in built.iterdir()) == ["broken", "out", "source"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_a_killed_build_leaves_the_old_artifact(built: Path, how: signal.Signals) -> None:
    out = built / "out"
    before = everything(out)
    running = subprocess.Popen(
        command(STARTER, out),
        cwd=REPOSITORY,
        stderr=subprocess.DEVNULL,
        preexec_fn=interruptible,
    )
    try:
        limit = time.monotonic() + 120
        while not list(built.glob(".out-*")) and running.poll() is None and time.monotonic() < limit:
            time.sleep(0.005)
        assert running.poll() is None
        running.send_signal(how)
        assert running.wait(60) != 0
    finally:
        running.kill()
        running.wait()
    assert everything(out) == before
    SearchIndex.load(out)
    if how == signal.SIGKILL:  # nobody can tidy up after that, but the next day's build does
        (left,) = built.glob(".out-*")
        os.utime(left, (0, 0))
        build_artifact(built / "source", out, BuildOptions())
    assert sorted(path.name for path in built.iterdir()) == ["out", "source"]


def in_fold(stem: str, number: int) -> str:
    """The first of `stem a`, `stem b`, ... that belongs to the fold."""
    letters = (chr(97 + one) + chr(97 + other) for one in range(26) for other in range(26))
    return next(f"{stem} {tail}" for tail in letters if fold(f"{stem} {tail}") == number)


def test_a_held_out_fold_is_in_neither_index_nor_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what people wrote a little: it tells nothing of these codes, and to learn from all of it takes minutes."""
    pytest.importorskip("torch", reason="torch (extra 'train') is not installed")
    from catalog_build.training import authors, confidence

    monkeypatch.setattr(confidence, "written_inputs", lambda: authors.written_inputs()[:100])
    held_out, kept = 5, 11
    codes = [f"E{number}" for number in range(20, 32)]
    rows = [f"3;T;X;04;E10;{code};{code};{code};Leiden {code};Leiden {code};;;P;P" + TAIL for code in codes]
    groups = text(["E10;E50;04;Leiden"])
    synonyms = [(code, f"Beschwerde {code} Nummer {n}") for code in codes for n in range(30)]
    synonyms += [(code, in_fold(f"Xylofar {code}", held_out)) for code in codes]
    synonyms += [(code, in_fold(f"Quombart {code}", kept)) for code in codes]
    alphaid = text([f"1|I{n}|{code}|||||{wording}" for n, (code, wording) in enumerate(synonyms)])
    files = release(kodes=text(rows), gruppen=groups, alphaid=alphaid, alphabet=None, claml=None)
    out = tmp_path / "out"
    manifest = build_artifact(folder(tmp_path / "s", files), out, BuildOptions(train=True, holdout=held_out))
    index = SearchIndex.load(out)
    wordings = {index.wordings.text(number) for number in range(len(index.wordings))}
    assert manifest.holdout == held_out
    assert wordings == {w for _, w in synonyms if fold(w) != held_out} | {f"Leiden {code}" for code in codes}
    assert "<quombart>" in index.encoder.vocabulary
    assert not {"<xilofar>"} & set(index.encoder.vocabulary)
    assert not any(wording in (out / "codes.json").read_text() for _, wording in synonyms if fold(wording) == held_out)
    assert index.search(in_fold("Quombart E25", kept))[0].code == "E25"


def test_an_interrupt_while_the_unfinished_folder_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal is handled behind the call of the system: the folder is there, and nobody has been told."""
    make = os.mkdir

    def made_and_interrupted(path: str | Path, *more: int) -> None:
        make(path, *more)
        if Path(path).name.startswith(".out-"):
            raise KeyboardInterrupt

    source = folder(tmp_path / "source", release())
    monkeypatch.setattr(os, "mkdir", made_and_interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_artifact(source, tmp_path / "out", BuildOptions())
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


# --- Codes that are coded together know each other, with the wordings that are coded with both -----------------------


def code(spelling: str, kind: str) -> Code:
    return Code(spelling, spelling, 3, True, None, "A", "01", kind, "P", "P")


CATALOG = Catalog(
    "2026", [code("A01", "dagger"), code("A02", "plain"), code("B01", "asterisk"), code("C01", "exclamation")], {}, {}
)


def test_both_sides_of_a_pair_get_a_note_with_all_its_wordings():
    catalog = with_pairs(CATALOG, [Synonym("eins", "A01", ("B01",)), Synonym("zwei", "A01", ("B01", "C01"))])
    assert catalog.get("A01").notes == (Note(PAIR_NOTE, "eins\nzwei", ("B01",)),)
    assert catalog.get("B01").notes == (Note(PAIR_NOTE, "eins\nzwei", ("A01",)),)
    assert catalog.get("C01").notes == ()


def test_partners_with_more_wordings_come_first():
    synonyms = [Synonym("x", "A01", ("B01",)), Synonym("y", "A02", ("B01",)), Synonym("z", "A02", ("B01",))]
    assert [note.references for note in with_pairs(CATALOG, synonyms).get("B01").notes] == [("A02",), ("A01",)]


def test_what_is_not_dagger_and_asterisk_is_no_pair():
    synonyms = [
        Synonym("x", "B01"),
        Synonym("y", "A01", ("A02",)),
        Synonym("z", "A01", ("C01",)),
        Synonym("q", "X99", ("B01",)),
    ]
    assert all(code.notes == () for code in with_pairs(CATALOG, synonyms))
