"""Codes of chapter XXI in the place of those of the disease: of one that is past, and of one that a relative has.

The disease is searched as it is written, and its code says which code of the past or of the family is meant
(`clinical.icd`); no wording of chapter XXI has to be alike.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clinical.icd import NONE, TREATED_TUMOURS, Catalog, family_history_codes, personal_history_codes
from clinical.search import Hits, Ints, Wordings, joined, merged_by_part

NAMED: Final = 0.1
"""From which probability on a code says that the words of a mention name its disease."""


class Elsewhere:
    """`past`, `family`: of each code of the catalog the number of the code for it there, or NONE; `over`: the codes
    that nothing over has: a malignant tumour that was treated is Z85 alone."""

    def __init__(self, catalog: Catalog, wordings: Wordings) -> None:
        self.past = np.array(personal_history_codes(catalog), dtype=np.int64)
        self.family = np.array(family_history_codes(catalog), dtype=np.int64)
        tumours = np.array(TREATED_TUMOURS.among(catalog.codes), dtype=bool)
        self.over = tumours[self.past] & (self.past != NONE)
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

    def with_past(self, found: Hits, diseases: Hits) -> Hits:
        """The codes found for what is over, and those that its disease has there. Where the catalog words the past of
        this very disease ("alter Myokardinfarkt"), another code is so much less probable."""
        general = self.moved(diseases, self.past)
        if not len(general.part):
            return found
        rivals = (general.part[:, None] == found.part) & (general.code[:, None] != found.code)
        own = (rivals * found.probability).max(axis=1, initial=0).astype(np.float32)
        return merged_by_part(joined([found, general.weighed(1 - own)]))
