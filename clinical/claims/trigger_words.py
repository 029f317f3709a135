"""Words that deny, and words for others than the patient, for regular expressions: from the table of trigger words."""

from __future__ import annotations

import re
from functools import cache

from clinical.claims.patterns import Words
from clinical.claims.triggers import group, written_groups
from clinical.text import spelling

_WORD = re.compile(r"[^\W\d_]+")
_LAST = re.compile(r"([^\W\d_]+)\W{0,3}$")


_ADJECTIVES = ("Bekannter",)
"""Words for other people that begin the name of a disease as adjectives."""


def either(*names: str) -> str:
    """Any word of these groups of the table, to stand in a regular expression: `either("@no")` is `kein|keine|...`."""
    written = (word for name in names for word in written_groups()[name].split("|"))
    return "|".join(re.escape(word).replace(r"\*", r"\w*") for word in written)


@cache
def _others() -> Words:
    return group("@another")


def names_relative(text: str) -> bool:
    """True if the text names a relative, a partner or a neighbour."""
    return any(_others().fits(spelling(word)) for word in _WORD.findall(text) if len(word) > 2)


def ends_in_relative(text: str) -> bool:
    """True if the text's last word names a relative, a partner or a neighbour."""
    last = _LAST.search(text)
    return last is not None and _others().fits(spelling(last[1]))


def begins_with_relative(text: str) -> bool:
    """True if the text's first word names a relative, a partner or a neighbour."""
    first = _WORD.match(text)
    return first is not None and first[0] not in _ADJECTIVES and _others().fits(spelling(first[0]))
