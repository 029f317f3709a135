"""Files that came in over FHIR and wait for their document."""

import sqlalchemy as sa
from alembic import op

revision = "0011_writing"
down_revision = "0010_machines"


def upgrade() -> None:
    """Add the table."""
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
    """Drop it."""
    op.drop_table("waiting_binary")
