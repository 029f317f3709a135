"""Callers prove themselves: people by an access token `bfa_<id>_<secret>`, programs by a secret `bfs_<id>_<secret>` or
by an access token that one of their keys has earned, a signed note (JWT, HS256) for five minutes.

Nothing is cached: a revoked token or secret, a deactivated person or account or an ended membership is refused by the
very next call, in every process. The query costs about a tenth of a search.
"""

import hashlib
import hmac
import secrets
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from sqlalchemy import and_, literal_column, null, select, update

from webapp.extensions import db
from webapp.fhir import tokens
from webapp.fhir.dates import MICROS
from webapp.fhir.machines import accounts, scopes
from webapp.fhir.machines.accounts import ServiceAccount, ServiceSecret
from webapp.fhir.models import AccessToken
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.totals import bind
from webapp.fhir.searching.wanted import Right
from webapp.models import Membership, Organization, User

LIFETIME = 300  # seconds, as SMART Backend Services recommends
TOUCH_EVERY = 3600 * MICROS  # `last_used_at` is written at most this often, so that reading stays reading


@dataclass(frozen=True, slots=True)
class Bearer:
    """The caller: the token's id, whose it is, and whether that person or program belongs to the organization called.

    A program has no `user_id`, but an account, and `rights` (resource type, letter of a scope); people read all.
    `strict`: what is not understood in a search is refused unless the call says otherwise.
    """

    token_id: str
    user_id: str
    member: bool
    rights: scopes.Rights | None = None
    account: str = ""
    strict: bool = False

    def lacks(self, needed: Iterable[Right]) -> str:
        """The rights of `needed` that this caller does not have, as scopes by single spaces."""
        return "" if self.rights is None else scopes.missing(self.rights, needed)


class _Known(NamedTuple):
    """A row of the statements that check: whose it is, the organization it belongs to, scopes (None: a person's),
    whether it is good, and until when (microseconds; None: as long as the account)."""

    user: Any
    account: str
    organization: Any
    scopes: str | None
    strict: bool
    alive: bool
    secret_sha256: bytes
    expires_at: int | None
    last_used_at: int | None

    @property
    def stands(self) -> bool:
        """Return True where it is neither revoked nor over."""
        return self.alive and (self.expires_at is None or self.expires_at > time.time() * MICROS)

    def belongs(self, organization: uuid.UUID | None) -> bool:
        """Return True where it is of that organization, whose column is as the driver gives it."""
        return organization is not None and str(self.organization).replace("-", "") == organization.hex


_NOBODY = _Known("", "", "", "", False, False, bytes(32), 0, None)


