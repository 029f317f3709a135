"""Errors of claims on written inputs: present findings read as absent, and absent findings read as present.

The one hides a patient's disease, the other shows one that nobody has. Neither needs a catalog: the reading alone
answers, of the words that the authors of the inputs marked as stated and as absent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from clinical.claims import Reading
from evals.measures.intervals import share
from evals.measures.results import Row, row

WRITTEN: Final = Path(__file__).parents[1] / "data" / "written.jsonl"
"""The inputs of our own that nothing learns from."""
OF_PATIENT: Final = ("present", "suspected", "history")
"""Claims of what the patient has, may have or had."""
WRONG: Final = {"there_read_as_not": ("hidden", "there"), "not_there_read_as_there": ("leaked", "absent")}
"""Measures of the results table: (the count, its total) by name."""


def claimed(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Counts of inputs with claims: there, hidden (of these read as denied, of others, or feared), absent, leaked (of
    these read as the patient's)."""
    counts: Counter[str] = Counter()
    for one in rows:
        reading = Reading.of(one["text"])
        there = [said["text"] for said in one["codes"] if said["claim"] in OF_PATIENT]
        absent = [said["text"] for said in one.get("absent", ())]
        counts += Counter(there=len(there), absent=len(absent))
        counts["hidden"] += sum(not _is_patients(reading, words) for words in there)
        counts["leaked"] += sum(_is_patients(reading, words) for words in absent)
    return counts


def _is_patients(reading: Reading, words: str) -> bool:
    """Return True when the text claims of the patient what these words name: the word that most probably begins a
    mention is asked for, since authors of inputs marked the words of denial together with what is denied."""
    start = reading.text.index(words)
    first, last = reading.words_in(start, start + len(words))
    if first > last:
        return reading.claim(start, start + len(words)).assertion in OF_PATIENT
    named = first + int(reading.marks[first : last + 1, 1].argmax())
    begin, end = reading.seen.places[named].tolist()
    return reading.claim(begin, end).assertion in OF_PATIENT


def rows_of(name: str, own: Mapping[str, int]) -> Iterator[Row]:
    """The counts of a set as rows of the table of results."""
    for measure, (part, whole) in WRONG.items():
        yield from row(measure, name, own[whole], share(own[part], own[whole]))
