"""An organization with documents, and the real text API behind the webapp, which can be told to misbehave."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from clinical.reading.index import SearchIndex
from tests.webapp.conftest import make_app
from tests.webapp.fhir.conftest import Caller, Place, base, place
from tests.webapp.workbench.conftest import Behind, text_api

__all__ = ["base", "place"]  # fixtures

READS = "system/DocumentReference.rs"
KEEPS = "system/DocumentReference.crs system/Patient.rs"


@pytest.fixture(scope="session")
def api_of_the_run(
    tmp_path_factory: pytest.TempPathFactory, index: SearchIndex
) -> Iterator[tuple[str, str, Behind]]:  # fmt: skip
    with text_api(index, tmp_path_factory.mktemp("api")) as api:
        yield api


@pytest.fixture
def behind(api_of_the_run: tuple[str, str, Behind]) -> Behind:
    """The text API, well."""
    behind = api_of_the_run[2]
    behind.mode, behind.begun = "real", 0
    return behind


@pytest.fixture
def app(
    database_url: str, tmp_path: Path, behind: Behind, api_of_the_run: tuple[str, str, Behind], starter_artifact: Path
) -> Flask:
    url, key, _ = api_of_the_run
    return make_app(
        database_url, tmp_path, workbench_api_url=url, workbench_api_key=key, catalog=str(starter_artifact)
    )  # fmt: skip


@pytest.fixture
def reader(place: Place) -> Caller:
    """A program that may read documents."""
    return place.program(READS)


@pytest.fixture
def keeper(place: Place) -> Caller:
    """A program that may keep results too."""
    return place.program(KEEPS)
