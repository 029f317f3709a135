"""The audit trail: who, what, when, from where. Written in the transaction of the act, or in one of its own."""

import ipaddress
import logging
import uuid

from flask import has_request_context, request
from sqlalchemy.orm import Session

from webapp.extensions import db
from webapp.models import User
from webapp.sso.models import AuditEvent

log = logging.getLogger(__name__)

DETAIL_LENGTH = 300


def record(
    session: Session, event: str, *, user: User | None = None, provider_id: str = "", detail: str = ""
) -> None:  # fmt: skip
    """Add one event to a writing transaction. `detail` is our own words, never a vendor's text, token or secret."""
    session.add(
        AuditEvent(
            event=event,
            user_id=user.id if user else None,
            actor=user.email if user else "",
            provider_id=provider_id,
            detail=detail[:DETAIL_LENGTH],
            ip=short_ip(request.remote_addr) if has_request_context() else "cli",
        )
    )


def record_alone(event: str, *, user: User | None = None, provider_id: str = "", detail: str = "") -> None:
    """Record an event that changes nothing else, such as a refusal; also says it in the log."""
    with db.write() as session:
        record(session, event, user=user, provider_id=provider_id, detail=detail)
    log.info("%s provider=%s user=%s %s", event, provider_id or "-", user.id if user else uuid.UUID(int=0), detail)


def short_ip(address: str | None) -> str:
    """The network of an address: /24 of IPv4, /48 of IPv6; "" when it is none."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))
