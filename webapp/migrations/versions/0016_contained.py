"""Documents that are there are found by what they contain."""

import sqlalchemy as sa
from alembic import op

from webapp.migrations.words import renew

revision = "0016_contained"
down_revision = "0015_parameters"


def upgrade() -> None:
    """Make the words anew of documents that contain something, or refer to an identifier of a type."""
    renew(op.get_bind(), '%"contained"%', '%"type": "%', '%"type":"%')


def downgrade() -> None:
    """Drop the words of chains; those of types nobody asks for."""
    term = sa.table("document_term", sa.column("kind"), sa.column("term"))
    op.execute(sa.delete(term).where(term.c.kind.like("%.%")))
