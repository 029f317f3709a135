"""Settings of an organization; every change is in the audit trail."""

from sqlalchemy.orm import Session

from webapp import audit
from webapp.models import Organization, User


def set_strict(session: Session, organization: Organization, strict: bool, *, by: User | None = None) -> None:
    """Sets the handling of unknown search parameters sent with people's tokens, from the next call on: refused
    (`strict`), or ignored as the contract says."""
    organization.strict_search = strict
    audit.record(session, "organization_handling_set", user=by, detail=f"{organization.name}: {handling(organization)}")


def handling(organization: Organization) -> str:
    """`strict` or `lenient`, as in `Prefer: handling=`."""
    return "strict" if organization.strict_search else "lenient"
