"""Searches as immutable values, made by `params`, read by the statements."""

import base64
import re
import struct
import uuid
from dataclasses import dataclass
from typing import Literal

from webapp.fhir import dates
from webapp.fhir.models import Status

DEFAULT_COUNT, LARGEST_COUNT = 50, 200
LARGEST_OFFSET = 2**31 - 1
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
CURSOR = struct.Struct(">qI16s")
EVERYTHING_TYPES = ("DocumentReference", "ImagingStudy")  # and the Patient where `_type` names it
KEYSET = frozenset({"-date", "date", "_id", "-_id"})
"""Orders whose pages continue from a cursor; all others are names of parameters by commas, and skip `_offset` rows."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """`system|value`, `value` (any system: None), `|value` (no system: ""), `system|` (any value: None)."""

    system: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class PatientKey:
    """One `patient` value: a patient of ours, an external identifier, or (a bare UUID) either of them."""

    patient: uuid.UUID | None
    identifier: Identifier | None


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last entry of the page before: the page continues strictly after it. It belongs to one `_offset`."""

    stored_at: int
    id: uuid.UUID
    offset: int

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(CURSOR.pack(self.stored_at, self.offset, self.id.bytes)).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Paging:
    """The place of a page."""

    count: int = DEFAULT_COUNT
    offset: int = 0
    cursor: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """A parameter that was left out of a search, and the `part` of it that was not understood."""

    name: str
    what: Literal["parameter", "modifier", "chain", "prefix", "value", "number"]
    part: str = ""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The wanted form of an answer, and what became of the parameters (as decoded name and value pairs)."""

    applied: tuple[tuple[str, str], ...] = ()
    ignored: tuple[Ignored, ...] = ()
    paging: Paging = Paging()
    count_only: bool = False
    elements: frozenset[str] | None = None
    summary: str = ""  # `true`, `data` or `text`: parts of a resource
    order: str = "-date"
    with_patients: bool = False  # `_include=DocumentReference:patient`


@dataclass(frozen=True, slots=True)
class Carried:
    """A document carries one of these words of that kind, or one in `[start, end)`, or with `part` one that contains
    one of them (see `terms.document_terms`); or meets `either`. `negated`: it does not."""

    kind: str
    words: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    part: bool = False
    negated: bool = False
    either: "Carried | None" = None


@dataclass(frozen=True, slots=True)
class Search:
    """A DocumentReference search; all of it holds at once. `never`: the filters exclude each other, hold what no row
    can, or are more than a statement carries.

    A document is one of `ids`, where there are any; has one of `content_types`; is of one patient in each of `groups`,
    and of a patient with one of the identifiers, or tagged with it, in each of `chained`; is linked to a patient who is
    found by each of `terms`; and meets all of `carried`.
    """

    answer: AnswerOptions = AnswerOptions()
    window: dates.Window = dates.ALWAYS
    patients: tuple[PatientKey, ...] = ()
    statuses: frozenset[Status] | None = None  # one of them; None: whatever it is
    content_type: str | None = None
    never: bool = False
    ids: tuple[uuid.UUID, ...] | None = None
    content_types: tuple[str, ...] = ()
    groups: tuple[tuple[PatientKey, ...], ...] = ()
    chained: tuple[tuple[Identifier, ...], ...] = ()
    carried: tuple[Carried, ...] = ()
    terms: tuple["Term", ...] = ()


@dataclass(frozen=True, slots=True)
class Everything:
    """The parameters of `$everything`."""

    answer: AnswerOptions = AnswerOptions()
    window: dates.Window = dates.ALWAYS
    types: frozenset[str] = frozenset(EVERYTHING_TYPES)
    since: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The parameters of `_history`: changes since an instant (microseconds since 1970), newest or oldest first."""

    answer: AnswerOptions = AnswerOptions()
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """One of these ranges `[first, end)` holds a word of that kind (see `webapp.fhir.terms`)."""

    kind: str
    ranges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ResourceSearch:
    """A search for patients or imaging studies; all of it holds at once, without any it lists all.

    The patient (of the study) is one in each of `groups`, by id or by identifier, and has a document that each of
    `having` finds.
    """

    answer: AnswerOptions = AnswerOptions()
    groups: tuple[tuple[PatientKey, ...], ...] = ()
    never: bool = False
    ids: tuple[uuid.UUID, ...] | None = None
    terms: tuple[Term, ...] = ()
    having: tuple[Search, ...] = ()
