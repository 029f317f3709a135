"""One row per search parameter: to which field of a search it adds, and the reader of its values.

A reader is pure: the meaning of a value, or None where it is not understood; nothing is rejected here. The contract's
parameters keep their meaning to the letter; what the FHIR R4 standard adds (sections 3.1.1 and 2.29) stands beside
them. Documents are searched for words that were made when they were stored (`terms`), by the readers of a row of
`parameters`; patients and imaging studies for names, birth dates, gender, identifiers.
"""

import base64
import binascii
import re
import struct
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from clinical.fhir import format_of
from webapp.fhir import dates
from webapp.fhir import parameters as rows
from webapp.fhir.models import TERM_LENGTH, Status
from webapp.fhir.parameters import CHAINS, DATE, NUMBER, PREFIXES, REFERENCE, STRING, TOKEN, URI, Parameter
from webapp.fhir.searching.terms import LAST, LONGEST_PART, PRESENT, folded, instant_term, short, typed
from webapp.fhir.searching.wanted import (
    CURSOR,
    EVERYTHING_TYPES,
    LARGEST_COUNT,
    LARGEST_OFFSET,
    UUID,
    Carried,
    Cursor,
    Identifier,
    PatientKey,
    Right,
    Term,
)  # fmt: skip

STATUS_SYSTEM = "http://hl7.org/fhir/document-reference-status"
MIME_SYSTEM = "urn:ietf:bcp:13"
GENDER_SYSTEM = "http://hl7.org/fhir/administrative-gender"
MOST_KEYS = 4  # of an order, or documents that a patient has: each is looked up for all that is found
_INTEGER = re.compile(r"-?[0-9]+")
_ELEMENT = re.compile(r"[A-Za-z]+")
_REFERRING = re.compile(r"([A-Z][A-Za-z]+:[a-z][a-z-]*)(?::([A-Z][A-Za-z]+))?")
_ELSEWHERE = re.compile(r"(?:https?://[^?#|\s]+/)?Patient/(" + UUID.pattern + r")(?:/_history/[^/|\s]+)?")
_ABSOLUTE = re.compile(r"https?://[^?#|\s]+/([A-Z][A-Za-z]+/[A-Za-z0-9.\-]{1,64})")
_LOCATION = re.compile(r"(?:https?://[^?#\s]+/)?(?:files|Binary)/(" + UUID.pattern + r")(?:\?[^#\s]*)?")
_PREFIXED = re.compile(f"({'|'.join(PREFIXES)})?([0-9].*)")
_OF_TYPE = re.compile(r"[^|]*\|[^|]+\|[^|]+")
_BIRTH = re.compile(r"(eq|ne|gt|lt|ge|le|sa|eb)?([0-9]{4}(?:-[0-9]{2}){0,2})")
Read = Callable[[str], Any]


class ParameterRow(NamedTuple):
    """The field of a search that a parameter adds to ("": none, it changes nothing), its reader, and the rights that it
    takes beside those of the path, by what was read."""

    field: str
    read: Read
    rights: Callable[[Any], Iterable[Right]] = lambda _: ()


Table = dict[str, ParameterRow]


def listed(value: str) -> list[str]:
    """The members of a comma list; a backslash before a comma, a bar or itself makes it a part of the value (FHIR R4,
    section 3.1.1.4.16)."""
    return [re.sub(r"\\([,|$\\])", r"\1", part) for part in re.split(r"(?<!\\),", value) if part]


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
    if reference := _ELSEWHERE.fullmatch(value):
        return PatientKey(uuid.UUID(reference[1]), Identifier(None, value))
    found = identifier(value)
    return PatientKey(None, found) if found else None


def _patients(value: str) -> tuple[PatientKey, ...] | None:
    """One patient. With a comma: any of them, or whoever is tagged with the value as it stands."""
    parts = listed(value)
    keys = map(patient_key, [value, *parts] if len(parts) > 1 else [value])
    return tuple(dict.fromkeys(filter(None, keys))) or None


def _identifiers(value: str) -> tuple[Identifier, ...] | None:
    """Any of a list, or the value as it stands: it may hold a comma that nobody escaped."""
    return tuple(dict.fromkeys(filter(None, map(identifier, [value, *listed(value)])))) or None


