"""Codes of chapter XXI for a past disease, and for the disease of a relative.

Chapter XXI files both by the disease: Z85 to Z87 and Z80 to Z84 name in their notes the categories they stand for
("Zustände, klassifizierbar unter C50.-"). So the disease is searched as it is written, and its code says which code of
the past or of the family is meant; no wording of chapter XXI has to be alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clinical.icd import Catalog, Code
from clinical.search import Hits, Ints, Wordings, joined, merged_by_part

NONE: Final = -1
"""Marks a disease for which the classification has no such code."""
_RANGE: Final = re.compile(r"\b([A-Z]\d\d)(?:\.[-\d]*)?!?(?:-([A-Z]\d\d))?")
_CLASSIFIED: Final = "klassifizierbar unter"
_TREATED: Final = "Z85"
"""Malignant tumours in the patient's own history."""
NAMED: Final = 0.1
"""From which probability on a code says that the words of a mention name its disease."""
_DISABLING: Final = (("G00", "G99"), ("H54", "H54"), ("I00", "I99"), ("J40", "J47"), ("M00", "M99"), ("Q00", "Q99"))
"""Categories of Z82, which its notes leave out: those of Z82.0 to Z82.7 of the WHO's ICD-10, of which it is made."""


class Elsewhere:
    """`past`, `family`: of each code of the catalog the number of the code for it there, or NONE; `over`: the codes
    that nothing over has: a malignant tumour that was treated is Z85 alone."""

    def __init__(self, catalog: Catalog, wordings: Wordings) -> None:
        self.past = _targets(catalog, is_past, {})
        self.family = _targets(catalog, is_family, {"Z82": _DISABLING} if _has_notes(catalog) else {})
        tumours = np.array([code.code[:3] == _TREATED for code in catalog.codes], dtype=bool)
        self.over = tumours[self.past] & (self.past != NONE)
        self._treated = np.where(self.over, self.past, NONE)
        self._wordings = wordings

    @property
    def is_silent_on_relatives(self) -> bool:
        """True if no note of the catalog names a code for the diseases of relatives."""
        return bool((self.family == NONE).all())

    def moved(self, hits: Hits, target: Ints) -> Hits:
        """The hits, each code by what `target` has for it; where several codes of a part have the same, that is as
        probable as all of them together. Codes that have none are left out."""
        hits = hits.at(target[hits.code] != NONE)
        code = target[hits.code]
        keys, row, of = np.unique(np.stack([hits.part, code]), axis=1, return_index=True, return_inverse=True)
        chance = np.minimum(np.bincount(of.ravel(), hits.probability, len(row)), 1).astype(np.float32)
        share = np.minimum(np.bincount(of.ravel(), hits.share, len(row)), 1).astype(np.float32)
        title = self._wordings.tables.title[self._wordings.code_row[keys[1]]]
        return Hits(keys[0], keys[1], share, chance, title)

    def without_treated(self, hits: Hits, over: NDArray[np.bool_], there: NDArray[np.bool_]) -> Hits:
        """The hits without tumours in the patient's history (`over` of them) that others of them say are `there`:
        behind "Mamma-Ca re" a past treatment ("Z. n. BET") is that of this tumour. A mention that names a tumour itself
        ("Z. n. Mamma-Ca li") speaks of an earlier one."""
        present = np.setdiff1d(self._treated[hits.code[there]], NONE)
        says = over & (hits.probability >= NAMED)
        named = set(zip(hits.part[says].tolist(), self._treated[hits.code[says]].tolist(), strict=True))
        rows = np.flatnonzero(over & np.isin(hits.code, present)).tolist()
        left = [at for at in rows if (int(hits.part[at]), int(hits.code[at])) not in named]
        return hits.at(np.delete(np.arange(len(hits.part)), left)) if left else hits

    def with_past(self, found: Hits, diseases: Hits) -> Hits:
        """The codes found for what is over, and those that its disease has there. Where the catalog words the past of
        this very disease ("alter Myokardinfarkt"), the general code is so much less probable."""
        general = self.moved(diseases, self.past)
        if not len(general.part):
            return found
        own = np.zeros(int(max(general.part.max(), found.part.max(initial=0))) + 1, dtype=np.float32)
        np.maximum.at(own, found.part, found.probability)
        return merged_by_part(joined([found, general.weighed(1 - own[general.part])]))


def is_past(name: str) -> bool:
    """Z85 to Z87: diseases in the patient's own history."""
    return "Z85" <= name[:3] <= "Z87"


def is_family(name: str) -> bool:
    """Z80 to Z84: diseases in the family's history."""
    return "Z80" <= name[:3] <= "Z84"


def _has_notes(catalog: Catalog) -> bool:
    return any(code.notes for code in catalog.codes if is_family(code.code))


def _targets(
    catalog: Catalog, belongs: Callable[[str], bool], besides: Mapping[str, tuple[tuple[str, str], ...]]
) -> Ints:
    """Of each code the number of the terminal code of `belongs` whose notes hold its category."""
    by_category: dict[str, int] = {}
    names = [code.code[:3] for code in catalog.codes]
    for number, code in enumerate(catalog.codes):
        if belongs(code.code):
            for first, last in (*besides.get(code.code, ()), *_ranges(code)):
                by_category |= dict.fromkeys([name for name in set(names) if first <= name <= last], number)
    return np.array([by_category.get(name, NONE) for name in names], dtype=np.int64)


def _ranges(code: Code) -> Iterator[tuple[str, str]]:
    for note in code.notes:
        if note.kind == "inclusion" and _CLASSIFIED in note.text:
            for match in _RANGE.finditer(" ".join((note.text.partition(_CLASSIFIED)[2], *note.references))):
                yield match[1], match[2] or match[1]
