"""Rules reader: reads a letter by its form, without a language model."""

from clinical.letters.reader.forms_of_entries import lists_by_form
from clinical.letters.reader.reader import RulesReader, read_letter

__all__ = ["RulesReader", "lists_by_form", "read_letter"]
