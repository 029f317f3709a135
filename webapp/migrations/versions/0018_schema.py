"""Accounts, sign-in, documents with their words and changes, programs, instructions: every table."""

import sqlalchemy as sa
from alembic import op

revision = "0018_relationship"  # the schema in its first release is that of the last of 18 steps that led to it
down_revision = None

TABLES = (
    "document_access",
    "one_time_code",
    "organization",
    "provider",
    "used_assertion",
    "user_account",
    "access_token",
    "allowed_origin",
    "audit_event",
    "browser_session",
    "document_change",
    "document_count",
    "identity",
    "instruction",
    "membership",
    "patient",
    "purged_document",
    "search_term",
    "service_account",
    "sign_in_attempt",
    "storage_clock",
    "waiting_binary",
    "document",
    "imaging_study",
    "patient_identifier",
    "service_secret",
    "document_term",
)
"""In the order in which they refer to each other."""


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "document_access",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False, server_default="DocumentReference"),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid()),
        sa.Column("token_id", sa.String(length=16)),
        sa.Column("how", sa.String(length=20), nullable=False),
        sa.Column("address", sa.String(length=45), nullable=False),
    )
    op.create_index("ix_document_access_at", "document_access", ["organization_id", "at"])
    op.create_index("ix_document_access_document", "document_access", ["organization_id", "document_id", "at"])
    op.create_table(
        "one_time_code",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("pending_hash", sa.String(length=64), nullable=False),
        sa.Column("address_hash", sa.String(length=64), nullable=False),
        sa.Column("ip_hash", sa.String(length=64), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("voided_at", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_one_time_code_address", "one_time_code", ["address_hash", "created_at"])
    op.create_index("ix_one_time_code_created_at", "one_time_code", ["created_at"])
    op.create_index("ix_one_time_code_ip_hash", "one_time_code", ["ip_hash"])
    op.create_index("ix_one_time_code_pending_hash", "one_time_code", ["pending_hash"])
    op.create_table(
        "organization",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("strict_search", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("client_ids", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("client_deletes", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "provider",
        sa.Column("id", sa.String(length=64), primary_key=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("authorization_url", sa.String(length=2000), nullable=False),
        sa.Column("token_url", sa.String(length=2000), nullable=False),
        sa.Column("userinfo_url", sa.String(length=2000), nullable=False),
        sa.Column("client_id", sa.String(length=500), nullable=False),
        sa.Column("client_secret_encrypted", sa.Text(), nullable=False),
        sa.Column("scopes", sa.String(length=1000), nullable=False),
        sa.Column(
            "token_auth_method",
            sa.Enum("post", "basic", name="tokenauthmethod", native_enum=False, length=10),
            nullable=False,
        ),
        sa.Column("issuer", sa.String(length=2000), nullable=False),
        sa.Column("own_callback", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("pkce", sa.Boolean(), nullable=False),
        sa.Column("trust_email", sa.Boolean(), nullable=False),
        sa.Column("basic_percent_encode", sa.Boolean(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "used_assertion",
        sa.Column("key", sa.LargeBinary(length=32), primary_key=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_used_assertion_expires_at", "used_assertion", ["expires_at"])
    op.create_table(
        "user_account",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("email_key", sa.String(length=254), nullable=False),
        sa.Column("email_verified_at", sa.DateTime(timezone=True)),
        sa.Column("given_name", sa.String(length=200), nullable=False),
        sa.Column("family_name", sa.String(length=200), nullable=False),
        sa.Column("preferred_username", sa.String(length=200), nullable=False),
        sa.Column("picture", sa.String(length=2000), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("email_key"),
    )
    op.create_table(
        "access_token",
        sa.Column("id", sa.String(length=16), primary_key=True),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_access_token_user_id", "access_token", ["user_id"])
    op.create_table(
        "allowed_origin",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("origin", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization_id", "origin"),
    )
    op.create_table(
        "audit_event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False, server_default="change"),
        sa.Column("event", sa.String(length=50), nullable=False),
        sa.Column("user_id", sa.Uuid()),
        sa.Column("actor", sa.String(length=254), nullable=False),
        sa.Column("provider_id", sa.String(length=64), nullable=False),
        sa.Column("detail", sa.String(length=300), nullable=False),
        sa.Column("ip", sa.String(length=50), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], ondelete="SET NULL"),
    )
    op.create_index("ix_audit_event_at", "audit_event", ["at"])
    op.create_index("ix_audit_event_kind", "audit_event", ["kind", "id"])
    op.create_index("ix_audit_event_user_id", "audit_event", ["user_id"])
    op.create_table(
        "browser_session",
        sa.Column("id_hash", sa.String(length=64), primary_key=True),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid()),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("browser", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("public_id"),
    )
    op.create_index("ix_browser_session_seen_at", "browser_session", ["seen_at"])
    op.create_index("ix_browser_session_user_id", "browser_session", ["user_id"])
    op.create_table(
        "document_change",
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("entered_in_error", sa.Boolean(), nullable=False),
        sa.Column("superseded", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("kept", sa.Text()),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("document_id", "version"),
    )
    op.create_index("ix_document_change_at", "document_change", ["organization_id", "at", "number"])
    op.create_table(
        "document_count",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("entered_in_error", sa.Boolean(), nullable=False),
        sa.Column("superseded", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("content_type", sa.String(length=127), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization_id", "day", "entered_in_error", "superseded", "content_type"),
    )
    op.create_table(
        "identity",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("provider_id", sa.String(length=64), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("signed_in_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["provider_id"], ["provider.id"]),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("provider_id", "subject"),
    )
    op.create_index("ix_identity_user_id", "identity", ["user_id"])
    op.create_table(
        "instruction",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.String(length=80), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("user_id", "title"),
    )
    op.create_table(
        "membership",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Enum("member", "operator", name="role", native_enum=False, length=20), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("user_id", "organization_id"),
    )
    op.create_index("ix_membership_organization_id", "membership", ["organization_id"])
    op.create_table(
        "patient",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("resource", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_patient_organization_id", "patient", ["organization_id", "stored_at", "id"])
    op.create_table(
        "purged_document",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("purged_at", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_purged_document_organization_id", "purged_document", ["organization_id"])
    op.create_table(
        "search_term",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column(
            "term", sa.String(length=255, collation="C").with_variant(sa.String(length=255), "sqlite"), nullable=False
        ),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_search_term", "search_term", ["organization_id", "kind", "term", "owner"])
    op.create_index("ix_search_term_owner", "search_term", ["owner"])
    op.create_table(
        "service_account",
        sa.Column("id", sa.String(length=16), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("scopes", sa.String(length=500), nullable=False),
        sa.Column("jwks_url", sa.String(length=2000), nullable=False),
        sa.Column("jwks", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("lenient", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_service_account_organization_id", "service_account", ["organization_id"])
    op.create_table(
        "sign_in_attempt",
        sa.Column("state_hash", sa.String(length=64), primary_key=True),
        sa.Column("browser_hash", sa.String(length=64), nullable=False),
        sa.Column("provider_id", sa.String(length=64), nullable=False),
        sa.Column("code_verifier", sa.String(length=128), nullable=False),
        sa.Column("next_path", sa.String(length=2000), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["provider_id"], ["provider.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_sign_in_attempt_created_at", "sign_in_attempt", ["created_at"])
    op.create_table(
        "storage_clock",
        sa.Column("organization_id", sa.Uuid(), primary_key=True),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), nullable=False, server_default="0"),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "waiting_binary",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("content_type", sa.String(length=127), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_waiting_binary_created_at", "waiting_binary", ["created_at"])
    op.create_index("ix_waiting_binary_organization_id", "waiting_binary", ["organization_id"])
    op.create_table(
        "document",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("patient_id", sa.Uuid()),
        sa.Column("external_system", sa.String(length=500)),
        sa.Column("external_value", sa.String(length=255)),
        sa.Column("entered_in_error", sa.Boolean(), nullable=False),
        sa.Column("superseded", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("version", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("content_type", sa.String(length=127), nullable=False),
        sa.Column("title", sa.String(length=255), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("import_key", sa.LargeBinary(length=32)),
        sa.Column("import_line", sa.LargeBinary(length=32)),
        sa.Column("details", sa.Text()),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["patient_id"], ["patient.id"]),
        sa.UniqueConstraint("organization_id", "import_key"),
    )
    op.create_index(
        "ix_document_external",
        "document",
        ["organization_id", "external_value", "external_system", "stored_at", "id"],
        postgresql_where=sa.text("external_value IS NOT NULL"),
        sqlite_where=sa.text("external_value IS NOT NULL"),
    )
    op.create_index(
        "ix_document_import_line",
        "document",
        ["organization_id", "import_line"],
        postgresql_where=sa.text("import_line IS NOT NULL"),
        sqlite_where=sa.text("import_line IS NOT NULL"),
    )
    op.create_index("ix_document_newest", "document", ["organization_id", "stored_at", "id"])
    op.create_index(
        "ix_document_patient", "document", ["organization_id", "patient_id", "stored_at", "id", "entered_in_error"]
    )
    op.create_index(
        "ix_document_replaced",
        "document",
        ["organization_id", "stored_at", "id"],
        postgresql_where=sa.text("superseded"),
        sqlite_where=sa.text("superseded = 1"),
    )
    op.create_index(
        "ix_document_status",
        "document",
        ["organization_id", "stored_at", "id"],
        postgresql_where=sa.text("entered_in_error"),
        sqlite_where=sa.text("entered_in_error = 1"),
    )
    op.create_index(
        "ix_document_system",
        "document",
        ["organization_id", "external_system", "stored_at", "id"],
        postgresql_where=sa.text("external_value IS NOT NULL"),
        sqlite_where=sa.text("external_value IS NOT NULL"),
    )
    op.create_index("ix_document_type", "document", ["organization_id", "content_type", "stored_at", "id"])
    op.create_index(
        "ix_document_value",
        "document",
        ["organization_id", "external_value", "stored_at", "id"],
        postgresql_where=sa.text("external_value IS NOT NULL"),
        sqlite_where=sa.text("external_value IS NOT NULL"),
    )
    op.create_table(
        "imaging_study",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("patient_id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("resource", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["patient_id"], ["patient.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_imaging_study_patient", "imaging_study", ["patient_id", "stored_at", "id"])
    op.create_table(
        "patient_identifier",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("patient_id", sa.Uuid(), nullable=False),
        sa.Column("system", sa.String(length=500), nullable=False),
        sa.Column("value", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["patient_id"], ["patient.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("organization_id", "value", "system"),
    )
    op.create_index("ix_patient_identifier_patient_id", "patient_identifier", ["patient_id"])
    op.create_table(
        "service_secret",
        sa.Column("id", sa.String(length=16), primary_key=True),
        sa.Column("account_id", sa.String(length=16), nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["account_id"], ["service_account.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_service_secret_account_id", "service_secret", ["account_id"])
    op.create_table(
        "document_term",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column(
            "term", sa.String(length=255, collation="C").with_variant(sa.String(length=255), "sqlite"), nullable=False
        ),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("organization_id", "kind", "term", "stored_at", "document_id"),
    )
    op.create_index("ix_document_term_document_id", "document_term", ["document_id"])


def downgrade() -> None:
    """Drop the tables."""
    for table in reversed(TABLES):
        op.drop_table(table)
