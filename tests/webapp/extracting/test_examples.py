"""The section of docs/clients.md on `$extract`, run as it stands in each language against real servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from tests.serving import serving
from tests.webapp.conftest import ONE_DATABASE
from tests.webapp.extracting.test_operation import pdf
from tests.webapp.fhir.conftest import Place
from tests.webapp.fhir.test_client_examples import LANGUAGES, Example


@pytest.fixture
def base(place: Place) -> Iterator[str]:
    """The organization's FHIR base URL on a real server."""
    server = make_server("127.0.0.1", 0, place.app, threaded=True)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}{place.path}"


@ONE_DATABASE
@LANGUAGES
def test_a_letter_is_read_and_its_codes_are_printed(tmp_path: Path, base: str, place: Place, language: str) -> None:
    example = Example(tmp_path, base, place)
    document = pdf(place)
    printed = example.run("Extract", language, DOCUMENT=str(document))
    assert " ".join(printed) == "M17.9 Gonarthrose rechts I10.90 Arterielle Hypertonie J18.9 Pneumonie"
    assert example.run("Extract", language, DOCUMENT=str(document)) == printed
    assert len(example.caller.ids("DocumentReference?relation=transforms")) == 1
