"""Catalogs of several years as versions of one code system, with what operations ask of each.

A set of codes is a mask over the catalog, whose order is that of the classification: what lies below a code, a group or
a chapter is one run of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.icd import Catalog, Code

if TYPE_CHECKING:
    from clinical.reading import SearchIndex
    from clinical.search import Suggester, Wordings

SYSTEM: Final = "http://fhir.de/CodeSystem/bfarm/icd-10-gm"
OLDER: Final = "http://fhir.de/CodeSystem/dimdi/icd-10-gm"
"""The name until 2020; still in many resources."""
NAMES: Final = frozenset({SYSTEM, OLDER})
ALL_CODES: Final = ("http://fhir.de/ValueSet/bfarm/icd-10-gm", "http://fhir.de/ValueSet/dimdi/icd-10-gm")
"""Published value sets that hold every code of the system."""
UNASSIGNED: Final = "Nicht belegte Schlüsselnummer"

Mask = NDArray[np.bool_]


class Property(NamedTuple):
    """A property of codes: its FHIR type, what it says, and its values of a code."""

    kind: str
    about: str
    values: Callable[[Catalog, Code], Iterable[Any]]


def _is_unassigned(code: Code) -> bool:
    return code.title.startswith(UNASSIGNED)


def _some(value: Any) -> Iterable[Any]:
    return () if value is None else (value,)


def _notes(kind: str) -> Callable[[Catalog, Code], Iterable[str]]:
    return lambda _, code: (
        " ".join(filter(None, (note.text, *(f"({code})" for code in note.references))))
        for note in code.notes
        if note.kind == kind
    )


PROPERTIES: Final[Mapping[str, Property]] = {
    "parent": Property("code", "the code above", lambda _, code: _some(code.parent)),
    "child": Property("code", "a code below", lambda catalog, code: [one.code for one in catalog.children(code.code)]),
    "terminal": Property("boolean", "no code lies below: it may be used", lambda _, code: (code.terminal,)),
    "kind": Property("code", "plain, dagger, asterisk or exclamation", lambda _, code: (code.kind,)),
    "chapter": Property("code", "number of the chapter", lambda _, code: (code.chapter,)),
    "block": Property("code", "the group", lambda _, code: (code.block,)),
    "inactive": Property("boolean", "a number that is not assigned", lambda _, code: (_is_unassigned(code),)),
    "sex": Property("code", "M or W: unusual for the other", lambda _, code: _some(code.sex)),
    "age-low": Property("string", "from this age on: t days, j years", lambda _, code: _some(code.age_low)),
    "age-high": Property("string", "up to this age: t days, j years", lambda _, code: _some(code.age_high)),
    "age-error": Property(
        "code", "must or may: how an age outside is to be treated",
        lambda _, code: (("must" if code.age_must else "may"),) if code.age_low or code.age_high else (),
    ),
    "sex-error": Property("code", "may: how the other sex is treated", lambda _, code: ("may",) if code.sex else ()),
    "use-295": Property("code", "P, O, Z or V (§ 295 SGB V)", lambda _, code: (code.use_295,)),
    "use-301": Property("code", "P, O, Z or V (§ 301 SGB V)", lambda _, code: (code.use_301,)),
    "rare": Property("boolean", "very rare in Central Europe", lambda _, code: (code.rare,)),
    "notifiable": Property("boolean", "think of the duty to notify (IfSG)", lambda _, code: (code.notifiable,)),
    "laboratory": Property("boolean", "tests are exempt (EBM 32006)", lambda _, code: (code.laboratory,)),
    "inclusion": Property("string", "inclusion note", _notes("inclusion")),
    "exclusion": Property("string", "exclusion note", _notes("exclusion")),
    "coding-hint": Property("string", "coding hint", _notes("coding-hint")),
    "pair": Property(
        "code", "dagger or asterisk code that it is used with",
        lambda _, code: dict.fromkeys(other for note in code.notes if note.kind == "pair" for other in note.references),
    ),
}  # fmt: skip
"""Properties by name; a value set may be filtered by any of them."""


class Designation(NamedTuple):
    """Another wording of a code; `use`: code of the kind of designation, "" for a synonym."""

    value: str
    use: str


class Year:
    """One version of the code system."""

    def __init__(self, catalog: Catalog, suggester: Suggester | None = None, wordings: Wordings | None = None) -> None:
        self.catalog, self.suggester, self._wordings = catalog, suggester, wordings
        self.version = str(catalog.version)
        self.ends = self._ends()
        self._columns: dict[str, list[tuple[Any, ...]]] = {}
        self.written: Callable[[int], bytes] | None = None
        """The whole answer of `$lookup` to a code, by its number, as JSON; kept for some codes, made with the first."""

    @classmethod
    def of(cls, index: SearchIndex) -> Year:
        """From a search index."""
        return cls(index.catalog, getattr(index, "suggester", None), getattr(index, "wordings", None))

    def _ends(self) -> list[int]:
        """Of each code the end of the run of itself and all below it."""
        codes = self.catalog.codes
        ends, open_runs = [len(codes)] * len(codes), list[int]()
        for at, code in enumerate(codes):
            while open_runs and not _is_below(code, codes[open_runs[-1]]):
                ends[open_runs.pop()] = at
            open_runs.append(at)
        return ends

    def none(self) -> Mask:
        """No code."""
        return np.zeros(len(self.catalog), dtype=bool)

    def below(self, code: str, itself: bool = True) -> Mask | None:
        """The code and all below it; the same for a group ("E10-E14") or a chapter ("04"). None: there is none."""
        mask = self.none()
        if code in self.catalog:
            at = self.catalog.number(code)
            mask[at + (not itself) : self.ends[at]] = True
            return mask
        for place, known in (("block", self.catalog.blocks), ("chapter", self.catalog.chapters)):
            if code in known:
                return np.array([getattr(each, place) == code for each in self.catalog], dtype=bool)
        return None

    def column(self, name: str) -> list[tuple[Any, ...]]:
        """The values of a property of every code; kept, since value sets ask for the same ones again and again."""
        if name not in self._columns:
            values = PROPERTIES[name].values
            self._columns[name] = [tuple(values(self.catalog, code)) for code in self.catalog]
        return self._columns[name]

    @cached_property
    def inactive(self) -> Mask:
        """Numbers that are not assigned."""
        return np.array([_is_unassigned(code) for code in self.catalog], dtype=bool)

    def designations(self, code: Code) -> list[Designation]:
        """The other wordings of a code, none twice: the last part of its title, its synonyms and inclusion notes."""
        found = {code.title.rpartition(": ")[2]: "short"}
        if self._wordings is not None:
            for text in self._wordings.texts(self._wordings.of_code(self.catalog.number(code.code))):
                found.setdefault(text, "synonym")
        found.pop(code.title, None)
        return [Designation(value, use) for value, use in found.items()]


def _is_below(code: Code, other: Code) -> bool:
    return code.code.startswith(other.code) and code.code != other.code


Way = Literal["exact", "case", "marked", "unknown"]

_MARKED: Final = re.compile(r"([A-Za-z]\d\d(?:\.\d{1,2})?)(?:\.?-)?([+*!†]?)((?:\s?[GVAZ])?(?:\s?[RLB])?)", re.ASCII)
LONGEST: Final = 24


class Typed(NamedTuple):
    """A code as somebody wrote it: as it is, in another case, with the mark of the classification, with the outpatient
    markers of certainty and side. `code`: the one that is meant, None where there is none; `wrong_mark`: its mark is
    another one than the code's."""

    code: Code | None
    way: Way
    wrong_mark: bool = False


