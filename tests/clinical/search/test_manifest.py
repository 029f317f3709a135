"""The manifest: the last file of a build; whatever is not as built is refused with a sentence that says what to do."""

import os
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from clinical.errors import ArtifactMismatch, ArtifactMissing
from clinical.reading.index import SearchIndex
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
