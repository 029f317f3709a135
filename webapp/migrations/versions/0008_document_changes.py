"""Changes of documents are recorded in order; documents stored before count as their own first version."""

import sqlalchemy as sa
from alembic import op

revision = "0008_document_changes"
down_revision = "0007_instructions"


def upgrade() -> None:
    """Add the table and fill it from what is stored."""
    op.create_table(
        "document_change",
        sa.Column("document_id", sa.Uuid(), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("entered_in_error", sa.Boolean(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.add_column("storage_clock", sa.Column("changes", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(
        "INSERT INTO document_change (document_id, version, organization_id, at, number, entered_in_error, deleted)"
        " SELECT id, 1, organization_id, stored_at,"
        " row_number() OVER (PARTITION BY organization_id ORDER BY stored_at, id), entered_in_error, false"
        " FROM document"
    )
    op.execute(
        "UPDATE storage_clock SET changes = (SELECT count(*) FROM document"
        " WHERE document.organization_id = storage_clock.organization_id)"
    )
    op.create_index("ix_document_change_at", "document_change", ["organization_id", "at", "number"])


def downgrade() -> None:
    """Drop them."""
    op.drop_column("storage_clock", "changes")
    op.drop_table("document_change")
