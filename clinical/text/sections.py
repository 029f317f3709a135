"""The headings of a letter or note and what each of them opens: diagnoses, history, family, medication, plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["diagnoses", "history", "past", "family", "findings", "medication", "procedures", "plan", "question"]

_HEADINGS: Final[tuple[tuple[Kind, str], ...]] = (
    (
        "family",
        r"(?:FA|F\.\s?A\.)|(?i:fam\.?[\s-]?a(?:namnese|nam\.?)?\.?|familien\w*|familiäre?\s+\w+|familiär"
        r"|familie|hereditär\w*|heredität|anamnese der familie)",
    ),
    (
        "past",
        r"(?i:(?:frühere|durchgemachte|stattgehabte|abgeheilte)\s+\w+|(?:vor|frühere )?-?operationen|vor-?ops?"
        r"|kinderkrankheiten)",
    ),
    (
        "diagnoses",
        r"(?:DD|D[gx]\.?)|(?i:(?:haupt|neben|dauer|entlass(?:ungs)?|aufnahme|austritts|eintritts"
        r"|überweisungs|einweisungs|behandlungs)?-?diagnosen?|diag\.?|problemliste|komorbidität\w*"
        r"|nebenbefunde?|grunderkrankung\w*|begleiterkrankung\w*|aktuelle diagnosen?)",
    ),
    ("history", r"(?:EA|PA|SA|JL|JA|VG)|(?i:\w*anamnese|vorgeschichte|vorerkrankung\w*|verlauf|epikrise)"),
    ("medication", r"Rp\.?|(?i:\w*medikation|medikamente?|medis?|therapie|dauertherapie)"),
    ("procedures", r"OP|(?i:eingriffe?|prozeduren?|intervention\w*|maßnahmen|massnahmen)"),
    ("plan", r"P(?:roc)?\.?|(?i:pro[cz]edere|vorgehen|plan|empfehlung\w*|weiteres vorgehen)"),
    ("question", r"(?i:fragestellung|frage|auftrag|zuweisungsgrund|überweisungsgrund|indikation)"),
    (
        "findings",
        r"(?:EKG|CT|MRT|MRI|US|U)|(?i:\w*befunde?|status|labor|echo\w*|röntgen|sono\w*|untersuchung"
        r"|beurteilung|klinik|vitalparameter)",
    ),
)
_KNOWN: Final = re.compile(
    r"\s*(?:[-•*#]\s*)?(?:"
    + "|".join(f"(?P<{kind}>{form})" for kind, form in _HEADINGS)
    + r")(?:(?:\s[\w./()-]+)?\s?:|\s[-–]\s|\s*$)"
)
_TELLING: Final = re.compile(
    r"(?m)^\s*(?:[-•*#]\s*)?(?:" + "|".join(form for kind, form in _HEADINGS if kind in ("family", "past")) + ")"
)
_ANY: Final = re.compile(r"\s*(?:[-•*]\s*)?[A-ZÄÖÜ][\wÄÖÜäöüß ./()-]{1,40}:")
_DASHED: Final = re.compile(r"\s[-–]\s")
_MOST_WORDS: Final = 4
"""Words of a heading without a colon or a dash behind it, its bullet included: three, as the forms above have them."""
_LONGEST: Final = 60
"""Characters of a line that are read for a heading."""
_BRIEF: Final = 45
"""Length from which a line of the family history continues in the next."""


@dataclass(frozen=True, slots=True)
class Section:
    """A run of lines under one heading; `kind` is None for a heading that the table does not know. `start` is where
    the heading ends, so that a section is what stands under it."""

    kind: Kind | None
    start: int
    end: int
    heading: int


def sections_of(text: str) -> tuple[Section, ...]:
    """The sections of a text in their order; what stands before the first heading is in none."""
    found: list[Section] = []
    opened: tuple[Kind | None, int, int] | None = None
    blank = one_line = False
    at = behind = 0
    while behind < len(text):
        at, behind = behind, text.find("\n", behind) + 1 or len(text)
        line = text[at:behind]
        heading = _heading(line)
        ends = blank or (one_line and not _goes_on(line))
        if opened is not None and (heading is not None or (ends and opened[0] in ("family", "past"))):
            found.append(Section(opened[0], opened[1], at, opened[2]))
            opened = None
        if heading is not None:
            opened = (heading[0], at + heading[1], at)
            one_line = bool(line[heading[1] :].strip()) and len(line) <= _BRIEF
            blank = False
        elif opened is not None:
            blank = not line.strip()
    if opened is not None:
        found.append(Section(opened[0], opened[1], len(text), opened[2]))
    return tuple(found)


def may_tell(text: str, start: int, end: int) -> bool:
    """True if a line of a text between two places may open a section that says whose or when: family, past."""
    return _TELLING.search(text, start, end) is not None


def _goes_on(line: str) -> bool:
    """True if a line continues the one before it."""
    return line[:1].islower()


def _heading(line: str) -> tuple[Kind | None, int] | None:
    """The kind of section a line opens and where its heading ends; None where it opens none."""
    head = line[:_LONGEST].rstrip("\n")
    if not head or head.isspace():
        return None
    if ":" not in head and len(head.split()) > _MOST_WORDS and not _DASHED.search(head):
        return None
    match = _KNOWN.match(head)
    if match is not None:
        return match.lastgroup, match.end()  # type: ignore[return-value]
    match = _ANY.match(head)
    return (None, match.end()) if match is not None else None
