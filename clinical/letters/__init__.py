"""From a letter to evidenced fields: reading by a language model or by rules, grounding, review."""

from clinical.letters.extraction import (
    extract,
    extract_by_rules,
    messages_for,
    parts_of,
    schema_of,
)
from clinical.letters.fields import DOCUMENTS, FIELDS, Field, field_of
from clinical.letters.grounding import (
    Grounded,
    Kind,
    Verdict,
    find_statement,
    ground,
    judge,
    named_choice,
    values_of,
)
from clinical.letters.reader import RulesReader, read_letter
from clinical.letters.review import reviewed

__all__ = [
    "DOCUMENTS",
    "FIELDS",
    "Field",
    "Grounded",
    "Kind",
    "RulesReader",
    "Verdict",
    "extract",
    "extract_by_rules",
    "field_of",
    "find_statement",
    "ground",
    "judge",
    "messages_for",
    "named_choice",
    "parts_of",
    "read_letter",
    "reviewed",
    "schema_of",
    "values_of",
]
