"""Access tokens `bfa_<id>_<secret>`: made once, kept as a hash, checked with one indexed query on every call.

Nothing about a token is cached: a revoked token, a deactivated person or an ended membership is refused by the very
next call, in every process. The query costs about a tenth of a search.
"""

import hashlib
import hmac
import secrets
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, select, update
from sqlalchemy.orm import Session

from webapp.fhir.machines import scopes as smart
from webapp.fhir.models import AccessToken
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.totals import bind
from webapp.models import Membership, Organization, User, utcnow

PREFIX = "bfa"
DAYS, MOST_DAYS = 90, 365
_NOBODY = (bytes(32), 0, "", False, False, False)  # a row of the statement that checks a token


@dataclass(frozen=True, slots=True)
class Bearer:
    """The caller: the token's id, whose it is, and whether that person or program belongs to the organization called.

    A program has no `user_id`, but an account, and `rights` (resource type, letter of a scope); people read all.
    `strict`: what is not understood in a search is refused unless the call says otherwise.
    """

    token_id: str
    user_id: str
    member: bool
    rights: smart.Rights | None = None
    account: str = ""
    strict: bool = False

    def lacks(self, needed: Iterable[smart.Right]) -> str:
        """The rights of `needed` that this caller does not have, as scopes by single spaces."""
        return "" if self.rights is None else smart.missing(self.rights, needed)


class Tokens:
    """Checks tokens against one database."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        joined = and_(Membership.user_id == AccessToken.user_id, Membership.organization_id == bind("organization"))
        strict = select(Organization.strict_search).where(Organization.id == bind("organization")).scalar_subquery()
        found = (
            select(
                AccessToken.secret_sha256, AccessToken.expires_at, AccessToken.user_id,
                and_(AccessToken.revoked_at.is_(None), User.active).label("alive"),
                Membership.id.is_not(None).label("member"), strict.label("strict"),
            )
            .join(User, User.id == AccessToken.user_id)
            .outerjoin(Membership, joined)
            .where(AccessToken.id == bind("token"))
        )  # fmt: skip
        self._statement = Statement(found, reader.engine)

    def check(self, header: str, organization: uuid.UUID | None) -> Bearer | None:
        """The bearer an `Authorization` header names, None when it is missing, unknown, expired or revoked.

        The same work is done whatever is wrong, so that timing tells nothing: a hash, a query, a comparison.
        """
        token_id, secret = _parts(header)
        given = hashlib.sha256(secret.encode()).digest()
        asked = self._reader.uuid(organization or uuid.UUID(int=0))
        rows = self._reader.rows(self._statement, {"token": token_id, "organization": asked})
        stored, expires_at, user_id, alive, member, strict = rows[0] if rows else _NOBODY
        genuine = hmac.compare_digest(given, stored)
        if not (genuine and alive and expires_at > time.time() * 1_000_000):
            return None
        return Bearer(token_id, str(user_id), bool(member), strict=bool(strict))

    def stands(self, token_id: str, organization: uuid.UUID) -> str | None:
        """The owner of the token, while it is valid and that person is active and a member; None once any of it ended.

        A link made with a token dies with the token, the membership and the account, whatever its signature says.
        """
        asked = self._reader.uuid(organization)
        rows = self._reader.rows(self._statement, {"token": token_id, "organization": asked})
        _, expires_at, user_id, alive, member, _ = rows[0] if rows else _NOBODY
        return str(user_id) if alive and member and expires_at > time.time() * 1_000_000 else None


def create(session: Session, user_id: uuid.UUID, name: str = "", days: int = DAYS) -> tuple[AccessToken, str]:
    """A new token and its text, which is told only now. `days` is clamped to 1..365."""
    secret = secrets.token_urlsafe(32)
    expires = utcnow() + timedelta(days=max(1, min(MOST_DAYS, days)))
    token = AccessToken(
        id=secrets.token_hex(6),
        user_id=user_id,
        name=name,
        secret_sha256=hashlib.sha256(secret.encode()).digest(),
        expires_at=int(expires.timestamp() * 1_000_000),
    )
    session.add(token)
    return token, f"{PREFIX}_{token.id}_{secret}"


def of_user(session: Session, user_id: uuid.UUID) -> Sequence[AccessToken]:
    """A person's tokens, the latest first."""
    mine = select(AccessToken).where(AccessToken.user_id == user_id)
    return session.scalars(mine.order_by(AccessToken.created_at.desc())).all()


def revoke(session: Session, user_id: uuid.UUID, token_id: str) -> bool:
    """Revoke one token of a person; False when the person has no such token that was still valid."""
    return _revoke(session, AccessToken.user_id == user_id, AccessToken.id == token_id) > 0


def revoke_all(session: Session, user_id: uuid.UUID) -> int:
    """Revoke all tokens of a person; returns how many there were."""
    return _revoke(session, AccessToken.user_id == user_id)


def _revoke(session: Session, *which: object) -> int:
    living = update(AccessToken).where(AccessToken.revoked_at.is_(None), *which)  # type: ignore[arg-type]
    return int(session.execute(living.values(revoked_at=utcnow())).rowcount)  # type: ignore[attr-defined]


def _parts(header: str) -> tuple[str, str]:
    """Id and secret of `Bearer bfa_<id>_<secret>`; empty strings, which no token has, for anything else."""
    scheme, _, token = header.partition(" ")
    prefix, _, rest = token.strip().partition("_")
    token_id, _, secret = rest.partition("_")
    if scheme.lower() != "bearer" or prefix != PREFIX or not token_id.isalnum() or not token_id.isascii():
        return "", ""
    return token_id, secret
