"""How a letter is laid out: lines and their cells, blocks, salutation and closing, labelled values and sections.

Knows the habits of Swiss, German and Austrian letters and forms and no vocabulary of diseases or drugs. Every line is
read once, and no pattern looks further than a line: a letter is read in time linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from dataclasses import field as made
from functools import cached_property
from itertools import accumulate

from bentos.embedded.budget import Budget
from bentos.embedded.ending import last_signed
from bentos.embedded.labels import OWNERS, bare_heading, heading_field, key, label_of
from bentos.embedded.layout import cells_of, header_row, mended, unfolded, unspread
from clinical.language import MONTH_NAMES

LINE_MAX = 2_000
"""Characters of a line that are read as a label, a name or an address: a longer one is prose."""

_CELLS = re.compile(
    r"\t+|\s*[|·]\s*|\s\.{3,}\s?:?\s*|\s{3,}|\s*;\s+|"
    r"(?<=[\w.])\s+(?=(?:Nachname|Vorname|Name|Geburtsdatum|Geb\.?-?Dat\.?|Geschlecht|Straße|Strasse|Versicherung)\s?:\s)"
)
_WIDE = re.compile(r"\t+|\s{3,}")
_MARK = re.compile(
    rf"^\s*(?:[-–—•*·▪►>+]+|(?:[A-H]\)|\d{{1,2}}(?:\.\)|[.)]))(?!\s+(?:{MONTH_NAMES})[.]?\s\d)(?!\d))[\s\t]+",
    re.IGNORECASE,
)
_TIGHT_MARK = re.compile(r"^\s*[-–•*·▪](?=[^\W\d_])")
_LABEL_WORDS = 5
_GENDERED = re.compile(r"(?<=[a-zäöü])[:*_]in(?=(?:nen)?\b)")
"""`Klient:in`: the colon is no label's."""
GREETING = re.compile(
    r"^(?:sehr geehrt|s\.\s?g\.\s|liebe[rs]? |werter? |werte |geschätzt|guten tag|grüezi|egregi|hallo )", re.IGNORECASE
)
CLOSING = re.compile(
    r"(?:freund\S{0,3}iche[nrms]{0,2}|freundl\.|kolleg\S{0,8}|beste[nmr]?|herzliche[nmr]?|liebe[mnr]?)\s(?:\S+\s)?"
    r"Gr(?:u|ü|ue)(?:ss|ß)|hochachtungsvoll|^(?:es\s)?grü(?:ss|ß)(?:t|en)\b|^mit\s(?:\w+\s)?empfehlungen|"
    r"^(?:herzlich(?:st|e[nrs]?)?|viele[n]?|liebe[nr]?|gruss|gruß|lg|vlg)(?:\s(?:gr\w+|"
    r"dank))?\s?(?:[,!.]|$)|^freundliche\s(?:\S+\s)?grüsse|^danke? dir|^(?:mit\s)?bestem dank|^m\.?[fk]\.?g\b|"
    r"^(?:gru(?:ss|ß)|lg|vlg)\s[^\W\d_][\w.-]+$",
    re.IGNORECASE,
)
CLOSING_MAX = 90
_SIGNED = re.compile(r"^(?:gez\.|i\.\s?[AV]\.|elektronisch (?:signiert|unterschrieben|freigegeben))", re.IGNORECASE)
_RULE = re.compile(r"^[\s=_*~#–-]{4,}$")
_FAX_LINE = re.compile(r"^\s*(?:tele)?fax\b.*\d.*\b(?:an|von|to|from|s\.|seite)\b", re.IGNORECASE)
_ITEM_NUMBER = re.compile(r"^(?:\d{1,2}[.)]|\d\.\d{1,2}\.?)\s+(?=[^\W\d_])")
_BANNER = re.compile(r"^[\s=*#–-]{0,6}(?:\d{1,2}(?:[.)]|\s)\s+)?([^\W\d_][^:]{2,40}?)[\s=*#–-]{0,6}:?$")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value behind its label: the cells of its line, or the lines below; `owner` of the part of the form it is in."""

    field: str
    cells: tuple[str, ...]
    at: int
    owner: str | None = None

    @property
    def value(self) -> str:
        return self.cells[0] if self.cells else ""


@dataclass
class HeadedLines:
    """What stands under a heading: its lines as they are, "" for an empty one."""

    field: str
    title: str
    at: int
    lines: list[str] = made(default_factory=list)
    running: bool = False
    """Whether it began on the heading's own line."""
    known: bool = True
    """Whether the heading's words are in the tables."""


