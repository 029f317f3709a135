"""Fixtures of the tests of search: a copy of the starter artifact that a test may spoil."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def artifact(starter_artifact: Path, tmp_path: Path) -> Path:
    """The starter artifact by hard links, so that a test can replace one file of it."""
    for path in starter_artifact.rglob("*"):
        place = tmp_path / "artifact" / path.relative_to(starter_artifact)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            os.link(path, place)
    return tmp_path / "artifact"
