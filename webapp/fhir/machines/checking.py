"""Authentication of programs: a secret `bfs_<id>_<secret>`, or an access token that one of its keys has earned.

As with the tokens of people, nothing is cached: a revoked secret or an account that was switched off is refused by the
next call. An access token is a signed note (JWT, HS256) for five minutes; the account behind it is looked up each time.
"""

import hashlib
import hmac
import secrets
import time
import uuid
from typing import Any, NamedTuple

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from sqlalchemy import null, select, true, update

from webapp.extensions import db
from webapp.fhir.machines import scopes as smart
from webapp.fhir.machines.accounts import MICROS, PREFIX
from webapp.fhir.machines.models import ServiceAccount, ServiceSecret
from webapp.fhir.searching.reading import Reader, Statement
from webapp.fhir.searching.totals import bind
from webapp.fhir.tokens import Bearer

LIFETIME = 300  # seconds, as SMART Backend Services recommends
TOUCH_EVERY = 3600 * MICROS  # `last_used_at` is written at most this often, so that reading stays reading


class _Known(NamedTuple):
    """A row of the statements that check: an account, and of its secret or of itself until when it is good."""

    account: str
    organization: Any
    scopes: str
    active: bool
    lenient: bool
    secret_sha256: bytes
    expires_at: int | None
    last_used_at: int | None
    stands: bool


_NOBODY = _Known("", "", "", False, False, bytes(32), 0, None, False)


class Machines:
    """Checks programs against one database."""

    def __init__(self, reader: Reader, secret: str) -> None:
        self._reader = reader
        self._key = OctKey.import_key(hashlib.sha256(b"befund service token\0" + secret.encode()).digest())
        account = (
            ServiceAccount.id, ServiceAccount.organization_id, ServiceAccount.scopes, ServiceAccount.active,
            ServiceAccount.lenient,
        )  # fmt: skip
        by_secret = select(
            *account, ServiceSecret.secret_sha256, ServiceSecret.expires_at, ServiceSecret.last_used_at,
            ServiceSecret.revoked_at.is_(None),
        ).join(ServiceAccount, ServiceAccount.id == ServiceSecret.account_id)  # fmt: skip
        itself = select(*account, null(), null(), ServiceAccount.last_used_at, true())
        self._by_secret = Statement(by_secret.where(ServiceSecret.id == bind("secret")), reader.engine)
        self._itself = Statement(itself.where(ServiceAccount.id == bind("account")), reader.engine)

    @staticmethod
    def is_asked(header: str) -> bool:
        """Return True where an `Authorization` header names a program rather than a person."""
        return header.partition(" ")[2].lstrip().startswith((f"{PREFIX}_", "ey"))

    def check(self, header: str, organization: uuid.UUID | None) -> Bearer | None:
        """The program a header names, None when what it shows is unknown, over or revoked."""
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token.strip()
        return self._signed(token, organization) if token.startswith("ey") else self._secret(token, organization)

    def stands(self, token_id: str, organization: uuid.UUID) -> str | None:
        """ "" while a secret or account of that id is good for the organization and may have files; None once any of it
        ended."""
        for statement, name in ((self._by_secret, "secret"), (self._itself, "account")):
            for row in map(_Known._make, self._reader.rows(statement, {name: token_id})):
                over = row.expires_at is not None and row.expires_at <= time.time() * MICROS
                good = row.active and row.stands and not over and _is(row.organization, organization)
                return "" if good and not smart.missing(smart.rights(row.scopes), [smart.FILES]) else None
        return None

    def token(self, account: ServiceAccount, scopes: str) -> str:
        """An access token with these scopes."""
        now = int(time.time())
        claims = {
            "sub": account.id, "org": str(account.organization_id), "scope": scopes, "iat": now, "exp": now + LIFETIME,
            "jti": secrets.token_hex(8),
        }  # fmt: skip
        return jwt.encode({"alg": "HS256"}, claims, self._key)

    def _secret(self, token: str, organization: uuid.UUID | None) -> Bearer | None:
        """The same work whatever is wrong: a hash, a query, a comparison."""
        _, _, rest = token.partition("_")
        secret_id, _, text = rest.partition("_")
        given = hashlib.sha256(text.encode()).digest()
        known = secret_id if secret_id.isalnum() and secret_id.isascii() else ""
        rows = self._reader.rows(self._by_secret, {"secret": known})
        row = _Known._make(rows[0]) if rows else _NOBODY
        genuine = hmac.compare_digest(given, row.secret_sha256)
        if not (genuine and row.active and row.stands and (row.expires_at or 0) > time.time() * MICROS):
            return None
        self._touch(row, ServiceSecret, secret_id)
        return _bearer(secret_id, row, organization, smart.rights(row.scopes))

    def _signed(self, token: str, organization: uuid.UUID | None) -> Bearer | None:
        try:
            claims: dict[str, Any] = jwt.decode(token, self._key, algorithms=["HS256"]).claims
        except (JoseError, ValueError, RecursionError):  # the library reads a header of any depth
            return None
        if not isinstance(claims.get("exp"), int) or claims["exp"] <= time.time():
            return None
        rows = self._reader.rows(self._itself, {"account": str(claims.get("sub", ""))})
        row = _Known._make(rows[0]) if rows else _NOBODY
        if not row.active:
            return None
        self._touch(row, ServiceAccount, row.account)
        rights = smart.rights(str(claims.get("scope", ""))) & smart.rights(row.scopes)
        return _bearer(row.account, row, organization, rights)

    @staticmethod
    def _touch(row: _Known, table: type[ServiceAccount | ServiceSecret], key: str) -> None:
        now = int(time.time() * MICROS)
        if row.last_used_at is None or now - row.last_used_at > TOUCH_EVERY:
            with db.write() as session:
                session.execute(update(table).where(table.id == key).values(last_used_at=now))
                if table is ServiceSecret:
                    mine = update(ServiceAccount).where(ServiceAccount.id == row.account)
                    session.execute(mine.values(last_used_at=now))


def _bearer(token_id: str, row: _Known, organization: uuid.UUID | None, rights: smart.Rights) -> Bearer:
    return Bearer(token_id, "", _is(row.organization, organization), rights, row.account, strict=not row.lenient)


def _is(stored: Any, organization: uuid.UUID | None) -> bool:
    """Return True where a column of UUIDs, as the driver gives it, holds this one."""
    return organization is not None and str(stored).replace("-", "") == organization.hex
