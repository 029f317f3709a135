"""The data of the public benchmark, made once in a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import built_once


@pytest.fixture(scope="session")
def data(pytestconfig: pytest.Config) -> Path:
    """The folder of the benchmark's data."""
    from evals.benchmark import making

    def made(place: Path) -> None:
        place.mkdir()
        making.write(place)

    return built_once(pytestconfig, "befund-bench", made)
