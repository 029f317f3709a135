"""Tables that every part of the webapp stands on: accounts, organizations, sessions of browsers, the audit trail.

Those of vendor sign-in are in `webapp.sso.models`, of documents in `webapp.fhir.models`; all share this `Base`, so that
one Alembic history describes the whole database.
"""

import enum
import uuid
from datetime import UTC, datetime
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from flask_login import UserMixin
from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    Enum,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    select,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
EMAIL_LENGTH = 254  # RFC 5321: the longest address that fits a path
NAME_LENGTH = 200
DIGEST_LENGTH = 64  # SHA-256 or HMAC-SHA-256 in hex
_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
PROVIDER_ID_LENGTH = 64


def utcnow() -> datetime:
    """Now, in UTC, with microseconds."""
    return datetime.now(UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: aware in Python, always UTC; `timestamptz` on PostgreSQL, naive UTC text on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive datetimes: they would mean something else on every machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime was given; expected an aware one; use models.utcnow()")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Give the zone back that SQLite dropped."""
        if value is None:
            return None
        instant: datetime = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return instant


class Base(DeclarativeBase):
    """Declarative base; the naming convention lets Alembic change constraints on both databases."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: UtcDateTime(), uuid.UUID: Uuid()}  # noqa: RUF012 - read by SQLAlchemy, not ours


class Role(enum.StrEnum):
    """The rights of a member; an operator also sees providers and the audit trail."""

    MEMBER = "member"
    OPERATOR = "operator"


def email_key(email: str) -> str:
    """The comparison key of an address: ASCII letters in lower case, nothing else folded. Unicode case folding
    would make one address of two different mailboxes ("ß" and "ss", dotless i) and hand one person's account to
    another."""
    return email.translate(_ASCII_LOWER)


class User(UserMixin, Base):  # type: ignore[misc] # Flask-Login has no types
    """A person with an account. `email_key` is the address as it is compared."""

    __tablename__ = "user_account"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    email: Mapped[str] = mapped_column(String(EMAIL_LENGTH))
    email_key: Mapped[str] = mapped_column(String(EMAIL_LENGTH), unique=True)
    email_verified_at: Mapped[datetime | None]
    given_name: Mapped[str] = mapped_column(String(NAME_LENGTH), default="")
    family_name: Mapped[str] = mapped_column(String(NAME_LENGTH), default="")
    preferred_username: Mapped[str] = mapped_column(String(NAME_LENGTH), default="")
    picture: Mapped[str] = mapped_column(String(2000), default="")  # a URL, never fetched by the server
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    memberships: Mapped[list["Membership"]] = relationship(back_populates="user", cascade="all, delete-orphan")

    @classmethod
    def of(cls, session: Session, email: str) -> "User | None":
        """The person with that address."""
        return session.scalars(select(cls).where(cls.email_key == email_key(email.strip()))).one_or_none()

    @property
    def is_active(self) -> bool:
        """True when the account may sign in (asked by Flask-Login)."""
        return self.active

    @property
    def name(self) -> str:
        """Given and family name, else the preferred username, else the address."""
        return f"{self.given_name} {self.family_name}".strip() or self.preferred_username or self.email

    @property
    def is_operator(self) -> bool:
        """True when any membership makes this person an operator."""
        return any(membership.role is Role.OPERATOR for membership in self.memberships)


class Organization(Base):
    """An organization whose documents are kept apart from all others; its id is part of its FHIR base URL."""

    __tablename__ = "organization"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH), unique=True)
    strict_search: Mapped[bool] = mapped_column(default=False)  # of people's tokens over FHIR, unless a call says else
    client_ids: Mapped[bool] = mapped_column(default=False)  # programs may choose the ids of what they store (PUT)
    client_deletes: Mapped[bool] = mapped_column(default=False)  # programs may delete documents for good
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    memberships: Mapped[list["Membership"]] = relationship(back_populates="organization", cascade="all, delete-orphan")


class Membership(Base):
    """A person belongs to an organization, in one role."""

    __tablename__ = "membership"
    __table_args__ = (UniqueConstraint("user_id", "organization_id"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    organization_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organization.id", ondelete="CASCADE"), index=True)
    role: Mapped[Role] = mapped_column(
        Enum(Role, native_enum=False, length=20, values_callable=lambda roles: [role.value for role in roles]),
        default=Role.MEMBER,
    )
    created_at: Mapped[datetime] = mapped_column(default=utcnow)

    user: Mapped[User] = relationship(back_populates="memberships")
    organization: Mapped[Organization] = relationship(back_populates="memberships")


class BrowserSession(Base):
    """A server-side session; the cookie holds the id, the table only its SHA-256."""

    __tablename__ = "browser_session"

    id_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH), primary_key=True)
    public_id: Mapped[uuid.UUID] = mapped_column(unique=True, default=uuid.uuid4)  # names it on the account page
    user_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    data: Mapped[str] = mapped_column(Text)
    browser: Mapped[str] = mapped_column(String(100), default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    seen_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)


class AuditEvent(Base):
    """A row of the audit trail: person, event, time and shortened IP. Never a token, a secret or a code."""

    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_kind", "kind", "id"),)

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
    kind: Mapped[str] = mapped_column(String(20), default="change")  # see `webapp.audit.KINDS`
    event: Mapped[str] = mapped_column(String(50))
    user_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"), index=True)
    actor: Mapped[str] = mapped_column(String(EMAIL_LENGTH), default="")
    provider_id: Mapped[str] = mapped_column(String(PROVIDER_ID_LENGTH), default="")
    detail: Mapped[str] = mapped_column(String(300), default="")
    ip: Mapped[str] = mapped_column(String(50), default="")
