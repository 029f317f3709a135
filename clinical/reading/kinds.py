"""Traits of the codes of a catalog that reading looks at, one array each."""

from __future__ import annotations

import numpy as np

from clinical.icd import SYMPTOMS, Catalog, category, has_no_site, is_unspecified
from clinical.search import Ints, Vectors
from clinical.text import folded_words


class CodeKinds:
    """Traits of each code that the columns need: its name, its category, whether it leaves something open that a code
    beside it says, whether it is a symptom (chapter XVIII), whether texts speak of it often, and how common it is
    where `commonness` (codes,) tells."""

    def __init__(self, catalog: Catalog, commonness: Vectors | None = None) -> None:
        self.names = names = [code.code for code in catalog.codes]
        self.category: Ints = np.unique([category(name) for name in names], return_inverse=True)[1]
        self.open = np.array(
            [bool(catalog.more_specific(code.code)) or has_no_site(code.title) for code in catalog.codes], dtype=bool
        )
        self.unspecified = np.array([is_unspecified(code) for code in catalog.codes], dtype=bool)
        self.symptom = np.array(SYMPTOMS.among(catalog.codes), dtype=bool)
        self.everyday = np.array([code.everyday for code in catalog.codes], dtype=bool)
        self.terminal = np.array([code.terminal for code in catalog.codes], dtype=bool)
        self._titles, self._words = [code.title for code in catalog.codes], dict[int, list[str]]()
        self.common = np.zeros(len(catalog), dtype=np.float32) if commonness is None else commonness

    def title_words(self, code: int) -> list[str]:
        """The folded words of the title of a code; each title is read once."""
        if code not in self._words:
            self._words[code] = folded_words(self._titles[code])
        return self._words[code]