class Callers:
    """Checks callers against one database."""

    def __init__(self, reader: Reader, secret: str) -> None:
        self._reader = reader
        self._key = OctKey.import_key(hashlib.sha256(b"befund service token\0" + secret.encode()).digest())
        joined = and_(Membership.user_id == AccessToken.user_id, Membership.organization_id == bind("organization"))
        strict = select(Organization.strict_search).where(Organization.id == bind("organization")).scalar_subquery()
        person = (
            select(
                AccessToken.user_id, literal_column("''"), Membership.organization_id, null(), strict,
                and_(AccessToken.revoked_at.is_(None), User.active), AccessToken.secret_sha256, AccessToken.expires_at,
                null(),
            )
            .join(User, User.id == AccessToken.user_id)
            .outerjoin(Membership, joined)
            .where(AccessToken.id == bind("token"))
        )  # fmt: skip
        account = (
            null(), ServiceAccount.id, ServiceAccount.organization_id, ServiceAccount.scopes, ~ServiceAccount.lenient,
        )  # fmt: skip
        by_secret = (
            select(
                *account, and_(ServiceSecret.revoked_at.is_(None), ServiceAccount.active), ServiceSecret.secret_sha256,
                ServiceSecret.expires_at, ServiceSecret.last_used_at,
            )
            .join(ServiceAccount, ServiceAccount.id == ServiceSecret.account_id)
            .where(ServiceSecret.id == bind("token"))
        )  # fmt: skip
        itself = select(*account, ServiceAccount.active, null(), null(), ServiceAccount.last_used_at)
        self._person = Statement(person, reader.engine)
        self._by_secret = Statement(by_secret, reader.engine)
        self._itself = Statement(itself.where(ServiceAccount.id == bind("token")), reader.engine)

    def check(self, header: str, organization: uuid.UUID | None) -> Bearer | None:
        """The caller that an `Authorization` header names, None when what it shows is missing, unknown, over or
        revoked. The same work is done whatever is wrong, so that timing tells nothing: a hash, a query, a comparison.
        """
        scheme, _, token = header.partition(" ")
        prefix, _, rest = (token.strip() if scheme.lower() == "bearer" else "").partition("_")
        if prefix.startswith("ey"):
            return self._signed(token.strip(), organization)
        ident, _, secret = rest.partition("_")
        given = hashlib.sha256(secret.encode()).digest()
        statement = self._by_secret if prefix == accounts.PREFIX else self._person
        named = ident.isalnum() and ident.isascii() and prefix in (tokens.PREFIX, accounts.PREFIX)
        row = self._known(statement, ident if named else "", organization)
        if not (hmac.compare_digest(given, row.secret_sha256) and row.stands):
            return None
        return self._bearer(row, ident, organization)

    def stands(self, token_id: str, organization: uuid.UUID) -> str | None:
        """The owner of a token, secret or account of that id ("" for a program), while it is good for the organization
        and may have files; None once any of it ended.

        A link made with a token dies with the token, the membership and the account, whatever its signature says.
        """
        for statement in (self._person, self._by_secret, self._itself):
            row = self._known(statement, token_id, organization)
            if row is not _NOBODY:
                mine = row.scopes is None or not scopes.missing(scopes.rights(row.scopes), [scopes.FILES])
                return str(row.user or "") if row.stands and row.belongs(organization) and mine else None
        return None

    def token(self, account: ServiceAccount, granted: str) -> str:
        """An access token of a program with these scopes."""
        now = int(time.time())
        claims = {
            "sub": account.id, "org": str(account.organization_id), "scope": granted, "iat": now,
            "exp": now + LIFETIME, "jti": secrets.token_hex(8),
        }  # fmt: skip
        return jwt.encode({"alg": "HS256"}, claims, self._key)

    def _known(self, statement: Statement, token: str, organization: uuid.UUID | None) -> _Known:
        asked = self._reader.value(organization or uuid.UUID(int=0))
        rows = self._reader.rows(statement, {"token": token, "organization": asked})
        return _Known._make(rows[0]) if rows else _NOBODY

    def _signed(self, token: str, organization: uuid.UUID | None) -> Bearer | None:
        try:
            claims: dict[str, Any] = jwt.decode(token, self._key, algorithms=["HS256"]).claims
        except (JoseError, ValueError, RecursionError):  # the library reads a header of any depth
            return None
        if not isinstance(claims.get("exp"), int) or claims["exp"] <= time.time():
            return None
        row = self._known(self._itself, str(claims.get("sub", "")), organization)
        return self._bearer(row, row.account, organization, str(claims.get("scope", ""))) if row.stands else None

    def _bearer(self, row: _Known, token_id: str, organization: uuid.UUID | None, granted: str | None = None) -> Bearer:
        """`granted`: the scopes of an access token, which may be fewer than the account has by now, or more."""
        if row.scopes is None:
            return Bearer(token_id, str(row.user), row.belongs(organization), strict=bool(row.strict))
        self._touch(row, token_id)
        rights = scopes.rights(row.scopes)
        rights = rights if granted is None else rights & scopes.rights(granted)
        return Bearer(token_id, "", row.belongs(organization), rights, row.account, strict=bool(row.strict))

    @staticmethod
    def _touch(row: _Known, token_id: str) -> None:
        now = int(time.time() * MICROS)
        if row.last_used_at is None or now - row.last_used_at > TOUCH_EVERY:
            with db.write() as session:
                for table, ident in ((ServiceSecret, token_id), (ServiceAccount, row.account)):
                    session.execute(update(table).where(table.id == ident).values(last_used_at=now))
