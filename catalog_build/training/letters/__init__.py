"""Whole letters written and annotated by independent authors: every value of the form is marked where it stands.

One file an author (`l01.txt`), listed with split and setting in `authors.tsv`; `BRIEF.md` is all that an author sees.
Nothing is learned from or chosen on the split `report`. Files of the split `heads` (`h01.txt`) hold only what stands
above and below the text of a letter: single values are learned from them, lists are not.

    ### arztbrief
    {Klinikum Aurach|absender.institution}, {4. März 2026|dokument.datum=2026-03-04}
    {Die Antikoagulation mit {Apixaban 5 mg 1-0-1|medikation} bitte fortführen.|procedere}
    ===
    ### zuweisung

A mark is `{words|field}`, `{words|field=value}` or `{words|field field}`; `?` behind a field makes the value optional.
Marks may stand inside each other. Mistakes are named by file and line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from catalog_build.training.authors import author_rows, blocks
from clinical.contract import DocumentType
from clinical.errors import SourceError
from clinical.letters import DOCUMENTS, FIELDS, LISTS

FOLDER: Final = Path(__file__).parent
COLUMNS: Final = ("author", "split", "setting")
_HEAD: Final = re.compile(r"###\s+(\w+)\s*")
_FIELDS: Final = re.compile(r"(?:[a-z_]+(?:\.[a-z]+)?\??\s+)*[a-z_]+(?:\.[a-z]+)?\??(?:=[^=|{}\n]+)?")
_DAYS: Final = tuple(one for one in FIELDS.values() if one.kind in ("letter_day", "birthday"))
_DAY: Final = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_PAST: Final = re.compile(r"^(?:Z\.?\s?n\.?|St\.?\s?[np]\.?|Zustand nach|Status (?:nach|post))\s+(?=\S)", re.IGNORECASE)
"""The mark of the past before a procedure, which is no part of its name."""
_FORM: Final = "{words of the letter|field}, {words|field=value} or {words|field field}"


class LabelledValue(NamedTuple):
    """Words of a letter that state a value: code point offsets, field, another wording, and whether it may be left out.

    `stated` is "" where the words are the value; of a procedure it is the day."""

    start: int
    end: int
    field: str
    words: str
    stated: str
    optional: bool


class LabelledLetter(NamedTuple):
    """A letter without its marks; `data` in the contract's shape, `accept` as `evals.letters.fields` reads it."""

    ident: str
    kind: DocumentType
    text: str
    values: tuple[LabelledValue, ...]
    data: dict[str, Any]
    accept: dict[str, list[Any]]


class LetterAuthor(NamedTuple):
    """A row of `authors.tsv`."""

    ident: str
    split: str
    setting: str


def letter_authors(folder: Path = FOLDER) -> tuple[LetterAuthor, ...]:
    """Everybody in `authors.tsv`, in its order. Raises SourceError."""
    return tuple(LetterAuthor(*cells) for _, cells in author_rows(folder, COLUMNS))


def read_letters(split: str, folder: Path = FOLDER) -> dict[str, tuple[LabelledLetter, ...]]:
    """The letters of all authors of a split, by author. Raises SourceError."""
    idents = [one.ident for one in letter_authors(folder) if one.split == split]
    return {ident: parse_letters(folder / f"{ident}.txt") for ident in idents}


def parse_letters(file: Path) -> tuple[LabelledLetter, ...]:
    """The letters of one file. Raises SourceError by file and line."""
    found: list[LabelledLetter] = []
    for begin, block in blocks(file):
        first = next((at for at, one in enumerate(block) if one.strip()), None)
        if first is not None:
            at = begin + first
            head = _HEAD.fullmatch(block[first])
            if head is None or head[1] not in DOCUMENTS:
                raise SourceError(
                    file.name, at, f"no kind of letter: {block[first][:40]!r}", "### arztbrief, ### zuweisung"
                )
            marked = _Marked(file.name, at + 1, "\n".join(block[first + 1 :]).rstrip())
            found.append(marked.letter(f"{file.stem}-{len(found) + 1:02d}", head[1]))  # type: ignore[arg-type] # asked above
    return tuple(found)


