"""One reader per search parameter: it understands a value and notes it, or says that it does not.

The contract's parameters keep their meaning to the letter; what the FHIR R4 standard adds (sections 3.1.1 and 2.29)
stands beside them. Nothing is rejected here.
"""

import base64
import binascii
import re
import struct
import uuid
from collections.abc import Iterable

from clinical.fhir import format_of
from webapp.fhir import dates
from webapp.fhir.models import Status
from webapp.fhir.parameters import CHAINS, DATE, DOCUMENT, NUMBER, REFERENCE, Parameter
from webapp.fhir.parameters import PATIENT as PATIENT_PARAMETERS
from webapp.fhir.parameters import STUDY as STUDY_PARAMETERS
from webapp.fhir.searching import words
from webapp.fhir.searching.taken import Reader, Taken, listed
from webapp.fhir.searching.wanted import (
    CURSOR,
    EVERYTHING_TYPES,
    LARGEST_COUNT,
    LARGEST_OFFSET,
    UUID,
    Cursor,
    Identifier,
    PatientKey,
)  # fmt: skip

STATUS_SYSTEM = "http://hl7.org/fhir/document-reference-status"
MIME_SYSTEM = "urn:ietf:bcp:13"
REFERENCES = frozenset(item.name for item in DOCUMENT if item.type == REFERENCE)
MOST_KEYS = 4  # of an order, or documents that a patient has: each is looked up for all that is found
_INTEGER = re.compile(r"-?[0-9]+")
_ELEMENT = re.compile(r"[A-Za-z]+")
_ELSEWHERE = re.compile(r"(?:https?://[^?#|\s]+/)?Patient/(" + UUID.pattern + r")(?:/_history/[^/|\s]+)?")


def identifier(text: str) -> Identifier | None:
    """A token `system|value` in any of its four forms; None when there is nothing in it."""
    system, bar, value = text.partition("|")
    if not bar:
        return Identifier(None, text) if text else None
    if not value:
        return Identifier(system, None) if system else None
    return Identifier(system, value)


def patient_key(value: str) -> PatientKey | None:
    """The patient that one `patient` value means: our id in any form of a reference, or an external identifier."""
    bare = value.removeprefix("Patient/")
    if UUID.fullmatch(bare):
        return PatientKey(uuid.UUID(bare), Identifier(None, value) if bare == value else None)
    if UUID.fullmatch(value.removeprefix("urn:uuid:")):
        return PatientKey(uuid.UUID(value.removeprefix("urn:uuid:")), Identifier(None, value))
    reference = _ELSEWHERE.fullmatch(value)
    if reference:
        return PatientKey(uuid.UUID(reference[1]), Identifier(None, value))
    found = identifier(value)
    return PatientKey(None, found) if found else None


def _date(taken: Taken, value: str) -> str | None:
    window = dates.parse(value)
    if window is None:
        return None
    taken.windows.append(window)
    return value


def _start(taken: Taken, value: str) -> str | None:
    window = dates.parse_bound(value)
    if window is None:
        return None
    taken.windows.append(dates.Window(window.start, None))
    return value


def _end(taken: Taken, value: str) -> str | None:
    window = dates.parse_bound(value)
    if window is None:
        return None
    taken.windows.append(dates.Window(None, window.end))
    return value


def _patient(taken: Taken, value: str) -> str | None:
    """One patient. With a comma: any of them, or whoever is tagged with the value as it stands."""
    parts = listed(value)
    keys = [patient_key(part) for part in ([value, *parts] if len(parts) > 1 else [value])]
    known = tuple(dict.fromkeys(key for key in keys if key))
    if not known:
        return None
    if len(known) == 1:
        taken.patients.append(known[0])
    else:
        taken.groups.append(known)
    return value


def _identifier(taken: Taken, value: str) -> str | None:
    whole = identifier(value)  # as it stands: a value may hold a comma that nobody escaped
    parts = [identifier(part) for part in listed(value)]
    found = tuple(dict.fromkeys(item for item in (whole, *parts) if item))
    if not found:
        return None
    taken.identifiers.append(found)
    return value


def _id(taken: Taken, value: str) -> str | None:
    if not value:
        return None
    wanted = {uuid.UUID(part) for part in listed(value) if UUID.fullmatch(part)}
    taken.ids = wanted if taken.ids is None else taken.ids & wanted
    return value


