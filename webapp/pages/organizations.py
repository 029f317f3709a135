"""Organizations: members are added, given another role, removed; settings are changed. All is in the audit trail.

A removed member's tokens, links and pages for that organization end with the next call: each asks for the membership.
"""

import uuid

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp import audit
from webapp.models import Membership, Organization, Role, User


class LastOperator(Exception):
    """Nobody could undo it: without this person there would be no operator."""


def put_member(
    session: Session, organization: Organization, person: User, role: Role, *, by: User | None = None
) -> None:
    """Make a person a member in `role`, or change the role. Raises LastOperator."""
    row = _find(session, organization.id, person.id)
    before = row.role.value if row else "none"
    if row is None:
        row = Membership(user_id=person.id, organization_id=organization.id)
        session.add(row)
    elif row.role is Role.OPERATOR and role is not Role.OPERATOR:
        _keep_one_operator(session, row)
    row.role = role
    detail = f"{person.email} in {organization.name}: {before} -> {role.value}"
    audit.record(session, "member_changed", user=by, detail=detail)


def remove_member(session: Session, organization: Organization, person: User, *, by: User | None = None) -> bool:
    """End a membership; whether there was one. Raises LastOperator."""
    row = _find(session, organization.id, person.id)
    if row is None:
        return False
    if row.role is Role.OPERATOR:
        _keep_one_operator(session, row)
    session.delete(row)
    detail = f"{person.email} in {organization.name}: {row.role.value} -> none"
    audit.record(session, "member_removed", user=by, detail=detail)
    return True


def set_strict(session: Session, organization: Organization, strict: bool, *, by: User | None = None) -> None:
    """Sets the handling of unknown search parameters sent with people's tokens, from the next call on: refused
    (`strict`), or ignored as the contract says."""
    organization.strict_search = strict
    audit.record(session, "organization_handling_set", user=by, detail=f"{organization.name}: {handling(organization)}")


def allow(session: Session, organization: Organization, what: str, allowed: bool) -> None:
    """Let programs choose ids (`client_ids`) or delete documents (`client_deletes`), or forbid it, from the next call
    on."""
    setattr(organization, what, allowed)
    said = f"{organization.name}: {what} {'allowed' if allowed else 'forbidden'}"
    audit.record(session, "organization_handling_set", detail=said)


def handling(organization: Organization) -> str:
    """`strict` or `lenient`, as in `Prefer: handling=`."""
    return "strict" if organization.strict_search else "lenient"


def _find(session: Session, organization: uuid.UUID, person: uuid.UUID) -> Membership | None:
    mine = select(Membership).where(Membership.user_id == person, Membership.organization_id == organization)
    return session.scalars(mine.with_for_update()).one_or_none()


def _keep_one_operator(session: Session, leaving: Membership) -> None:
    """Two operators who remove each other at the same moment meet in the lock on the rows of both."""
    operators = select(Membership).where(Membership.role == Role.OPERATOR).order_by(Membership.id).with_for_update()
    rows = session.scalars(operators).all()
    if not any(row.id != leaving.id and row.user.active for row in rows):
        raise LastOperator
