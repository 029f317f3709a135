"""Tables of vendor sign-in: providers, identities, attempts, one-time codes."""

import enum
import uuid
from datetime import datetime

from sqlalchemy import Enum, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from webapp.models import DIGEST_LENGTH, NAME_LENGTH, PROVIDER_ID_LENGTH, Base, User, utcnow

SUBJECT_LENGTH = 255  # OpenID Connect Core, section 2: `sub` has at most 255 ASCII characters


class TokenAuthMethod(enum.StrEnum):
    """The way of sending the client credentials to the token endpoint (contract, section 5)."""

    POST = "post"
    BASIC = "basic"


class Provider(Base):
    """One configured vendor (contract, section 2). The client secret is only ever here, encrypted."""

    __tablename__ = "provider"

    id: Mapped[str] = mapped_column(String(PROVIDER_ID_LENGTH), primary_key=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    authorization_url: Mapped[str] = mapped_column(String(2000))
    token_url: Mapped[str] = mapped_column(String(2000))
    userinfo_url: Mapped[str] = mapped_column(String(2000))
    client_id: Mapped[str] = mapped_column(String(500))
    client_secret_encrypted: Mapped[str] = mapped_column(Text)
    scopes: Mapped[str] = mapped_column(String(1000), default="openid email profile")
    token_auth_method: Mapped[TokenAuthMethod] = mapped_column(
        Enum(TokenAuthMethod, native_enum=False, length=10, values_callable=lambda methods: [m.value for m in methods]),
        default=TokenAuthMethod.POST,
    )
    issuer: Mapped[str] = mapped_column(String(2000), default="")  # when set, `iss` must be there and equal (RFC 9207)
    own_callback: Mapped[bool] = mapped_column(default=False)  # RFC 9700, 4.4.2.2: a redirect URI no other vendor has
    pkce: Mapped[bool] = mapped_column(default=True)
    trust_email: Mapped[bool] = mapped_column(default=True)
    basic_percent_encode: Mapped[bool] = mapped_column(default=False)  # RFC 6749, 2.3.1, for servers that demand it
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    updated_at: Mapped[datetime] = mapped_column(default=utcnow, onupdate=utcnow)


class Identity(Base):
    """A person at a vendor. The key is (provider, subject); the e-mail address of the vendor is no key."""

    __tablename__ = "identity"
    __table_args__ = (UniqueConstraint("provider_id", "subject"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    provider_id: Mapped[str] = mapped_column(ForeignKey("provider.id"))
    subject: Mapped[str] = mapped_column(String(SUBJECT_LENGTH))
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    linked_at: Mapped[datetime] = mapped_column(default=utcnow)
    signed_in_at: Mapped[datetime] = mapped_column(default=utcnow)

    provider: Mapped[Provider] = relationship()
    user: Mapped[User] = relationship()


class SignInAttempt(Base):
    """A sign-in that left for the vendor. The row is deleted by the callback that uses it, so it works once.

    `state_hash` finds it, `browser_hash` ties it to the browser that left (a cookie of this attempt alone, so that
    several tabs never disturb each other).
    """

    __tablename__ = "sign_in_attempt"

    state_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH), primary_key=True)
    browser_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH))
    provider_id: Mapped[str] = mapped_column(ForeignKey("provider.id", ondelete="CASCADE"))
    code_verifier: Mapped[str] = mapped_column(String(128), default="")
    next_path: Mapped[str] = mapped_column(String(2000), default="")
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)


class OneTimeCode(Base):
    """A code sent to an address, kept as an HMAC, bound to a pending sign-in and its address; void when `voided_at`."""

    __tablename__ = "one_time_code"
    __table_args__ = (Index("ix_one_time_code_address", "address_hash", "created_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    pending_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH), index=True)
    address_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH))
    ip_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH), index=True)
    code_hash: Mapped[str] = mapped_column(String(DIGEST_LENGTH))
    tries: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
    voided_at: Mapped[datetime | None]
