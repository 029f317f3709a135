"""The form of a letter, read once: lines and their cells, blocks, salutation and closing, labelled values, headings.

What a scan or a form made of the lines is straightened first: digits read as characters, parts numbered through, narrow
columns and records side by side become lines one under the other; what is filled in stays as it is. Knows the habits of
Swiss, German and Austrian letters and forms and no vocabulary of diseases or drugs. Every line is read once, and no
pattern looks further than a line: a letter is read in time linear in its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as made
from functools import cached_property
from itertools import accumulate

from clinical.budget import Budget
from clinical.letters.labels import OWNERS, bare_heading, heading_field, key, label_of
from clinical.text import MONTH_NAMES

# --- what a scan made of a line --------------------------------------------------------------------------------------


_SCANNED_NUMBER = re.compile(r"[\dOolI][\dOolI.,/:-]*")
_NO_NUMBER = re.compile(r"[IO]\d\d(?:[.,]\d*)?|[\d.,]+l|[^\d]*")
_MENDED = str.maketrans("OolI", "0011")


def mended(text: str) -> str:
    """The text with the characters that a scan put into numbers read as digits again; of the same length.

    `03.O6.1979`, `30l3`, `l9O`: what begins with a digit or has two, and is neither a code (I10) nor litres (2l).
    """

    def mend(match: re.Match[str]) -> str:
        word = match.group()
        before, behind = (text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1])
        if word.isdigit() or before.isalnum() or behind.isalnum() or _NO_NUMBER.fullmatch(word):
            return word
        digits = sum(char.isdigit() for char in word)
        return word.translate(_MENDED) if digits >= 2 or word[0].isdigit() else word

    return _SCANNED_NUMBER.sub(mend, text)


_SPREAD = 0.9
"""Share of lines followed by an empty one from which on the empty lines are the program's that took out the text."""
_SPREAD_LINES = 8
"""Fewest lines for which that share is significant."""


def unspread(text: str) -> str:
    """The text without the empty line that some programs put behind every line of a PDF."""
    lines = text.split("\n")
    full = [n for n, line in enumerate(lines[:-1]) if line.strip()]
    followed = sum(not lines[n + 1].strip() for n in full)
    if len(full) < _SPREAD_LINES or followed < _SPREAD * len(full):
        return text
    kept = (n for n in range(len(lines)) if lines[n].strip() or n == 0 or not lines[n - 1].strip())
    return "\n".join(lines[n] for n in kept)


# --- lines of forms --------------------------------------------------------------------------------------------------


FORM_LINE_MAX = 600
"""Characters of a line of a form; a longer one is prose."""
NUMBERED_LEAST = 3
"""Parts numbered one after the other, of which as many as this have a known label, make a numbered form."""
_FORM_NUMBER = re.compile(r"^\s{0,4}(\d{1,2})[.)]?\s{1,4}(?=[^\W\d_])")
_HEAD = re.compile(r"([^\W\d_][^:\n]{1,60}?)\s*(:|$)")


def _unnumbered(lines: list[str]) -> list[str]:
    """Without the numbers of parts that are numbered through and labelled, as `3 Zuweiser: ...`."""
    run: list[int] = []
    for n, line in enumerate(lines):
        found = _FORM_NUMBER.match(line[:FORM_LINE_MAX])
        if found and int(found[1]) == len(run) + 1 and _is_part(lines, n, line[found.end() :]):
            run.append(n)
    known = sum(_is_known(_FORM_NUMBER.sub("", lines[n])) for n in run)
    if known < NUMBERED_LEAST:
        return lines
    parts = frozenset(run)
    return [
        one for n, line in enumerate(lines) for one in (_labelled(_FORM_NUMBER.sub("", line)) if n in parts else [line])
    ]


def _is_part(lines: list[str], n: int, rest: str) -> bool:
    """True if a label with a colon stands there, or a heading alone below an empty line."""
    found = _HEAD.match(rest)
    return found is not None and (found[2] == ":" or n == 0 or not lines[n - 1].strip())


