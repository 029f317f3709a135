"""Dagger and asterisk codes: which are coded together, and for which wordings.

The tables of codes do not say it; the synonyms do: a line `B37.3+ | N77.1* | Candida-Vaginitis` is coded with both.
Each of the two codes gets a note of kind `pair` for each partner: `references` holds the partner, `text` the wordings,
one per line. The rules of tiers 2 and 3 read them (`clinical.coding.rules`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from catalog_build.official.tables import Synonym
from clinical.icd import PAIR_NOTE, Catalog, Code, Note


def with_pairs(catalog: Catalog, synonyms: Iterable[Synonym]) -> Catalog:
    """The catalog with `pair` notes at the end of the notes of the codes concerned; partners with most wordings first.

    Pure. Only pairs with exactly one asterisk code count: "!" codes and second primary codes are no such pair.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    for synonym in synonyms:
        for other in synonym.secondary:
            if _is_pair(catalog.get(synonym.code), catalog.get(other)):
                texts.setdefault((synonym.code, other), []).append(synonym.text)
    notes: dict[str, list[Note]] = {}
    for (dagger, asterisk), wordings in sorted(texts.items(), key=lambda item: (-len(item[1]), item[0])):
        text = "\n".join(dict.fromkeys(wordings))
        notes.setdefault(dagger, []).append(Note(PAIR_NOTE, text, (asterisk,)))
        notes.setdefault(asterisk, []).append(Note(PAIR_NOTE, text, (dagger,)))
    finished = (
        replace(code, notes=(*code.notes, *notes[code.code])) if code.code in notes else code for code in catalog
    )
    return Catalog(catalog.version, finished, catalog.chapters, catalog.blocks, catalog.moves)


def _is_pair(one: Code | None, other: Code | None) -> bool:
    return one is not None and other is not None and one.kind != "asterisk" and other.kind == "asterisk"
