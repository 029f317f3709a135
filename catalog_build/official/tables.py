"""Readers of the txt tables: codes, blocks, chapters, Alpha-ID-SE and the alphabetical index.

Field numbers are those of BfArM's own description ("Datensatzbeschreibung" in the liesmich file of each zip).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from catalog_build.official.files import SourceFile, read_rows
from clinical.errors import SourceError
from clinical.icd import CODE_PATTERN, EXAMPLE, Code, Kind, Sex, category, parent_of

CATEGORY: Final = re.compile(r"[A-Z]\d\d")
_AGE: Final = re.compile(r"9999|t[0-3]\d\d|j[01]\d\d")
_REMEDY: Final = "use the file as BfArM published it"


@dataclass(frozen=True, slots=True)
class Synonym:
    """A wording and what it is coded with. `code`: the primary code, else the asterisk code, else the "!" code;
    `secondary`: the other codes of the line; `source`: alphaid, alphabet, title or inclusion; `raw`: the text as in
    the file where it had a tail (` - s.a. ...`), else the same as `text`."""

    text: str
    code: str
    secondary: tuple[str, ...] = ()
    orpha: str | None = None
    source: str = "alphaid"
    raw: str = ""

    def __post_init__(self) -> None:
        if not self.raw:
            object.__setattr__(self, "raw", self.text)


@dataclass(frozen=True, slots=True)
class CrossReference:
    """`head - s. target` of the alphabetical index; `also`: it is "s.a.", the head is coded under itself too;
    `raw`: the whole text as in the file where it is the tail of a synonym, else None.

    A head and its targets that end with a hyphen (`Card- - s. Kard-`) are beginnings of words.
    """

    head: str
    targets: tuple[str, ...]
    also: bool
    raw: str | None = None


def read_chapters(file: SourceFile) -> dict[str, str]:
    """Chapter number ("01") -> title."""
    return {row[0]: row[1].strip() for _, row in read_rows(file, ";", 2)}


def read_blocks(file: SourceFile) -> dict[str, str]:
    """Block ("A00-A09") -> title."""
    blocks: dict[str, str] = {}
    for line, row in read_rows(file, ";", 4):
        if not (CATEGORY.fullmatch(row[0]) and CATEGORY.fullmatch(row[1])):
            expected = f"categories such as {category(EXAMPLE)}"
            raise SourceError(file.location, line, f"block {row[0]!r} to {row[1]!r}", expected, _REMEDY)
        blocks[f"{row[0]}-{row[1]}"] = row[3].strip()
    return blocks


def read_codes(file: SourceFile, chapters: Mapping[str, str], blocks: Mapping[str, str]) -> list[Code]:
    """The codes in the order of the file, without notes.

    Without a block file a block runs to the last category that names its first (for the full catalog the same).
    Raises SourceError with the line for a value outside the official description or a code that comes twice.
    """
    rows = list(read_rows(file, ";", 28))
    ends = dict(block.split("-") for block in blocks) or {row[4]: row[6] for _, row in rows if row[0] == "3"}
    codes: dict[str, Code] = {}
    for line, row in rows:
        if chapters and row[3] not in chapters:
            expected = "a chapter of the chapter file"
            raise SourceError(file.location, line, f"{row[3]!r} in field 4", expected, "use files of one release")
        code = _code(file, line, row, ends)
        if code.code in codes:
            raise SourceError(file.location, line, f"{code.code} comes a second time", "each code once", _REMEDY)
        codes[code.code] = code
    _whole(file, rows[-1][0], codes.values(), blocks)
    return list(codes.values())


def _whole(file: SourceFile, last: int, codes: Iterable[Code], blocks: Mapping[str, str]) -> None:
    """A file cut off at the end of a line shows by blocks that have no code."""
    empty = set(blocks) - {code.block for code in codes}
    if empty:
        found = f"the file ends, and block {min(empty)} has no code"
        raise SourceError(
            file.location, last, found, "codes of every block", "the file seems cut off: download it again"
        )


def _code(file: SourceFile, line: int, row: list[str], ends: Mapping[str, str]) -> Code:
    spelling = row[6].rstrip("+")
    rules = [
        (CODE_PATTERN.fullmatch(spelling) is not None, 7, f"a code such as {category(EXAMPLE)} or {EXAMPLE}"),
        (row[0] in ("3", "4", "5") and len(spelling.replace(".", "")) == int(row[0]), 1, "the length of the code"),
        (row[1] in ("T", "N"), 2, "T or N"),
        (bool(row[8].strip()), 9, "a title"),
        (row[4] in ends, 5, "the first category of a known block"),
        (row[12] in tuple("POZV"), 13, "P, O, Z or V"),
        (row[13] in tuple("POZV"), 14, "P, O, Z or V"),
        (row[19] in tuple("9MW"), 20, "9, M or W"),
        (_AGE.fullmatch(row[21]) is not None, 22, "9999, t000-t364 or j001-j124"),
        (_AGE.fullmatch(row[22]) is not None, 23, "9999, t000-t364 or j001-j124"),
        (row[23] in tuple("9KM"), 24, "9, K or M"),
        *((row[field - 1] in tuple("JN"), field, "J or N") for field in (25, 27, 28)),
    ]
    for holds, field, expected in rules:
        if not holds:
            raise SourceError(file.location, line, f"{row[field - 1]!r} in field {field}", expected, _REMEDY)
    return Code(
        code=spelling,
        title=row[8].strip(),
        level=int(row[0]),
        terminal=row[1] == "T",
        parent=parent_of(spelling),
        block=f"{row[4]}-{ends[row[4]]}",
        chapter=row[3],
        kind=_kind(row),
        use_295=row[12],
        use_301=row[13],
        sex=None if row[19] == "9" else cast(Sex, row[19]),
        age_low=None if row[21] == "9999" else row[21],
        age_high=None if row[22] == "9999" else row[22],
        age_must=row[23] == "M",
        rare=row[24] == "J",
        notifiable=row[26] == "J",
        laboratory=row[27] == "J",
    )


def _kind(row: list[str]) -> Kind:
    if row[5].endswith("*") or "O" in (row[12], row[13]):
        return "asterisk"
    if row[5].endswith("!") or "Z" in (row[12], row[13]):
        return "exclamation"
    return "dagger" if row[6].endswith("+") else "plain"


@dataclass(frozen=True)
class SynonymFile:
    """Contents of a synonym file: synonyms, cross references, codes marked with a dagger; `gaps`: omissions."""

    synonyms: tuple[Synonym, ...] = ()
    cross_references: tuple[CrossReference, ...] = ()
    daggers: frozenset[str] = frozenset()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Line:
    """One line of either file, its four code fields (primary, asterisk, "!", second primary) still marked; `rule`: it
    is a cross reference or an instruction ("kodiere ..."), which has no code of its own."""

    number: int
    codes: list[str]
    orpha: str | None
    text: str
    rule: bool = False


def read_alphaid(file: SourceFile, known: Container[str]) -> SynonymFile:
    """Alpha-ID-SE: valid | Alpha-ID | primary | asterisk | "!" | second primary | ORPHA | text. No invalid lines."""
    lines = (
        _Line(number, row[2:6], row[6].strip() or None, row[7].strip())
        for number, row in read_rows(file, "|", 8)
        if row[0] != "0"
    )
    return _wordings(file, lines, known, "alphaid")


def read_alphabet(file: SourceFile, known: Container[str]) -> SynonymFile:
    """Alphabetical index: kind of coding | number | print flag | primary | asterisk | "!" | second primary | text."""
    lines = (
        _Line(number, row[3:7], None, row[7].strip(), rule=row[0] == "0") for number, row in read_rows(file, "|", 8)
    )
    return _wordings(file, lines, known, "alphabet")


def _wordings(file: SourceFile, lines: Iterator[_Line], known: Container[str], source: str) -> SynonymFile:
    synonyms: list[Synonym] = []
    references: list[CrossReference] = []
    daggers: set[str] = set()
    uncoded = 0
    for line in lines:
        text, reference = split_reference(line.text)
        if reference is not None:
            references.append(replace(reference, raw=line.text) if any(line.codes) else reference)
        marked = [code.strip() for code in line.codes if code.strip()]
        plain = [code.rstrip("+*!") for code in marked]
        for code in plain:
            if code not in known:
                raise SourceError(
                    file.location, line.number, f"{code} is not in the catalog", "a code of this year", _REMEDY
                )
        if not text:
            raise SourceError(file.location, line.number, "an empty text", "a wording", _REMEDY)
        daggers.update(code.rstrip("+") for code in marked if code.endswith("+"))
        if plain:
            synonyms.append(Synonym(text, plain[0], tuple(plain[1:]), line.orpha, source, line.text))
        else:
            uncoded += reference is None and not line.rule
    gaps = (f"{uncoded} lines of {file.name} without any code: these wordings are not found",) if uncoded else ()
    return SynonymFile(tuple(synonyms), tuple(references), frozenset(daggers), gaps)


def read_moves(file: SourceFile, known: Container[str]) -> tuple[tuple[str, str], ...]:
    """Transitions from the year before: old code | new code | automatic forwards | automatic backwards; UNDEF is none.

    Only old codes that change are kept, with all their new ones; "" stands for none.
    """
    pairs: list[tuple[str, str]] = []
    for line, row in read_rows(file, ";", 4):
        old, new = ("" if cell.strip() == "UNDEF" else cell.strip().rstrip("+*!-").rstrip(".") for cell in row[:2])
        if new and new not in known:
            raise SourceError(file.location, line, f"{new} is not in the catalog", "a code of this year", _REMEDY)
        pairs.append((old, new))
    changed = {old for old, new in pairs if old and old != new}
    return tuple((old, new) for old, new in pairs if old in changed)


_REFERENCE: Final = re.compile(r"(?P<head>.+?)\s+-\s+(?P<see>s\.\s?a\.|s\.)\s*(?P<targets>.+)")
_OR: Final = re.compile(r"\s+oder\s+(?:s\.\s?a\.|s\.)?\s*")


def split_reference(text: str) -> tuple[str, CrossReference | None]:
    """The wording without its tail ` - s. Y` / ` - s.a. A oder s.a. B`, and that tail as a cross reference."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return text, None
    targets = tuple(target.strip() for target in _OR.split(match["targets"]) if target.strip())
    return match["head"], CrossReference(match["head"], targets, match["see"] != "s.")
