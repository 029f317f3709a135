"""The lists that an entry may belong to by its own words: the marks of drugs, procedures, plans and diseases."""

from __future__ import annotations

from clinical.letters.reader.diseases import has_disease
from clinical.letters.reader.drugs import is_dosed
from clinical.letters.reader.entries import announces, names_procedure, recommends


def lists_by_form(entry: str) -> frozenset[str]:
    """The lists whose marks an entry has; none where it has no mark at all."""
    marks = {
        "medikation": is_dosed(entry),
        "eingriffe": names_procedure(entry),
        "procedere": recommends(entry) or announces(entry),
        "diagnosen": has_disease(entry),
        "fragestellung": "?" in entry,
    }
    return frozenset(part for part, has_mark in marks.items() if has_mark)
