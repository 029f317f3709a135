"""ICD-10-GM for reading: the artifact's `codes.json`, read by the webapp itself, browsed by chapter, group and code.

Codes are found by words where the search is: the webapp asks the text API (`terminology`).
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

FILE = "codes.json"
MARKS = {"dagger": "†", "asterisk": "*", "exclamation": "!"}


class ListedNote(NamedTuple):
    """A note of the classification: its kind (inclusion, exclusion, pair, ...), its words, the codes it names."""

    kind: str
    text: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedCode:
    """One code as the official files have it; `use` is BfArM's letter for coding (P, O, Z, V)."""

    code: str
    title: str
    parent: str | None
    block: str
    chapter: str
    terminal: bool
    kind: str
    use: str
    sex: str | None
    ages: tuple[str | None, str | None]
    notes: tuple[ListedNote, ...]

    @property
    def mark(self) -> str:
        """Dagger, asterisk or exclamation mark; "" for most."""
        return MARKS.get(self.kind, "")

    @property
    def shown(self) -> str:
        """The code with its mark."""
        return self.code + self.mark

    @property
    def own(self) -> str:
        """The title without the titles above it, which the official files repeat before a colon."""
        return self.title.rpartition(": ")[2]

    @property
    def pairs(self) -> tuple[str, ...]:
        """Codes that are coded together with this one."""
        return tuple(dict.fromkeys(code for note in self.notes if note.kind == "pair" for code in note.codes))


class CodeBook:
    """All codes of one year, in the order of the official file."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.version: str = raw["version"]
        self.chapters: dict[str, str] = raw["chapters"]
        self.blocks: dict[str, str] = raw["blocks"]
        rows = (dict(zip(raw["columns"], row, strict=True)) for row in raw["codes"])
        self.codes = {row["code"]: _code(row) for row in rows}
        self.below: dict[str, list[ListedCode]] = {}
        for code in self.codes.values():
            self.below.setdefault(code.parent or code.block, []).append(code)
        self.of_chapter: dict[str, list[str]] = {}
        for code in self.codes.values():
            blocks = self.of_chapter.setdefault(code.chapter, [])
            if code.block not in blocks:
                blocks.append(code.block)

    def get(self, code: str) -> ListedCode | None:
        """The code however it is spelt (`e119`, `E11.9-`, `G01*`), None where there is none."""
        bare = re.sub(r"[^A-Z0-9]", "", code.upper()[:12])
        return self.codes.get(f"{bare[:3]}.{bare[3:]}" if len(bare) > 3 else bare)

    def path(self, code: ListedCode) -> list[ListedCode]:
        """The codes above it, the highest first."""
        above: list[ListedCode] = []
        while code.parent is not None and (code := self.codes[code.parent]):
            above.insert(0, code)
        return above

    def beside(self, code: ListedCode) -> list[ListedCode]:
        """The codes of the same parent, without itself."""
        return [other for other in self.below[code.parent or code.block] if other is not code]


def open_book(folder: Path) -> CodeBook | None:
    """The catalog of an artifact folder, read again only when the file has changed; None where there is none."""
    file = folder / FILE
    if not file.is_file():
        return None
    with _READING:  # it takes a second; threads that read it side by side would each take that long times their number
        return _read(file, file.stat().st_mtime_ns)


_READING = Lock()


@lru_cache(maxsize=4)  # this year and an earlier one, each also while it is replaced
def _read(file: Path, _changed: int) -> CodeBook:
    return CodeBook(json.loads(file.read_bytes()))


def _code(row: dict[str, Any]) -> ListedCode:
    notes = tuple(ListedNote(kind, text, tuple(codes)) for kind, text, codes in row["notes"])
    same = ("code", "title", "parent", "block", "chapter", "terminal", "kind", "sex")
    return ListedCode(
        **{name: row[name] for name in same}, use=row["use_295"], ages=(row["age_low"], row["age_high"]), notes=notes
    )