def _status(taken: Taken, value: str) -> str | None:
    wanted = _statuses(value)
    if wanted is None:
        return None
    taken.statuses &= wanted
    return value


def _status_not(taken: Taken, value: str) -> str | None:
    unwanted = _statuses(value)
    if unwanted is None:
        return None
    taken.statuses -= unwanted
    return value


def _statuses(value: str) -> set[Status] | None:
    """Those named by codes, with or without their system; none for codes that are none of ours. None where there is no
    code and no system."""
    parts = [part.rpartition("|") for part in value.split(",")]
    named = [(system, code) if bar else (STATUS_SYSTEM, code) for system, bar, code in parts if system or code]
    if not named:
        return None
    return {status for status in Status for system, code in named if system == STATUS_SYSTEM and code in ("", status)}


def _content_type(taken: Taken, value: str) -> str | None:
    wanted = {part.removeprefix(f"{MIME_SYSTEM}|") for part in value.split(",") if part}
    if not wanted:
        return None
    taken.content_types = wanted if taken.content_types is None else taken.content_types & wanted
    return value


def _since(taken: Taken, value: str) -> str | None:
    window = dates.parse_bound(value)
    if window is None or window.start is None:
        return None
    taken.since = max(window.start, taken.since or window.start)
    return value


def _history_sort(taken: Taken, value: str) -> str | None:
    """By the instant of the change, which is not the document's storage time."""
    if value not in ("_lastUpdated", "-_lastUpdated") or taken.order is not None:
        return None
    taken.order = "date" if value == "_lastUpdated" else "-date"
    return value


def _type(taken: Taken, value: str) -> str | None:
    names = frozenset(filter(None, value.split(",")))
    if not names or taken.types is not None:
        return None
    taken.types = names & {*EVERYTHING_TYPES, "Patient"}
    return value


def _count(taken: Taken, value: str) -> str | None:
    if taken.count is not None or not _INTEGER.fullmatch(value):
        return None
    taken.count = max(1, min(LARGEST_COUNT, _integer(value)))
    return str(taken.count)


def _offset(taken: Taken, value: str) -> str | None:
    if taken.offset is not None or not _INTEGER.fullmatch(value) or _integer(value) < 0:
        return None
    taken.offset = min(LARGEST_OFFSET, _integer(value))
    return str(taken.offset)


