"""Programs update documents: what a version said is kept; organizations say whether programs choose ids and delete."""

import sqlalchemy as sa
from alembic import op

revision = "0017_updates"
down_revision = "0016_contained"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("document_change", sa.Column("kept", sa.Text(), nullable=True))
    for name in ("client_ids", "client_deletes"):
        op.add_column("organization", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Drop them."""
    for name in ("client_deletes", "client_ids"):
        op.drop_column("organization", name)
    op.drop_column("document_change", "kept")
