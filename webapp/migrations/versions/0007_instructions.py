"""Members keep instructions for drafts."""

import sqlalchemy as sa
from alembic import op

revision = "0007_instructions"
down_revision = "0006_document_details"


def upgrade() -> None:
    """Add the table."""
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


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("instruction")
