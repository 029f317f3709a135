"""One-time codes: six digits to an address, ten minutes, five tries, one valid at a time (decisions, Sign-in).

A code is bound to its pending sign-in and its address: only the browser that asked for it can use it, and only for
the address it was sent to. The database holds an HMAC of it. `provider_id` is for the audit trail alone.
"""

import hmac
import secrets
from datetime import datetime, timedelta

from flask_babel import gettext as _
from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from webapp import audit
from webapp.database import advisory_lock
from webapp.extensions import db, network
from webapp.models import email_key, utcnow
from webapp.sessions import digest
from webapp.sso import mail
from webapp.sso.models import OneTimeCode
from webapp.sso.profile import mailbox
from webapp.sso.sealing import keyed_hash

DIGITS = 6
LIFETIME = timedelta(minutes=10)
TRIES = 5
PAUSE = timedelta(seconds=10)
PER_HOUR = 5
HOUR = timedelta(hours=1)
KEPT = timedelta(days=1)


class CodeRefused(Exception):
    """No code was sent or accepted: `reason` is too_soon, too_many, not_sent, wrong or void; `wait_s` until a new try
    makes sense (0: unknown), `left` the tries that remain."""

    def __init__(self, reason: str, wait_s: int = 0, left: int = 0) -> None:
        self.reason, self.wait_s, self.left = reason, wait_s, left
        super().__init__(reason)


def send_code(pending_id: str, address: str, provider_id: str = "") -> None:
    """Send a new code to `address`; the former one of this pending sign-in is void. Raises CodeRefused."""
    code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"
    row = OneTimeCode(
        pending_hash=digest(pending_id),
        address_hash=keyed_hash("otp-address", mailbox(address)),
        ip_hash=keyed_hash("otp-ip", network()),
        code_hash=_code_hash(pending_id, address, code),
    )
    with db.write() as session:
        _keep_pace(session, row)
        session.execute(
            update(OneTimeCode)
            .where(OneTimeCode.pending_hash == row.pending_hash, OneTimeCode.voided_at.is_(None))
            .values(voided_at=utcnow())
        )
        session.execute(delete(OneTimeCode).where(OneTimeCode.created_at < utcnow() - KEPT))
        session.add(row)
    _mail(row, address, code, provider_id)


def check_code(pending_id: str, address: str, code: str, provider_id: str = "") -> None:
    """Returns when `code` is right, which uses it up. Raises CodeRefused: wrong (with the tries left) or void."""
    pending_hash = digest(pending_id)
    valid: tuple[ColumnElement[bool], ...] = (
        OneTimeCode.pending_hash == pending_hash,
        OneTimeCode.address_hash == keyed_hash("otp-address", mailbox(address)),
        OneTimeCode.voided_at.is_(None),
        OneTimeCode.tries < TRIES,
        OneTimeCode.created_at > utcnow() - LIFETIME,
    )
    with db.write() as session:
        # The try is counted by the statement that finds the row: tries made at the same moment cannot share a number.
        row = session.scalars(
            update(OneTimeCode).where(*valid).values(tries=OneTimeCode.tries + 1).returning(OneTimeCode)
        ).one_or_none()
        right = row is not None and hmac.compare_digest(row.code_hash, _code_hash(pending_id, address, code))
        if row is not None and (right or row.tries >= TRIES):
            session.execute(update(OneTimeCode).where(OneTimeCode.id == row.id).values(voided_at=utcnow()))
        if not right:
            audit.record(
                session, "otp_failed", provider_id=provider_id, detail="void" if row is None else f"try {row.tries}"
            )
    if row is None:
        raise CodeRefused("void")
    if not right:
        raise CodeRefused("wrong" if row.tries < TRIES else "void", left=TRIES - row.tries)


def _keep_pace(session: Session, row: OneTimeCode) -> None:
    """Raises CodeRefused when the address or the network was served within PAUSE, or PER_HOUR times in an hour."""
    for value in sorted((row.address_hash, row.ip_hash)):  # always in one order, so that two never wait for each other
        advisory_lock(session, int(value[:15], 16))
    now = utcnow()
    for column, value in ((OneTimeCode.address_hash, row.address_hash), (OneTimeCode.ip_hash, row.ip_hash)):
        times: list[datetime] = list(
            session.scalars(
                select(OneTimeCode.created_at)
                .where(column == value, OneTimeCode.created_at > now - HOUR)
                .order_by(OneTimeCode.created_at)
            )
        )
        if times and now - times[-1] < PAUSE:
            raise CodeRefused("too_soon", wait_s=_seconds(times[-1] + PAUSE - now))
        if len(times) >= PER_HOUR:
            raise CodeRefused("too_many", wait_s=_seconds(times[-PER_HOUR] + HOUR - now))


def _mail(row: OneTimeCode, address: str, code: str, provider_id: str) -> None:
    text = _(
        "Ihr Code für die Anmeldung bei Befund: %(code)s\n\n"
        "Er gilt 10 Minuten und nur in dem Browser, in dem Sie ihn angefordert haben. "
        "Geben Sie ihn niemandem weiter.\n\n"
        "Wenn Sie keinen Code angefordert haben, brauchen Sie nichts zu tun.",
        code=code,
    )
    try:
        mail.send(address, _("Ihr Anmeldecode"), text)
    except mail.MailFailed as error:
        with db.write() as session:
            session.execute(delete(OneTimeCode).where(OneTimeCode.id == row.id))
            audit.record(session, "otp_not_sent", provider_id=provider_id, detail=str(error))
        raise CodeRefused("not_sent") from None
    audit.record_alone("otp_sent", provider_id=provider_id)


def _code_hash(pending_id: str, address: str, code: str) -> str:
    return keyed_hash("otp-code", pending_id, email_key(address), code)


def _seconds(span: timedelta) -> int:
    return max(1, round(span.total_seconds() + 0.5))
