"""Documents carry type, category, author, encounter, identifiers and a description, and are found by them."""

import sqlalchemy as sa
from alembic import op

revision = "0006_document_details"
down_revision = "0005_search_terms"

_TERM = sa.String(length=255, collation="C").with_variant(sa.String(length=255), "sqlite")


def upgrade() -> None:
    """Add the column and the table of words; documents that are there have no details."""
    op.add_column("document", sa.Column("details", sa.Text(), nullable=True))
    op.create_table(
        "document_term",
        sa.Column("organization_id", sa.Uuid(), primary_key=True),
        sa.Column("kind", sa.String(length=20), primary_key=True),
        sa.Column("term", _TERM, primary_key=True),
        sa.Column("stored_at", sa.BigInteger(), primary_key=True),
        sa.Column("document_id", sa.Uuid(), primary_key=True),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_document_term_document_id", "document_term", ["document_id"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("document_term")
    op.drop_column("document", "details")
