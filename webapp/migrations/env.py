"""Alembic environment: runs on the current application's engine, on SQLite with batch operations."""

from alembic import context

import webapp.fhir.machines.accounts
import webapp.fhir.machines.origins
import webapp.fhir.models
import webapp.fhir.writing.purging
import webapp.sso.models
import webapp.workbench.drafting  # noqa: F401 - registers its tables
from webapp.extensions import db
from webapp.models import Base

with db.engine.connect() as connection:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
