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
    BESIDE_NOTES,
    FAMILY_HISTORY,
    HEALTH_FACTORS,
    PERSONAL_HISTORY,
    CategoryRange,
)
from clinical.icd.spelling import category
from clinical.icd.titles import leaves_open

NONE: Final = -1
"""Marks a disease for which the classification has no such code."""
_RANGE: Final = re.compile(r"\b([A-Z]\d\d)(?:\.[-\d]*)?!?(?:-([A-Z]\d\d))?")
_OLD: Final = "Alter "
_IN_THE_PAST: Final = " in der Eigenanamnese"
_CLASSIFIED: Final = "klassifizierbar unter"


def personal_history_codes(catalog: Catalog) -> list[int]:
    """Of each code of the catalog the number of the code for it in the patient's own history, or NONE. A disease that
    the classification has once more as an old one ("Alter Myokardinfarkt", "COVID-19 in der Eigenanamnese") has the
    code of that which leaves its details open."""
    found = _history_codes(catalog, PERSONAL_HISTORY)
    for old in catalog:
        named = old.title.startswith(_OLD) or old.title.endswith(_IN_THE_PAST)
        if named and not old.terminal and old.code not in HEALTH_FACTORS:
            target = next((leaf for leaf in catalog.leaves(old.code) if leaves_open(leaf.title)), None)
            held = tuple(code.code for code in catalog if _is_of(old, code))
            if target is not None:
                for number in [n for n, code in enumerate(catalog) if code.code.startswith(held)]:
                    found[number] = catalog.number(target.code)
    return found


def _is_of(old: Code, code: Code) -> bool:
    """True for a category or code of the disease that another one names as an old one."""
    if old.title.endswith(_IN_THE_PAST):
        return code.title.startswith(f"{old.title.removesuffix(_IN_THE_PAST)}, ")
    return code.parent is None and code.title.partition(" ")[2] == old.title.removeprefix(_OLD)


def family_history_codes(catalog: Catalog) -> list[int]:
    """Of each code of the catalog the number of the code for it in the family's history, or NONE."""
    return _history_codes(catalog, FAMILY_HISTORY)


def _history_codes(catalog: Catalog, targets: CategoryRange) -> list[int]:
    """Of each code the number of the code within `targets` whose notes hold its category, or BESIDE_NOTES do where the
    catalog has notes."""
    has_notes = any(code.notes for code in compress(catalog, targets.among(catalog)))
    besides: Mapping[str, Sequence[CategoryRange]] = BESIDE_NOTES if has_notes else {}
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
