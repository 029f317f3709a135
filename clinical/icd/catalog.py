"""The code catalog: one frozen value per ICD-10-GM code, and the tree they form.

The catalog is immutable and shared between threads. It is kept as one JSON file (`codes.json`): a table of
rows in the order of the official file; a code's place in that order is its number everywhere in the artifact.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Self, get_args

import orjson

from clinical.errors import ArtifactMismatch, ArtifactMissing
from clinical.icd.limits import outside
from clinical.icd.spelling import parent_of, parse
from clinical.icd.titles import leaves_open

Kind = Literal["plain", "dagger", "asterisk", "exclamation"]
_MARKS: Final[dict[Kind, str]] = {"plain": "", "dagger": "+", "asterisk": "*", "exclamation": "!"}
"""Marks of the classification: `A39.0+` a dagger code, `G01*` an asterisk code, `U80.0!` an exclamation mark code."""
PAIR_NOTE: Final = "pair"
"""Kind of the note the build adds to both codes of a pair of dagger and asterisk code: `references` holds the partner,
`text` the catalog texts (one per line) that are coded with both."""
NOT_USED: Final = "V"
"""BfArM's letter for a code that is not used for coding."""
_UNASSIGNED: Final = "Nicht belegte Schlüsselnummer"
Sex = Literal["M", "W"]

_KEYS: Final = {"system", "version", "columns", "chapters", "blocks", "moves", "codes"}  # of the JSON file


class Note(NamedTuple):
    """A note of the tabular list under a code; `kind` as in ClaML: inclusion, exclusion, coding-hint, ..."""

    kind: str
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """One code. `code` is dotted and without marks; ages are as in the source: "t000".."t364", "j001".."j124";
    `everyday`: one of Befund's own wordings has it, so texts speak of it far more often than of most codes. `age_must`:
    an age outside its limits is an error, not a warning; `rare`: very rare in Central Europe; `notifiable`: the
    metadata remind of the duty to notify (IfSG); `laboratory`: of the exemption of laboratory tests (EBM 32006)."""

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
    age_must: bool = False
    rare: bool = False
    notifiable: bool = False
    laboratory: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def marked(self) -> str:
        """With its mark, as the classification prints it: `E10.3+`, `H36.0*`."""
        return self.code + _MARKS[self.kind]

    @property
    def is_unassigned(self) -> bool:
        """True if the code is kept free, or is used neither for outpatient nor for hospital cases."""
        return self.title.startswith(_UNASSIGNED) or {self.use_295, self.use_301} == {NOT_USED}

    @property
    def never_alone(self) -> bool:
        """True if it is coded only beside another code: an asterisk or exclamation mark code."""
        return self.kind in ("asterisk", "exclamation")

    def fits(self, sex: Sex | None, age_days: int | None) -> bool:
        """True if the code is usual for a patient, as far as sex and age are known."""
        if self.sex and sex and self.sex != sex:
            return False
        return age_days is None or not outside(age_days, self.age_low, self.age_high)


class Catalog:
    """All codes of one year in the order of the official file. Immutable."""

    system: Final = "ICD-10-GM"

    def __init__(
        self,
        version: str,
        codes: Iterable[Code],
        chapters: Mapping[str, str],
        blocks: Mapping[str, str],
        moves: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`moves`: old and new code where the official table of transitions from the year before names a change; an old
        code that nothing corresponds to has the new code ""."""
        self.version = version
        self.moves = tuple((old, new) for old, new in moves)
        self.before = str(int(version) - 1) if self.moves and version.isdecimal() else None
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
        if own is None or own.parent is None or not leaves_open(own.title):
            return ()
        return tuple(other for other in self._children[own.parent] if not leaves_open(other.title))

    def exclusion_notes(self, code: Code) -> Iterator[Note]:
        """The exclusion notes of a code and of the codes above it, which hold for all codes below."""
        level: Code | None = code
        while level is not None:
            yield from (note for note in level.notes if note.kind == "exclusion")
            level = self.get(level.parent) if level.parent else None

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
            "moves": self.moves,
            "codes": rows,
        }
        path.write_bytes(orjson.dumps(tree))

    @classmethod
    def load(cls, path: Path) -> Self:
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
        return cls(tree["version"], codes, tree["chapters"], tree["blocks"], tree["moves"])


def _to_row(code: Code) -> list[object]:
    return [getattr(code, name) for name in Code.__slots__[:-1]] + [[list(note) for note in code.notes]]


def _from_row(row: list[Any]) -> Code:
    row[-1] = tuple(Note(kind, text, tuple(references)) for kind, text, references in row[-1])
    return Code(*row)
