"""Documents know their version and whether another has replaced them; they are found by their security labels."""

import hashlib

import sqlalchemy as sa
from alembic import op

from webapp.migrations.words import add

revision = "0014_versions"
down_revision = "0013_handling"

_FACTS = ("entered_in_error", "superseded", "content_type")


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
    # documents have carried security labels before they were found by them
    add(op.get_bind(), _words, '%"securityLabel"%')


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


def _words(details: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[tuple[str, str]]:
    """`code`, `system|code` and `system|` of each label, once; what is longer than the column is kept by its hash."""
    codings = [coding for label in details.get("securityLabel", []) for coding in label.get("coding", [])]
    found = []
    for coding in codings:
        if code := coding.get("code"):
            system = coding.get("system") or ""
            found += [code, f"{system}|{code}", *([f"{system}|"] if system else [])]
    kept = [word if len(word) <= 255 else hashlib.sha256(word.encode("utf-8", "surrogatepass")).hexdigest()
            for word in found]  # fmt: skip
    return [("security-label", word) for word in dict.fromkeys(kept)]
