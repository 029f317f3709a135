"""Query strings become searches: what is understood is applied, what is not is dropped and remembered.

Pure. The contract rejects nothing: an unknown parameter or an unparseable value is left out of the search and of
`link.self`, so that a caller can compare. `ignored` holds what was left out, which the header `Befund-Ignored` names
and which is an error for strict callers. A value that is understood and matches nothing finds nothing. Repeated
parameters all hold at once, as in FHIR; for paging parameters the first understood one counts.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import quote

from webapp.fhir import dates
from webapp.fhir.models import Status
from webapp.fhir.searching.readers import BARE_DATES, DATES, DOCREF, EVERYTHING, HISTORY, PATIENT, RESULT, SEARCH, STUDY
from webapp.fhir.searching.taken import Reader, Taken
from webapp.fhir.searching.wanted import (
    EVERYTHING_TYPES,
    Everything,
    History,
    Ignored,
    PatientKey,
    ResourceSearch,
    Search,
)

# All repeated values hold at once, and each is a part of the statement. A document has one patient and one tag: at most
# six different values (the patient; the tag's `s|v`, `v`, `s|`, and a UUID in either place) can name the same one.
MOST_PATIENTS = 8
MOST_IDENTIFIERS = 16  # of one patient; nobody has that many

_PREFIX = re.compile(r"(?!eq|ge|gt|le|lt)[a-z]{2}(?=[0-9])")
_BARE_PREFIX = re.compile(r"[a-z]{2}(?=[0-9])")
_BASE = re.compile(r"([^:.]*)([:.]?)(.*)", re.DOTALL)

Pairs = Iterable[tuple[str, str]]


def search(pairs: Pairs) -> Search:
    """The search a query string (decoded pairs, in order) asks for."""
    return _search(_take(pairs, SEARCH))


def _search(taken: Taken) -> Search:
    patients, groups = tuple(dict.fromkeys(taken.patients)), tuple(dict.fromkeys(taken.groups))
    chained, types = tuple(dict.fromkeys(taken.identifiers)), taken.content_types
    never = taken.unstorable or taken.surplus > 0 or taken.ids == set() or not taken.statuses or types == set()
    return Search(
        answer=taken.answer(),
        window=dates.tightest(taken.windows),
        patients=patients,
        statuses=None if taken.statuses == set(Status) else frozenset(taken.statuses),
        content_type=next(iter(types)) if types and len(types) == 1 else None,
        never=never or len(patients) + len(groups) + len(chained) > MOST_PATIENTS,
        ids=tuple(taken.ids) if taken.ids else None,
        content_types=tuple(sorted(types)) if types and len(types) > 1 else (),
        groups=groups,
        chained=chained,
        terms=tuple(taken.terms),
        carried=tuple(sorted(taken.carried, key=lambda item: item.negated or item.either is not None)),
    )


def docref(pairs: Pairs) -> Search:
    """The `$docref` a query string asks for: documents in force."""
    return replace(_search(_take(pairs, DOCREF)), statuses=frozenset({Status.CURRENT}))


def everything(pairs: Pairs) -> Everything:
    """The `$everything` a query string asks for."""
    taken = _take(pairs, EVERYTHING)
    types = frozenset(EVERYTHING_TYPES) if taken.types is None else taken.types
    return Everything(taken.answer(), dates.tightest(taken.windows), types, taken.since)


def history(pairs: Pairs) -> History:
    """The `_history` a query string asks for."""
    taken = _take(pairs, HISTORY)
    return History(taken.answer(), taken.since)


def patient_search(pairs: Pairs) -> ResourceSearch:
    """The Patient search a query string asks for."""
    return _resources(_take(pairs, PATIENT))


def study_search(pairs: Pairs) -> ResourceSearch:
    """The ImagingStudy search a query string asks for."""
    return _resources(_take(pairs, STUDY))


def _resources(taken: Taken) -> ResourceSearch:
    identified = [tuple(PatientKey(None, item) for item in some) for some in taken.identifiers]
    groups = tuple(dict.fromkeys([*identified, *((key,) for key in taken.patients), *taken.groups]))
    never = taken.unstorable or taken.surplus > 0 or taken.ids == set() or len(groups) > MOST_IDENTIFIERS
    ids, having = tuple(taken.ids) if taken.ids else None, tuple(search([pair]) for pair in taken.having)
    return ResourceSearch(taken.answer(), groups, never, ids, tuple(taken.terms), having)


def query(pairs: Pairs) -> str:
    """Pairs as a query string; what a browser or a client would misread (`+`, `&`, `|`, ...) is escaped."""
    return "&".join(f"{quote(name, safe='$')}={quote(value, safe=':/,@!*')}" for name, value in pairs)


def _take(pairs: Pairs, readers: Mapping[str, Reader]) -> Taken:
    taken = Taken()
    for name, value in pairs:
        reader, surplus = readers.get(name), taken.surplus
        shown = reader(taken, value) if reader else None
        if shown is not None:
            taken.applied.append((name, shown))
        elif taken.surplus > surplus:
            taken.ignored.append(Ignored(name, "number"))
        elif value or name not in RESULT:
            taken.ignored.append(_not_understood(name, value, readers))
    return taken


def _not_understood(name: str, value: str, readers: Mapping[str, Reader]) -> Ignored:
    """The part of a parameter that no reader understands, and what it is."""
    if name in readers:
        prefix = (_BARE_PREFIX if name in BARE_DATES else _PREFIX).match(value) if name in DATES else None
        return Ignored(name, "prefix", prefix[0]) if prefix else Ignored(name, "value", value)
    base, mark, rest = _BASE.fullmatch(name).groups()  # type: ignore[union-attr] # matches everything
    if not mark or base not in readers:
        return Ignored(name, "parameter", name)
    return Ignored(name, "chain", name) if "." in mark + rest else Ignored(name, "modifier", mark + rest)
