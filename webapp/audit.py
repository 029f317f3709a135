"""The audit trail: person, event, time, address. Written in the transaction of the act, or in one of its own.

Rows are kept apart by kind, each for as long as somebody may ask for it, so that a flood of refused callbacks
neither buries what a person did nor fills the disk. Old rows go as new ones come; `flask --app webapp audit purge` does
it at once.
"""

import ipaddress
import logging
import secrets
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

from flask import has_request_context, request
from sqlalchemy import ColumnElement, Connection, Table, and_, delete, insert, or_, select
from sqlalchemy.orm import Session

from webapp.database import one_or_all
from webapp.extensions import db
from webapp.models import AuditEvent, User, utcnow

log = logging.getLogger(__name__)

DETAIL_LENGTH = 300
KINDS = {
    **dict.fromkeys(("refused", "otp_failed", "otp_not_sent", "notice_not_sent"), "refusal"),
    **dict.fromkeys(("signed_in", "created", "linked", "unlinked", "session_ended", "sessions_ended"), "sign_in"),
    **dict.fromkeys(("signed_out", "otp_sent"), "sign_in"),
    **dict.fromkeys(("uploaded", "imported", "marked", "unmarked", "purged"), "document"),
}
OTHER_KIND = "change"  # of accounts, members, tokens, vendors: what somebody with power did
KEPT = {  # a refusal matters while somebody looks for its cause, a change as long as what it allowed may be asked after
    "refusal": timedelta(days=30),
    "sign_in": timedelta(days=180),
    "document": timedelta(days=3 * 365),
    OTHER_KIND: timedelta(days=3 * 365),
}
REFUSALS_AT_MOST = 10_000  # anybody can cause them: 2 MB of rows, weeks of a busy clinic
_INSERT = insert(cast(Table, AuditEvent.__table__)).inline()  # nobody asks for the number
PURGE_EVERY = 200  # one row in this many also deletes what is past its time


def record(
    session: Session | Connection, event: str, *, user: User | None = None, provider_id: str = "", detail: str = ""
) -> None:
    """Add one event to a writing transaction. `detail` is our own words, never a vendor's text, token or secret."""
    if secrets.randbelow(PURGE_EVERY) == 0:
        purge(session)
    if isinstance(session, Session):
        session.flush()  # a person who was added just now has to be there first
    row = {
        "kind": KINDS.get(event, OTHER_KIND),
        "event": event,
        "user_id": user.id if user else None,
        "actor": user.email if user else "",
        "provider_id": provider_id,
        "detail": detail[:DETAIL_LENGTH],
        "ip": short_ip(request.remote_addr) if has_request_context() else "cli",
    }
    session.execute(_INSERT, row)


def record_all(session: Session, event: str, told: Sequence[tuple[str, str]]) -> None:
    """Add several events of no person by one statement, which returns nothing: of each its detail, and the network it
    came from. `purge_at_times` is the caller's, since it asks."""
    if not told:
        return
    kind = KINDS.get(event, OTHER_KIND)
    rows = [{"kind": kind, "event": event, "detail": detail[:DETAIL_LENGTH], "ip": ip} for detail, ip in told]
    session.connection().execute(_INSERT, one_or_all(rows))


def purge_at_times(session: Session, added: int) -> None:
    """Delete what is past its time at one row in PURGE_EVERY of those that are added."""
    if secrets.randbelow(PURGE_EVERY) < added:
        purge(session)


def record_alone(event: str, *, user: User | None = None, provider_id: str = "", detail: str = "") -> None:
    """Record an event that changes nothing else, such as a refusal; also says it in the log."""
    with db.write_rows() as rows:
        record(rows, event, user=user, provider_id=provider_id, detail=detail)
    log.info("%s provider=%s user=%s %s", event, provider_id or "-", user.id if user else uuid.UUID(int=0), detail)


def purge(session: Session | Connection, refusals: int = REFUSALS_AT_MOST) -> int:
    """Delete every row past the time of its kind, and the oldest refusals beyond that many; returns how many went."""
    now = utcnow()
    past: list[ColumnElement[bool]] = [
        and_(AuditEvent.kind == kind, AuditEvent.at < now - kept) for kind, kept in KEPT.items()
    ]
    newest = select(AuditEvent.id).where(AuditEvent.kind == "refusal").order_by(AuditEvent.id.desc())
    first_too_many = session.scalar(newest.offset(refusals).limit(1))
    if first_too_many is not None:
        past.append(and_(AuditEvent.kind == "refusal", AuditEvent.id <= first_too_many))
    return int(session.execute(delete(AuditEvent).where(or_(*past))).rowcount)  # type: ignore[attr-defined]


def short_ip(address: str | None) -> str:
    """The network of an address: /24 of IPv4, /48 of IPv6; "" when it is none."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))