def _is_known(rest: str) -> bool:
    found = _HEAD.match(rest)
    return found is not None and (label_of(found[1]) is not None or heading_field(found[1]) is not None)


def _labelled(text: str) -> list[str]:
    """A part's label with its value; where nobody knows the label it stands alone, and ends the part before."""
    if ":" not in text:
        return [f"{text.rstrip()}:"]
    head, _, rest = text.partition(":")
    return [text] if _is_known(text) or not rest.strip() else [f"{head.strip()}:", rest.strip()]


# --- columns and records ---------------------------------------------------------------------------------------------


COLUMN_LINE_MAX = 600
"""Characters of a row of a form; a longer line is prose."""
_COLUMN_CELLS = re.compile(r"\t+|\s*\|\s*|\s{3,}")
_DIVIDES = re.compile(r"[\t|]|\s\s")
_COLUMNS = re.compile(r"\t+|\s*\|\s*|\s{2,}")
_RECORD = re.compile(r"^([^\W\d_][\w .-]{1,24});(.+)$")
MIN_RECORDS = 3


def unfolded(text: str) -> str:
    """The text with columns headed by parties set one under the other, and records set as labels and their lines."""
    lines = _unnumbered(text.split("\n"))
    if sum(_record(line) is not None for line in lines) >= MIN_RECORDS:
        return "\n".join(_records(lines))
    if sum(_TABLE_ROW.match(line) is not None for line in lines[:400]) >= MIN_RECORDS:
        lines = [_TABLE_ROW.sub(r"\1: \2", line) for line in lines if not _TABLE_RULE.match(line)]
    return _WITHIN.sub(_set_apart, "\n".join(_columns(_side_by_side(lines))))


HEAD_LINES = 40
"""Lines of a letter in which an address and a letterhead may stand side by side."""
RIGHT_FROM = 28
"""The column from which on a part of a line stands on the right of the page."""
_GAP = re.compile(r"\s{3,}(?=\S)")


def _side_by_side(lines: list[str]) -> list[str]:
    """The lines with what stands on the right of the head's blocks set under what stands on their left."""
    found: list[str] = []
    n = 0
    while n < len(lines):
        if n >= HEAD_LINES or any(_begins_text(line) for line in lines[n : n + 1]):
            return [*found, *lines[n:]]
        end = n
        while end < min(len(lines), HEAD_LINES) and lines[end].strip() and len(lines[end]) < COLUMN_LINE_MAX:
            end += 1
        found += _parted(lines[n:end])
        found += lines[end : end + 1]
        n = end + 1
    return found


def _parted(block: list[str]) -> list[str]:
    """One block: itself, or its left part, an empty line, its right part."""
    pairs = [_left_right(line) for line in block]
    column = Counter(at for _, right, at in pairs if right)
    alone = any(right and not left for left, right, _ in pairs)
    if not column or not any(left for left, _, _ in pairs) or len(block) < 2:
        return block
    aligned = {at for at in column if sum(column[near] for near in (at - 1, at, at + 1)) > 1}
    divided = [
        (left, right) if right and (at in aligned or not left) else (line.rstrip(), "")
        for line, (left, right, at) in zip(block, pairs, strict=True)
    ]
    forms = sum(bool(_LABELLED.search(left)) for left, right in divided if right and left)
    beside = sum(bool(left and right) for left, right in divided)
    if any(_OF_A_FORM.search(line) for line in block) or not any(_PLACED.search(line) for line in block):
        return block
    if not (aligned or alone) or 2 * forms > beside > 0:
        return block
    lefts = [left for n, (left, _) in enumerate(divided) if left or (n and divided[n - 1][0])]
    rights = [right for _, right in divided if right]
    first, second = (rights, lefts) if not divided[0][0] else (lefts, rights)
    return [*first, "", *second]


def _begins_text(line: str) -> bool:
    head = line.partition(":")[0].strip()
    return _GREETS.match(line.strip()) is not None or heading_field(head) in _MEDICAL


