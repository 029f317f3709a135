"""The webapp from the command line: `python -m webapp serve`, `backup`, `restore`; the rest is Flask's."""

import os
import sys
from pathlib import Path

import click
from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from clinical.command_line import PATH, Group, entry
from clinical.errors import BefundError, cause_of
from clinical.room import take_files
from clinical.settings import require_free_port, server_settings, settings
from clinical.tracing import check_export
from webapp import create_app
from webapp.backups import back_up, restore
from webapp.cli import schema_is_current, upgrade_schema
from webapp.config import processes
from webapp.demo.cli import seed
from webapp.sso.providers import all_providers
from webapp.watching import in_a_folder, unanswered

ARENAS = "2"
"""Heaps of the C library (mallopt(3)) in a process, where the environment does not say. By itself it takes one for
nearly each thread, and each of them keeps what was freed in pieces: a process grew by 2 MB a minute under the load of
`make soak` (evals/LOG.md). One thread at a time runs Python, so they hardly wait for each other's heap."""

SETTING_OF = {"limits": "BEFUND_LIMITS_URL", "files": "BEFUND_STORAGE"}
"""Of what the webapp needs from its first request on, beside the database."""


@click.group(cls=Group)
def command() -> None:
    """The webapp; other commands: flask --app webapp --help."""


@command.command("serve")
@click.option(
    "--demo", is_flag=True, help="In development, while no vendor is set up: what `flask --app webapp demo` adds."
)
def _serve(demo: bool) -> None:
    """Prepare the database and become gunicorn."""
    given = server_settings()
    check_export(given.traces_url)
    require_free_port(given.web_host, given.web_port, "BEFUND_WEB_PORT")
    processes()  # said here, before gunicorn reads the same
    _prepare(demo)
    in_a_folder()
    take_files()
    os.environ.setdefault("MALLOC_ARENA_MAX", ARENAS)
    program = [sys.executable, "-m", "gunicorn", "-c", "python:webapp.gunicorn_conf", "webapp:create_app()"]
    os.execv(sys.executable, program)  # noqa: S606 - our own interpreter


def _prepare(demo: bool) -> None:
    """Development keeps its schema current by itself, and has something to try where asked for; production is told."""
    app = create_app()
    try:
        _prepare_database(app, demo)
    except SQLAlchemyError as error:
        found = f"the database does not answer ({cause_of(error)})"
        raise BefundError(found, "", "see BEFUND_DATABASE_URL, and start again") from None
    app.extensions["befund_engine"].dispose()


def _prepare_database(app: Flask, demo: bool) -> None:
    with app.app_context():
        if app.config["BEFUND"].development:
            upgrade_schema()
            if demo and not all_providers():
                seed()
            if not all_providers():
                print("webapp: no vendor to sign in with yet; for one to try: flask --app webapp demo", flush=True)
        elif not schema_is_current():
            raise BefundError(
                "the database is not there, or its schema is not the one of this version",
                "",
                "run: flask --app webapp db upgrade",
            )
        for part, why in unanswered(app, SETTING_OF):
            raise BefundError(f"{SETTING_OF[part]} cannot be used: {why}", "", "correct it, or start what it names")


@command.command("backup")
@click.argument("folder", type=PATH)
def _backup(folder: Path) -> int:
    """Keep the databases of both servers and all stored files in the new FOLDER; the servers may run."""
    kept = back_up(settings(), folder)
    click.echo(f"{folder}: {', '.join(kept.databases) or 'no database'}, {kept.files} files")
    for digest in kept.damaged:
        click.echo(f"befund: the file {digest} is damaged in the storage and was left out", err=True)
    return int(bool(kept.damaged))


@command.command("restore")
@click.argument("folder", type=PATH)
def _restore(folder: Path) -> None:
    """Fill empty databases and the storage from FOLDER, while the servers are stopped."""
    kept = restore(settings(), folder)
    click.echo(f"restored: {', '.join(kept.databases) or 'no database'}, {kept.files} files")


main = entry(command, "python -m webapp", status=1)

if __name__ == "__main__":
    raise SystemExit(main(None))
