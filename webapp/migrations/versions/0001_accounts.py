"""Accounts: people, organizations, vendor sign-in, sessions, audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0001_accounts"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "one_time_code",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("pending_hash", sa.String(length=64), nullable=False),
        sa.Column("address_hash", sa.String(length=64), nullable=False),
        sa.Column("ip_hash", sa.String(length=64), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("voided_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_one_time_code")),
    )
    op.create_index("ix_one_time_code_address", "one_time_code", ["address_hash", "created_at"], unique=False)
    op.create_index(op.f("ix_one_time_code_created_at"), "one_time_code", ["created_at"], unique=False)
    op.create_index(op.f("ix_one_time_code_ip_hash"), "one_time_code", ["ip_hash"], unique=False)
    op.create_index(op.f("ix_one_time_code_pending_hash"), "one_time_code", ["pending_hash"], unique=False)
    op.create_table(
        "organization",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organization")),
        sa.UniqueConstraint("name", name=op.f("uq_organization_name")),
    )
    op.create_table(
        "provider",
        sa.Column("id", sa.String(length=64), nullable=False),
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
        sa.Column("pkce", sa.Boolean(), nullable=False),
        sa.Column("trust_email", sa.Boolean(), nullable=False),
        sa.Column("basic_percent_encode", sa.Boolean(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider")),
    )
    op.create_table(
        "user_account",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("email_key", sa.String(length=254), nullable=False),
        sa.Column("email_verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("given_name", sa.String(length=200), nullable=False),
        sa.Column("family_name", sa.String(length=200), nullable=False),
        sa.Column("preferred_username", sa.String(length=200), nullable=False),
        sa.Column("picture", sa.String(length=2000), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_account")),
        sa.UniqueConstraint("email_key", name=op.f("uq_user_account_email_key")),
    )
    op.create_table(
        "audit_event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("event", sa.String(length=50), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("actor", sa.String(length=254), nullable=False),
        sa.Column("provider_id", sa.String(length=64), nullable=False),
        sa.Column("detail", sa.String(length=300), nullable=False),
        sa.Column("ip", sa.String(length=50), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_audit_event_user_id_user_account"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
    )
    op.create_index(op.f("ix_audit_event_at"), "audit_event", ["at"], unique=False)
    op.create_index(op.f("ix_audit_event_user_id"), "audit_event", ["user_id"], unique=False)
    op.create_table(
        "browser_session",
        sa.Column("id_hash", sa.String(length=64), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("browser", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_browser_session_user_id_user_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id_hash", name=op.f("pk_browser_session")),
        sa.UniqueConstraint("public_id", name=op.f("uq_browser_session_public_id")),
    )
    op.create_index(op.f("ix_browser_session_seen_at"), "browser_session", ["seen_at"], unique=False)
    op.create_index(op.f("ix_browser_session_user_id"), "browser_session", ["user_id"], unique=False)
    op.create_table(
        "identity",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.String(length=64), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("signed_in_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["provider_id"], ["provider.id"], name=op.f("fk_identity_provider_id_provider")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_identity_user_id_user_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity")),
        sa.UniqueConstraint("provider_id", "subject", name=op.f("uq_identity_provider_id_subject")),
    )
    op.create_index(op.f("ix_identity_user_id"), "identity", ["user_id"], unique=False)
    op.create_table(
        "membership",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Enum("member", "operator", name="role", native_enum=False, length=20), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_membership_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_membership_user_id_user_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_membership")),
        sa.UniqueConstraint("user_id", "organization_id", name=op.f("uq_membership_user_id_organization_id")),
    )
    op.create_index(op.f("ix_membership_organization_id"), "membership", ["organization_id"], unique=False)
    op.create_table(
        "sign_in_attempt",
        sa.Column("state_hash", sa.String(length=64), nullable=False),
        sa.Column("browser_hash", sa.String(length=64), nullable=False),
        sa.Column("provider_id", sa.String(length=64), nullable=False),
        sa.Column("code_verifier", sa.String(length=128), nullable=False),
        sa.Column("next_path", sa.String(length=2000), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"], ["provider.id"], name=op.f("fk_sign_in_attempt_provider_id_provider"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("state_hash", name=op.f("pk_sign_in_attempt")),
    )
    op.create_index(op.f("ix_sign_in_attempt_created_at"), "sign_in_attempt", ["created_at"], unique=False)


def downgrade() -> None:
    """Drop the tables."""
    op.drop_index(op.f("ix_sign_in_attempt_created_at"), table_name="sign_in_attempt")
    op.drop_table("sign_in_attempt")
    op.drop_index(op.f("ix_membership_organization_id"), table_name="membership")
    op.drop_table("membership")
    op.drop_index(op.f("ix_identity_user_id"), table_name="identity")
    op.drop_table("identity")
    op.drop_index(op.f("ix_browser_session_user_id"), table_name="browser_session")
    op.drop_index(op.f("ix_browser_session_seen_at"), table_name="browser_session")
    op.drop_table("browser_session")
    op.drop_index(op.f("ix_audit_event_user_id"), table_name="audit_event")
    op.drop_index(op.f("ix_audit_event_at"), table_name="audit_event")
    op.drop_table("audit_event")
    op.drop_table("user_account")
    op.drop_table("provider")
    op.drop_table("organization")
    op.drop_index(op.f("ix_one_time_code_pending_hash"), table_name="one_time_code")
    op.drop_index(op.f("ix_one_time_code_ip_hash"), table_name="one_time_code")
    op.drop_index(op.f("ix_one_time_code_created_at"), table_name="one_time_code")
    op.drop_index("ix_one_time_code_address", table_name="one_time_code")
    op.drop_table("one_time_code")
