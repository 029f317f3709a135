"""An artifact whose checksums are right and whose numbers are not: refused at load with a sentence, or harmless."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from clinical.errors import ArtifactMismatch
from clinical.reading.index import NEEDED, SearchIndex
from clinical.search.manifest import FILE, Manifest, checksum

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
