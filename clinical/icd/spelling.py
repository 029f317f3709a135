"""Spelling of codes: the form of a code, its category, the code above it, and references to codes in notes."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

CODE_PATTERN: Final = re.compile(r"[A-Z][0-9]{2}(?:\.[0-9]{1,2})?")

# One bare code, as people type it: capital, two digits, up to two more behind a dot that may be missing; blanks
# between these groups; dashes for "not specified further"; one mark. Blanks inside a group of digits do not count
# as a code ("T1 2" is more likely two vertebrae).
_BARE: Final = re.compile(
    r"([A-Z])\s*([0-9]{2})\s*(?:[.,]\s*)?([0-9]{0,2})\s*[-\u2010-\u2015\u2212]{0,2}\s*[+*!\u2020]?", re.ASCII
)
_BARE_MAX: Final = 24  # code points, blanks folded; anything longer is a text
EXAMPLE: Final = "E11.90"
"""A code for messages that say what was expected, and for calls whose answer does not matter."""
EXAMPLE_PAIR: Final = "B37.3+ N77.1*"
"""A dagger code with its asterisk code, for the same messages."""
REFERENCE: Final = re.compile(r"[A-Z]\d{2}(?:\.\d{1,2})?(?:\s*-\s*[A-Z]\d{2}(?:\.\d{1,2})?)?")
"""A code, or a range of codes, in the text of a note."""


def category(code: str) -> str:
    """The three-character category of a code: E11.90 -> E11."""
    return code[:3]


def parent_of(code: str) -> str | None:
    """The spelling of the next level up: E11.90 -> E11.9 -> E11 -> None; nothing is above what is no code ("E1")."""
    return None if len(code) <= 3 else code[:-1].rstrip(".")


def parse(text: str) -> str | None:
    """Tolerant spelling of ONE bare code -> canonical dotted form, existing or not; None when it is anything else.

    Case, blanks, a missing dot, trailing dashes and the marks + * ! are forgiven (`e119`, `E11.-`, `G01*`).
    """
    typed = " ".join(text.split())
    if len(typed) > _BARE_MAX:
        return None
    match = _BARE.fullmatch(unicodedata.normalize("NFKC", typed).upper())
    if match is None:
        return None
    letter, category, rest = match.groups()
    return f"{letter}{category}.{rest}" if rest else f"{letter}{category}"


def covers(reference: str, code: str) -> bool:
    """True if a reference of the tabular list (`F05.-`, `J11.8`, `E10-E14`, `G01*`) includes this code."""
    bare = reference.translate(str.maketrans("", "", "+*!†# ")).replace("–", "-").rstrip("-").rstrip(".")
    low, dash, high = bare.partition("-")
    if not dash:
        return code == low or code.startswith(low)
    high = high.rstrip(".-")
    return low <= code[: len(low)] and code[: len(high)] <= high
