"""Fixtures of the tests of search: a copy of an artifact that a test may spoil."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def artifact(small_build: Path, tmp_path: Path) -> Path:
    """The small artifact by hard links, so that a test can replace one file of it."""
    for path in (small_build / "out").rglob("*"):
        place = tmp_path / "artifact" / path.relative_to(small_build / "out")
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            os.link(path, place)
    return tmp_path / "artifact"
