"""Claims are read by one function and applied in one stage: the codes follow whoever reads them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from clinical.claims import Claim, ClaimReader, Reading, claims_by_triggers
from clinical.reading import SearchIndex

TEXT = "Bluthochdruck, seit Jahren bekannt. Keine Migräne. Gürtelrose abgeheilt, heute Kontrolle."


@pytest.fixture(scope="module")
def index(starter_artifact: Path) -> SearchIndex:
    return SearchIndex.load(starter_artifact)


def read_by(index: SearchIndex, claims_of: ClaimReader) -> SearchIndex:
    parts = (index.catalog, index.wordings, index.encoder, index.ranker, index.manifest, index.expansion)
    return SearchIndex(*parts, index.typos, index.confidence, index.suggester, claims_of)


def shown(index: SearchIndex, text: str = TEXT) -> set[str]:
    return {one.code for one in index.read(text).codes}


def always(claim: Claim) -> ClaimReader:
    def claims_of(reading: Reading, spans: Sequence[tuple[int, int]]) -> list[Claim]:
        return [claim for _ in spans]

    return claims_of


def test_the_table_of_triggers_is_one_reader_of_claims(index: SearchIndex) -> None:
    assert "I10.90" in shown(index)
    assert "G43.9" not in shown(index)
    assert shown(read_by(index, claims_by_triggers)) == shown(index)


def test_another_reader_of_claims_decides_what_is_coded(index: SearchIndex) -> None:
    assert "G43.9" in shown(read_by(index, always(Claim())))
    assert shown(read_by(index, always(Claim(negation="denied")))) == set()
    strangers = read_by(index, always(Claim(experiencer="other")))
    assert shown(strangers) == set()
    assert {one.claim for one in strangers.read(TEXT).mentions} == {"family"}


def test_a_slip_in_a_past_disease_is_no_reason_to_code_it_as_active(index: SearchIndex) -> None:
    """Every hit of a past mention is down-weighted, also those of its mended words."""
    mended = {one.code: one.probability for one in index.search("Z. n. Myokardinfrakt")}
    assert max(mended, key=mended.__getitem__).startswith("I25.2"), mended
