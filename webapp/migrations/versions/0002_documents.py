"""Documents: patients, documents, imaging studies, counters, access tokens, the log of accesses."""

import sqlalchemy as sa
from alembic import op

revision = "0002_documents"
down_revision = "0001_accounts"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "document_access",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("token_id", sa.String(length=16), nullable=True),
        sa.Column("how", sa.String(length=20), nullable=False),
        sa.Column("address", sa.String(length=45), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_access")),
    )
    op.create_index("ix_document_access_at", "document_access", ["organization_id", "at"])
    op.create_index("ix_document_access_document", "document_access", ["organization_id", "document_id", "at"])

    op.create_table(
        "access_token",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("secret_sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_access_token_user_id_user_account"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_token")),
    )
    op.create_index("ix_access_token_user_id", "access_token", ["user_id"])

    op.create_table(
        "document_count",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("entered_in_error", sa.Boolean(), nullable=False),
        sa.Column("content_type", sa.String(length=127), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_document_count_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "day", "entered_in_error", "content_type", name=op.f("pk_document_count")
        ),
    )
    op.create_table(
        "patient",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("resource", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_patient_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_patient")),
    )
    op.create_index("ix_patient_organization_id", "patient", ["organization_id", "stored_at", "id"])

    op.create_table(
        "storage_clock",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_storage_clock_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name=op.f("pk_storage_clock")),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("patient_id", sa.Uuid(), nullable=True),
        sa.Column("external_system", sa.String(length=500), nullable=True),
        sa.Column("external_value", sa.String(length=255), nullable=True),
        sa.Column("entered_in_error", sa.Boolean(), nullable=False),
        sa.Column("content_type", sa.String(length=127), nullable=False),
        sa.Column("title", sa.String(length=255), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(length=32), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("import_key", sa.LargeBinary(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_document_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["patient_id"], ["patient.id"], name=op.f("fk_document_patient_id_patient")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("organization_id", "import_key", name=op.f("uq_document_organization_id_import_key")),
    )
    op.create_index(
        "ix_document_external",
        "document",
        ["organization_id", "external_value", "external_system", "stored_at", "id"],
        postgresql_where=sa.text("external_value IS NOT NULL"),
        sqlite_where=sa.text("external_value IS NOT NULL"),
    )
    op.create_index("ix_document_newest", "document", ["organization_id", "stored_at", "id"])
    op.create_index(
        "ix_document_patient", "document", ["organization_id", "patient_id", "stored_at", "id", "entered_in_error"]
    )
    op.create_index(
        "ix_document_status",
        "document",
        ["organization_id", "stored_at", "id"],
        postgresql_where=sa.text("entered_in_error"),
        sqlite_where=sa.text("entered_in_error = 1"),
    )
    op.create_index("ix_document_type", "document", ["organization_id", "content_type", "stored_at", "id"])

    op.create_table(
        "imaging_study",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("patient_id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", sa.BigInteger(), nullable=False),
        sa.Column("resource", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_imaging_study_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["patient_id"], ["patient.id"], name=op.f("fk_imaging_study_patient_id_patient"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imaging_study")),
    )
    op.create_index("ix_imaging_study_patient", "imaging_study", ["patient_id", "stored_at", "id"])

    op.create_table(
        "patient_identifier",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("patient_id", sa.Uuid(), nullable=False),
        sa.Column("system", sa.String(length=500), nullable=False),
        sa.Column("value", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organization.id"],
            name=op.f("fk_patient_identifier_organization_id_organization"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["patient_id"], ["patient.id"], name=op.f("fk_patient_identifier_patient_id_patient"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_patient_identifier")),
        sa.UniqueConstraint(
            "organization_id", "value", "system", name=op.f("uq_patient_identifier_organization_id_value_system")
        ),
    )
    op.create_index("ix_patient_identifier_patient_id", "patient_identifier", ["patient_id"])


def downgrade() -> None:
    """Drop the tables."""

    op.drop_table("patient_identifier")

    op.drop_table("imaging_study")

    op.drop_table("document")
    op.drop_table("storage_clock")

    op.drop_table("patient")
    op.drop_table("document_count")

    op.drop_table("access_token")

    op.drop_table("document_access")
