"""Files that came in over FHIR and wait for their document; tombstones of deleted documents."""

import sqlalchemy as sa
from alembic import op

revision = "0011_writing"
down_revision = "0010_machines"


def upgrade() -> None:
    """Add the tables."""
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
        "waiting_binary",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("content_type", sa.String(length=127), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_waiting_binary_organization_id", "waiting_binary", ["organization_id"])
    op.create_index("ix_waiting_binary_created_at", "waiting_binary", ["created_at"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("waiting_binary")
    op.drop_table("purged_document")
