"""Tables of service accounts: programs of one organization that belong to no person."""

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from webapp.models import NAME_LENGTH, Base, Organization, utcnow

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
