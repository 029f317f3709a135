"""The tasks: what is given, how it is answered, what is measured."""

from __future__ import annotations

from typing import Final, NamedTuple

SPLITS: Final = ("train", "dev", "test")
CLAIMS: Final = ("present", "suspected", "excluded", "history", "family", "other", "hypothetical")
THERE: Final = ("present", "suspected", "history")
"""Claims of what the patient has, may have, or had."""
DEPTH: Final = 10
"""Codes of an answer that count."""

_OF_BOTH: Final = (
    "dokument.typ", "dokument.datum",
    *(f"patient.{name}" for name in (
        "nachname", "vorname", "geburtsdatum", "geschlecht", "strasse", "plz", "ort", "versichertennummer",
        "fallnummer",
    )),
    "versicherung.name", "versicherung.klasse",
    *(f"{who}.{name}" for who in ("absender", "empfaenger") for name in (
        "institution", "abteilung", "name", "strasse", "plz", "ort", "telefon", "email",
    )),
    "aufenthalt.art", "fragestellung", "diagnosen", "medikation",
)  # fmt: skip
FIELDS: Final = {
    "arztbrief": (*_OF_BOTH, "eingriffe", "procedere"),
    "zuweisung": (*_OF_BOTH, "kostengutsprache", "dringlichkeit"),
}
"""The paths of the fields of each kind of letter."""
LISTS: Final = ("diagnosen", "medikation", "eingriffe", "procedere")
"""Fields whose value is a list of strings."""
LOOSE: Final = ("institution", "abteilung", "name", "fragestellung", "strasse", "telefon")
"""Endings of paths whose values may differ from the annotation in a few words; entries of lists may, too."""


class Task(NamedTuple):
    """A task: what it is about, an answer as an example, and the names of its measures."""

    about: str
    answer: str
    measures: tuple[str, ...]


_RANKED: Final = ("top_1", "recall_10", "precision")
TASKS: Final = {
    "wordings": Task("one diagnosis in a few words; its ICD-10-GM codes, best first", '"codes": ["I10.90"]', _RANKED),
    "typed": Task("the first characters of a diagnosis; codes, best first", '"codes": ["I10.90"]', ("in_3", "in_8")),
    "lists": Task("several diagnoses in a line or a list; codes, best first", '"codes": ["I10.90", "E11.90"]', _RANKED),
    "codes": Task("a whole note; the codes of what it states", '"codes": ["I10.90", "E11.90"]', (*_RANKED, "denied")),
    "notes": Task("a whole note; the places of all conditions in it", '"mentions": [[5, 12]]', ("span_f1", "word_f1")),
    "claims": Task(
        "a note and the places of its conditions; the claim of each",
        '"claims": ["present", "excluded"]',
        ("accuracy", "there_as_not", "not_as_there"),
    ),
    "extraction": Task(
        "a letter; its fields",
        '"fields": {"patient.nachname": "Huber", "diagnosen": ["COPD"]}',
        ("precision", "recall", "f1", "f1_single", "f1_lists"),
    ),
    "lies": Task(
        "a letter and a value of a field; does the letter support it?",
        '"supported": true',
        ("lies_kept", "truths_lost"),
    ),
}
"""Every task by its name; ids of its texts are `NAME-SPLIT-NUMBER`."""
