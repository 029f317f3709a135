"""Settings of an organization; every change is in the audit trail."""

from sqlalchemy.orm import Session

from webapp import audit
from webapp.models import Organization, User


def set_strict(session: Session, organization: Organization, strict: bool, *, by: User | None = None) -> None:
    """Sets the handling of unknown search parameters sent with people's tokens, from the next call on: refused
    (`strict`), or ignored as the contract says."""
    organization.strict_search = strict
    audit.record(session, "organization_handling_set", user=by, detail=f"{organization.name}: {handling(organization)}")


def allow(session: Session, organization: Organization, what: str, allowed: bool, *, by: User | None = None) -> None:
    """Let programs choose ids (`client_ids`) or delete documents (`client_deletes`), or forbid it, from the next call
    on."""
    setattr(organization, what, allowed)
    said = f"{organization.name}: {what} {'allowed' if allowed else 'forbidden'}"
    audit.record(session, "organization_handling_set", user=by, detail=said)


def handling(organization: Organization) -> str:
    """`strict` or `lenient`, as in `Prefer: handling=`."""
    return "strict" if organization.strict_search else "lenient"
