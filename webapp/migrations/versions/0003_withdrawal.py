"""A callback of its own for each vendor, and the audit trail apart by kind."""

import sqlalchemy as sa
from alembic import op

revision = "0003_withdrawal"
down_revision = "0002_documents"

KINDS = {
    "refusal": ("refused", "otp_failed", "otp_not_sent"),
    "sign_in": ("signed_in", "created", "linked", "unlinked", "sessions_ended", "otp_sent"),
}


def upgrade() -> None:
    """Add the columns; events of before are sorted by what they are."""
    op.add_column("provider", sa.Column("own_callback", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("audit_event", sa.Column("kind", sa.String(length=20), nullable=False, server_default="change"))
    events = sa.table("audit_event", sa.column("kind", sa.String), sa.column("event", sa.String))
    for kind, names in KINDS.items():
        op.execute(events.update().where(events.c.event.in_(names)).values(kind=kind))
    op.create_index("ix_audit_event_kind", "audit_event", ["kind", "id"], unique=False)


def downgrade() -> None:
    """Drop the columns."""
    op.drop_index("ix_audit_event_kind", table_name="audit_event")
    op.drop_column("audit_event", "kind")
    op.drop_column("provider", "own_callback")
