"""Forms of typing and copying: the same texts without commas, wrapped, in capitals, or with a wrong encoding.

What a text states does not change with its form, so each form is read against the annotation of the text as it was.
"""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_COMMAS: Final = re.compile(r"[,;](?=\s)")
_STOPS: Final = re.compile(r"(?<=[^\W\d_]{4})\.(?=\s|$)")
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_SYLLABLE: Final = re.compile(r"(\w{4,})(\w{4,})")


def _without_commas(text: str) -> str:
    return _COMMAS.sub("", text)


def _without_marks(text: str) -> str:
    return _STOPS.sub("", _without_commas(text))


def _wrapped(width: int) -> Callable[[str], str]:
    return lambda text: "\n".join(
        textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n")
    )


def _hyphenated(text: str) -> str:
    """The third line end of a wrapped text stands within a word."""
    lines = list[str]()
    for line in _wrapped(60)(text).split("\n"):
        if lines and (match := _SYLLABLE.match(line)) and match[2][:1].islower():
            lines[-1] += f" {match[1]}-"
            line = line[len(match[1]) :]
        lines.append(line)
    return "\n".join(lines)


def _misread(text: str) -> str:
    return text.encode().decode("cp1252", errors="replace")


FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "as typed": str,
    "without commas": _without_commas,
    "without commas and stops": _without_marks,
    "commas without blanks": lambda text: re.sub(r"(?<=[,;]) (?!\d)", "", text),
    "wrapped at 60": _wrapped(60),
    "wrapped at 30": _wrapped(30),
    "hyphenated": _hyphenated,
    "lines of Windows": lambda text: text.replace("\n", "\r\n"),
    "letters and marks apart": lambda text: unicodedata.normalize("NFD", text),
    "quoted in a mail": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "UTF-8 read as Windows-1252": _misread,
    "entities of HTML": lambda text: html.escape(text).encode("ascii", "xmlcharrefreplace").decode(),
    "umlauts lost": lambda text: re.sub("[äöüÄÖÜß]", "\ufffd", text),
    "ae for ä": lambda text: text.translate(_UMLAUTS),
    "small letters": str.lower,
    "capitals": str.upper,
}


def in_forms(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each input in each form, which is its class."""
    return [{**row, "class": name, "text": form(row["text"])} for name, form in FORMS.items() for row in rows]


OTHER_WORDS: Final = ("umlauts lost", "ae for ä", "small letters", "capitals")
"""Forms of which values are other words than the annotation has."""
