"""Names of people by their form: which words may be one, and which of them is the surname."""

from bentos.embedded.names.order import given
from bentos.embedded.names.people import (
    TITLE,
    Name,
    another_first,
    doctor_in,
    is_name_word,
    leading_name,
    name_before,
    parse_name,
    same_person,
    strip_titles,
    ticked_salutation,
    ticked_word,
)
from bentos.embedded.names.words import FIRST_NAMES

__all__ = [
    "FIRST_NAMES",
    "TITLE",
    "Name",
    "another_first",
    "doctor_in",
    "given",
    "is_name_word",
    "leading_name",
    "name_before",
    "parse_name",
    "same_person",
    "strip_titles",
    "ticked_salutation",
    "ticked_word",
]