_GREETS = re.compile(r"(?:sehr geehrt|liebe[rs]? )", re.IGNORECASE)
_MEDICAL = ("diagnosen", "medikation", "eingriffe", "procedere")
_OF_A_FORM = re.compile(r"[\[(]\s?[xX]?\s?[\])]|[☐☒☑]|\bgeb\b|\*\d", re.IGNORECASE)
"""Boxes and a birth date: a form whose cells belong to one another."""
_PLACED = re.compile(r"(?:^|\s)(?:[AD]-|CH-)?\d{4,5}\s+[^\W\d_]")
"""A postcode and its place: an address or a letterhead."""
_LABELLED = re.compile(r":\s*$|^[^:]{2,30}:\s\S")


def _left_right(line: str) -> tuple[str, str, int]:
    """(left part, right part, column of the right part); a right part is "" where the line has no such gap."""
    gaps = [found for found in _GAP.finditer(line) if found.end() >= RIGHT_FROM]
    if not gaps or "\t" in line or "|" in line:
        return line.rstrip(), "", 0
    gap = gaps[0]
    return line[: gap.start()].rstrip(), line[gap.end() :].rstrip(), gap.end()


_TABLE_ROW = re.compile(r"^\|\s*([^|]{2,60}?)\s*\|\s*([^|]{0,2000}?)\s*\|\s*$")
"""Pattern of a row of a table of two columns: `| label | value |`."""
_TABLE_RULE = re.compile(r"^[|\s:-]{3,}$")
_WITHIN = re.compile(r"(?<=[.;!?])[ \t]{1,3}(?=([^\W\d_][^\W_]{1,24}\.?):[ \t])")


def _set_apart(found: re.Match[str]) -> str:
    """A heading within a line begins a line of its own."""
    return "\n" if heading_field(found[1]) else found[0]


def _record(line: str) -> tuple[str, list[str]] | None:
    """(label, cells) of `PATIENT;Kern;Anna;F`: a label or heading before the first of at least one semicolon."""
    found = _RECORD.match(line[:COLUMN_LINE_MAX].strip()) if ";" in line else None
    if found is None or (label_of(found[1]) is None and heading_field(found[1]) is None):
        return None
    return found[1], [cell.strip() for cell in found[2].split(";")]


