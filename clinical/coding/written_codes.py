"""Codes that a text spells out itself ("Z. n. I21.9, jetzt Dyspnoe"): candidates in every tier."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clinical.text import coded_diagnoses

if TYPE_CHECKING:
    from clinical.icd import Catalog

_NO_CODE = re.compile(
    r"Vit(?:amin|\.)?[\s-]*$|(?:Größe|Länge|Gewicht|Kopfumfang|\bKU|\bBMI|Perzentilen?)[^\n,;]{0,20}$", re.IGNORECASE
)
"""Words before a "B12" that is a vitamin, or a "P50" that is a percentile."""

BEFORE = 40
"""Characters before a code that may say that it is none."""


def written_codes(text: str, catalog: Catalog) -> list[tuple[str, int, int]]:
    """Codes of the catalog that `text` spells out, each once, with their places in code points; none that it marks as
    excluded ("I26.9 A")."""
    places: dict[str, tuple[int, int]] = {}
    for one in coded_diagnoses(text):
        code = catalog.parse(text[one.start : one.behind])
        if _NO_CODE.search(text, max(0, one.start - BEFORE), one.start) or one.certainty == "A":
            continue
        if code and code in catalog:
            places.setdefault(code, (one.start, one.behind))
    return [(code, start, end) for code, (start, end) in places.items()]
