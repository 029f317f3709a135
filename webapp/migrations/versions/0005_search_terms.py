"""Patients are found by name, birth date and gender, imaging studies by identifier."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from webapp.fhir.searching import terms

revision = "0005_search_terms"
down_revision = "0004_import_lines"

_AT_ONCE = 500
_TERM = sa.String(length=255, collation="C").with_variant(sa.String(length=255), "sqlite")


def upgrade() -> None:
    """Add the table and fill it from what is stored."""
    table = op.create_table(
        "search_term",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("term", _TERM, nullable=False),
        sa.ForeignKeyConstraint(["organization_id"], ["organization.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_search_term", "search_term", ["organization_id", "kind", "term", "owner"])
    op.create_index("ix_search_term_owner", "search_term", ["owner"])
    for name, words in (("patient", terms.patient_terms), ("imaging_study", terms.study_terms)):
        _fill(table, name, words)


def _fill(table: sa.Table, name: str, words: Callable[[dict[str, Any]], Iterator[tuple[str, str]]]) -> None:
    connection = op.get_bind()
    stored = sa.table(name, sa.column("id", sa.Uuid()), sa.column("organization_id", sa.Uuid()), sa.column("resource"))
    last = None
    while True:
        some = sa.select(stored).order_by(stored.c.id).limit(_AT_ONCE)
        rows = connection.execute(some.where(stored.c.id > last) if last else some).all()
        if not rows:
            return
        last = rows[-1].id
        found = [
            {"organization_id": row.organization_id, "owner": row.id, "kind": kind, "term": term[:255]}
            for row in rows
            for kind, term in dict.fromkeys(
                words(json.loads(row.resource) if isinstance(row.resource, str) else row.resource)
            )
        ]
        if found:
            connection.execute(sa.insert(table), found)


def downgrade() -> None:
    """Drop it."""
    op.drop_table("search_term")
