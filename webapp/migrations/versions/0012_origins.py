"""Origins of web pages that may call an organization's FHIR base."""

import sqlalchemy as sa
from alembic import op

revision = "0012_origins"
down_revision = "0011_writing"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "allowed_origin",
        sa.Column("organization_id", sa.Uuid(), primary_key=True),
        sa.Column("origin", sa.String(length=255), primary_key=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("allowed_origin")
