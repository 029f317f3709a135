"""The text API from the command line.

python -m bentos serve                                      start the text API alone
python -m bentos mcp                                        tools for agents on standard input and output
python -m bentos up [NAME ...]                              start the servers of the Procfile (`make up`)
python -m bentos check-model                                does the language model do what is needed of it?
python -m bentos keys create --name NAME [--per-minute N] [--per-day N] [--days N]
python -m bentos keys list | rotate ID [--overlap HOURS] | revoke ID
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from typing import Any

import click
from sqlalchemy.exc import SQLAlchemyError

from bentos.keys import NAME_MAX, PER_DAY, PER_MINUTE, KeyLimits, Keys, open_keys
from clinical.command_line import Group, Refused, entry, paragraphs
from clinical.errors import cause_of
from clinical.settings import base_urls, given, server_settings, settings


class Served(Group):
    """The command, and a key database that does not answer as a sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command."""
        try:
            return super().invoke(ctx)
        except SQLAlchemyError as error:
            found = f"the key database does not answer ({cause_of(error)})"
            raise Refused(f"{found}; see BEFUND_API_DATABASE_URL") from None


@click.group(cls=Served, help=paragraphs(__doc__))
def command() -> None:
    """The text API of Befund."""


@command.command("serve")
def _serve() -> int:
    """Start the text API."""
    from bentos.serve import serve

    return serve(server_settings())


@command.command("mcp")
def _mcp() -> None:
    """Serve the tools for agents on standard input and output, for a desk; no key is asked for."""
    from starlette.datastructures import State

    from bentos.api import agents_of
    from bentos.models import model_of
    from bentos.terminology import Systems, Year
    from clinical.coding import SearchQueue
    from clinical.reading import SearchIndex

    given_now = settings()
    index, model = SearchIndex.load(given_now.catalog), model_of(given_now)
    state = State({"index": index, "systems": Systems([Year.of(index)]), "model": model, "by_rules": model is None})
    state.search_queue = SearchQueue()
    agents_of(state, ("coding", "extraction")).run("stdio")


@command.command("up")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def _up(names: tuple[str, ...]) -> int:
    """Start the servers of the Procfile, or only these lines of it."""
    from bentos.up import up

    if "BEFUND_ENV" not in given():
        os.environ["BEFUND_ENV"] = "development"
    return up(settings(), names)


@command.command("check-model")
def _check_model() -> int:
    """Ask the language model of the settings for what Befund needs of it; status 1 when something fails."""
    from bentos.check_model import check, line
    from bentos.models import endpoint_of

    urls = base_urls(settings().llm_base_url or "")
    if not urls:
        raise Refused("no language model is set up; set BEFUND_LLM_BASE_URL")

    async def of(url: str) -> bool:
        click.echo(f"{url}\n")
        failed = False
        async for row in check(endpoint_of(settings(), url)):
            click.echo(line(row))
            failed |= row.verdict == "fail"
        return failed

    failed = [asyncio.run(of(url)) for url in urls]  # every server, also after one that fails
    return int(any(failed))


@command.group("keys")
def _of_keys() -> None:
    """API keys."""


def _name(_: click.Context, __: click.Parameter, text: str) -> str:
    if not text.strip() or len(text) > NAME_MAX or not text.isprintable():
        raise click.BadParameter(f"must be 1 to {NAME_MAX} printable characters")
    return text.strip()


COUNT = click.IntRange(min=0)


@_of_keys.command("create")
@click.option("--name", callback=_name, required=True, help="whose key it is")
@click.option("--per-minute", type=COUNT, default=PER_MINUTE, show_default=True, help="0 is unlimited")
@click.option("--per-day", type=COUNT, default=PER_DAY, show_default=True, help="0 is unlimited")
@click.option("--days", type=click.IntRange(1, 3_650), help="it ends after so many (default: never)")
def _create(name: str, per_minute: int, per_day: int, days: int | None) -> None:
    """Make a key and print it, the only time it is seen."""
    good_for = None if days is None else timedelta(days=days)
    click.echo(_keys().create(name, KeyLimits(per_minute, per_day), good_for))


@_of_keys.command("list")
def _list() -> None:
    """All keys, without their secrets."""
    found = _keys().list()
    click.echo("id        per minute  per day  today  created                    expires     state    name")
    for key in found:
        click.echo(
            f"{key.id}  {key.limits.per_minute:>10}  {key.limits.per_day:>7}  {key.today:>5}  "
            f"{key.created_at}  {(key.expires_at or 'never')[:10]:<10}  {key.state:<7}  {key.name}"
        )


@_of_keys.command("rotate")
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap", type=click.IntRange(0, 720), default=0, show_default=True, help="the old one stays good, hours"
)
def _rotate(key_id: str, overlap: int) -> None:
    """A new secret for the key with this ID (the eight characters after bfd_), at once."""
    _say(_keys().rotate(key_id, timedelta(hours=overlap)), key_id)


@_of_keys.command("revoke")
@click.argument("key_id", metavar="ID")
def _revoke(key_id: str) -> None:
    """End the key with this ID (the eight characters after bfd_), at once."""
    _say("revoked" if _keys().revoke(key_id) else None, key_id)


def _keys() -> Keys:
    return open_keys(settings())


def _say(done: str | None, key_id: str) -> None:
    if done is None:
        raise Refused(f"no active key {key_id}; python -m bentos keys list")
    click.echo(done)


main = entry(command, "python -m bentos", status=1)

if __name__ == "__main__":
    raise SystemExit(main(None))
