"""The manifest, and artifacts that are not as built or whose numbers are not: refused with a sentence, or harmless."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from clinical.errors import ArtifactMismatch, ArtifactMissing
from clinical.reading.index import NEEDED, SearchIndex
from clinical.search.manifest import FILE, SCHEMA, Manifest, checksum, checksums
from clinical.thresholds import ConfidenceThresholds

REMEDY = "build it again: python -m catalog_build build"


def rewritten(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


def small(folder: Path) -> Manifest:
    (folder / "data").write_bytes(b"something")
    manifest = Manifest(2026, 8, 5, 7, 15, "hash-64", ConfidenceThresholds(0.9, 0.6), "2026-11-21T00:00:00+00:00")
    manifest = replace(manifest, files=checksums(folder), missing=("ClaML",), holdout=3)
    manifest.save(folder)
    return manifest


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    manifest = small(tmp_path)
    again = Manifest.load(tmp_path)
    assert again == manifest
    assert again.digest == manifest.digest != replace(manifest, year=2025).digest
    again.verify(tmp_path)


def test_it_is_the_last_file_of_a_build(starter_artifact: Path) -> None:
    written = {path: path.stat().st_mtime_ns for path in starter_artifact.rglob("*") if path.is_file()}
    assert written[starter_artifact / FILE] == max(written.values())


def test_it_names_every_file_but_itself_and_the_checks(starter_artifact: Path) -> None:
    there = {path.relative_to(starter_artifact).as_posix() for path in starter_artifact.rglob("*") if path.is_file()}
    named = set(Manifest.load(starter_artifact).files)
    assert named == {name for name in there if name != FILE and not name.startswith("checks/")}
    assert {"codes.json", "wordings.safetensors", "vectors.faiss", "encoder.safetensors"} <= named


def test_no_folder_and_an_empty_folder_are_no_artifact(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(ArtifactMissing, match=REMEDY):
            SearchIndex.load(place)


def test_an_unfinished_build_is_no_artifact(artifact: Path) -> None:
    (artifact / FILE).unlink()
    with pytest.raises(ArtifactMissing, match=f"no finished artifact.*{REMEDY}"):
        SearchIndex.load(artifact)


@pytest.mark.parametrize("schema", [SCHEMA - 1, SCHEMA + 1, None, "1"])
def test_another_schema_is_refused(artifact: Path, schema: object) -> None:
    tree = orjson.loads((artifact / FILE).read_bytes())
    rewritten(artifact / FILE, orjson.dumps(tree | {"schema": schema}))
    with pytest.raises(ArtifactMismatch, match=f"has schema {schema}; expected schema {SCHEMA}; {REMEDY}"):
        SearchIndex.load(artifact)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"5", b"null", b"\xff\xfe", b'{"schema": 1}'])
def test_a_damaged_manifest_is_refused(artifact: Path, content: bytes) -> None:
    rewritten(artifact / FILE, content)
    with pytest.raises(ArtifactMismatch, match=REMEDY):
        SearchIndex.load(artifact)


@pytest.mark.parametrize("name", ["codes.json", "wordings.safetensors", "vectors.faiss", "encoder.safetensors"])
def test_a_changed_byte_a_cut_and_a_missing_file_are_refused(artifact: Path, name: str) -> None:
    data = (artifact / name).read_bytes()
    middle = len(data) // 2
    for damaged in (data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :], data[:-1], data + b" ", b""):
        rewritten(artifact / name, damaged)
        with pytest.raises(ArtifactMismatch, match=f"{name} in .* is changed or cut off.*{REMEDY}"):
            SearchIndex.load(artifact)
    (artifact / name).unlink()
    with pytest.raises(ArtifactMismatch, match=f"{name} is missing.*{REMEDY}"):
        SearchIndex.load(artifact)


def test_every_file_is_checked(artifact: Path) -> None:
    manifest = Manifest.load(artifact)
    assert len(manifest.files) > 3
    for name in manifest.files:
        os.rename(artifact / name, artifact / "kept")
        (artifact / name).write_bytes(b"")
        with pytest.raises(ArtifactMismatch, match="is changed or cut off"):
            manifest.verify(artifact)
        os.replace(artifact / "kept", artifact / name)
    manifest.verify(artifact)


@pytest.mark.parametrize("name", ["../codes.json", "words/../codes.json", "/etc/passwd", "words/link.json"])
def test_a_manifest_that_names_what_is_elsewhere_is_refused(artifact: Path, name: str) -> None:
    """Also where the checksum is right: it would tell whether a file of the machine is what somebody thinks it is."""
    (artifact.parent / "codes.json").write_bytes((artifact / "codes.json").read_bytes())
    (artifact / "words" / "link.json").symlink_to(artifact / "codes.json")
    manifest = Manifest.load(artifact)
    named = replace(manifest, files={**manifest.files, name: checksum(artifact / name)})
    with pytest.raises(ArtifactMismatch, match=f"the name leads out of.*{REMEDY}"):
        named.verify(artifact)


ROOT = Path(__file__).resolve().parents[3]
ARRAYS = {
    "wordings.safetensors": 16, "encoder.safetensors": 3, "ranker.safetensors": 10, "typos.safetensors": 2,
    "vectors.faiss": 4, "suggest.safetensors": 6, "answers.safetensors": 3,
    **{f"{kind}/{name}.csc.index.npy": 1 for kind in ("words", "characters") for name in ("data", "indices", "indptr")},
}  # fmt: skip
LEAST_VARIANTS = 6
"""Of each array."""


@pytest.mark.timeout(600)
def test_no_array_that_is_out_of_its_bounds_is_looked_up_in(
    small_build: Path, starter_artifact: Path, tmp_path: Path
) -> None:
    """Each array of each file with each of its places wrong in turn; a process that the system ends says at which. Only
    the starter's catalog has answers."""
    small = small_build / "out"
    whole = {name: small if name in Manifest.load(small).files else starter_artifact for name in ARRAYS}
    said: dict[str, list[tuple[str, str]]] = {name: [] for name in ARRAYS}
    for artifact in (small, starter_artifact):
        command = [sys.executable, "-m", "tests.clinical.search.spoilt", artifact, tmp_path / artifact.name]
        done = subprocess.run(
            [*map(str, command), *(name for name in ARRAYS if whole[name] == artifact)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=500,
            check=False,
        )  # fmt: skip
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        assert done.returncode == 0, f"ended by {done.returncode} at {lines[-1:]}: {done.stderr[-500:]}"
        for name, how, outcome in lines:
            said[name].append((how, outcome))
    for name, lines in said.items():
        assert [line for line in lines if not line[1].startswith(("refused: ", "harmless"))] == [], name
        refused = [outcome for _, outcome in lines if outcome.startswith("refused: ")]
        assert all("; expected " in one and " it again: " in one for one in refused), name
        assert len(lines) >= LEAST_VARIANTS * ARRAYS[name], name
        assert len(refused) >= len(lines) // 3, name


def spoil(artifact: Path, name: str, content: bytes | None, named: bool = True) -> None:
    """The file with this content, or none, and a manifest that says so (or that does not name it)."""
    manifest = Manifest.load(artifact)
    files = {other: digest for other, digest in manifest.files.items() if other != name}
    (artifact / name).unlink()
    if content is not None:
        (artifact / name).write_bytes(content)
        files |= {name: checksum(artifact / name)} if named else {}
    (artifact / FILE).unlink()
    replace(manifest, files=files).save(artifact)


@pytest.mark.parametrize("name", [*NEEDED, "encoder.safetensors"])
def test_every_file_that_is_needed_is_demanded(artifact: Path, name: str) -> None:
    """Also one that is there: a manifest that does not name it knows nothing of what is in it."""
    spoil(artifact, name, (artifact / name).read_bytes(), named=False)
    with pytest.raises(ArtifactMismatch, match=f"manifest.json names no {name}; expected .*build it again"):
        SearchIndex.load(artifact)


NAMES_NOTHING = r"manifest\.json (names no codes\.json|in .* holds what cannot be)"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        *(("files", files, NAMES_NOTHING) for files in ({}, [], None, "codes.json", 5)),
        ("thresholds", {"high": 2, "medium": 0}, "build it again"),
        ("thresholds", {"high": 0.1, "medium": 0.5}, "build it again"),
        ("thresholds", {"high": "x", "medium": 0}, "build it again"),
    ],
)
def test_a_manifest_that_says_what_cannot_be_is_refused(artifact: Path, field: str, value: object, said: str) -> None:
    tree = orjson.loads((artifact / FILE).read_bytes())
    (artifact / FILE).unlink()
    (artifact / FILE).write_bytes(orjson.dumps(tree | {field: value}))
    with pytest.raises(ArtifactMismatch, match=said):
        SearchIndex.load(artifact)


