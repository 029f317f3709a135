"""Secrets that are shown once and kept as a hash, and access tokens `bfa_<id>_<secret>` of people made of them."""

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from webapp.fhir.dates import to_micros
from webapp.fhir.models import AccessToken
from webapp.models import utcnow

PREFIX = "bfa"
DAYS, MOST_DAYS = 90, 365


def minted(prefix: str, ident: str, days: int) -> tuple[str, dict[str, Any]]:
    """The text of a new secret, which is told only now, and the columns of the row that keeps it. `days` is clamped to
    1..365."""
    secret = secrets.token_urlsafe(32)
    expires = utcnow() + timedelta(days=max(1, min(MOST_DAYS, days)))
    digest = hashlib.sha256(secret.encode()).digest()
    return f"{prefix}_{ident}_{secret}", {"id": ident, "secret_sha256": digest, "expires_at": to_micros(expires)}


def create(session: Session, user_id: uuid.UUID, name: str = "", days: int = DAYS) -> tuple[AccessToken, str]:
    """A new token and its text."""
    text, columns = minted(PREFIX, secrets.token_hex(6), days)
    token = AccessToken(user_id=user_id, name=name, **columns)
    session.add(token)
    return token, text


def state(row: Any) -> str:
    """The state of a token or secret: `valid`, `revoked` or `expired`."""
    if row.revoked_at is not None:
        return "revoked"
    return "valid" if row.expires_at > to_micros(utcnow()) else "expired"


def of_user(session: Session, user_id: uuid.UUID) -> Sequence[AccessToken]:
    """A person's tokens, the latest first."""
    mine = select(AccessToken).where(AccessToken.user_id == user_id)
    return session.scalars(mine.order_by(AccessToken.created_at.desc())).all()


def revoke(session: Session, user_id: uuid.UUID, token_id: str | None = None) -> int:
    """Revoke one token of a person, or all; how many of them were still valid."""
    living = update(AccessToken).where(AccessToken.user_id == user_id, AccessToken.revoked_at.is_(None))
    if token_id is not None:
        living = living.where(AccessToken.id == token_id)
    return int(session.execute(living.values(revoked_at=utcnow())).rowcount)  # type: ignore[attr-defined]
