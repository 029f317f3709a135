"""Rules reader: reads a letter by its form, without a language model."""

from clinical.letters.reader.forms_of_entries import lists_by_form
from clinical.letters.reader.reader import RulesReader, read_letter
from clinical.letters.reader.statements import (
    LIKELY,
    LISTS,
    ROWS,
    LetterStatement,
    StatementFeatures,
    StatementModel,
    statements_of,
)

__all__ = [
    "LIKELY",
    "LISTS",
    "ROWS",
    "LetterStatement",
    "RulesReader",
    "StatementFeatures",
    "StatementModel",
    "lists_by_form",
    "read_letter",
    "statements_of",
]