def _cursor(taken: Taken, value: str) -> str | None:
    try:
        stored_at, offset, raw = CURSOR.unpack(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    except (ValueError, binascii.Error, struct.error):
        return None
    cursor = Cursor(stored_at, uuid.UUID(bytes=raw), offset)
    if taken.cursor is not None or str(cursor) != value:
        return None
    taken.cursor = cursor
    return value


def _summary(taken: Taken, value: str) -> str | None:
    if value not in ("count", "false", "true", "data", "text"):
        return None
    taken.count_only = value == "count"
    taken.summary = value if value in ("true", "data", "text") else ""
    return value


def _sort(table: Iterable[Parameter]) -> Reader:
    """By parameters of the table, each of them once; the last key is the id, which alone tells equal ones apart."""
    known = {"date", "_id"} | {item.name for item in table if item.type != NUMBER}

    def read(taken: Taken, value: str) -> str | None:
        keys = value.replace("_lastUpdated", "date").split(",")
        names = [key.removeprefix("-") for key in keys]
        if (
            taken.order is not None
            or not known.issuperset(names)
            or len({*names}) < len(names)
            or len(keys) > MOST_KEYS
        ):
            return None
        taken.order = {"-date,-_id": "-date", "date,_id": "date"}.get(",".join(keys), ",".join(keys))
        return value

    return read


def _having(name: str, reader: Reader) -> Reader:
    def read(taken: Taken, value: str) -> str | None:
        if len(taken.having) >= MOST_KEYS:
            taken.surplus += 1
            return None
        if reader(Taken(), value) is None:
            return None
        taken.having.append((name, value))
        return value

    return read


def _total(_: Taken, value: str) -> str | None:
    return value if value in ("none", "estimate", "accurate") else None  # every page carries the exact one


def _include(taken: Taken, value: str) -> str | None:
    """Patients of the documents; of what else a DocumentReference may refer to, nothing is stored here."""
    source, _, rest = value.partition(":")
    name, _, target = rest.partition(":")
    if source != "DocumentReference" or name not in REFERENCES:
        return None
    if name in ("patient", "subject") and target in ("", "Patient"):
        taken.with_patients = True
    return value


def _revinclude(_: Taken, value: str) -> str | None:
    """Nothing that is stored here refers to a document: understood, and nothing is added."""
    return value if re.fullmatch(r"[A-Z][A-Za-z]+:[a-z][a-z-]*(:[A-Z][A-Za-z]+)?", value) else None


def _elements(taken: Taken, value: str) -> str | None:
    names = value.split(",")
    if not all(_ELEMENT.fullmatch(name) for name in names):
        return None
    taken.elements = (taken.elements or frozenset()) | frozenset(names)
    return value


def _pretty(_: Taken, value: str) -> str | None:
    return value if value in ("true", "false") else None  # a matter of white space


def _format(_: Taken, value: str) -> str | None:
    return value if format_of(value) else None


def _integer(text: str) -> int:
    return int(text[:20])  # enough to be clamped, and no quadratic conversion of a megabyte of digits


_COMMON: dict[str, Reader] = {
    "_count": _count,
    "_offset": _offset,
    "_cursor": _cursor,
    "_summary": _summary,
    "_elements": _elements,
    "_format": _format,
    "_pretty": _pretty,
    "_total": _total,
    "_contained": lambda _, value: value if value == "false" else None,  # contained ones are found in their documents
}
RESULT = frozenset({*_COMMON, "_sort", "_include", "_revinclude"})
"""Parameters that say how to answer: an empty one asks for nothing. An empty filter is a filter that was lost."""
BARE_DATES = frozenset({"start", "end", "_since"})  # take no prefix
DATES = BARE_DATES | {item.name for item in (*DOCUMENT, *PATIENT_PARAMETERS) if item.type == DATE}
_SUBJECT: dict[str, Reader] = {
    name + kind: reader
    for name in ("patient", "subject")
    for kind, reader in (
        ("", _patient), (":Patient", _patient), ("._id", _patient), (":Patient._id", _patient),
        (":identifier", _identifier), (".identifier", _identifier), (":Patient.identifier", _identifier),
    )
}  # fmt: skip
_STORED: dict[str, Reader] = _COMMON | {"_id": _id}
_ABOUT_PATIENT: dict[str, Reader] = (
    _STORED
    | {
        "_sort": _sort(PATIENT_PARAMETERS),
        "identifier": _identifier,
        "birthdate": words.birth_date,
        "gender": words.gender,
    }
    | {kind: words.beginning(kind) for kind in ("name", "family", "given")}
    | {f"{kind}:exact": words.exactly(f"{kind}:exact") for kind in ("name", "family", "given")}
)
SEARCH: dict[str, Reader] = (
    _COMMON
    | _SUBJECT
    | {
        "date": _date,
        "_lastUpdated": _date,
        "status": _status,
        "status:not": _status_not,
        "contenttype": _content_type,
        "_id": _id,
        "_sort": _sort(DOCUMENT),
        "_include": _include,
        "_revinclude": _revinclude,
    }
    | {name + chain: _ABOUT_PATIENT[chain.rpartition(".")[2]] for name in ("patient", "subject") for chain in CHAINS}
    | {name: reader for parameter in DOCUMENT if parameter.paths for name, reader in words.readers(parameter)}
)
PATIENT: dict[str, Reader] = _ABOUT_PATIENT | {
    f"_has:DocumentReference:{of}:{name}": _having(name, reader)
    for of in ("patient", "subject")
    for name, reader in SEARCH.items()
    if name not in RESULT and name.partition(":")[0].partition(".")[0] not in ("patient", "subject")
}
"""With the parameters of documents by which a patient is found who has such a document."""
EVERYTHING: dict[str, Reader] = _COMMON | {"_type": _type, "start": _start, "end": _end, "_since": _since}
DOCREF: dict[str, Reader] = _COMMON | {
    "patient": _patient, "start": _start, "end": _end, "type": SEARCH["type"],
    "on-demand": lambda _, value: value if value == "false" else None,  # nothing is made on demand here
}  # fmt: skip
"""Parameters of `$docref` (International Patient Access)."""
HISTORY: dict[str, Reader] = {
    **{name: reader for name, reader in _COMMON.items() if name != "_elements"},
    "_since": _since,
    "_sort": _history_sort,
}
STUDY: dict[str, Reader] = _STORED | _SUBJECT | {"_sort": _sort(STUDY_PARAMETERS), "identifier": words.study_identifier}
