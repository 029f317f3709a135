"""Several years at once: which one answers, and from one to the other."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from bentos.api.app import create_app
from bentos.api.startup import load_indexes
from bentos.api.terminology import BASE
from bentos.keys.keys import Keys
from bentos.terminology import SYSTEM
from clinical.icd import Catalog
from clinical.reading.index import SearchIndex
from clinical.settings import Settings
from tests.bentos.conftest import ask
from tests.bentos.test_terminology import asked, issues, posted, values
from tests.serving import served, wait_until


@pytest.fixture(scope="module")
def earlier(index: SearchIndex) -> SearchIndex:
    """The starter catalog as if of the year before: without E11.91, and with a code that is gone since."""
    codes = [replace(code, code="E11.95") if code.code == "E11.91" else code for code in index.catalog]
    catalog = Catalog("2025", codes, index.catalog.chapters, index.catalog.blocks)
    parts = (catalog, index.wordings, index.encoder, index.ranker, replace(index.manifest, year=2025), index.expansion)
    return SearchIndex(*parts, confidence=index.confidence, suggester=index.suggester)


@pytest.fixture
def api(settings: Settings, index: SearchIndex, earlier: SearchIndex, keys: Keys, key: str) -> Iterator[httpx2.Client]:
    app = create_app(settings, index, others=[earlier])
    with served(app) as base:
        wait_until(lambda: app.state.keys is not None, "the key store did not open")
        with httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {key}"}, trust_env=False) as client:
            yield client


def test_the_version_chooses_and_the_newest_is_the_default(api: httpx2.Client) -> None:
    assert values(asked(api, "CodeSystem/$lookup", system=SYSTEM, code="E11.90"))["version"] == "2026"
    assert values(asked(api, "CodeSystem/$lookup", system=SYSTEM, code="E11.95", version="2025"))["version"] == "2025"
    assert asked(api, "CodeSystem", url=SYSTEM)["total"] == 2
    gone = asked(api, "CodeSystem/$validate-code", url=SYSTEM, code="E11.95")
    assert (values(gone)["result"], issues(gone)) == (False, [("error", "invalid-code")])
    assert "ICD-10-GM 2025" in values(gone)["message"]


def test_a_set_of_another_year_than_the_code_is_told(api: httpx2.Client) -> None:
    value_set = {"resourceType": "ValueSet", "url": "http://example.org/old", "compose": {"include": [{"system": SYSTEM, "version": "2025"}]}}  # fmt: skip  # noqa: E501
    coding = {"system": SYSTEM, "version": "2026", "code": "E11.90"}
    found = posted(api, "ValueSet/$validate-code", valueSet=value_set, coding=coding).json()
    assert (values(found)["result"], issues(found)) == (False, [("error", "vs-invalid")])
    checked = {"coding": {"system": SYSTEM, "code": "E11.90"}, "check-system-version": f"{SYSTEM}|2026"}
    found = posted(api, "ValueSet/$validate-code", valueSet=value_set, **checked).json()
    assert ("error", "version-error") in issues(found)


def test_codes_are_translated_between_years(api: httpx2.Client) -> None:
    found = asked(api, "ConceptMap/$translate", system=SYSTEM, version="2025", code="E11.90")
    match = next(row for row in found["parameter"] if row["name"] == "match")
    told = {part["name"]: next(part[key] for key in part if key != "name") for part in match["part"]}
    assert told["equivalence"] == "equivalent"
    assert (told["concept"]["code"], told["concept"]["version"]) == ("E11.90", "2026")
    assert told["source"] == f"{SYSTEM}?fhir_cm=2025-2026"
    wider = asked(api, "ConceptMap/$translate", url=f"{SYSTEM}?fhir_cm=2025-2026", code="E11.95")
    assert "wider" in str(wider)
    back = asked(api, "ConceptMap/$translate", url=f"{SYSTEM}?fhir_cm=2025-2026", code="E11.90", reverse="true")
    assert "'version': '2025'" in str(back)
    assert (
        api.get(f"{BASE}/ConceptMap/$translate", params={"url": "http://example.org", "code": "A00"}).status_code == 404
    )
    assert asked(api, "ConceptMap")["total"] == 2


def test_texts_are_coded_by_the_year_that_is_asked_for(api: httpx2.Client) -> None:
    assert ask(api, "Arterielle Hypertonie", year=2025)[1].codes[0].code == "I10.90"
    refused = api.post("/api/deep-research", json={"query": "Hypertonie", "year": 1999})
    assert refused.status_code == 422
    assert refused.json()["detail"] == "Der Katalog dieses Jahres ist nicht geladen."


def test_years_of_the_same_encoder_share_it(starter_artifact: Path) -> None:
    first, second = load_indexes([starter_artifact, starter_artifact])
    assert first.encoder is second.encoder
    assert first.wordings is not second.wordings
    assert second.search("Bluthochdruck")[0].code == "I10.90"


def test_the_settings_name_the_folders(make_settings: object, tmp_path: Path) -> None:
    settings = make_settings(catalog=tmp_path / "a", catalogs=f"{tmp_path / 'b'}, {tmp_path / 'c'}")  # type: ignore[operator]
    assert settings.other_catalogs == [tmp_path / "b", tmp_path / "c"]
