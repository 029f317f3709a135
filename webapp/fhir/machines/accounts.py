"""Service accounts (programs of one organization that belong to no person) as an operator keeps them: made, given
secrets and keys, switched off. Each change is audited.

All functions take a session of `db.write()` and leave committing to it.
"""

import secrets
import time
import uuid
from collections.abc import Sequence
from datetime import datetime

import orjson
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, Text, select
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship, selectinload

from clinical.errors import SettingError
from webapp import audit
from webapp.fhir.dates import MICROS
from webapp.fhir.machines import scopes as smart
from webapp.fhir.tokens import minted, state
from webapp.models import NAME_LENGTH, Base, Organization, User, utcnow
from webapp.wire import url_problem

PREFIX = "bfs"
DAYS = 180
WARN_DAYS = 30  # time for an operator to give a new secret to a program and see it used
SECRETS_AT_MOST = 5  # living ones: two while they are changed; more are forgotten ones
LARGEST_KEYS = 64 * 1024  # characters; a key of 4096 bits has 800
SCOPES_LENGTH = 500


class ServiceAccount(Base):
    """A program that may call an organization's FHIR base. Its id is its `client_id` (SMART Backend Services); it
    begins with an `s`, which no token of a person does, so that links and logs tell them apart."""

    __tablename__ = "service_account"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    organization_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organization.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    scopes: Mapped[str] = mapped_column(String(SCOPES_LENGTH))  # system/Type.cruds, by single spaces
    jwks_url: Mapped[str] = mapped_column(String(2000), default="")
    jwks: Mapped[str] = mapped_column(Text, default="")  # uploaded public keys (RFC 7517), when there is no URL
    active: Mapped[bool] = mapped_column(default=True)
    lenient: Mapped[bool] = mapped_column(default=False)  # what is not understood in a search is left out, not refused
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    last_used_at: Mapped[int | None] = mapped_column(BigInteger)  # microseconds; written at most once in a while

    organization: Mapped[Organization] = relationship()
    secrets: Mapped[list["ServiceSecret"]] = relationship(
        cascade="all, delete-orphan", order_by="ServiceSecret.created_at"
    )


class ServiceSecret(Base):
    """A bearer secret `bfs_<id>_<secret>` of a service account; only its SHA-256 is kept. An account has several, so
    that a new one is in use before the old one ends."""

    __tablename__ = "service_secret"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("service_account.id", ondelete="CASCADE"), index=True)
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[int] = mapped_column(BigInteger)  # microseconds
    last_used_at: Mapped[int | None] = mapped_column(BigInteger)
    revoked_at: Mapped[datetime | None]


class UsedAssertion(Base):
    """A signed assertion that was traded for a token: each works once (RFC 7523, section 3, `jti`)."""

    __tablename__ = "used_assertion"

    key: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)  # SHA-256 of client id and `jti`
    expires_at: Mapped[int] = mapped_column(BigInteger, index=True)


def create(
    session: Session, organization: uuid.UUID, name: str, scopes: str = smart.DEFAULT, *, by: User | None = None
) -> ServiceAccount:
    """A new account without secrets and keys. Raises SettingError."""
    found = session.get_one(Organization, organization)
    if not name.strip() or not name.isprintable() or len(name) > NAME_LENGTH:
        raise SettingError("the name of the service account", f"one line of at most {NAME_LENGTH} characters")
    if wrong := smart.problem(scopes):
        raise SettingError(wrong)
    account = ServiceAccount(id=_new_id(), organization_id=organization, name=name.strip(), scopes=scopes)
    session.add(account)
    session.flush()
    audit.record(session, "service_added", user=by, detail=f"{account.id} for {found.name}: {scopes}")
    return account


def find(session: Session, account: str) -> ServiceAccount:
    """The account of that id. Raises SettingError."""
    row = session.get(ServiceAccount, account)
    if row is None:
        raise SettingError(f"there is no service account {account}", "", "see: flask --app webapp services list")
    return row


def all_accounts(session: Session) -> Sequence[ServiceAccount]:
    """All of them with their secrets, by organization and name."""
    both = (selectinload(ServiceAccount.secrets), selectinload(ServiceAccount.organization))
    rows = select(ServiceAccount).join(Organization).options(*both)
    return session.scalars(rows.order_by(Organization.name, ServiceAccount.name, ServiceAccount.id)).all()


