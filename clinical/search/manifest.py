"""The manifest of an artifact: what it is, what it was made from, and the checksum of each of its files.

It is written last, so its existence means that the build finished (rule 6 of the house). A reader refuses another
schema version and any file that is not, byte for byte, the one that was written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import orjson

from clinical.errors import ArtifactMismatch, ArtifactMissing
from clinical.listed import open_listed
from clinical.thresholds import NEVER, ConfidenceThresholds

SCHEMA: Final = 3
"""3: codes say whether they are rare or notifiable, and there are suggestions. 2: character n-grams lie in
`characters/`, asterisk codes are called so. 1: in `letters/`, and `star`."""
FILE: Final = "manifest.json"
REMEDY: Final = "build it again: python -m catalog_build build SOURCE --out DIR"


@dataclass(frozen=True)
class Manifest:
    """`sources` and `files`: SHA-256 by name; `holdout`: the fold left out for measuring, None in a normal build;
    `layers`: where wordings come from and how many, bottom first; empty where the user gave none of their own."""

    year: int
    codes: int
    terminal_codes: int
    synonyms: int
    wordings: int
    encoder: str
    thresholds: ConfidenceThresholds
    built_at: str  # ISO 8601, UTC
    holdout: int | None = None
    missing: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    layers: tuple[Mapping[str, Any], ...] = ()
    system: str = "ICD-10-GM"
    schema: int = SCHEMA

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest as written: names this artifact in every result that was measured on it."""
        return hashlib.sha256(self._bytes()).hexdigest()

    def _bytes(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)

    def save(self, folder: Path) -> None:
        """Write it as the artifact's last file."""
        (folder / FILE).write_bytes(self._bytes())

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Raises ArtifactMissing where there is none, ArtifactMismatch for another schema or a damaged file."""
        try:
            tree = orjson.loads((folder / FILE).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise ArtifactMissing(f"there is no finished artifact in {folder}", FILE, REMEDY) from None
        except orjson.JSONDecodeError:
            raise ArtifactMismatch(f"{FILE} in {folder} is not JSON", "an artifact", REMEDY) from None
        if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
            found = tree.get("schema") if isinstance(tree, dict) else None
            raise ArtifactMismatch(f"the artifact in {folder} has schema {found}", f"schema {SCHEMA}", REMEDY)
        try:
            tree = {"layers": ()} | tree  # artifacts from before own vocabularies
            tree = {each.name: tree[each.name] for each in fields(cls)}
            lists = {name: tuple(tree[name]) for name in ("missing", "layers")}
            manifest = cls(**tree | {"thresholds": ConfidenceThresholds(**tree["thresholds"])} | lists)
            bounds = manifest.thresholds
            if 0 <= bounds.medium <= bounds.high <= NEVER and isinstance(manifest.files, dict):
                return manifest
        except (KeyError, TypeError):
            raise ArtifactMismatch(f"{FILE} in {folder} lacks fields", "an artifact", REMEDY) from None
        raise ArtifactMismatch(f"{FILE} in {folder} holds what cannot be", "shares from 0 to 1 and names", REMEDY)

    def require(self, *names: str) -> None:
        """Raises ArtifactMismatch for a name that the manifest lacks: no file that is read is one that nothing is known
        of."""
        if missing := [name for name in names if name not in self.files]:
            raise ArtifactMismatch(f"{FILE} names no {missing[0]}", f"{', '.join(names)}", REMEDY)

    def verify(self, folder: Path) -> None:
        """Raises ArtifactMismatch naming the first file that is missing, changed or cut off."""
        for name, expected in self.files.items():
            try:
                with open_listed(folder, name) as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            except FileNotFoundError:
                raise ArtifactMismatch(f"{name} is missing in {folder}", "all files of the build", REMEDY) from None
            except OSError as error:
                raise ArtifactMismatch(f"{name} in {folder}: {error.strerror}", "the files as built", REMEDY) from None
            if found != expected:
                raise ArtifactMismatch(f"{name} in {folder} is changed or cut off", "the file as built", REMEDY)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder but the manifest and the HTML of the checks, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path: path.relative_to(folder).as_posix() for path in files}
    return {name: checksum(path) for path, name in names.items() if name != FILE and not name.startswith("checks/")}