class _Marked:
    """The marked text of one letter that begins at a line of its file."""

    def __init__(self, file: str, first: int, marked: str) -> None:
        self.file, self.first, self.marked = file, first, marked

    def letter(self, ident: str, kind: DocumentType) -> LabelledLetter:
        text, values = self._read(kind)
        data, accept = _of(kind, values)
        try:
            DOCUMENTS[kind].model_validate(data)
        except ValidationError as error:
            one = error.errors()[0]
            path = ".".join(map(str, one["loc"]))
            raise SourceError(self.file, self.first, f"{path}: {one['input']!r}", one["msg"]) from None
        return LabelledLetter(ident, kind, text, values, data, accept)

    def _read(self, kind: DocumentType) -> tuple[str, tuple[LabelledValue, ...]]:
        plain: list[str] = []
        length = at = 0
        opened: list[tuple[int, int]] = []
        found: list[LabelledValue] = []
        for sign in re.finditer(r"[{}|]", self.marked):
            if sign.start() < at:
                continue
            plain.append(self.marked[at : sign.start()])
            length += sign.start() - at
            at = sign.end()
            if sign.group() == "{":
                opened.append((length, sign.start()))
            elif sign.group() == "|" and opened:
                close = self.marked.find("}", at)
                start, _ = opened.pop()
                words = "".join(plain)[start:]
                found += self._values(self.marked[at : max(close, at)], (start, length), words, sign.start(), kind)
                at = close + 1
            else:
                raise self._wrong(
                    sign.start(), f"a mark that is none: {self.marked[max(0, sign.start() - 20) : at]!r}", _FORM
                )
        if opened:
            place = opened[-1][1]
            raise self._wrong(place, f"a mark without an end: {self.marked[place : place + 40]!r}", _FORM)
        text = "".join([*plain, self.marked[at:]])
        return text, tuple(sorted(found, key=lambda one: (one.start, -one.end)))

    def _values(
        self, fields: str, place: tuple[int, int], words: str, at: int, kind: DocumentType
    ) -> list[LabelledValue]:
        if not _FIELDS.fullmatch(fields):
            raise self._wrong(at, f"the fields {fields[:40]!r}", _FORM)
        if not words or words != words.strip():
            raise self._wrong(at, f"a value that begins or ends with a space: {words[:40]!r}", "its words alone")
        names, _, stated = fields.partition("=")
        dated = [one for one in names.replace("?", "").split() if one == "eingriffe" or FIELDS.get(one) in _DAYS]
        if dated and not _DAY.fullmatch(stated.strip()) and (stated or dated != ["eingriffe"]):
            raise self._wrong(at, f"the day {stated!r} of {dated[0]}", f"{{{words[:20]}|{dated[0]}=JJJJ-MM-TT}}")
        found = []
        for name in names.split():
            path, optional = name.removesuffix("?"), name.endswith("?")
            if path.partition(".")[0] not in DOCUMENTS[kind].model_fields or (path not in LISTS and path not in FIELDS):
                raise self._wrong(at, f"the field {path!r}", f"a field of {kind}")
            found.append(LabelledValue(*place, path, words, stated.strip(), optional))
        return found

    def _wrong(self, at: int, found: str, expected: str) -> SourceError:
        return SourceError(self.file, self.first + self.marked.count("\n", 0, at), found, expected)


def _of(kind: DocumentType, values: Sequence[LabelledValue]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """(data in the contract's shape, optional values and variants by path)."""
    data: dict[str, Any] = DOCUMENTS[kind]().model_dump(mode="json")
    accept: dict[str, list[Any]] = {}
    for one in values:
        entry: Any = one.stated or one.words
        if one.field == "eingriffe":
            entry = {"bezeichnung": _PAST.sub("", one.words), "datum": one.stated or None}
        outer, _, inner = one.field.partition(".")
        if one.field in LISTS:
            accept.setdefault(outer, []).append(entry) if one.optional else data[outer].append(entry)
            continue
        place = data[outer] if inner else data
        if one.optional or place[inner or outer] is not None:
            accept.setdefault(one.field, []).append(entry)
        else:
            place[inner or outer] = entry
    for path, variants in accept.items():
        outer, _, inner = path.partition(".")
        if path not in LISTS and (data[outer][inner] if inner else data[outer]) is None:
            variants.append(None)
    return data, accept


def summary(letters: Sequence[LabelledLetter]) -> str:
    """One line: letters of each kind, their length, entries of each list, single values."""
    kinds = Counter(one.kind for one in letters)
    fields = Counter(value.field if value.field in LISTS else "single" for one in letters for value in one.values)
    said = ", ".join(f"{name} {fields[name]}" for name in (*LISTS, "single"))
    by_kind = ", ".join(f"{name} {count}" for name, count in kinds.items())
    return f"{len(letters)} letters ({by_kind}), {sum(len(one.text) for one in letters)} characters; {said}"
