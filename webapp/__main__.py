"""The webapp from the command line: `python -m webapp serve`. Everything else is `flask --app webapp ...`."""

import os
import sys
from collections.abc import Sequence

from clinical.errors import BefundError
from clinical.settings import server_settings
from webapp import create_app
from webapp.cli import schema_is_current, upgrade_schema
from webapp.sso.providers import all_providers

USAGE = "usage: python -m webapp serve        (other commands: flask --app webapp --help)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare the database and become gunicorn; a deliberate error is one sentence and status 1."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given != ["serve"]:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        server_settings()
        _prepare()
    except BefundError as error:
        print(f"befund: {error}", file=sys.stderr)
        return 1
    command = [sys.executable, "-m", "gunicorn", "-c", "python:webapp.gunicorn_conf", "webapp:create_app()"]
    os.execv(sys.executable, command)  # noqa: S606 - our own interpreter


def _prepare() -> None:
    """Development keeps its schema current by itself; production is told to."""
    app = create_app()
    with app.app_context():
        if app.config["BEFUND"].development:
            upgrade_schema()
            if not all_providers():
                print("webapp: no vendor to sign in with yet; for one to try: flask --app webapp demo", flush=True)
        elif not schema_is_current():
            raise BefundError(
                "the database schema is not the one of this version", "", "run: flask --app webapp db upgrade"
            )
    app.extensions["befund_engine"].dispose()


if __name__ == "__main__":
    raise SystemExit(main())
