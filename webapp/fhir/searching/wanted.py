"""Searches as immutable values, made by `params`, read by the statements."""

import base64
import re
import struct
import uuid
from dataclasses import dataclass
from typing import Any, Literal

from webapp.fhir import dates
from webapp.fhir.models import Status
from webapp.fhir.parameters import Inclusion

DEFAULT_COUNT, LARGEST_COUNT = 50, 200
LARGEST_OFFSET = 2**31 - 1
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TARGET = re.compile(rf"(?:urn:uuid:|(?:https?://[^?#\s]+/)?DocumentReference/)({UUID.pattern})(?:/_history/[^/\s]+)?")
"""A reference to a document, which may be here."""
CURSOR = struct.Struct(">qI16s")
EVERYTHING_TYPES = ("DocumentReference", "ImagingStudy")  # and the Patient where `_type` names it
KEYSET = frozenset({"-date", "date", "_id", "-_id"})
"""Orders whose pages continue from a cursor; all others are names of parameters by commas, and skip `_offset` rows."""
Row = tuple[Any, ...]
Right = tuple[str, str]
"""A resource type and one letter of a scope."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """`system|value`, `value` (any system: None), `|value` (no system: ""), `system|` (any value: None)."""

    system: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class PatientKey:
    """One `patient` value: a patient of ours, an external identifier, or (a bare UUID) either of them."""

    patient: uuid.UUID | None
    identifier: Identifier | None = None


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
    summary: str = ""  # `count`: the total alone; `true`, `data` or `text`: parts of a resource
    elements: frozenset[str] | None = None
    order: str = "-date"
    included: frozenset[Inclusion] = frozenset()

    @property
    def count(self) -> int:
        """The size of the page; 0 for the total alone."""
        return 0 if self.summary == "count" else self.paging.count


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
class Term:
    """One of these ranges `[first, end)` holds a word of that kind, of a patient or a study (see `terms`)."""

    kind: str
    ranges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A search, `$everything` or `_history`; all of it holds at once, and without any of it, all is listed. `never`:
    the filters exclude each other, hold what no row can, or are more than a statement carries.

    What is found is one of `ids`, where there are any; has one of `statuses` and of `content_types` (None, empty:
    whatever it is); is of one patient in each of `people`, and of a patient with one of the identifiers, or tagged with
    it, in each of `chained`; its patient is found by each of `terms`, and has a document that each of `having` finds;
    it meets all of `carried`. `types` and `since` (microseconds since 1970) are those of the operations, `rights` what
    it takes beside the rights of its path, since the matches tell of it.
    """

    answer: AnswerOptions = AnswerOptions()
    window: dates.Window = dates.ALWAYS
    people: tuple[tuple[PatientKey, ...], ...] = ()
    chained: tuple[tuple[Identifier, ...], ...] = ()
    statuses: frozenset[Status] | None = None
    content_types: tuple[str, ...] = ()
    never: bool = False
    ids: tuple[uuid.UUID, ...] | None = None
    carried: tuple[Carried, ...] = ()
    terms: tuple[Term, ...] = ()
    having: tuple["Search", ...] = ()
    types: frozenset[str] = frozenset(EVERYTHING_TYPES)
    since: int | None = None
    rights: frozenset[Right] = frozenset()


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Rows of a page in order (or what is made of them), the number of all matches, and the cursor behind the last row
    while more follow."""

    total: int
    rows: list[Any]
    next: Cursor | None
    complete: int | None = None  # all that was ever stored up to this instant (microseconds) was visible to the search
