"""`flask --app webapp ...`: one group per subject. Groups of `webapp.sso` and `webapp.fhir` are added by them.

A wrong setting, a deliberate error and a database that does not answer are one sentence each, never a traceback.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from flask import Flask
from flask.cli import AppGroup, ScriptInfo
from sqlalchemy.exc import DatabaseError

from clinical.command_line import Refused, as_sentence
from clinical.errors import cause_of
from clinical.settings import Settings
from webapp.database import keep_private
from webapp.extensions import db

if TYPE_CHECKING:
    from alembic.config import Config


class NeedsSecret(click.Command):
    """A command, which nothing but a whole application runs: one without a secret was made to show help."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it. Raises SettingError without a secret."""
        given: Settings = ctx.ensure_object(ScriptInfo).load_app().config["BEFUND"]
        if not given.secret:
            given.with_secret()
        return super().invoke(ctx)


class Group(AppGroup):
    """A group of commands whose errors are sentences."""

    command_class = NeedsSecret

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with as_sentence():
            try:
                return super().invoke(ctx)
            except DatabaseError as error:
                raise Refused(
                    f"the database does not do what was asked ({cause_of(error)}); see BEFUND_DATABASE_URL, "
                    "and run: flask --app webapp db upgrade"
                ) from None


db_group = Group("db", help="The database schema.")


def init_app(app: Flask) -> None:
    """Register the command groups on `app`."""
    app.cli.add_command(db_group)


def alembic_config() -> "Config":
    """Alembic set up for the migrations of this package; `env.py` takes the engine from the current application. It is
    loaded where it is used: a server needs none of it, and waited a tenth of its start for it."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "webapp:migrations")
    return config


@db_group.command("upgrade")
@click.argument("revision", default="head")
def upgrade(revision: str) -> None:
    """Bring the schema to REVISION (default: the newest)."""
    upgrade_schema(revision)
    click.echo(f"schema is at {revision}")


@db_group.command("downgrade")
@click.argument("revision")
def downgrade(revision: str) -> None:
    """Take the schema back to REVISION. Data of newer tables is lost."""
    from alembic import command

    command.downgrade(alembic_config(), revision)
    click.echo(f"schema is at {revision}")


@db_group.command("current")
def current() -> None:
    """Show the revision the database is at."""
    from alembic import command

    command.current(alembic_config(), verbose=True)


def upgrade_schema(revision: str = "head") -> None:
    """Bring the database of the current application to `revision`, making SQLite's folder when it is missing."""
    from alembic import command

    keep_private(db.engine, make=True)
    command.upgrade(alembic_config(), revision)


def schema_is_current() -> bool:
    """Return True when the database of the current application is at the newest revision."""
    file = db.engine.url.database if db.engine.dialect.name == "sqlite" else None
    if file and not Path(file).exists():
        return False
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    with db.engine.connect() as connection:
        at = MigrationContext.configure(connection).get_current_revision()
    return at == ScriptDirectory.from_config(alembic_config()).get_current_head()
