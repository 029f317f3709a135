"""The code catalog: one frozen value per ICD-10-GM code, and the tree they form.

The catalog is immutable and shared between threads. It is kept as one JSON file (`codes.json`): a table of
rows in the order of the official file; a code's place in that order is its number everywhere in the artifact.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

import orjson

from clinical.errors import ArtifactMismatch, ArtifactMissing

Kind = Literal["plain", "dagger", "asterisk", "exclamation"]
_MARKS: Final[dict[Kind, str]] = {"plain": "", "dagger": "+", "asterisk": "*", "exclamation": "!"}
"""Marks of the classification: `A39.0+` a dagger code, `G01*` an asterisk code, `U80.0!` an exclamation mark code."""
Sex = Literal["M", "W"]

CODE_PATTERN: Final = re.compile(r"[A-Z][0-9]{2}(?:\.[0-9]{1,2})?")

# One bare code, as people type it: capital, two digits, up to two more behind a dot that may be missing; blanks
# between these groups; dashes for "not specified further"; one mark. Blanks inside a group of digits do not count
# as a code ("T1 2" is more likely two vertebrae).
_BARE: Final = re.compile(
    r"([A-Z])\s*([0-9]{2})\s*(?:[.,]\s*)?([0-9]{0,2})\s*[-\u2010-\u2015\u2212]{0,2}\s*[+*!\u2020]?", re.ASCII
)
_BARE_MAX: Final = 24  # code points, blanks folded; anything longer is a text

_KEYS: Final = {"system", "version", "columns", "chapters", "blocks", "codes"}  # of the JSON file


class Note(NamedTuple):
    """A note of the tabular list under a code; `kind` as in ClaML: inclusion, exclusion, coding-hint, ..."""

    kind: str
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """One code. `code` is dotted and without marks; ages are as in the source: "t000".."t364", "j001".."j124";
    `everyday`: one of Befund's own wordings has it, so texts speak of it far more often than of most codes."""

    code: str
    title: str
    level: int
    terminal: bool
    parent: str | None
    block: str
    chapter: str
    kind: Kind
    use_295: str
    use_301: str
    sex: Sex | None = None
    age_low: str | None = None
    age_high: str | None = None
    everyday: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def marked(self) -> str:
        """With its mark, as the classification prints it: `E10.3+`, `H36.0*`."""
        return self.code + _MARKS[self.kind]

    @property
    def never_alone(self) -> bool:
        """True if it is coded only beside another code: an asterisk or exclamation mark code."""
        return self.kind in ("asterisk", "exclamation")


def _leaves_open(title: str) -> bool:
    """True if the last part of a title, the only one in which siblings differ, says "nicht näher bezeichnet"."""
    return "nicht näher bez" in title.rpartition(": ")[2].casefold()


def parent_of(code: str) -> str | None:
    """The spelling of the next level up: E11.90 -> E11.9 -> E11 -> None; nothing is above what is no code ("E1")."""
    return None if len(code) <= 3 else code[:-1].rstrip(".")


def parse(text: str) -> str | None:
    """Tolerant spelling of ONE bare code -> canonical dotted form, existing or not; None when it is anything else.

    Case, blanks, a missing dot, trailing dashes and the marks + * ! are forgiven (`e119`, `E11.-`, `G01*`).
    """
    typed = " ".join(text.split())
    if len(typed) > _BARE_MAX:
        return None
    match = _BARE.fullmatch(unicodedata.normalize("NFKC", typed).upper())
    if match is None:
        return None
    letter, category, rest = match.groups()
    return f"{letter}{category}.{rest}" if rest else f"{letter}{category}"


