"""Service accounts with secrets and keys."""

import sqlalchemy as sa
from alembic import op

revision = "0010_machines"
down_revision = "0009_identifier_indexes"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "service_account",
        sa.Column("id", sa.String(length=16), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("scopes", sa.String(length=500), nullable=False),
        sa.Column("jwks_url", sa.String(length=2000), nullable=False),
        sa.Column("jwks", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_service_account_organization_id", "service_account", ["organization_id"])
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
        "used_assertion",
        sa.Column("key", sa.LargeBinary(length=32), primary_key=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_used_assertion_expires_at", "used_assertion", ["expires_at"])


def downgrade() -> None:
    """Drop them."""
    for table in ("used_assertion", "service_secret", "service_account"):
        op.drop_table(table)