def add_secret(session: Session, account: ServiceAccount, days: int = DAYS, *, by: User | None = None) -> str:
    """A new secret beside those that are there; its text, which is told only now. Raises SettingError."""
    if len(living(account)) >= SECRETS_AT_MOST:
        raise SettingError(
            f"{account.id} has {SECRETS_AT_MOST} valid secrets", "", "revoke one that is not used any more"
        )
    text, columns = minted(PREFIX, _new_id(), days)
    row = ServiceSecret(account_id=account.id, **columns)
    account.secrets.append(row)
    session.flush()
    audit.record(session, "service_secret_added", user=by, detail=f"{row.id} of {account.id}")
    return text


def revoke_secret(session: Session, account: ServiceAccount, secret: str, *, by: User | None = None) -> bool:
    """End a secret at once; whether the account had such a one that was valid."""
    row = next((one for one in living(account) if one.id == secret), None)
    if row is None:
        return False
    row.revoked_at = utcnow()
    audit.record(session, "service_secret_revoked", user=by, detail=f"{row.id} of {account.id}")
    return True


def set_keys(
    session: Session, account: ServiceAccount, *, url: str = "", jwks: str = "", by: User | None = None
) -> None:
    """Set the account's public keys: at a URL, or uploaded as a JSON Web Key Set. Raises SettingError."""
    if bool(url) == bool(jwks):
        raise SettingError("the keys of a service account", "either a URL or an uploaded key set")
    if url and (wrong := url_problem(url)):
        raise SettingError(f"the key set's URL: {wrong}")
    if jwks:
        checked_keys(jwks)
    account.jwks_url, account.jwks = url, jwks
    audit.record(session, "service_keys_set", user=by, detail=f"of {account.id}, {'by URL' if url else 'uploaded'}")


def set_scopes(session: Session, account: ServiceAccount, scopes: str, *, by: User | None = None) -> None:
    """Change what an account may do, from its next call on. Raises SettingError."""
    if wrong := smart.problem(scopes):
        raise SettingError(wrong)
    account.scopes = scopes
    audit.record(session, "service_scopes_set", user=by, detail=f"of {account.id}: {scopes}")


def set_active(session: Session, account: ServiceAccount, active: bool, *, by: User | None = None) -> None:
    """Switch an account on or off; what it holds works, or stops, with the next call."""
    account.active = active
    audit.record(session, "service_activated" if active else "service_deactivated", user=by, detail=account.id)


def set_lenient(session: Session, account: ServiceAccount, lenient: bool, *, by: User | None = None) -> None:
    """Set whether an account's searches leave out what is not understood, from its next call on."""
    account.lenient = lenient
    audit.record(session, "service_handling_set", user=by, detail=f"of {account.id}: {handling(account)}")


def handling(account: ServiceAccount) -> str:
    """`strict` or `lenient`, as in `Prefer: handling=`."""
    return "lenient" if account.lenient else "strict"


def checked_keys(jwks: str) -> KeySet:
    """Public keys of a JSON Web Key Set (RFC 7517). Raises SettingError for anything else, and for private ones."""
    expected = "a JSON Web Key Set with public keys for RS384 or ES384"
    try:
        given = orjson.loads(jwks[:LARGEST_KEYS])  # which refuses depths
        if any("d" in key or key.get("kty") not in ("RSA", "EC") for key in given["keys"]) or not given["keys"]:
            raise SettingError("the key set holds private keys, or none that can be used", expected)
        return KeySet.import_key_set(given)
    except (ValueError, TypeError, KeyError, AttributeError, JoseError):
        raise SettingError("the key set cannot be read", expected) from None


def living(account: ServiceAccount) -> list[ServiceSecret]:
    """Secrets that are neither revoked nor over."""
    return [one for one in account.secrets if state(one) == "valid"]


def ends_soon(account: ServiceAccount) -> ServiceSecret | None:
    """The last secret of an account, when it ends within WARN_DAYS and no later one is there."""
    last = max(living(account), key=lambda one: one.expires_at, default=None)
    soon = (time.time() + WARN_DAYS * 24 * 3600) * MICROS
    return last if last is not None and last.expires_at < soon and account.active else None


def _new_id() -> str:
    return "s" + secrets.token_hex(6)
