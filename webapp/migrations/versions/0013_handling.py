"""Unknown search parameters are handled by account and by organization; reads are recorded with their kind."""

import sqlalchemy as sa
from alembic import op

revision = "0013_handling"
down_revision = "0012_origins"


def upgrade() -> None:
    """Add the columns. Programs that are there become strict like new ones: what they were given too much of so far
    they asked for without knowing."""
    op.add_column("organization", sa.Column("strict_search", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("service_account", sa.Column("lenient", sa.Boolean(), nullable=False, server_default=sa.false()))
    kind = sa.Column("kind", sa.String(length=20), nullable=False, server_default="DocumentReference")
    op.add_column("document_access", kind)


def downgrade() -> None:
    """Drop them. That somebody read a patient stays written down."""
    for table, column in (
        ("document_access", "kind"),
        ("service_account", "lenient"),
        ("organization", "strict_search"),
    ):
        op.drop_column(table, column)
