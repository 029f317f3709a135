"""A query that is nothing but a code: the summary says what may be done with it, whatever letters BfArM gave it."""

from dataclasses import replace

import pytest

from clinical.coding.code_query import looked_up
from clinical.contract import ResearchRequest, ResultEvent
from clinical.icd import Catalog
from tests.fakes import tiny_catalog


def summary(**changed: str) -> str:
    """Of the query "R05", whose row of the catalog is changed."""
    codes = [replace(code, **changed) if code.code == "R05" else code for code in tiny_catalog()]
    *_, last = looked_up("R05", ResearchRequest(query="R05"), Catalog("2026", codes, {}, {}))
    assert isinstance(last, ResultEvent)
    return last.summary


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "endständig und gültig. Titel: „Husten“."),
        ({"use_295": "V", "use_301": "Z"}, "endständig und gültig nur im Krankenhaus (§ 301 SGB V)."),
        ({"use_301": "V"}, "endständig und gültig nur ambulant (§ 295 SGB V)."),
        ({"use_295": "V", "use_301": "V"}, "endständig, aber nicht gültig;"),
        ({"title": "Nicht belegte Schlüsselnummer U07.6"}, "endständig, aber nicht gültig;"),
    ],
)
def test_what_the_code_may_be_used_for_stands_before_its_neighbours(changed, said):
    assert summary(**changed).startswith(f"R05 gibt es im Katalog ICD-10-GM 2026: {said}")
