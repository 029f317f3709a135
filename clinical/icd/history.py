"""Codes of chapter XXI for a past disease, and for the disease of a relative.

Chapter XXI files both by the disease: Z85 to Z87 and Z80 to Z84 name in their notes the categories they stand for
("Zustände, klassifizierbar unter C50.-"), so the code of a disease says which code of the past or of the family is
meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Final

from clinical.icd.catalog import Catalog, Code
from clinical.icd.groups import (
    DISABLING,
    DISABLING_IN_FAMILY,
    FAMILY_HISTORY,
    PERSONAL_HISTORY,
    CategoryRange,
)
from clinical.icd.spelling import category
from clinical.icd.titles import leaves_open

NONE: Final = -1
"""Marks a disease for which the classification has no such code."""
_RANGE: Final = re.compile(r"\b([A-Z]\d\d)(?:\.[-\d]*)?!?(?:-([A-Z]\d\d))?")
_OLD: Final = re.compile(r"Alte[rs]? \w+")
_CLASSIFIED: Final = "klassifizierbar unter"


def personal_history_codes(catalog: Catalog) -> list[int]:
    """Of each code of the catalog the number of the code for it in the patient's own history, or NONE; for a disease
    that has an old form ("Akuter Myokardinfarkt", "Alter Myokardinfarkt") the code of that, of no stated detail."""
    found = _history_codes(catalog, PERSONAL_HISTORY, {})
    for old in (code for code in catalog if not code.terminal and _OLD.fullmatch(code.title)):
        disease = old.title.partition(" ")[2]
        target = next((leaf for leaf in catalog.leaves(old.code) if leaves_open(leaf.title)), None)
        held = {code.code for code in catalog if code.parent is None and re.fullmatch(rf"\w+ {disease}", code.title)}
        if target is not None:
            own = (number for number, code in enumerate(catalog) if category(code.code) in held)
            for number in own:
                found[number] = catalog.number(target.code)
    return found


def family_history_codes(catalog: Catalog) -> list[int]:
    """Of each code of the catalog the number of the code for it in the family's history, or NONE."""
    has_notes = any(code.notes for code in compress(catalog, FAMILY_HISTORY.among(catalog)))
    return _history_codes(catalog, FAMILY_HISTORY, {DISABLING_IN_FAMILY: DISABLING} if has_notes else {})


def _history_codes(
    catalog: Catalog, targets: CategoryRange, besides: Mapping[str, Sequence[CategoryRange]]
) -> list[int]:
    """Of each code the number of the code within `targets` whose notes hold its category."""
    by_category: dict[str, int] = {}
    names = [category(code.code) for code in catalog]
    distinct = sorted(set(names))
    for number, code in compress(enumerate(catalog), targets.among(catalog)):
        for held in (*besides.get(code.code, ()), *_ranges(code)):
            first, behind = bisect_left(distinct, held.first), bisect_right(distinct, held.last)
            by_category |= dict.fromkeys(distinct[first:behind], number)
    return [by_category.get(name, NONE) for name in names]


def _ranges(code: Code) -> Iterator[CategoryRange]:
    for note in code.notes:
        if note.kind == "inclusion" and _CLASSIFIED in note.text:
            for match in _RANGE.finditer(" ".join((note.text.partition(_CLASSIFIED)[2], *note.references))):
                yield CategoryRange(match[1], match[2] or match[1])