def _records(lines: list[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        record = _record(line)
        if record is None:
            before = ""
            yield line
            continue
        name, cells = record
        owner = OWNERS.get(label_of(name) or "")
        filled = [cell for cell in cells if cell]
        if owner == "patient" and len(filled) > 1 and all(one.replace("-", "").isalpha() for one in filled[:2]):
            filled[:2] = [f"{filled[0]}, {filled[1]}"]
        if owner is not None:
            yield ""
            yield f"{name}: {filled[0] if filled else ''}"
            yield from (f"  {cell}" for cell in filled[1:])
        elif name != before and heading_field(name) in ("diagnosen", "medikation", "eingriffe", "procedere"):
            yield from ("", f"{name}:", " ".join(filled))
        elif name == before:
            yield " ".join(filled)
        else:
            yield from ("", f"{name}: {'   '.join(filled)}")
        before = name


def _columns(lines: list[str]) -> Iterator[str]:
    n = 0
    while n < len(lines):
        heads = _heads(lines[n])
        if not heads:
            yield lines[n]
            n += 1
            continue
        rows, starts = [], [lines[n].find(head) for head in heads]
        while n + 1 < len(lines) and lines[n + 1].strip() and len(lines[n + 1]) < COLUMN_LINE_MAX:
            n += 1
            rows.append(_at_heads(lines[n], starts) or [one for one in _COLUMN_CELLS.split(lines[n].strip()) if one])
        for at, head in enumerate(heads):
            yield f"{head}:"
            yield from (f"  {row[at]}" for row in rows if at < len(row) and row[at])
            yield ""
        n += 1


def _at_heads(line: str, starts: list[int]) -> list[str]:
    """The cells of a row that stand right under their heads; [] where a cell crosses the place of a head."""
    if "\t" in line or "|" in line or any(line[start - 2 : start].strip() for start in starts[1:]):
        return []
    return [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]


def _heads(line: str) -> list[str]:
    """The heads of columns, where every cell of the line names a party and nothing else."""
    if not _DIVIDES.search(line):
        return []
    cells = [one.strip(" :") for one in _COLUMN_CELLS.split(line[:COLUMN_LINE_MAX].strip())]
    if len(cells) < 2 or len(cells) > 3:
        return []
    return cells if all(label_of(cell) in OWNERS for cell in cells) else []


def cells_of(line: str) -> list[str]:
    """The cells of a table's row."""
    return [one.strip() for one in _COLUMNS.split(line.strip(" |"))]


def header_row(line: str) -> list[str]:
    """Fields named by a table's first row, where every cell is a label and nothing else; [] for other lines."""
    if not _DIVIDES.search(line):
        return []
    cells = cells_of(line)
    names = [label_of(cell) for cell in cells] if len(cells) > 1 else []
    return [name for name in names if name] if all(names) else []


_BAR = re.compile(r"\s*\|\s*|\t+")
_HEAD_OF_TEXT = re.compile(
    r"(?:klar)?text|diagnosen?|bezeichnung|beschreibung|eingriffe?|prozedur|massnahme|operation|leistung"
)
_HEAD_OF_DAY = re.compile(r"(?:op)?datum|tag|am")
_HEAD_OF_CERTAINTY = re.compile(r"(?:diagnosen?)?sich(?:erheit)?|zusatz(?:kennzeichen)?")
_EXCLUDED = "A"
"""The mark of a diagnosis that was excluded (ICD-10-GM, additional marks of certainty)."""
_ROW_RULE = re.compile(r"^[\s|+=-]*$")


def untabled(lines: list[str]) -> list[str]:
    """The rows of a table as entries: what its column of texts says, with its day; lines of no table as they are."""
    begins = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    heads = _table_heads(lines[begins]) if begins < len(lines) else []
    told = next((n for n, head in enumerate(heads) if _HEAD_OF_TEXT.fullmatch(head)), None)
    if told is None:
        return lines
    return [one for line in lines[begins + 1 :] if (one := _table_entry(line, heads, told)) is not None]


def _table_heads(line: str) -> list[str]:
    cells = _BAR.split(line.strip(" |\t")[:300])
    return [key(cell) for cell in cells] if len(cells) > 1 and not re.search(r"\d", line) else []


def _table_entry(line: str, heads: list[str], told: int) -> str | None:
    """None for a rule between rows and for what was excluded."""
    cells = _BAR.split(line.strip(" |\t"))
    if _ROW_RULE.match(line) and line.strip():
        return None
    if len(cells) != len(heads):
        return line
    beside = dict(zip(heads, cells, strict=True))
    if any(_HEAD_OF_CERTAINTY.fullmatch(head) and cell.strip() == _EXCLUDED for head, cell in beside.items()):
        return None
    day = next((cell for head, cell in beside.items() if _HEAD_OF_DAY.fullmatch(head) and cell), None)
    return f"- {cells[told]} am {day}" if day else f"- {cells[told]}"


# --- where a letter ends ---------------------------------------------------------------------------------------------


_NAMED_DOCTOR = re.compile(
    r"^(?:\w+[aä]rzt(?:in)?\s)?(?:(?:med|habil|univ|dent|Dr|Prof|OA|OÄ|PD|Prim|Priv|Univ|Chef[aä]rzt|"
    r"DDr)[\w.-]*\s?){1,6}[^\W\d_a-zäöü][\w.-]+(?:\s[^\W\d_a-zäöü][\w-]+)?"
)
_ROLE = re.compile(
    r"^(?:(?:stv\.?|stellv\.?|leitende[rn]?|ärztliche[rn]?|ltd\.|geschäftsführende[rn]?)\s)?"
    r"[\w-]*(?:arzt|ärztin|direktor(?:in)?|leiter(?:in)?|vorstand|psycholog(?:e|in)|therapeut(?:in)?)\b",
    re.IGNORECASE,
)
_ROLED = re.compile(
    r"^[^\W\d_a-zäöü][^:;]{4,60},\s(?:Fach|Ober|Chef|Assistenz|Stations)?[aä]rzt(?:in)?\b|"
    r"^(?:Dienst|Stations|Ober|Fach|Chef|Assistenz)?[aä]rzt(?:in)?\b[^:]{0,12}:\s"
)
_NOTE = re.compile(
    r"bankverbindung|\biban\b|amtsgericht|geschäftsführ|steuernummer|\bträger|aufsichtsrat|\bHRB\b|\bDVR\b|maschinell|"
    r"ohne unterschrift|elektronisch|freigegeben|vidiert|diktiert|geschrieben|^kopie|^ergeht an|^cc\b|^D/|verteiler|"
    r"nachrichtlich|durchschlag|^vertraulich|^seite \d|^anlagen?\b|^beilagen?\b|angestellte ärzt|"
    r"^(?:tel|fax|mail|e-mail|www)\b",
    re.IGNORECASE,
)
_SHORT = 90
_LONGEST = 200
"""Characters of a note of the house."""


def last_signed(lines: Sequence[str]) -> int:
    """The number of the first line of the ending; the number of lines where no name or role is in it.

    From the last line upwards as long as lines are names, roles or notes, in the letter's second half.
    """
    first, signed = len(lines), len(lines)
    for n in range(len(lines) - 1, len(lines) // 2, -1):
        line = lines[n].strip()
        if not line:
            continue
        if len(line) < _SHORT and (_is_name(line) or _ROLE.match(line) or _ROLED.match(line)):
            first = signed = n
        elif len(line) < _LONGEST and (_NOTE.search(line) or _is_name(line)):
            first = n
        else:
            break
    return first if signed < len(lines) else len(lines)


_SIGNING = re.compile(
    r"^(?:(?:ort,?\s?)?datum\b[\s:/,].{0,60}$|datum,?\s(?:ort|unterschrift)|stempel\b|unterschrift\b|formular erstellt|"
    r"(?:rechtsgültig |elektronisch |digital )?(?:signiert|vidiert|freigegeben|unterschrieben|gezeichnet)\b|gez\.|"
    r"(?:mit )?(?:besten|lieben|freundlichen|kollegialen|herzlichen) (?:\w+ )?gr[uü]|"
    r"für (?:die|das) (?:abteilung|klinik|team|haus)\b|"
    r"(?:dienst\w*|behandelnde\w*|zuständige\w*|aufnehmende\w*|verantwortliche\w*)?\s?(?:arzt|ärztin|ärztin/arzt|"
    r"arzt/ärztin|"
    r"pflegefachperson|pflegefachfrau|protokoll|teilnehmer|verfasser|autor)\s?:|"
    r"(?:(?:Prof|PD|Dr|OA|OÄ|Prim|Univ)[\w.-]*\s){1,4}[^\d:,;]{3,30}\s{3,}[^\W\d_]|"
    r"[^\W\d_][\w.-]+(?:\s(?:am|an|im|ob|bei|der|[^\W\d_][\w.-]+)){0,4},\s?(?:den\s|am\s)?\d{1,2}\.\s?(?:\d{1,2}\.|"
    r"[^\W\d_]{3,9})\s?\d{2,4}\W*$|"
    r"\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}\s{2,}[^\W\d_a-zäöü])",
    re.IGNORECASE,
)
"""A line at a letter's foot: day, signature, who signs."""


def signs(line: str) -> bool:
    """True if the line dates or signs the letter."""
    return 2 < len(line) < _SHORT and _SIGNING.match(line) is not None


def _is_name(line: str) -> bool:
    return _NAMED_DOCTOR.match(line) is not None


# --- the letter ------------------------------------------------------------------------------------------------------


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
"""Gendered endings, whose colon belongs to no label: `Klient:in`."""
GREETING = re.compile(
    r"^(?:sehr geehrt|s\.\s?g\.\s|liebe[rs]? |werter? |werte |geschätzt|guten tag|grüezi|egregi|hallo )", re.IGNORECASE
)
CLOSING = re.compile(
    r"(?:freund\S{0,3}iche[nrms]{0,2}|freundl\.|kolleg\S{0,8}|beste[nmr]?|herzliche[nmr]?|liebe[mnr]?)\s(?:\S+\s)?"
    r"Gr(?:u|ü|ue)(?:ss|ß)|hochachtungsvoll|^(?:es\s)?grü(?:ss|ß)(?:t|en)\b|^mit\s(?:\w+\s)?empfehlungen|"
    r"^(?:herzlich(?:st|e[nrs]?)?|viele[n]?|liebe[nr]?|gruss|gruß|lg|vlg)(?:\s(?:gr\w+|"
    r"dank))?\s?(?:[,!.]|$)|^freundliche\s(?:\S+\s)?grüsse|^danke? dir|^(?:mit\s)?bestem dank|^m\.?[fk]\.?g\b|"
    r"^(?:gru(?:ss|ß)|lg|vlg)\s[^\W\d_][\w.-]+$|^(?:\w+\s)?danke?\s?(?:und|u\.|[+&,])\s?(?:\w+\.?\s)?(?:gr(?:u|ü)(?:ss|ß)|"
    r"m\.?f\.?k?\.?g\b)|^herzl(?:\.|ichst)\s(?:gru(?:ss|ß)|dein|ihr|euer)|^danke?[\s!.]*$|^mit\sguten\swünschen",
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
    """Lines under a heading, as they are; "" for an empty one."""

    field: str
    title: str
    at: int
    lines: list[str] = made(default_factory=list)
    running: bool = False
    """True if the content begins on the heading's own line."""
    known: bool = True
    """True if the heading's words are in the tables."""


class LetterLayout:
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
        """Start of each line in the text, and last the start of one more."""
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
            for name, cells in self._on_line(n, line):
                if name == "geburtsdatum" and owner in ("absender", "empfaenger"):
                    owner = "patient"
                owner = OWNERS.get(name, owner)
                found.append(Labelled(name, tuple(cells), n, owner))
        return found

    def _form_goes_on(self, n: int) -> bool:
        """True if an empty line lies within a form: another label follows at once."""
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

    def value(self, name: str) -> str | None:
        """The first value behind a label of that name."""
        return next((one.value for one in self.labelled if one.field == name and one.value), None)

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
        """True if an empty line is above, or the letter begins here."""
        return n == 0 or not self.lines[n - 1].strip()


def heading_of(line: str, alone: bool = False) -> tuple[str | None, str, str]:
    """(field, title, what follows on the line); field "" for a section of another kind, None for no heading."""
    text = line[:LINE_MAX].strip()
    text = bare_heading(text) if len(text) >= _SHORTEST else text
    if not text or text[0].isdigit() or (text[0] in "-–•*·" and not text.startswith("**")):
        return None, "", ""
    text = text.lstrip("#* ")
    head, colon, rest = text.partition(":")
    if colon and head.strip() in _LETTERED and rest.strip():
        return _LETTERED[head.strip()], head, rest.strip()
    if colon and (name := heading_field(head)) is not None:
        return name, head, rest.strip(" *\t")
    cells = [one.strip() for one in _WIDE.split(text, maxsplit=1)]
    if len(cells) == 2 and len(cells[0]) < len(head) + 1 and (name := heading_field(cells[0])) is not None:
        return name, cells[0], cells[1]
    banner = text.strip("-–=# ")
    name = None if colon and banner == f"{head}:" else heading_field(banner.rstrip(":"))
    if name is not None and (name or not re.search(r"\d", banner)):
        return name, banner, ""
    if _is_foreign_heading(text, colon, rest, alone):
        return "", text, rest.strip()
    if (colon or len(cells) == 2) and _split_label(cells[0] if not colon else text)[0] in _ENDING:
        return "", text, ""
    return None, "", ""


_SHORTEST = 3
"""Characters from which on a line may have a number, a mark or a value beside its heading."""


_LETTERED = {"D": "diagnosen", "Dg": "diagnosen", "Th": "therapie", "P": "procedere", "M": "medikation", "B": ""}
"""Headings of one character, with a colon and their text on the same line."""
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
