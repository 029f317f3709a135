"""Forms with columns and records: parts side by side, or divided by semicolons, become one under the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from bentos.embedded.labels import OWNERS, heading_field, key, label_of
from bentos.embedded.layout.forms import straightened

LINE_MAX = 600
"""Characters of a row of a form; a longer line is prose."""
_CELLS = re.compile(r"\t+|\s*\|\s*|\s{3,}")
_DIVIDES = re.compile(r"[\t|]|\s\s")
_COLUMNS = re.compile(r"\t+|\s*\|\s*|\s{2,}")
_DAY = re.compile(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_SIDES = frozenset(
    (
        "garant",
        "kostenträger",
        "zuweisendestelle",
        "empfangendestelle",
        "empfangendeklinik",
        "zuweisendeklinik",
        "aufnehmendeklinik",
    )
)
"""Heads of columns that are no label of a single value."""
_RECORD = re.compile(r"^([^\W\d_][\w .-]{1,24});(.+)$")
MIN_RECORDS = 3


def unfolded(text: str) -> str:
    """The text with columns headed by parties set one under the other, and records set as labels and their lines."""
    lines = straightened(text.split("\n"))
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
        while end < min(len(lines), HEAD_LINES) and lines[end].strip() and len(lines[end]) < LINE_MAX:
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
"""`| label | value |`: a row of a table of two columns."""
_TABLE_RULE = re.compile(r"^[|\s:-]{3,}$")
_WITHIN = re.compile(r"(?<=[.;!?])[ \t]{1,3}(?=([^\W\d_][^\W_]{1,24}\.?):[ \t])")


def _set_apart(found: re.Match[str]) -> str:
    """A heading within a line begins a line of its own."""
    begins = heading_field(found[1]) and key(found[1]) not in _NOT_WITHIN
    return "\n" if begins or label_of(found[1]) == "adresse" else found[0]


_NOT_WITHIN = frozenset(("po", "nd", "hd", "vd", "op", "weiteres", "frage", "plan", "med"))


def _record(line: str) -> tuple[str, list[str]] | None:
    """(label, cells) of `PATIENT;Kern;Anna;F`: a label or heading before the first of at least one semicolon."""
    found = _RECORD.match(line[:LINE_MAX].strip()) if ";" in line else None
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
        filled = [_written(cell) for cell in cells if cell]
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


def _written(cell: str) -> str:
    """A date of digits alone as a date of birth is written."""
    return f"geb. {cell[6:]}.{cell[4:6]}.{cell[:4]}" if _DAY.fullmatch(cell) else cell


def _columns(lines: list[str]) -> Iterator[str]:
    n = 0
    while n < len(lines):
        heads = _heads(lines[n])
        if not heads:
            yield lines[n]
            n += 1
            continue
        rows, starts = [], [lines[n].find(head) for head in heads]
        while n + 1 < len(lines) and lines[n + 1].strip() and len(lines[n + 1]) < LINE_MAX:
            n += 1
            rows.append(_at_heads(lines[n], starts) or _row(lines[n], len(heads)))
        _join_salutations(rows)
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


def _join_salutations(rows: list[list[str]]) -> None:
    """`Frau` above a name belongs to it."""
    for row, below in pairwise(rows):
        for at in range(min(len(row), len(below))):
            if row[at] in ("Frau", "Herr", "Herrn"):
                row[at], below[at] = "", f"{row[at]} {below[at]}"


def _row(line: str, count: int) -> list[str]:
    """The cells of a row, those of an empty first column as "" ."""
    if "\t" in line or "|" in line:
        return [cell.strip() for cell in re.split(r"\t|\|", line)][:count]
    cells = [one for one in _CELLS.split(line.strip()) if one]
    indented = len(line) - len(line.lstrip()) > 8 and len(cells) < count
    return ["", *cells] if indented else cells


def _heads(line: str) -> list[str]:
    """The heads of columns, where every cell of the line names a party and nothing else."""
    if not _DIVIDES.search(line):
        return []
    cells = [one.strip(" :") for one in _CELLS.split(line[:LINE_MAX].strip())]
    if len(cells) < 2 or len(cells) > 3:
        return []
    named = [label_of(cell) in OWNERS or key(cell) in _SIDES for cell in cells]
    return cells if all(named) and any(label_of(cell) in OWNERS for cell in cells) else []


def cells_of(line: str) -> list[str]:
    """The cells of a table's row."""
    return [one.strip() for one in _COLUMNS.split(line.strip(" |"))]


def header_row(line: str) -> list[str]:
    """What the cells of a table's first row name, where every cell is a label and nothing else; [] for other lines."""
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