class Sheet:
    """A letter's text and its parts. Raises ModelTimeout where the budget is used up."""

    def __init__(self, text: str, budget: Budget | None = None) -> None:
        plain = _GENDERED.sub("in", text.replace("\r\n", "\n").replace("\ufeff", " "))
        self.text: str = unfolded(unspread(mended(plain)))
        self.budget = budget or Budget()

    @cached_property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.budget.each(self.text.split("\n"))]

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins in the text, and behind them where one more would."""
        return [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]

    @cached_property
    def greeting(self) -> int:
        """The number of the line that greets; the number of lines where none does."""
        found = (n for n, line in enumerate(self.lines) if GREETING.match(line.strip()) and len(line) < 140)
        return next(found, len(self.lines))

    @cached_property
    def closing(self) -> int:
        """The number of the closing formula's line, or of the first signed one; past the last line where none is."""
        first = self.greeting if self.greeting < len(self.lines) else 0
        for n in range(len(self.lines) - 1, first, -1):
            line = self.lines[n].strip()
            if len(line) < CLOSING_MAX and CLOSING.search(line):
                return n
        signed = (n for n in range(first, len(self.lines)) if _SIGNED.match(self.lines[n].strip()))
        return min(next(signed, len(self.lines)), last_signed(self.lines))

    @cached_property
    def head_end(self) -> int:
        """The line behind the letter's head: the salutation or the first section of medical content."""
        known = ("diagnosen", "medikation", "eingriffe", "procedere", "")
        medical = (one.at for one in self.sections if one.known and one.field in known)
        return min(self.greeting, next(medical, len(self.lines)), len(self.lines))

    def blocks(self, first: int, last: int) -> list[range]:
        """Runs of lines without a blank one, as ranges of line numbers."""
        found: list[range] = []
        start: int | None = None
        for n in range(first, last + 1):
            blank = n >= last or not self.lines[n].strip() or _RULE.match(self.lines[n]) is not None
            if blank and start is not None:
                found.append(range(start, n))
                start = None
            elif not blank and start is None:
                start = n
        return found

    @cached_property
    def labelled(self) -> list[Labelled]:
        """Every labelled value, in the order of the letter."""
        found: list[Labelled] = []
        owner: str | None = None
        for n in self.budget.each(range(len(self.lines))):
            line = self.lines[n][:LINE_MAX]
            if not line.strip():
                owner = owner if self._form_goes_on(n) else None
                continue
            if _FAX_LINE.match(line):
                continue
            owner = (self._owner_of(line) if len(line) >= _SHORTEST else None) or owner
            if n + 1 < len(self.lines) and ":" not in self.lines[n + 1] and len(header := header_row(line)) > 1:
                below = cells_of(self.lines[n + 1][:LINE_MAX])
                found += [Labelled(name, (cell,), n, owner) for name, cell in zip(header, below, strict=False)]
                continue
            for name, cells in () if self._is_below_a_name(n, line) else self._on_line(n, line):
                if name == "geburtsdatum" and owner == "absender":
                    owner, found[-6:] = "patient", _of_patient(found[-6:], n)
                if name == "nachname" and owner is None and cells and _DOCTOR.match(cells[0]):
                    owner = "absender"
                owner = OWNERS.get(name, owner)
                found.append(Labelled(name, tuple(cells), n, owner))
        return found

    def _is_below_a_name(self, n: int, line: str) -> bool:
        """`Hausarzt` alone on the line under another one says what that one is, and labels nothing."""
        if ":" in line or len(line) < len(_BELOW_NAMES[0]) or n == 0 or not self.lines[n - 1].strip():
            return False
        return key(line) in _BELOW_NAMES

    def _form_goes_on(self, n: int) -> bool:
        """Whether an empty line lies within a form: another label follows at once."""
        behind = next((line for line in self.lines[n + 1 : n + 3] if line.strip()), "")
        return _split_label(behind.strip())[0] is not None and not GREETING.match(behind)

    def _owner_of(self, line: str) -> str | None:
        banner = _BANNER.match(line)
        return OWNERS.get((banner and label_of(banner[1])) or "")

    def _on_line(self, n: int, line: str) -> Iterable[tuple[str, list[str]]]:
        """(label's name, cells) of a line: a label with its value behind, in the next cells, or on the next lines."""
        found: list[tuple[str, list[str]]] = []
        for cell in (one.strip() for one in _CELLS.split(line.strip())):
            if not cell:
                continue
            cell = _ITEM_NUMBER.sub("", cell)
            name, rest = _split_label(cell)
            if name is not None:
                found.append((name, [rest] if rest else []))
            elif found:
                found[-1][1].append(cell)
        if found and not found[-1][1]:
            found[-1][1].extend(self._below(n))
        return [(name, cells) for name, cells in found if cells]

    def _below(self, n: int) -> list[str]:
        """The line under a label that stands alone, where it is no label or heading itself."""
        for line in self.lines[n + 1 : n + 2]:
            text = line.strip()
            if text and _split_label(text)[0] is None and heading_field(text.rstrip(":")) is None:
                return [one for one in _CELLS.split(text[:LINE_MAX]) if one]
        return []

    def value(self, name: str, owner: str | None = None) -> str | None:
        """The first value behind a label of that name, of an owner's part where one is named."""
        found = (one.value for one in self.labelled if one.field == name and (owner is None or one.owner == owner))
        return next((value for value in found if value), None)

    @cached_property
    def sections(self) -> list[HeadedLines]:
        """Headings with the lines under them, up to the next heading, the closing formula or the end."""
        found: list[HeadedLines] = []
        for n in self.budget.each(range(min(self.closing, len(self.lines)))):
            line = self.lines[n]
            name, title, rest = heading_of(line, self._stands_alone(n))
            if name is not None:
                known = bool(name) or heading_field(title.rstrip(":")) is not None
                found.append(HeadedLines(name, title, n, [rest] if rest else [], bool(rest), known))
            elif found:
                found[-1].lines.append(line)
        return found

    def _stands_alone(self, n: int) -> bool:
        """Whether an empty line is above, or the letter begins here."""
        return n == 0 or not self.lines[n - 1].strip()