def test_what_the_manifest_does_not_name_is_not_read(artifact: Path) -> None:
    """Files of older builds are not there; one that lies beside the others is not taken for one."""
    spoil(artifact, "confidence.json", b"anything", named=False)
    assert SearchIndex.load(artifact).confidence is None


VOCABULARY = "words/vocab.index.json"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, content) for name in ("expansion.json", "confidence.json", "codes.json", VOCABULARY)
          for content in (b"", b"[]", b"5", b"null", b'{"a": 1e99}', b'{"a": {}}', b"\xff")),
        (VOCABULARY, b'{"a": -1}'), (VOCABULARY, b'{"a": 99999999}'), (VOCABULARY, b'{"a": true}'),
        (VOCABULARY, b'{"a": 1.5}'), (VOCABULARY, b'{"a": "1"}'), ("words/params.index.json", b"[]"),
        ("words/params.index.json", b'{"unknown": 1}'), ("words/params.index.json", b""),
        ("confidence.json", b'{"format": "befund-confidence-1", "columns": [], "weights": [1]}'),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_refused_with_a_sentence(artifact: Path, name: str, content: bytes) -> None:
    spoil(artifact, name, content)
    with pytest.raises(ArtifactMismatch, match="; expected "):
        SearchIndex.load(artifact)


@pytest.mark.parametrize("row", [[], [1], None, "E11", {"code": "E11"}, [None] * 14])
def test_a_row_of_the_catalog_that_is_no_code_is_refused(artifact: Path, row: object) -> None:
    tree = orjson.loads((artifact / "codes.json").read_bytes())
    tree["codes"][0] = row
    spoil(artifact, "codes.json", orjson.dumps(tree))
    with pytest.raises(ArtifactMismatch, match="; expected "):
        SearchIndex.load(artifact)
