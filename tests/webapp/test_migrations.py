"""The migrations and the models tell the same story, on both databases."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask
from sqlalchemy import inspect

from webapp.cli import alembic_config, upgrade_schema
from webapp.extensions import db
from webapp.models import Base


def test_the_history_is_one_line() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1
    assert all(not revision.is_branch_point for revision in script.walk_revisions())


def test_migrated_tables_equal_the_models(app: Flask) -> None:
    with app.app_context(), db.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_downgrade_leads_back_to_nothing_and_up_again(app: Flask) -> None:
    with app.app_context():
        command.downgrade(alembic_config(), "base")
        with db.engine.connect() as connection:
            assert inspect(connection).get_table_names() == ["alembic_version"]
        upgrade_schema()
        with db.engine.connect() as connection:
            assert set(Base.metadata.tables) <= set(inspect(connection).get_table_names())