_DOCTOR = re.compile(r"(?:(?:Prof|PD|Priv|Univ|Prim|OA|Dr|Frau|Herr)[\w.-]*\s){0,3}(?:Dr\.\s?med|med\.\spract|Prim\.)")
"""`Name: Dr. med. ...` in no party's part: who refers."""
_ABOVE_BIRTH = 2
"""Lines above a labelled birth date in which the patient's name is labelled."""


def _of_patient(found: list[Labelled], at: int) -> list[Labelled]:
    """Nobody who refers is born on a day: the name labelled right above a birth date is the patient's."""
    own = ("nachname", "vorname", "geschlecht", "anrede")
    near = (replace(one, owner="patient") if at - one.at <= _ABOVE_BIRTH and one.field in own else one for one in found)
    return list(near)


def heading_of(line: str, alone: bool = False) -> tuple[str | None, str, str]:
    """(field, title, what follows on the line); field "" for a section of another kind, None for no heading."""
    text = line[:LINE_MAX].strip()
    text = bare_heading(text) if len(text) >= _SHORTEST else text
    if not text or text[0].isdigit() or (text[0] in "-–•*·" and not text.startswith("**")):
        return None, "", ""
    if len(text) < _SHORTEST:
        return _short_heading(text)
    text = text.lstrip("#* ")
    head, colon, rest = text.partition(":")
    if colon and head.strip() in _LETTERED and rest.strip():
        return _LETTERED[head.strip()], head, rest.strip()
    if colon and (name := heading_field(head)) is not None and not (name == "" and len(rest) > 400 and len(head) > 30):
        return name, head, rest.strip(" *\t")
    cells = [one.strip() for one in _WIDE.split(text, maxsplit=1)]
    if len(cells) == 2 and len(cells[0]) < len(head) + 1 and (name := heading_field(cells[0])) is not None:
        return name, cells[0], cells[1]
    if (told := _SPOKEN_HEADING.match(text)) and not colon and len(cells) == 1 and heading_field(text) is None:
        return heading_field(told[1]), told[1], text[told.end() :].strip()
    banner = text.strip("-–=# ")
    name = None if colon and banner == f"{head}:" else heading_field(banner.rstrip(":"))
    if name is not None and (name or not re.search(r"\d", banner)):
        return name, banner, ""
    if _is_foreign_heading(text, colon, rest, alone):
        return "", text, rest.strip()
    if (colon or len(cells) == 2) and _split_label(cells[0] if not colon else text)[0] in _ENDING:
        return "", text, ""
    told = _TOLD_DIAGNOSES.match(text) if colon else None
    return ("diagnosen", text, told[1].strip()) if told else (None, "", "")