class Catalog:
    """All codes of one year in the order of the official file. Immutable."""

    system: Final = "ICD-10-GM"

    def __init__(
        self, version: str, codes: Iterable[Code], chapters: Mapping[str, str], blocks: Mapping[str, str]
    ) -> None:
        self.version = version
        self.codes: Sequence[Code] = tuple(codes)
        self.chapters = MappingProxyType(dict(chapters))
        self.blocks = MappingProxyType(dict(blocks))
        self._number = {code.code: number for number, code in enumerate(self.codes)}
        self._children: dict[str, list[Code]] = {}
        self._in_block: dict[str, list[Code]] = {}
        for code in self.codes:
            if code.parent is None:
                self._in_block.setdefault(code.block, []).append(code)
            else:
                self._children.setdefault(code.parent, []).append(code)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Code]:
        return iter(self.codes)

    def __contains__(self, code: object) -> bool:
        return code in self._number

    def get(self, code: str) -> Code | None:
        """The code of exactly this dotted form, or None."""
        number = self._number.get(code)
        return None if number is None else self.codes[number]

    def number(self, code: str) -> int:
        """Position in `codes`; KeyError for a code that is not in the catalog."""
        return self._number[code]

    def parse(self, text: str) -> str | None:
        """See `parse` of this module."""
        return parse(text)

    def children(self, code: str) -> tuple[Code, ...]:
        """The codes one level below, in the order of the file; empty for a terminal or unknown code."""
        return tuple(self._children.get(code, ()))

    def siblings(self, code: str) -> tuple[Code, ...]:
        """The other codes below the same parent; for three-character codes the others of their block."""
        entry = self.get(code)
        if entry is None:
            return ()
        family = self._in_block[entry.block] if entry.parent is None else self._children[entry.parent]
        return tuple(other for other in family if other.code != code)

    def more_specific(self, code: str) -> tuple[Code, ...]:
        """The siblings that say what this code leaves open ("nicht näher bezeichnet": a stage, a site, a cause), in the
        order of the file; empty where it leaves nothing open at its level, or for an unknown code."""
        own = self.get(code)
        if own is None or own.parent is None or not _leaves_open(own.title):
            return ()
        return tuple(other for other in self._children[own.parent] if not _leaves_open(other.title))

    def leaves(self, code: str) -> tuple[Code, ...]:
        """The terminal codes at or below `code`, in the order of the file."""
        entry = self.get(code)
        if entry is None:
            return ()
        if entry.terminal:
            return (entry,)
        return tuple(leaf for child in self.children(code) for leaf in self.leaves(child.code))

    def neighbours(self, code: str, limit: int) -> tuple[Code, ...]:
        """At most `limit` codes: siblings, then the terminal codes under the parent's siblings, each nearest first.

        Near means: close in the order of the file, which is the order of the classification.
        """
        entry = self.get(code)
        if entry is None:
            return ()
        position = self._number[code]

        def near(codes: Iterable[Code]) -> list[Code]:
            return sorted(codes, key=lambda other: abs(self._number[other.code] - position))

        aunts = near(self.siblings(entry.parent)) if entry.parent else near(self._same_chapter(entry))
        cousins = (leaf for aunt in aunts for leaf in near(self.leaves(aunt.code) if entry.parent else (aunt,)))
        return tuple(itertools.islice(itertools.chain(near(self.siblings(code)), cousins), limit))

    def _same_chapter(self, entry: Code) -> list[Code]:
        blocks = (codes for block, codes in self._in_block.items() if block != entry.block)
        return [code for codes in blocks if codes[0].chapter == entry.chapter for code in codes]

    def nearest_existing(self, code: str) -> Code | None:
        """The code itself or its nearest ancestor that exists; None when not even the category does."""
        spelling: str | None = code
        while spelling is not None:
            if (found := self.get(spelling)) is not None:
                return found
            spelling = parent_of(spelling)
        return None

    def chapter_title(self, chapter: str) -> str:
        """Official title of a chapter ("04"); empty when the source had no chapter file."""
        return self.chapters.get(chapter, "")

    def block_title(self, block: str) -> str:
        """Official title of a block ("E10-E14"); empty when the source had no block file."""
        return self.blocks.get(block, "")

    def save(self, path: Path) -> None:
        """Write the catalog as one JSON file."""
        rows = [_to_row(code) for code in self.codes]
        tree = {
            "system": self.system,
            "version": self.version,
            "columns": Code.__slots__,
            "chapters": dict(self.chapters),
            "blocks": dict(self.blocks),
            "codes": rows,
        }
        path.write_bytes(orjson.dumps(tree))

    @classmethod
    def load(cls, path: Path) -> Catalog:
        """Read what `save` wrote. Raises ArtifactMissing, or ArtifactMismatch where the file is something else."""
        remedy = "build the catalog again: python -m catalog_build build SOURCE --out DIR"
        try:
            tree = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            raise ArtifactMissing(f"there is no {path.name} in {path.parent}", "a finished artifact", remedy) from None
        except orjson.JSONDecodeError:
            raise ArtifactMismatch(f"{path.name} is not JSON", "a catalog as written by the build", remedy) from None
        if not isinstance(tree, dict) or tree.keys() != _KEYS or tree["columns"] != list(Code.__slots__):
            raise ArtifactMismatch(f"{path.name} has other columns", ", ".join(Code.__slots__), remedy)
        try:
            codes = [_from_row(row) for row in tree["codes"]]
        except (TypeError, ValueError, LookupError):
            raise ArtifactMismatch(f"a row of {path.name} is no code", ", ".join(Code.__slots__), remedy) from None
        if unknown := sorted({code.kind for code in codes} - set(get_args(Kind))):
            expected = ", ".join(get_args(Kind))
            raise ArtifactMismatch(f"{path.name} has codes of the kind {', '.join(unknown)}", expected, remedy)
        return cls(tree["version"], codes, tree["chapters"], tree["blocks"])


def _to_row(code: Code) -> list[object]:
    return [getattr(code, name) for name in Code.__slots__[:-1]] + [[list(note) for note in code.notes]]


def _from_row(row: list[Any]) -> Code:
    row[-1] = tuple(Note(kind, text, tuple(references)) for kind, text, references in row[-1])
    return Code(*row)
