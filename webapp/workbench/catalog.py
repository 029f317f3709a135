"""ICD-10-GM for reading: the artifact's catalog, browsed by chapter, group and code, compared with an earlier year's.

Codes are found by words where the search is: the webapp asks the text API (`catalog_pages`).
"""

import logging
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from clinical.errors import ArtifactMismatch
from clinical.icd import PAIR_NOTE, Catalog, Code, parse

FILE = "codes.json"
MARKS = {"plain": "", "dagger": "†", "asterisk": "*", "exclamation": "!"}
"""By the kind of a code, as German documents print it."""
log = logging.getLogger(__name__)


class CodeBook(Catalog):
    """All codes of one year, as somebody looks things up in them."""

    @cached_property
    def of_chapter(self) -> dict[str, list[str]]:
        """The groups of each chapter, in the order of the official file."""
        found: dict[str, dict[str, None]] = {}
        for code in self:
            found.setdefault(code.chapter, {})[code.block] = None
        return {chapter: list(blocks) for chapter, blocks in found.items()}

    def of_block(self, block: str) -> list[Code]:
        """The categories of a group."""
        return self._in_block.get(block, [])

    def find(self, text: str) -> Code | None:
        """The code however it is spelt (`e119`, `E11.9-`, `G01*`), None where there is none."""
        code = parse(text)
        return self.get(code) if code else None

    def path(self, code: Code) -> list[Code]:
        """The codes above it, the highest first."""
        above: list[Code] = []
        level = self.get(code.parent) if code.parent else None
        while level is not None:
            above.insert(0, level)
            level = self.get(level.parent) if level.parent else None
        return above


def shown(code: Code) -> str:
    """The code with its mark."""
    return code.code + MARKS[code.kind]


def pairs(code: Code) -> tuple[str, ...]:
    """Codes that are coded together with this one."""
    return tuple(dict.fromkeys(one for note in code.notes if note.kind == PAIR_NOTE for one in note.references))


def open_book(folder: Path) -> CodeBook | None:
    """The catalog of an artifact folder, read again only when the file has changed; None where there is none, or one of
    another version, which is logged."""
    file = folder / FILE
    if not file.is_file():
        return None
    with _READING:  # it takes a second; threads that read it side by side would each take that long times their number
        return _read(file, file.stat().st_mtime_ns)


_READING = Lock()


@lru_cache(maxsize=4)  # this year and an earlier one, each also while it is replaced
def _read(file: Path, _changed: int) -> CodeBook | None:
    try:
        return CodeBook.load(file)
    except ArtifactMismatch as error:
        log.error("the catalog cannot be shown: %s", error)
        return None


# --- since an earlier year (`BEFUND_WORKBENCH_EARLIER`) ---------------------------------------------------------------


class Since(NamedTuple):
    """The difference of a code from the earlier `version`: the code is new, had another `title` (empty: the same), or
    codes that stood below it are `gone`."""

    version: str
    new: bool
    title: str
    gone: tuple[Code, ...]


def since(before: CodeBook, now: CodeBook, code: Code) -> Since | None:
    """The changes of a code from one catalog to a later one; None where there are none."""
    old = before.get(code.code)
    if old is None:
        return Since(before.version, True, "", ())
    gone = tuple(other for other in before.children(code.code) if other.code not in now)
    title = "" if old.title == code.title else old.title
    return Since(before.version, False, title, gone) if title or gone else None
