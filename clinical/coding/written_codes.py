"""Codes that a text spells out itself ("Z. n. I21.9, jetzt Dyspnoe"): candidates in every tier."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinical.icd import Catalog

_WRITTEN_CODE = re.compile(r"(?<![\w./-])[A-Z]\d{2}(?:\.(?:\d{1,2}|-))?(?![\w/]|[.,]\d|-\w)")
"""A code inside a text: a capital and two digits, not part of a longer token, a range or a number."""

_VITAMIN = re.compile(r"Vit(?:amin|\.)?[\s-]*$", re.IGNORECASE)
"""Words before a "B12" that is a vitamin and no code."""

_EXCLUDED = re.compile(r"[ \t]*[(\[]?A[)\]]?[ \t]*(?=[,;.|/\n]|$)")
"""The marker of German outpatient coding behind a code that says that the disease was ruled out ("I26.9 A")."""


def written_codes(text: str, catalog: Catalog) -> list[tuple[str, int, int]]:
    """Codes of the catalog that `text` spells out, each once, with their places in code points; none that it marks as
    excluded."""
    places: dict[str, tuple[int, int]] = {}
    for match in _WRITTEN_CODE.finditer(text):
        code = catalog.parse(match.group())
        if _VITAMIN.search(text, 0, match.start()) or _EXCLUDED.match(text, match.end()):
            continue
        if code and code in catalog:
            places.setdefault(code, match.span())
    return [(code, start, end) for code, (start, end) in places.items()]
