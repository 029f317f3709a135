"""Query strings become searches: what is understood is applied, what is not is dropped and remembered.

The contract rejects nothing: an unknown parameter or an unparseable value is left out of the search and of `link.self`,
so that a caller can compare. `ignored` holds what was left out, which the header `Befund-Ignored` names and which is an
error for strict callers. A value that is understood and matches nothing finds nothing. Repeated parameters all hold at
once, as in FHIR; for paging parameters the first understood one counts.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from webapp.fhir import dates
from webapp.fhir.models import Status
from webapp.fhir.searching import readers
from webapp.fhir.searching.wanted import (
    DEFAULT_COUNT,
    EVERYTHING_TYPES,
    KEYSET,
    AnswerOptions,
    Ignored,
    Paging,
    Right,
    Search,
)

Pairs = Iterable[tuple[str, str]]
"""Names and values in the order in which they were sent."""
# Each is a part of the statement. A document has one patient and one tag: at most six different values (the patient;
# the tag's `s|v`, `v`, `s|`, and a UUID in either place) can name the same one. Of one patient nobody has 16.
MOST_PATIENTS, MOST_IDENTIFIERS = 8, 16
MOST_CONDITIONS = 8  # of one search beside the contract's; lists are one each, however long
_MOST = {"carried": MOST_CONDITIONS, "terms": MOST_CONDITIONS, "having": readers.MOST_KEYS}
_ONCE = frozenset({"count", "offset", "cursor", "order", "types"})
_TEXTS = frozenset({"people", "chained", "content_types", "carried", "terms"})
_PREFIX = re.compile(r"(?!eq|ge|gt|le|lt)[a-z]{2}(?=[0-9])")
_BARE_PREFIX = re.compile(r"[a-z]{2}(?=[0-9])")
_BASE = re.compile(r"([^:.]*)([:.]?)(.*)", re.DOTALL)


@dataclass(slots=True)
class Taken:
    """All that was understood, by field of a search, and what became of the parameters."""

    found: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    applied: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    rights: list[Iterable[Right]] = field(default_factory=list)
    never: bool = False  # PostgreSQL holds no U+0000, so nothing equals a value with it; or more than a statement holds


def search(pairs: Pairs, kind: str = "DocumentReference") -> Search:
    """The search for resources of a type that a query string (decoded pairs, in order) asks for."""
    most_people = MOST_PATIENTS if kind == "DocumentReference" else MOST_IDENTIFIERS
    return _wanted(_taken(pairs, readers.SEARCHED[kind]), most_people)


def docref(pairs: Pairs) -> Search:
    """The `$docref` a query string asks for: documents in force."""
    return replace(_wanted(_taken(pairs, readers.DOCREF), MOST_PATIENTS), statuses=frozenset({Status.CURRENT}))


def everything(pairs: Pairs) -> Search:
    """The `$everything` a query string asks for."""
    taken = _taken(pairs, readers.EVERYTHING)
    types = next(iter(taken.found["types"]), EVERYTHING_TYPES)
    return _wanted(taken, 0, ((kind, "s" if kind in EVERYTHING_TYPES else "r") for kind in types))


def history(pairs: Pairs) -> Search:
    """The `_history` a query string asks for."""
    return _wanted(_taken(pairs, readers.HISTORY), 0)


def _wanted(taken: Taken, most_people: int, rights: Iterable[Right] = ()) -> Search:
    """All that was taken at once: windows and sets by what they share, lists by all they hold."""
    found = taken.found
    people, chained = tuple(dict.fromkeys(found["people"])), tuple(dict.fromkeys(found["chained"]))
    ids, types, statuses = (set.intersection(*given) if (given := found[name]) else None
                            for name in ("ids", "content_types", "statuses"))  # fmt: skip
    never = taken.never or len(people) + len(chained) > most_people or set() in (ids, types, statuses)
    return Search(
        answer=_answer(taken),
        window=dates.tightest(found["window"]),
        people=people,
        chained=chained,
        statuses=None if statuses in (None, {*Status}) else frozenset(statuses or ()),
        content_types=tuple(sorted(types or ())),
        never=never,
        ids=None if ids is None else tuple(ids),
        carried=tuple(sorted(found["carried"], key=lambda item: item.negated or item.either is not None)),
        terms=tuple(found["terms"]),
        having=tuple(search([pair]) for pair in found["having"]),
        types=next(iter(found["types"]), frozenset(EVERYTHING_TYPES)),
        since=max(found["since"], default=None),
        rights=frozenset(rights).union(*taken.rights),
    )


def _answer(taken: Taken) -> AnswerOptions:
    found, applied = taken.found, taken.applied
    once: Callable[[str, Any], Any] = lambda name, default: next(iter(found[name]), default)  # noqa: E731
    offset, cursor, order = once("offset", 0), once("cursor", None), once("order", "-date")
    if cursor is not None and (cursor.offset != offset or order not in KEYSET):  # `_offset` was changed by hand
        cursor, applied = None, [pair for pair in applied if pair[0] != "_cursor"]
    return AnswerOptions(
        tuple(applied), tuple(taken.ignored), Paging(once("count", DEFAULT_COUNT), offset, cursor),
        summary=(found["summary"] or [""])[-1].replace("false", ""),
        elements=frozenset().union(*found["elements"]) if found["elements"] else None,
        order=order, included=frozenset().union(*found["included"]),
    )  # fmt: skip


def _taken(pairs: Pairs, table: readers.Table) -> Taken:
    taken = Taken()
    for name, value in pairs:
        row = table.get(name)
        understood = row.read(value) if row else None
        if row is None or understood is None or (row.field in _ONCE and taken.found[row.field]):
            if value or name not in readers.RESULT:
                taken.ignored.append(_not_understood(name, value, table))
        elif _add(taken, row.field, understood):
            taken.rights.append(row.rights(understood))
            taken.never |= row.field in _TEXTS and "\0" in value
            taken.applied.append((name, str(understood) if row.field in ("count", "offset") else value))
        else:
            taken.never = True
            taken.ignored.append(Ignored(name, "number"))
    return taken


def _add(taken: Taken, name: str, understood: Any) -> bool:
    """Note what a value means; conditions that become parts of the statement once each, as far as there is room."""
    if name not in _MOST:
        taken.found[name].append(understood)
        return True
    some = taken.found[name]
    new = [item for item in understood if item not in some]
    if new and len(some) + len(new) > _MOST[name]:
        return False
    some += new
    return True


def _not_understood(name: str, value: str, table: readers.Table) -> Ignored:
    """The part of a parameter that no reader understands, and what it is."""
    if name in table:
        known = _BARE_PREFIX if name in readers.BARE_DATES else _PREFIX
        prefix = known.match(value) if name in readers.DATES else None
        return Ignored(name, "prefix", prefix[0]) if prefix else Ignored(name, "value", value)
    base, mark, rest = _BASE.fullmatch(name).groups()  # type: ignore[union-attr] # matches everything
    if not mark or base not in table:
        return Ignored(name, "parameter", name)
    return Ignored(name, "chain", name) if "." in mark + rest else Ignored(name, "modifier", mark + rest)
