"""Titles of the classification: the words by which a title leaves something open, and those for what is past."""

from __future__ import annotations

import re
from typing import Final

_OPEN: Final = "nicht näher bez"
_CATCH_ALL: Final = "ohne nähere Angabe"
_DEFAULT: Final = re.compile(r"nicht näher bezeichnet|o\.\s?n\.\s?A\.", re.I)
_VAGUE: Final = re.compile(r"Nicht näher bezeichnete[rs]? ")
_BLANK: Final = re.compile(r"^(?:ohne (?:angabe|komplikationen)\b|nicht als )|nicht näher bezeichnet$")
_NO_SITE: Final = re.compile(r"nicht näher bezeichneten? Körperregion|Körperregion nicht näher bezeichnet")
_AFTERMATH: Final = re.compile(r"^(?:Folge(?:n|zustände)\b|Alter |Zustand nach)|in der Eigenanamnese", re.I)


def leaves_open(title: str) -> bool:
    """True if the last part of a title, the only one in which siblings differ, says "nicht näher bezeichnet"."""
    return _OPEN in title.rpartition(": ")[2].casefold()


def is_default(title: str) -> bool:
    """True if the last part of a title is that of the code for lack of detail: it leaves open, or ends in "o.n.A."."""
    return _DEFAULT.search(title.rpartition(": ")[2]) is not None


def says_less(title: str, other: str) -> bool:
    """True if a title has nothing to say where another one, of the same category, first differs from it: it ends "nicht
    näher bezeichnet", or begins "Ohne Angabe", "Ohne Komplikationen" or "Nicht als"."""
    for part, instead in zip(title.split(": "), other.split(": "), strict=False):
        if part != instead:
            return _BLANK.search(part.casefold()) is not None and _BLANK.search(instead.casefold()) is None
    return False


def named_vaguely(title: str) -> str | None:
    """The disease that a title calls not specified ("Nicht näher bezeichneter Diabetes mellitus": "Diabetes
    mellitus"); None for a title that does not begin so."""
    rest, found = _VAGUE.subn("", title, count=1)
    return rest if found else None


def adds_unspecified(title: str) -> bool:
    """True if a title says "nicht näher bezeichnet" behind its first word, anywhere. A title that begins so names a
    residual category; the ranking model is trained on this distinction."""
    return _OPEN in title


def is_catch_all(title: str) -> bool:
    """True for the residual category of a chapter ("... ohne nähere Angabe")."""
    return title.endswith(_CATCH_ALL)


def has_no_site(title: str) -> bool:
    """True for injuries and burns of no stated part of the body: other categories have the same with it."""
    return "Körperregion" in title and _NO_SITE.search(title) is not None


def is_other(title: str) -> bool:
    """True if a title names a rest: "sonstige", "andere"."""
    return "onstige" in title or "ndere" in title


def words_aftermath(title: str) -> bool:
    """True if a title words a sequela, an old disease, or one in the patient's own history."""
    return _AFTERMATH.search(title) is not None
