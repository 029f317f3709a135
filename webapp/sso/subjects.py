"""Move a vendor's identities to other subjects, so that nobody is unlinked when it goes from OAuth 2.0 to OIDC.

A subject may hold any text, so old and new ones may overlap (a swap, a chain): all leave before any arrives.
"""

import csv
import uuid
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from clinical.errors import SettingError
from webapp import audit
from webapp.sso.models import SUBJECT_LENGTH, Identity

HEADER = ["old_subject", "new_subject"]
Pairs = dict[str, str]  # old subject -> new subject


@dataclass(frozen=True, slots=True)
class Plan:
    """The effect of a subject map: identities that move, new subjects that others hold, old ones that nobody has,
    identities it does not name. `settled`: those that already have a new subject."""

    moves: dict[uuid.UUID, str]
    conflicts: int
    unknown: int
    settled: int
    left_over: int

    def lines(self) -> list[str]:
        """The preview, one count a line."""
        return [
            f"move:      {len(self.moves)}",
            f"settled:   {self.settled} (have a new subject already)",
            f"conflicts: {self.conflicts} (the new subject belongs to another identity)",
            f"unknown:   {self.unknown} (old subjects nobody has)",
            f"left over: {self.left_over} (identities the file does not name)",
        ]

    def carry_out(self, session: Session, provider_id: str, leave_rest: bool = False) -> None:
        """Move them in the writing transaction `session`. Raises SettingError when somebody would be unlinked."""
        if self.conflicts:
            raise SettingError(f"{self.conflicts} new subjects belong to others", "a free one each", "correct the file")
        if self.left_over and not leave_rest:
            raise SettingError(
                f"{self.left_over} identities are not in the file", "all of them", "complete it or give --leave-rest"
            )
        rows = list(session.scalars(select(Identity).where(Identity.provider_id == provider_id)))
        moving = [row for row in rows if row.id in self.moves]
        for row in moving:
            row.subject = f"\tmoving {row.id}"  # not printable: no vendor's subject (profile._subject)
        session.flush()
        for row in moving:
            row.subject = self.moves[row.id]
        session.flush()
        audit.record(session, "subjects_moved", provider_id=provider_id, detail=f"{len(moving)} identities")


def plan_moves(session: Session, provider_id: str, pairs: Pairs) -> Plan:
    """Compare a map with the identities of a provider."""
    held = {row.subject: row.id for row in session.scalars(select(Identity).where(Identity.provider_id == provider_id))}
    moves = {held[old]: new for old, new in pairs.items() if old in held and old != new}
    stay = held.keys() - {old for old, new in pairs.items() if old != new}
    return Plan(
        moves,
        conflicts=sum(new in stay for new in moves.values()),
        unknown=sum(old not in held for old in pairs),
        settled=len(stay & set(pairs.values())),
        left_over=len(stay - set(pairs.values())),
    )


def read_map(file: Path) -> Pairs:
    """The pairs of a CSV file in UTF-8 with the header old_subject,new_subject. Raises SettingError naming the line."""
    pairs: Pairs = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            lines = csv.reader(opened, strict=True)
            if next(lines, []) != HEADER:
                raise _bad(1, "the header is another one")
            for row in lines:
                if len(row) != 2 or not all(_usable(subject) for subject in row):
                    raise _bad(lines.line_num, "not two usable subjects")
                if row[0] in pairs:
                    raise _bad(lines.line_num, "the old subject stands there twice")
                pairs[row[0]] = row[1]
    except (csv.Error, UnicodeDecodeError) as error:
        raise SettingError("the map is no CSV in UTF-8", ",".join(HEADER), str(type(error).__name__)) from None
    if len(set(pairs.values())) < len(pairs):
        raise SettingError("two old subjects lead to one new subject", "one person each", "correct the file")
    return pairs


def _usable(subject: str) -> bool:
    return bool(subject.strip()) and subject.isprintable() and len(subject) <= SUBJECT_LENGTH


def _bad(line: int, what: str) -> SettingError:
    return SettingError(f"line {line}: {what}", ",".join(HEADER), "correct the file")
