"""Documents that are there are found by what they are related to and how, and by the text of type and category."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from webapp.fhir.searching.terms import document_words
from webapp.migrations import words

revision = "0018_relationship"
down_revision = "0017_updates"

KINDS = ("relationship", "type:text", "category:text")


def upgrade() -> None:
    """Add the words; an earlier migration on the way here may have made some of them."""
    downgrade()
    words.add(op.get_bind(), _words, '%"relatesTo"%', '%"display"%', '%"text"%')


def downgrade() -> None:
    """Drop them."""
    term = sa.table("document_term", sa.column("kind"))
    op.execute(sa.delete(term).where(term.c.kind.in_(KINDS)))


def _words(details: Any) -> Iterator[tuple[str, str]]:
    return (word for word in document_words(details) if word[0] in KINDS)
