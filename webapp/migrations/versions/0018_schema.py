"""Accounts, sign-in, documents with their words and changes, programs, instructions: every table."""

from functools import partial
from typing import Any

import sqlalchemy as sa
from alembic import op

from webapp.models import NAMING

revision = "0018_relationship"  # the schema in its first release is that of the last of 18 steps that led to it
down_revision = None

SCHEMA = sa.MetaData(naming_convention=NAMING)
NUMBER, INSTANT, TEXT = sa.BigInteger(), sa.DateTime(timezone=True), sa.Text()
COUNTED = NUMBER.with_variant(sa.Integer(), "sqlite")  # SQLite numbers rows by itself only in an INTEGER primary key
SHA256 = sa.LargeBinary(length=32)
WORD = sa.String(length=255, collation="C").with_variant(sa.String(length=255), "sqlite")
column = partial(sa.Column, nullable=False)
key = partial(sa.Column, primary_key=True)


def table(name: str, *parts: Any) -> None:
    """One table, as it is at this revision whatever the models say later."""
    sa.Table(name, SCHEMA, *parts)


def texts(**longest: int) -> list[Any]:
    """Columns of texts that have so many characters at most."""
    return [column(name, sa.String(length=length)) for name, length in longest.items()]


def flags(*names: str, **more: Any) -> list[Any]:
    """Columns of what is true or false."""
    return [column(name, sa.Boolean(), **more) for name in names]


def owned(name: str, by: str, **more: Any) -> Any:
    """A column with the id of the row with which this one ends."""
    return column(name, sa.ForeignKey(f"{by}.id", ondelete="CASCADE"), **more)


def partly(name: str, *columns: str, where: str, sqlite: str = "") -> sa.Index:
    """An index over the rows for which that holds."""
    return sa.Index(name, *columns, postgresql_where=sa.text(where), sqlite_where=sa.text(sqlite or where))


off = partial(flags, server_default=sa.false())
mine = partial(owned, "organization_id", "organization")