def _owned(value: str) -> tuple[PatientKey, ...] | None:
    return tuple(PatientKey(None, one) for one in _identifiers(value) or ()) or None


def _ids(value: str) -> set[uuid.UUID] | None:
    return {uuid.UUID(part) for part in listed(value) if UUID.fullmatch(part)} if value else None


def _located(value: str) -> set[uuid.UUID] | None:
    """The document whose file has this address, by which token it was ever handed out: its id stands in it."""
    found = _LOCATION.fullmatch(value)
    return {uuid.UUID(found[1])} if found else set() if value else None


def _bound(side: str) -> Read:
    """`start` or `end`: a date without a prefix, with all of the period that it states."""

    def read(value: str) -> dates.Window | None:
        window = dates.parse_bound(value)
        return window and dates.Window(**{side: getattr(window, side)})

    return read


def _since(value: str) -> int | None:
    window = dates.parse_bound(value)
    return None if window is None else window.start


def _statuses(value: str) -> set[Status] | None:
    """Those named by codes, with or without their system; none for codes that are none of ours. None where there is no
    code and no system."""
    parts = [part.rpartition("|") for part in value.split(",")]
    named = [(system, code) if bar else (STATUS_SYSTEM, code) for system, bar, code in parts if system or code]
    if not named:
        return None
    return {status for status in Status for system, code in named if system == STATUS_SYSTEM and code in ("", status)}


def _other_statuses(value: str) -> set[Status] | None:
    unwanted = _statuses(value)
    return None if unwanted is None else {*Status} - unwanted


def _content_types(value: str) -> set[str] | None:
    return {part.removeprefix(f"{MIME_SYSTEM}|") for part in value.split(",") if part} or None


def _types(value: str) -> frozenset[str] | None:
    names = frozenset(filter(None, value.split(",")))
    return names & {*EVERYTHING_TYPES, "Patient"} if names else None


def _integer(least: int, most: int, lowest: int) -> Read:
    """A number, clamped to `least` and `most`; one below `lowest` is not understood."""

    def read(value: str) -> int | None:
        number = int(value[:20]) if _INTEGER.fullmatch(value) else lowest - 1  # no quadratic conversion of a megabyte
        return max(least, min(most, number)) if number >= lowest else None

    return read


