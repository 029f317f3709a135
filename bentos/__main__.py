"""The text API from the command line.

python -m bentos serve                                      start the text API alone
python -m bentos up [NAME ...]                              start the servers of the Procfile (`make up`)
python -m bentos keys create --name NAME [--per-minute N] [--per-day N]     0 is unlimited
python -m bentos keys list | rotate ID | revoke ID
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from bentos.api import open_keys
from bentos.keys import NAME_MAX, PER_DAY, PER_MINUTE, Keys, Limits
from clinical.errors import BefundError
from clinical.settings import given, server_settings, settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a deliberate error is one sentence and status 1."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except BefundError as error:
        print(f"befund: {error}", file=sys.stderr)
    except SQLAlchemyError as error:
        print(
            f"befund: the key database does not answer ({type(error).__name__}); see BEFUND_API_DATABASE_URL",
            file=sys.stderr,
        )
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bentos", description="The text API of Befund.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("serve", help="start the text API").set_defaults(run=_serve)
    up = commands.add_parser("up", help="start the servers of the Procfile")
    up.add_argument("names", nargs="*", metavar="NAME", help="only these lines of the Procfile")
    up.set_defaults(run=_up)
    keys = commands.add_parser("keys", help="API keys").add_subparsers(required=True, metavar="ACTION")
    create = keys.add_parser("create", help="make a key and print it, the only time it is seen")
    create.add_argument("--name", type=_name, required=True, help="whose key it is")
    create.add_argument("--per-minute", type=_count, default=PER_MINUTE, help="default %(default)s, 0 = unlimited")
    create.add_argument("--per-day", type=_count, default=PER_DAY, help="default %(default)s, 0 = unlimited")
    create.set_defaults(run=_create)
    keys.add_parser("list", help="all keys, without their secrets").set_defaults(run=_list)
    for action, run, text in (("rotate", _rotate, "a new secret"), ("revoke", _revoke, "end a key")):
        command = keys.add_parser(action, help=f"{text}, at once")
        command.add_argument("id", help="the eight characters after bfd_")
        command.set_defaults(run=run)
    return parser


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must be 0 (unlimited) or more")
    return value


def _name(text: str) -> str:
    if not text.strip() or len(text) > NAME_MAX or not text.isprintable():
        raise argparse.ArgumentTypeError(f"must be 1 to {NAME_MAX} printable characters")
    return text.strip()


def _keys() -> Keys:
    return open_keys(settings())


def _serve(_options: argparse.Namespace) -> int:
    from bentos.serve import serve

    return serve(server_settings())


def _up(options: argparse.Namespace) -> int:
    from bentos.up import up

    if "BEFUND_ENV" not in given():
        os.environ["BEFUND_ENV"] = "development"
    return up(settings(), options.names)


def _create(options: argparse.Namespace) -> None:
    print(_keys().create(options.name, Limits(options.per_minute, options.per_day)))


def _list(_options: argparse.Namespace) -> None:
    print("id        per minute  per day  today  created                    state    name")
    for key in _keys().list():
        state = "revoked" if key.revoked_at else "active"
        print(
            f"{key.id}  {key.limits.per_minute:>10}  {key.limits.per_day:>7}  {key.today:>5}  "
            f"{key.created_at}  {state:<7}  {key.name}"
        )


def _rotate(options: argparse.Namespace) -> int:
    key = _keys().rotate(options.id)
    return _said(key, f"no active key {options.id}")


def _revoke(options: argparse.Namespace) -> int:
    done = _keys().revoke(options.id)
    return _said("revoked" if done else None, f"no active key {options.id}")


def _said(success: str | None, failure: str) -> int:
    print(success or f"befund: {failure}; python -m bentos keys list", file=sys.stdout if success else sys.stderr)
    return 0 if success else 1


if __name__ == "__main__":
    raise SystemExit(main())