table(
    "document_access",
    key("id", COUNTED, autoincrement=True),
    column("at", INSTANT),
    column("organization_id", sa.Uuid()),
    column("kind", sa.String(length=20), server_default="DocumentReference"),
    column("document_id", sa.Uuid()),
    sa.Column("user_id", sa.Uuid()),
    sa.Column("token_id", sa.String(length=16)),
    *texts(how=20, address=45),
    sa.Index("ix_document_access_at", "organization_id", "at"),
    sa.Index("ix_document_access_document", "organization_id", "document_id", "at"),
)
table(
    "one_time_code",
    key("id", sa.Uuid()),
    column("pending_hash", sa.String(length=64), index=True),
    *texts(address_hash=64),
    column("ip_hash", sa.String(length=64), index=True),
    *texts(code_hash=64),
    column("tries", sa.Integer()),
    column("created_at", INSTANT, index=True),
    sa.Column("voided_at", INSTANT),
    sa.Index("ix_one_time_code_address", "address_hash", "created_at"),
)
table(
    "organization",
    key("id", sa.Uuid()),
    column("name", sa.String(length=200), unique=True),
    *off("strict_search", "client_ids", "client_deletes"),
    column("created_at", INSTANT),
)
table(
    "provider",
    key("id", sa.String(length=64)),
    *texts(name=200, authorization_url=2000, token_url=2000, userinfo_url=2000, client_id=500),
    column("client_secret_encrypted", TEXT),
    *texts(scopes=1000),
    column("token_auth_method", sa.Enum("post", "basic", name="tokenauthmethod", native_enum=False, length=10)),
    *texts(issuer=2000),
    *off("own_callback"),
    *flags("pkce", "trust_email", "basic_percent_encode", "active"),
    column("created_at", INSTANT),
    column("updated_at", INSTANT),
)
table("used_assertion", key("key", SHA256), column("expires_at", NUMBER, index=True))
table(
    "user_account",
    key("id", sa.Uuid()),
    *texts(email=254),
    column("email_key", sa.String(length=254), unique=True),
    sa.Column("email_verified_at", INSTANT),
    *texts(given_name=200, family_name=200, preferred_username=200, picture=2000),
    *flags("active"),
    column("created_at", INSTANT),
)
table(
    "access_token",
    key("id", sa.String(length=16)),
    owned("user_id", "user_account", index=True),
    *texts(name=200),
    column("secret_sha256", SHA256),
    column("created_at", INSTANT),
    column("expires_at", NUMBER),
    sa.Column("revoked_at", INSTANT),
)
table("allowed_origin", mine(primary_key=True), key("origin", sa.String(length=255)))
table(
    "audit_event",
    key("id", COUNTED),
    column("at", INSTANT, index=True),
    column("kind", sa.String(length=20), server_default="change"),
    *texts(event=50),
    sa.Column("user_id", sa.ForeignKey("user_account.id", ondelete="SET NULL"), index=True),
    *texts(actor=254, provider_id=64, detail=300, ip=50),
    sa.Index("ix_audit_event_kind", "kind", "id"),
)
table(
    "browser_session",
    key("id_hash", sa.String(length=64)),
    column("public_id", sa.Uuid(), unique=True),
    sa.Column("user_id", sa.ForeignKey("user_account.id", ondelete="CASCADE"), index=True),
    column("data", TEXT),
    *texts(browser=100),
    column("created_at", INSTANT),
    column("seen_at", INSTANT, index=True),
)
table(
    "document_change",
    key("document_id", sa.Uuid()),
    key("version", sa.Integer(), autoincrement=False),
    mine(),
    column("at", NUMBER),
    column("number", NUMBER),
    *flags("entered_in_error"),
    *off("superseded"),
    *flags("deleted"),
    sa.Column("kept", TEXT),
    sa.Index("ix_document_change_at", "organization_id", "at", "number"),
)
table(
    "document_count",
    mine(primary_key=True),
    key("day", sa.Integer()),
    *flags("entered_in_error", primary_key=True),
    *off("superseded", primary_key=True),
    key("content_type", sa.String(length=127)),
    column("number", NUMBER),
)
table(
    "identity",
    key("id", sa.Uuid()),
    column("provider_id", sa.ForeignKey("provider.id")),
    *texts(subject=255),
    owned("user_id", "user_account", index=True),
    column("linked_at", INSTANT),
    column("signed_in_at", INSTANT),
    sa.UniqueConstraint("provider_id", "subject"),
)
table(
    "instruction",
    key("id", sa.Uuid()),
    owned("user_id", "user_account"),
    *texts(title=80),
    column("prompt", TEXT),
    column("created_at", INSTANT),
    sa.UniqueConstraint("user_id", "title"),
)
table(
    "membership",
    key("id", sa.Uuid()),
    owned("user_id", "user_account"),
    mine(index=True),
    column("role", sa.Enum("member", "operator", name="role", native_enum=False, length=20)),
    column("created_at", INSTANT),
    sa.UniqueConstraint("user_id", "organization_id"),
)
table(
    "patient",
    key("id", sa.Uuid()),
    mine(),
    column("stored_at", NUMBER),
    column("resource", sa.JSON()),
    sa.Index("ix_patient_organization_id", "organization_id", "stored_at", "id"),
)
table(
    "purged_document",
    key("id", sa.Uuid()),
    mine(index=True),
    column("stored_at", NUMBER),
    column("purged_at", NUMBER),
    *texts(reason=200),
)
table(
    "search_term",
    key("id", COUNTED, autoincrement=True),
    mine(),
    column("owner", sa.Uuid(), index=True),
    *texts(kind=20),
    column("term", WORD),
    sa.Index("ix_search_term", "organization_id", "kind", "term", "owner"),
)
table(
    "service_account",
    key("id", sa.String(length=16)),
    mine(index=True),
    *texts(name=200, scopes=500, jwks_url=2000),
    column("jwks", TEXT),
    *flags("active"),
    *off("lenient"),
    column("created_at", INSTANT),
    sa.Column("last_used_at", NUMBER),
)
table(
    "sign_in_attempt",
    key("state_hash", sa.String(length=64)),
    *texts(browser_hash=64),
    owned("provider_id", "provider"),
    *texts(code_verifier=128, next_path=2000),
    column("created_at", INSTANT, index=True),
)
table("storage_clock", mine(primary_key=True), column("last", NUMBER), column("changes", NUMBER, server_default="0"))
table(
    "waiting_binary",
    key("id", sa.Uuid()),
    mine(index=True),
    *texts(content_type=127),
    column("size", NUMBER),
    column("sha256", SHA256),
    column("created_at", INSTANT, index=True),
)
table(
    "document",
    key("id", sa.Uuid()),
    mine(),
    sa.Column("patient_id", sa.ForeignKey("patient.id")),
    sa.Column("external_system", sa.String(length=500)),
    sa.Column("external_value", sa.String(length=255)),
    *flags("entered_in_error"),
    *off("superseded"),
    column("version", sa.Integer(), server_default="1"),
    *texts(content_type=127, title=255),
    column("size", NUMBER),
    column("sha256", SHA256),
    column("stored_at", NUMBER),
    sa.Column("import_key", SHA256),
    sa.Column("import_line", SHA256),
    sa.Column("details", TEXT),
    sa.UniqueConstraint("organization_id", "import_key"),
    *(
        partly(name, "organization_id", *columns, "stored_at", "id", where="external_value IS NOT NULL")
        for name, *columns in (
            ("ix_document_external", "external_value", "external_system"),
            ("ix_document_system", "external_system"),
            ("ix_document_value", "external_value"),
        )
    ),
    partly("ix_document_import_line", "organization_id", "import_line", where="import_line IS NOT NULL"),
    *(
        partly(name, "organization_id", "stored_at", "id", where=fact, sqlite=f"{fact} = 1")
        for name, fact in (("ix_document_replaced", "superseded"), ("ix_document_status", "entered_in_error"))
    ),
    sa.Index("ix_document_newest", "organization_id", "stored_at", "id"),
    sa.Index("ix_document_patient", "organization_id", "patient_id", "stored_at", "id", "entered_in_error"),
    sa.Index("ix_document_type", "organization_id", "content_type", "stored_at", "id"),
)
table(
    "imaging_study",
    key("id", sa.Uuid()),
    mine(),
    owned("patient_id", "patient"),
    column("stored_at", NUMBER),
    column("resource", sa.JSON()),
    sa.Index("ix_imaging_study_patient", "patient_id", "stored_at", "id"),
)
table(
    "patient_identifier",
    key("id", COUNTED, autoincrement=True),
    mine(),
    owned("patient_id", "patient", index=True),
    *texts(system=500, value=255),
    sa.UniqueConstraint("organization_id", "value", "system"),
)
table(
    "service_secret",
    key("id", sa.String(length=16)),
    owned("account_id", "service_account", index=True),
    column("secret_sha256", SHA256),
    column("created_at", INSTANT),
    column("expires_at", NUMBER),
    sa.Column("last_used_at", NUMBER),
    sa.Column("revoked_at", INSTANT),
)
table(
    "document_term",
    mine(primary_key=True),
    key("kind", sa.String(length=20)),
    key("term", WORD),
    key("stored_at", NUMBER),
    owned("document_id", "document", primary_key=True, index=True),
)


def upgrade() -> None:
    """Create the tables."""
    SCHEMA.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    SCHEMA.drop_all(op.get_bind(), checkfirst=False)
