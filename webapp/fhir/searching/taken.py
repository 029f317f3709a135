"""The collection that the readers of a query string fill."""

import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from webapp.fhir import dates
from webapp.fhir.models import Status
from webapp.fhir.searching.wanted import (
    DEFAULT_COUNT,
    KEYSET,
    AnswerOptions,
    Carried,
    Cursor,
    Identifier,
    Ignored,
    Paging,
    PatientKey,
    Term,
)  # fmt: skip

MOST_CONDITIONS = 8  # of one search beside the contract's; lists are one each, however long


@dataclass(slots=True)
class Taken:
    """Collected by the readers while they walk the pairs. Each list holds at once, the members of one list are `or`."""

    windows: list[dates.Window] = field(default_factory=list)
    patients: list[PatientKey] = field(default_factory=list)
    groups: list[tuple[PatientKey, ...]] = field(default_factory=list)
    identifiers: list[tuple[Identifier, ...]] = field(default_factory=list)
    ids: set[uuid.UUID] | None = None
    statuses: set[Status] = field(default_factory=lambda: set(Status))
    content_types: set[str] | None = None
    carried: list[Carried] = field(default_factory=list)
    types: frozenset[str] | None = None
    since: int | None = None
    count: int | None = None
    offset: int | None = None
    cursor: Cursor | None = None
    count_only: bool = False
    elements: frozenset[str] | None = None
    summary: str = ""
    order: str | None = None
    with_patients: bool = False
    terms: list[Term] = field(default_factory=list)
    having: list[tuple[str, str]] = field(default_factory=list)
    applied: list[tuple[str, str]] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    surplus: int = 0  # conditions beyond those that a statement carries

    def answer(self) -> AnswerOptions:
        offset, cursor, applied = self.offset or 0, self.cursor, self.applied
        order = self.order or "-date"
        if cursor is not None and (cursor.offset != offset or order not in KEYSET):  # `_offset` was changed by hand
            cursor = None
            applied = [pair for pair in applied if pair[0] != "_cursor"]
        paging = Paging(self.count or DEFAULT_COUNT, offset, cursor)
        how = (self.count_only, self.elements, self.summary, order, self.with_patients)
        return AnswerOptions(tuple(applied), tuple(self.ignored), paging, *how)

    @property
    def unstorable(self) -> bool:
        """PostgreSQL cannot hold U+0000 in text, so nothing stored ever equals a value that contains it."""
        return any("\0" in text for text in self._texts() if text)

    def _texts(self) -> Iterable[str | None]:
        yield from self.content_types or ()
        keys = [*self.patients, *(key for group in self.groups for key in group)]
        listed = [identifier for some in self.identifiers for identifier in some]
        for identifier in [*listed, *(key.identifier for key in keys if key.identifier)]:
            yield identifier.system
            yield identifier.value
        for item in self.carried:
            yield from (*item.words, item.start)
        for term in self.terms:
            yield from (bound for bounds in term.ranges for bound in bounds)

    def carry(self, *items: Carried | Term) -> bool:
        """Note conditions that become parts of the statement, each once; whether there was room for all of them."""
        some: list[Any] = self.carried if isinstance(items[0], Carried) else self.terms
        new = [item for item in items if item not in some]
        if new and len(some) + len(new) > MOST_CONDITIONS:
            self.surplus += 1
            return False
        some += new
        return True


Reader = Callable[[Taken, str], str | None]  # what to show in links (normalised), None when not understood


def listed(value: str) -> list[str]:
    """The members of a comma list; a backslash before a comma, a bar or itself makes it a part of the value (FHIR R4,
    section 3.1.1.4.16)."""
    return [re.sub(r"\\([,|$\\])", r"\1", part) for part in re.split(r"(?<!\\),", value) if part]
