"""Whether a program may call: its secret `bfs_<id>_<secret>`, or an access token that one of its keys has earned.

As with the tokens of people, nothing is cached: a revoked secret or an account that was switched off is refused by the
next call. An access token is a signed note (JWT, HS256) for five minutes; the account behind it is looked up each time.
"""

import hashlib
import hmac
import secrets
import time
import uuid
from typing import Any

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
_NO_SECRET = bytes(32)


class Machines:
    """Checks programs against one database."""

    def __init__(self, reader: Reader, secret: str) -> None:
        self._reader = reader
        self._key = OctKey.import_key(hashlib.sha256(b"befund service token\0" + secret.encode()).digest())
        account = (
            ServiceAccount.id, ServiceAccount.organization_id, ServiceAccount.scopes, ServiceAccount.active,
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
        """Whether an `Authorization` header names a program rather than a person."""
        return header.partition(" ")[2].lstrip().startswith((f"{PREFIX}_", "ey"))

    def check(self, header: str, organization: uuid.UUID | None) -> Bearer | None:
        """The program a header names, None when what it shows is unknown, over or revoked."""
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token.strip()
        return self._signed(token, organization) if token.startswith("ey") else self._secret(token, organization)

    def stands(self, token_id: str, organization: uuid.UUID) -> str | None:
        """ "" while a secret or account of that id is good for the organization; None once any of it ended."""
        for statement, name in ((self._by_secret, "secret"), (self._itself, "account")):
            for row in self._reader.rows(statement, {name: token_id}):
                over = row[5] is not None and row[5] <= time.time() * MICROS
                return "" if row[3] and row[7] and not over and _is(row[1], organization) else None
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
        row = rows[0] if rows else ("", "", "", False, _NO_SECRET, 0, None, False)
        genuine = hmac.compare_digest(given, row[4])
        if not (genuine and row[3] and row[7] and row[5] > time.time() * MICROS):
            return None
        self._touch(row, ServiceSecret, secret_id)
        return Bearer(secret_id, "", _is(row[1], organization), smart.rights(row[2]), row[0])

    def _signed(self, token: str, organization: uuid.UUID | None) -> Bearer | None:
        try:
            claims: dict[str, Any] = jwt.decode(token, self._key, algorithms=["HS256"]).claims
        except (JoseError, ValueError):
            return None
        if not isinstance(claims.get("exp"), int) or claims["exp"] <= time.time():
            return None
        rows = self._reader.rows(self._itself, {"account": str(claims.get("sub", ""))})
        if not rows or not rows[0][3]:
            return None
        row = rows[0]
        self._touch(row, ServiceAccount, row[0])
        rights = smart.rights(str(claims.get("scope", ""))) & smart.rights(row[2])
        return Bearer(row[0], "", _is(row[1], organization), rights, row[0])

    @staticmethod
    def _touch(row: Any, table: type[ServiceAccount | ServiceSecret], key: str) -> None:
        now = int(time.time() * MICROS)
        if row[6] is None or now - row[6] > TOUCH_EVERY:
            with db.write() as session:
                session.execute(update(table).where(table.id == key).values(last_used_at=now))
                if table is ServiceSecret:
                    mine = update(ServiceAccount).where(ServiceAccount.id == row[0])
                    session.execute(mine.values(last_used_at=now))


def _is(stored: Any, organization: uuid.UUID | None) -> bool:
    """Whether a column of UUIDs, as the driver gives it, holds this one."""
    return organization is not None and str(stored).replace("-", "") == organization.hex
