"""A value without its system, and a system without a value, are found in the order of the answer."""

import sqlalchemy as sa
from alembic import op

revision = "0009_identifier_indexes"
down_revision = "0008_document_changes"

_COLUMNS = {"ix_document_value": "external_value", "ix_document_system": "external_system"}
_TAGGED = sa.text("external_value IS NOT NULL")


def upgrade() -> None:
    """Add the indexes."""
    for name, column in _COLUMNS.items():
        columns = ["organization_id", column, "stored_at", "id"]
        op.create_index(name, "document", columns, postgresql_where=_TAGGED, sqlite_where=_TAGGED)


def downgrade() -> None:
    """Drop them."""
    for name in _COLUMNS:
        op.drop_index(name, "document")
