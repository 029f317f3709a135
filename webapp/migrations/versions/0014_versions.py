"""Documents know their version and whether another has replaced them; they are found by their security labels."""

import hashlib
import json

import sqlalchemy as sa
from alembic import op

revision = "0014_versions"
down_revision = "0013_handling"

_FACTS = ("entered_in_error", "superseded", "content_type")
_BATCH = 1_000


def upgrade() -> None:
    """Add the columns and the index, take the versions from what is written down, and make the missing words."""
    op.add_column("document", _replaced())
    op.add_column("document", sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("document_change", _replaced())
    op.execute(
        "UPDATE document SET version = (SELECT max(change.version) FROM document_change AS change"
        " WHERE change.document_id = document.id)"
        " WHERE id IN (SELECT document_id FROM document_change WHERE version > 1)"
    )
    op.create_index(
        "ix_document_replaced", "document", ["organization_id", "stored_at", "id"],
        postgresql_where=sa.text("superseded"), sqlite_where=sa.text("superseded = 1"),
    )  # fmt: skip
    with op.batch_alter_table("document_count") as table:
        table.drop_constraint("pk_document_count", type_="primary")
        table.add_column(_replaced())
        table.create_primary_key("pk_document_count", ["organization_id", "day", *_FACTS])
    _make_words()


def downgrade() -> None:
    """Drop them; a replaced document is current again."""
    op.execute("DELETE FROM document_term WHERE kind = 'security-label'")
    columns = "organization_id, day, entered_in_error, content_type"
    op.execute(  # what is told apart no more is added up
        f"CREATE TABLE document_sum AS SELECT {columns}, sum(number) AS number"  # noqa: S608 - our names
        f" FROM document_count GROUP BY {columns}"
    )
    op.execute("DELETE FROM document_count")
    with op.batch_alter_table("document_count") as table:
        table.drop_constraint("pk_document_count", type_="primary")
        table.drop_column("superseded")
        table.create_primary_key("pk_document_count", columns.split(", "))
    op.execute(f"INSERT INTO document_count ({columns}, number) SELECT {columns}, number FROM document_sum")  # noqa: S608
    op.drop_table("document_sum")
    op.drop_index("ix_document_replaced", "document")
    op.drop_column("document_change", "superseded")
    op.drop_column("document", "version")
    op.drop_column("document", "superseded")


def _replaced() -> "sa.Column[bool]":
    return sa.Column("superseded", sa.Boolean(), nullable=False, server_default=sa.false())


def _make_words() -> None:
    """Documents have carried security labels before they were found by them."""
    bind = op.get_bind()
    document = sa.table(
        "document", sa.column("id", sa.Uuid()), sa.column("organization_id", sa.Uuid()),
        sa.column("stored_at", sa.BigInteger()), sa.column("details", sa.Text()),
    )  # fmt: skip
    term = sa.table(
        "document_term", sa.column("organization_id", sa.Uuid()), sa.column("kind"), sa.column("term"),
        sa.column("stored_at", sa.BigInteger()), sa.column("document_id", sa.Uuid()),
    )  # fmt: skip
    labelled = sa.select(document).where(document.c.details.like('%"securityLabel"%')).order_by(document.c.id)
    last = None
    while rows := bind.execute(
        (labelled if last is None else labelled.where(document.c.id > last)).limit(_BATCH)
    ).all():  # fmt: skip
        last = rows[-1].id
        words = [
            {"organization_id": row.organization_id, "kind": "security-label", "term": word,
             "stored_at": row.stored_at, "document_id": row.id}
            for row in rows
            for word in dict.fromkeys(_words(json.loads(row.details)))
        ]  # fmt: skip
        if words:
            bind.execute(sa.insert(term), words)


def _words(details: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[str]:
    """`code`, `system|code` and `system|` of each label; what is longer than the column is kept by its hash."""
    codings = [coding for label in details.get("securityLabel", []) for coding in label.get("coding", [])]
    found = []
    for coding in codings:
        if code := coding.get("code"):
            system = coding.get("system") or ""
            found += [code, f"{system}|{code}", *([f"{system}|"] if system else [])]
    return [word if len(word) <= 255 else hashlib.sha256(word.encode("utf-8", "surrogatepass")).hexdigest()
            for word in found]  # fmt: skip