_SHORTEST = 3
"""Characters from which on a line may have a number, a mark or a value beside its heading."""


def _short_heading(text: str) -> tuple[str | None, str, str]:
    """The same for `Dg`, `A:`, read without the patterns that such a line is too short for."""
    head = text.rstrip(":")
    name = heading_field(head)
    if name is None and head != text and (text[0].isupper() or label_of(head) in _ENDING):
        name = ""
    return name, "" if name is None else head if name else text, ""


_LETTERED = {"D": "diagnosen", "Dg": "diagnosen", "Th": "therapie", "P": "procedere", "M": "medikation", "B": ""}
"""Headings of one character, with a colon and their text on the same line."""
_SPOKEN_HEADING = re.compile(
    r"^(Therapie|Procedere|Prozedere|Medikation|Anamnese|Diagnosen?)\s(?=[^\W\d_a-zäöü]\w{3,})(?!Empf)"
)
"""Headings that a line goes on behind without a colon."""
_TOLD_DIAGNOSES = re.compile(
    r"^.{0,60}\b(?:folgende|nachfolgende|bekannte)n?\s+(?:\w+)?[Dd]iagnosen(?:\saus)?\s*:\s*(.*)$"
)
_BELOW_NAMES = ("hausarzt", "hausärztin")
_ENDING = frozenset(
    "dringlichkeit kostengutsprache klasse versicherung telefon email absender empfaenger patient fallnummer".split()  # noqa: SIM905
)
"""Labels of a form that end the section before them."""


def _is_foreign_heading(text: str, colon: str, rest: str, alone: bool) -> bool:
    """A heading of words that are not in the tables: alone on its line with a colon, or in capitals."""
    if colon and not rest.strip():
        return text[0].isupper() and len(text.split()) <= 5 and label_of(text.rstrip(":")) is None
    shouted = 4 < len(text) < 40 and text.isupper() and not re.search(r"\d", text) and len(text.split()) < 5
    return shouted and alone


def _split_label(cell: str) -> tuple[str | None, str]:
    """(what the label at the cell's start names, the rest); (None, "") where it has none."""
    head, colon, rest = cell[:LINE_MAX].partition(":")
    if colon and len(head) < 60 and (name := label_of(head)) is not None:
        return name, rest.strip(" -_")
    if (name := label_of(cell)) is not None:
        return name, ""
    words = cell[:120].split()
    for count in range(min(_LABEL_WORDS, len(words) - 1), 0, -1):
        head = " ".join(words[:count])
        if (name := label_of(head)) in NUMBERED and (name != "telefon" or key(head) not in ("t",)):
            behind = " ".join(words[count:]).lstrip(": ")
            if _FITS[name].match(behind):
                return name, behind
    return None, ""


_FITS: dict[str | None, re.Pattern[str]] = {
    "versichertennummer": re.compile(r"[A-Z]{0,2}\d"),
    "fallnummer": re.compile(r"(?:[A-Z]-?)?\d"),
    "telefon": re.compile(r"[+(\d]"),
    "fax": re.compile(r"[+(\d]"),
    "datum": re.compile(r"\d{1,4}[.-]"),
    "eingang": re.compile(r"\d{1,4}[.-]"),
    "geburtsdatum": re.compile(r"\d{1,4}[.-]|\d{1,2}\s"),
    "klasse": re.compile(r"(?:halb|privat|allgemein|[PHA]\b)", re.IGNORECASE),
    "geschlecht": re.compile(r"[mwMW]"),
    "versicherung": re.compile(r"[A-ZÄÖÜ]"),
    "email": re.compile(r"\S+@"),
    "wohnort": re.compile(r"(?:[A-Z]{1,2}-)?\d{4,5}\s"),
}
NUMBERED = frozenset(_FITS)
"""Labels that may stand before their value without a colon: the value's form tells that it is one."""


def marked(line: str) -> bool:
    return bool(_MARK.match(line) or _TIGHT_MARK.match(line))


def unmarked(line: str) -> str:
    """The line without its bullet or number."""
    return _TIGHT_MARK.sub("", _MARK.sub("", line, count=1)).strip() if line.strip() else ""