def _cursor(value: str) -> Cursor | None:
    try:
        stored_at, offset, raw = CURSOR.unpack(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    except (ValueError, binascii.Error, struct.error):
        return None
    cursor = Cursor(stored_at, uuid.UUID(bytes=raw), offset)
    return cursor if str(cursor) == value else None


def _sort(table: Iterable[Parameter]) -> Read:
    """By parameters of the table, each of them once; the last key is the id, which alone tells equal ones apart."""
    known = {"date", "_id"} | {item.name for item in table if item.type not in (NUMBER, URI, rows.COMPOSITE)}

    def read(value: str) -> str | None:
        keys = value.replace("_lastUpdated", "date").split(",")
        names = [key.removeprefix("-") for key in keys]
        if not known.issuperset(names) or len({*names}) < len(names) or len(keys) > MOST_KEYS:
            return None
        return {"-date,-_id": "-date", "date,_id": "date"}.get(",".join(keys), ",".join(keys))

    return read


def _having(name: str, row: ParameterRow) -> Read:
    return lambda value: None if row.read(value) is None else [(name, value)]


def _included(searched: str, way: str, table: Iterable[Parameter]) -> Read:
    """Read what is sent along with matches of a type; of what else they may refer to, or may refer to them, nothing is
    stored here."""
    known = [one for one in rows.INCLUSIONS if (one.way, one.searched) == (way, searched)]
    names = {f"{searched}:{item.name}" for item in table if item.type == REFERENCE}

    def read(value: str) -> frozenset[rows.Inclusion] | None:
        if value in ("*", f"{searched}:*") and way == "_include":
            return frozenset(known)
        match = _REFERRING.fullmatch(value)
        if match is None or (way == "_include" and match[1] not in names):
            return None
        return frozenset(one for one in known if one.name == match[1] and match[2] in (None, one.target))

    return read


def _including(searched: str, table: Iterable[Parameter]) -> Table:
    return {
        way: ParameterRow(
            "included", _included(searched, way, table), lambda some: {(one.sent, one.right) for one in some}
        )
        for way in ("_include", "_revinclude")
    }


def _elements(value: str) -> frozenset[str] | None:
    names = value.split(",")
    return frozenset(names) if all(map(_ELEMENT.fullmatch, names)) else None


def _one_of(*values: str) -> Read:
    return lambda value: value if value in values else None


# Words of documents: of a parameter's name and a value the conditions that hold at once.
Conditions = Callable[[str, str], list[Carried] | None]


def _rows_of(parameter: Parameter) -> Iterator[tuple[str, ParameterRow]]:
    """Name with modifier or chain, and its row."""
    for modifier in ("", *parameter.modifiers, *parameter.chains):
        yield parameter.name + modifier, ParameterRow("carried", _reader(parameter, modifier))


def _reader(parameter: Parameter, modifier: str) -> Read:
    target, make = modifier[1:], _BY_MODIFIER.get(modifier, _PLAIN[parameter.type])
    if modifier in parameter.chains:
        make = _chained(*parameter.chains[modifier])
    elif target in parameter.targets:
        make = _of_target(target)
    system = f"{parameter.system}|" if parameter.system else "\0"
    return lambda value: make(parameter.name, value.replace(system, "")) or None


def _any(kind: str, words: Iterable[str]) -> list[Carried]:
    found = tuple(dict.fromkeys(short(word) for word in words if word))
    return [Carried(kind, found)] if found else []


def _tokens(name: str, value: str) -> list[Carried]:
    """`code`, `system|code`, `|code`, `system|`, any of a comma list, and the text as it stands (FHIR R4, section
    3.1.1.4.10)."""
    return _any(name, [value, *listed(value)])


def _not(name: str, value: str) -> list[Carried]:
    return [Carried(name, found.words, negated=True) for found in _tokens(name, value)]


def _missing(name: str, value: str) -> list[Carried] | None:
    return [Carried(name, (PRESENT,), negated=value == "true")] if value in ("true", "false") else None


def _of_type(name: str, value: str) -> list[Carried] | None:
    parts = listed(value)
    return _any(f"{name}:type", parts) if all(map(_OF_TYPE.fullmatch, parts)) else None


def _references(name: str, value: str) -> list[Carried]:
    """An id, `Type/id`, or an absolute URL: as it was given, or the local one with that id (section 3.1.1.4.12)."""
    return _any(name, [form for part in listed(value) for form in _forms(part)])


def _composite(name: str, value: str) -> list[Carried] | None:
    """`relatesto$relation`: a reference in any of its forms, and the code that stands beside it."""
    parts = [part.rpartition("$") for part in listed(value)]
    if not all(reference and code for reference, _, code in parts):
        return None
    return _any(name, [f"{form}${code}" for reference, _, code in parts for form in _forms(reference)])


def _of_target(target: str) -> Conditions:
    """A reference to that type: an id alone gets it, and one of another type is not understood."""

    def conditions(name: str, value: str) -> list[Carried] | None:
        forms = [form for part in listed(value) for form in _forms(part if "/" in part else f"{target}/{part}")]
        return _any(name, forms) if all(form.rpartition("/")[0].endswith(target) for form in forms) else None

    return conditions


def _forms(text: str) -> list[str]:
    absolute = _ABSOLUTE.fullmatch(text)
    return [text, absolute[1]] if absolute else [text]


def _beginning(name: str, value: str, target: str = "") -> list[Carried] | None:
    parts = [typed(target, folded(part)) for part in listed(value)]
    if len(parts) != 1 or not folded(value) or len(parts[0]) > TERM_LENGTH:
        return None
    return [Carried(name, (), parts[0], parts[0] + LAST)]


def _chained(target: str, chain: str) -> Conditions:
    """Contained resources, of that type where one is named; an identifier also as the reference itself has it."""
    if chain != "identifier":
        return lambda name, value: _beginning(f"{name}.{chain}", value, target)
    return lambda name, value: _any(
        f"{name}:id", [typed(target, short(part)) for part in (value, *listed(value)) if part]
    )


def _containing(name: str, value: str) -> list[Carried] | None:
    parts = tuple(filter(None, map(folded, listed(value))))
    short_enough = parts and max(map(len, parts)) <= LONGEST_PART
    return [Carried(f"{name}:part", parts, part=True)] if short_enough else None


def _date(name: str, value: str) -> list[Carried] | None:
    """Both are ranges `[first, end)`, the one that was stored and the one that is asked for (section 3.1.1.4.7)."""
    match = _PREFIXED.fullmatch(value)
    window = dates.parse_bound(match[2]) if match else None
    if match is None or window is None or window.start is None or window.end is None:
        return None
    lower, upper, a, b = name, f"{name}:end", window.start, window.end
    near = abs(int(time.time() * dates.MICROS) - a) // 10  # a tenth of the time from then to now, as FHIR proposes

    def over(kind: str, least: int, either: Carried | None = None) -> Carried:
        return Carried(kind, (), instant_term(least), None, either=either)

    def below(kind: str, bound: int, either: Carried | None = None) -> Carried:
        return Carried(kind, (), None, instant_term(bound), either=either)

    found = {
        "eq": [over(lower, a), below(upper, b + 1)], "ne": [below(lower, a, over(upper, b + 1))],
        "gt": [over(upper, b + 1)], "sa": [over(lower, b)], "ge": [over(lower, a, over(upper, b + 1))],
        "lt": [below(lower, a)], "eb": [below(upper, a + 1)], "le": [below(upper, b + 1, below(lower, a))],
        "ap": [over(upper, a - near + 1), below(lower, b + near)],
    }  # fmt: skip
    return found[match[1] or "eq"]


_PLAIN: dict[str, Conditions] = {TOKEN: _tokens, REFERENCE: _references, STRING: _beginning, DATE: _date,
                                 rows.COMPOSITE: _composite}  # fmt: skip
_BY_MODIFIER: dict[str, Conditions] = {
    ":not": _not, ":missing": _missing, ":of-type": _of_type, ":contains": _containing,
    ":exact": lambda name, value: _any(f"{name}:exact", listed(value)),
    ":identifier": lambda name, value: _any(f"{name}:id", [value, *listed(value)]),
    ":text": lambda name, value: _beginning(f"{name}:text", value),
}  # fmt: skip


def _words(kind: str, ranges: Callable[[str], Iterable[tuple[str, str]]]) -> ParameterRow:
    """Words of that kind of a patient or a study, by the ranges `[first, end)` that a member of a list means."""

    def read(value: str) -> list[Term] | None:
        found = [bounds for part in listed(value) for bounds in ranges(part)]
        return [Term(kind, _disjoint(found))] if found else None

    return ParameterRow("terms", read)


def _begins(part: str) -> list[tuple[str, str]]:
    """Whatever its case and accents (FHIR R4, section 3.1.1.4.8)."""
    return [(folded(part), folded(part) + LAST)]


def _only(word: str) -> list[tuple[str, str]]:
    return [(word, word + "\x01")]  # no word holds a control character, so nothing lies between


def _birth_date(part: str) -> list[tuple[str, str]]:
    """A birth date in the period that the value states, or on that side of it."""
    match = _BIRTH.fullmatch(part)
    if match is None:
        return []
    first, end = match[2], match[2] + LAST  # what begins with the date lies in its period
    before, after = ("", first), (end, LAST)
    sides = {
        "eq": [(first, end)], "ne": [before, after], "gt": [after], "lt": [before], "ge": [(first, LAST)],
        "le": [("", end)], "sa": [after], "eb": [before],
    }  # fmt: skip
    return sides[match[1] or "eq"]


def _disjoint(ranges: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The same words in ranges that do not meet, so that no word is looked at twice however long a list is."""
    apart: list[tuple[str, str]] = []
    for first, end in sorted(ranges):
        if apart and first <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], end)
        else:
            apart.append((first, end))
    return tuple(apart)


_COMMON: Table = {
    "_count": ParameterRow("count", _integer(1, LARGEST_COUNT, -(10**20))),
    "_offset": ParameterRow("offset", _integer(0, LARGEST_OFFSET, 0)),
    "_cursor": ParameterRow("cursor", _cursor),
    "_summary": ParameterRow("summary", _one_of("count", "false", "true", "data", "text")),
    "_elements": ParameterRow("elements", _elements),
    "_format": ParameterRow("", format_of),
    "_pretty": ParameterRow("", _one_of("true", "false")),  # a matter of white space
    "_total": ParameterRow("", _one_of("none", "estimate", "accurate")),  # every page carries the exact one
    "_contained": ParameterRow("", _one_of("false")),  # contained ones are found in their documents
}
RESULT = frozenset({*_COMMON, "_sort", "_include", "_revinclude"})
"""Parameters that say how to answer: an empty one asks for nothing. An empty filter is a filter that was lost."""
BARE_DATES = frozenset({"start", "end", "_since"})  # take no prefix
DATES = BARE_DATES | {item.name for item in (*rows.DOCUMENT, *rows.PATIENT) if item.type == DATE}
_SUBJECT: Table = {
    name + kind: ParameterRow(field, read)
    for name in ("patient", "subject")
    for field, read, kinds in (
        ("people", _patients, ("", ":Patient", "._id", ":Patient._id")),
        ("chained", _identifiers, (":identifier", ".identifier", ":Patient.identifier")),
    )
    for kind in kinds
}
_ABOUT_PATIENT: Table = (
    {"birthdate": _words("birthdate", _birth_date)}
    | {"gender": _words("gender", lambda part: _only(part.removeprefix(f"{GENDER_SYSTEM}|")))}
    | {kind: _words(kind, _begins) for kind in ("name", "family", "given")}
    | {f"{kind}:exact": _words(f"{kind}:exact", _only) for kind in ("name", "family", "given")}
)
SEARCH: Table = (
    _COMMON
    | _SUBJECT
    | {
        "date": ParameterRow("window", dates.parse),
        "_lastUpdated": ParameterRow("window", dates.parse),
        "status": ParameterRow("statuses", _statuses),
        "status:not": ParameterRow("statuses", _other_statuses),
        "contenttype": ParameterRow("content_types", _content_types),
        "_id": ParameterRow("ids", _ids),
        "location": ParameterRow("ids", _located),
        "_sort": ParameterRow("order", _sort(rows.DOCUMENT)),
    }
    | _including("DocumentReference", rows.DOCUMENT)
    | {
        name + chain: _ABOUT_PATIENT[chain.rpartition(".")[2]]._replace(rights=lambda _: {("Patient", "s")})
        for name in ("patient", "subject")
        for chain in CHAINS
    }
    | {name: row for parameter in rows.DOCUMENT if parameter.paths for name, row in _rows_of(parameter)}
)
_STORED: Table = _COMMON | {"_id": ParameterRow("ids", _ids)}
PATIENT: Table = (
    _STORED
    | _ABOUT_PATIENT
    | _including("Patient", rows.PATIENT)
    | {"_sort": ParameterRow("order", _sort(rows.PATIENT)), "identifier": ParameterRow("people", _owned)}
    | {
        f"_has:DocumentReference:{of}:{name}": ParameterRow(
            "having", _having(name, row), lambda _: {("DocumentReference", "s")}
        )
        for of in ("patient", "subject")
        for name, row in SEARCH.items()
        if name not in RESULT and name.partition(":")[0].partition(".")[0] not in ("patient", "subject")
    }
)
"""With the parameters of documents by which a patient is found who has such a document."""
STUDY: Table = (
    _STORED
    | _SUBJECT
    | _including("ImagingStudy", rows.STUDY)
    | {name: ParameterRow("people", _owned) for name, row in _SUBJECT.items() if row.field == "chained"}
)
STUDY |= {"_sort": ParameterRow("order", _sort(rows.STUDY)), "identifier": _words("study", _only)}
SEARCHED = {"DocumentReference": SEARCH, "Patient": PATIENT, "ImagingStudy": STUDY}
_PERIOD: Table = {"start": ParameterRow("window", _bound("start")), "end": ParameterRow("window", _bound("end"))}
EVERYTHING: Table = (
    _COMMON | _PERIOD | {"_type": ParameterRow("types", _types), "_since": ParameterRow("since", _since)}
)
DOCREF: Table = _COMMON | _PERIOD | {
    "patient": SEARCH["patient"], "type": SEARCH["type"],
    "on-demand": ParameterRow("", _one_of("false")),  # nothing is made on demand here
}  # fmt: skip
"""Parameters of `$docref` (International Patient Access)."""
HISTORY: Table = {name: row for name, row in _COMMON.items() if name != "_elements"} | {
    "_since": ParameterRow("since", _since),
    "_sort": ParameterRow("order", {"_lastUpdated": "date", "-_lastUpdated": "-date"}.get),
}
"""By the instant of the change, which is not the document's storage time."""
