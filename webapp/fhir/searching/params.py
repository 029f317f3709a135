"""Query strings become searches: what is understood is applied, what is not is dropped and remembered.

Pure. The contract rejects nothing: an unknown parameter or an unparseable value is left out of the search and of
`link.self`, so that a caller can compare. `ignored` holds the names left out, which `Prefer: handling=strict` turns
into an error. Repeated parameters all hold at once, as in FHIR; for paging parameters the first understood one counts.
"""

import base64
import binascii
import re
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from webapp.fhir import dates
from webapp.fhir.models import Status

DEFAULT_COUNT, LARGEST_COUNT = 50, 200
# All repeated values hold at once, and each is a part of the statement. A document has one patient and one tag: at most
# six different values (the patient; the tag's `s|v`, `v`, `s|`, and a UUID in either place) can name the same one.
MOST_PATIENTS = 8
MOST_IDENTIFIERS = 16  # of one patient; nobody has that many
LARGEST_OFFSET = 2**31 - 1
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INTEGER = re.compile(r"-?[0-9]+")
_ELEMENT = re.compile(r"[A-Za-z]+")
_CURSOR = struct.Struct(">qI16s")
_EVERYTHING_TYPES = ("DocumentReference", "ImagingStudy")


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
        return base64.urlsafe_b64encode(_CURSOR.pack(self.stored_at, self.offset, self.id.bytes)).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Paging:
    """Where a page lies."""

    count: int = DEFAULT_COUNT
    offset: int = 0
    cursor: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How the caller wants to be answered, and what became of the parameters (as decoded name and value pairs)."""

    applied: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()
    paging: Paging = Paging()
    count_only: bool = False
    elements: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """A DocumentReference search. `never`: the filters exclude each other, or hold what no row can."""

    answer: Answer = Answer()
    window: dates.Window = dates.ALWAYS
    patients: tuple[PatientKey, ...] = ()
    status: Status | None = None
    content_type: str | None = None
    never: bool = False


@dataclass(frozen=True, slots=True)
class Everything:
    """The parameters of `$everything`."""

    answer: Answer = Answer()
    window: dates.Window = dates.ALWAYS
    types: frozenset[str] = frozenset(_EVERYTHING_TYPES)


@dataclass(frozen=True, slots=True)
class PatientSearch:
    """A Patient search; without identifiers it lists all patients of the organization."""

    answer: Answer = Answer()
    identifiers: tuple[Identifier, ...] = ()
    never: bool = False


@dataclass(slots=True)
class _Taken:
    """What the readers below collect while they walk the pairs."""

    windows: list[dates.Window] = field(default_factory=list)
    patients: list[PatientKey] = field(default_factory=list)
    identifiers: list[Identifier] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    content_types: list[str] = field(default_factory=list)
    types: frozenset[str] | None = None
    count: int | None = None
    offset: int | None = None
    cursor: Cursor | None = None
    count_only: bool = False
    elements: frozenset[str] | None = None
    applied: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def answer(self) -> Answer:
        offset, cursor, applied = self.offset or 0, self.cursor, self.applied
        if cursor is not None and cursor.offset != offset:  # somebody changed `_offset` by hand: that is what counts
            cursor = None
            applied = [pair for pair in applied if pair[0] != "_cursor"]
        paging = Paging(self.count or DEFAULT_COUNT, offset, cursor)
        return Answer(tuple(applied), tuple(self.ignored), paging, self.count_only, self.elements)

    @property
    def texts(self) -> Iterable[str | None]:
        yield from self.content_types
        for identifier in [*self.identifiers, *(key.identifier for key in self.patients if key.identifier)]:
            yield identifier.system
            yield identifier.value


Pairs = Iterable[tuple[str, str]]
_Reader = Callable[[_Taken, str], str | None]  # what to show in links (normalised), None when not understood


def search(pairs: Pairs) -> Search:
    """The search a query string (decoded pairs, in order) asks for."""
    taken = _take(pairs, _SEARCH)
    patients = tuple(dict.fromkeys(taken.patients))
    never = len(set(taken.statuses)) > 1 or len(set(taken.content_types)) > 1 or _unstorable(taken)
    never = never or len(patients) > MOST_PATIENTS
    return Search(
        answer=taken.answer(),
        window=dates.tightest(taken.windows),
        patients=patients,
        status=taken.statuses[0] if taken.statuses else None,
        content_type=taken.content_types[0] if taken.content_types else None,
        never=never,
    )


def everything(pairs: Pairs) -> Everything:
    """The `$everything` a query string asks for."""
    taken = _take(pairs, _EVERYTHING)
    types = frozenset(_EVERYTHING_TYPES) if taken.types is None else taken.types
    return Everything(taken.answer(), dates.tightest(taken.windows), types)


def patient_search(pairs: Pairs) -> PatientSearch:
    """The Patient search a query string asks for."""
    taken = _take(pairs, _PATIENT)
    identifiers = tuple(dict.fromkeys(taken.identifiers))
    return PatientSearch(taken.answer(), identifiers, _unstorable(taken) or len(identifiers) > MOST_IDENTIFIERS)


def identifier(text: str) -> Identifier | None:
    """A token `system|value` in any of its four forms; None when there is nothing in it."""
    system, bar, value = text.partition("|")
    if not bar:
        return Identifier(None, text) if text else None
    if not value:
        return Identifier(system, None) if system else None
    return Identifier(system, value)


def query(pairs: Pairs) -> str:
    """Pairs as a query string; what a browser or a client would misread (`+`, `&`, `|`, ...) is escaped."""
    return "&".join(f"{quote(name, safe='$')}={quote(value, safe=':/,@!*')}" for name, value in pairs)


def _take(pairs: Pairs, readers: Mapping[str, _Reader]) -> _Taken:
    taken = _Taken()
    for name, value in pairs:
        reader = readers.get(name)
        shown = reader(taken, value) if reader else None
        if shown is None:
            taken.ignored.append(name)
        else:
            taken.applied.append((name, shown))
    return taken


def _unstorable(taken: _Taken) -> bool:
    """PostgreSQL cannot hold U+0000 in text, so nothing stored ever equals a value that contains it."""
    return any("\0" in text for text in taken.texts if text)


def _date(taken: _Taken, value: str) -> str | None:
    window = dates.parse(value)
    if window is None:
        return None
    taken.windows.append(window)
    return value


def _start(taken: _Taken, value: str) -> str | None:
    window = dates.parse_bound(value)
    if window is None:
        return None
    taken.windows.append(dates.Window(window.start, None))
    return value


def _end(taken: _Taken, value: str) -> str | None:
    window = dates.parse_bound(value)
    if window is None:
        return None
    taken.windows.append(dates.Window(None, window.end))
    return value


def _patient(taken: _Taken, value: str) -> str | None:
    bare = value.removeprefix("Patient/")
    if UUID.fullmatch(bare):
        other = Identifier(None, value) if bare == value else None
        taken.patients.append(PatientKey(uuid.UUID(bare), other))
        return value
    found = identifier(value)
    if found is None:
        return None
    taken.patients.append(PatientKey(None, found))
    return value


def _identifier(taken: _Taken, value: str) -> str | None:
    found = identifier(value)
    if found is None:
        return None
    taken.identifiers.append(found)
    return value


def _status(taken: _Taken, value: str) -> str | None:
    try:
        taken.statuses.append(Status(value))
    except ValueError:
        return None
    return value


def _content_type(taken: _Taken, value: str) -> str | None:
    if not value:
        return None
    taken.content_types.append(value)
    return value


def _type(taken: _Taken, value: str) -> str | None:
    wanted = frozenset(value.split(",")) & frozenset(_EVERYTHING_TYPES)
    names = [name for name in value.split(",") if re.fullmatch(r"[A-Z][A-Za-z]+", name)]
    if not names or taken.types is not None:
        return None
    taken.types = wanted
    return value


def _count(taken: _Taken, value: str) -> str | None:
    if taken.count is not None or not _INTEGER.fullmatch(value):
        return None
    taken.count = max(1, min(LARGEST_COUNT, _integer(value)))
    return str(taken.count)


def _offset(taken: _Taken, value: str) -> str | None:
    if taken.offset is not None or not _INTEGER.fullmatch(value) or _integer(value) < 0:
        return None
    taken.offset = min(LARGEST_OFFSET, _integer(value))
    return str(taken.offset)


def _cursor(taken: _Taken, value: str) -> str | None:
    try:
        stored_at, offset, raw = _CURSOR.unpack(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    except (ValueError, binascii.Error, struct.error):
        return None
    cursor = Cursor(stored_at, uuid.UUID(bytes=raw), offset)
    if taken.cursor is not None or str(cursor) != value:
        return None
    taken.cursor = cursor
    return value


def _summary(taken: _Taken, value: str) -> str | None:
    if value not in ("count", "false"):  # the resources are small: other summaries would leave nothing out
        return None
    taken.count_only = value == "count"
    return value


def _elements(taken: _Taken, value: str) -> str | None:
    names = value.split(",")
    if not all(_ELEMENT.fullmatch(name) for name in names):
        return None
    taken.elements = (taken.elements or frozenset()) | frozenset(names)
    return value


def _format(_: _Taken, value: str) -> str | None:
    return value if "json" in value.lower() else None


def _integer(text: str) -> int:
    return int(text[:20])  # enough to be clamped, and no quadratic conversion of a megabyte of digits


_COMMON: dict[str, _Reader] = {
    "_count": _count,
    "_offset": _offset,
    "_cursor": _cursor,
    "_summary": _summary,
    "_elements": _elements,
    "_format": _format,
}
_SEARCH: dict[str, _Reader] = _COMMON | {
    "date": _date,
    "_lastUpdated": _date,
    "patient": _patient,
    "status": _status,
    "contenttype": _content_type,
}
_EVERYTHING: dict[str, _Reader] = _COMMON | {"_type": _type, "start": _start, "end": _end}
_PATIENT: dict[str, _Reader] = _COMMON | {"identifier": _identifier}
