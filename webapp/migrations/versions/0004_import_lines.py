"""Documents know the line of the manifest they came from, so that a replaced file is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0004_import_lines"
down_revision = "0003_withdrawal"


def upgrade() -> None:
    """Add the column and its index; documents that are in have none and are known by their earlier keys."""
    op.add_column("document", sa.Column("import_line", sa.LargeBinary(length=32), nullable=True))
    op.create_index(
        "ix_document_import_line",
        "document",
        ["organization_id", "import_line"],
        postgresql_where=sa.text("import_line IS NOT NULL"),
        sqlite_where=sa.text("import_line IS NOT NULL"),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_index("ix_document_import_line", table_name="document")
    with op.batch_alter_table("document") as table:
        table.drop_column("import_line")
