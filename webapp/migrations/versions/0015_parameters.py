"""Documents that are there are found by all that a document is found by now."""

import sqlalchemy as sa
from alembic import op

from webapp.migrations.words import renew

revision = "0015_parameters"
down_revision = "0014_versions"

_BEFORE = (
    "type", "category", "identifier", "security-label", "author", "author:id", "encounter", "encounter:id", "creation",
)  # fmt: skip


def upgrade() -> None:
    """Make the words of every document with details anew."""
    renew(op.get_bind(), "%")


def downgrade() -> None:
    """Drop the words that nobody asked for before."""
    term = sa.table("document_term", sa.column("kind"), sa.column("term"))
    op.execute(sa.delete(term).where(sa.or_(term.c.term == "", term.c.kind.not_in(_BEFORE))))