def typed_code(year: Year, written: str) -> Typed:
    """The code of a year that is written this way."""
    if (code := year.catalog.get(written)) is not None:
        return Typed(code, "exact")
    if (code := year.catalog.get(written.upper())) is not None and len(written) <= LONGEST:
        return Typed(code, "case")
    match = _MARKED.fullmatch(written) if len(written) <= LONGEST else None
    code = year.catalog.get(match[1].upper()) if match else None
    if match is None or code is None:
        return Typed(None, "unknown")
    mark = match[2].replace("†", "+")
    return Typed(code, "marked", bool(mark) and mark not in (code.marked[-1], "+" if not code.never_alone else ""))


class Systems:
    """The loaded years; the newest is the default. `since`: the time they were loaded, as FHIR writes it."""

    def __init__(self, years: Iterable[Year]) -> None:
        self.years = {year.version: year for year in sorted(years, key=lambda year: year.version)}
        self.since = datetime.now(UTC).isoformat(timespec="seconds")

    @property
    def newest(self) -> Year:
        """The default version."""
        return self.years[max(self.years)]

    def version(self, asked: str | None) -> Year | None:
        """The year of a version, the newest where none is asked for; None: it is not loaded."""
        return self.years.get(asked) if asked else self.newest

    @property
    def versions(self) -> str:
        """All versions in words, for messages."""
        return " or ".join(self.years)

    def others_with(self, code: str, year: Year) -> list[str]:
        """The other versions that have a code."""
        return [other.version for other in self.years.values() if other is not year and code in other.catalog]
