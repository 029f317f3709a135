"""`flask --app webapp services ...`: service accounts, secrets, keys; `origins ...`: web pages that may call."""

from pathlib import Path

import click

from webapp.cli import Group
from webapp.extensions import db
from webapp.fhir.bulk.cli import ORG, organization_of
from webapp.fhir.dates import to_text
from webapp.fhir.machines import accounts, origins, scopes
from webapp.fhir.tokens import MOST_DAYS

services = Group("services", help="Service accounts: programs that call an organization's FHIR base.")
origin_list = Group("origins", help="Origins of web pages that may call an organization's FHIR base (CORS).")

_ACCOUNT = click.argument("account")


@services.command("add")
@ORG
@click.argument("name")
@click.option("--scopes", default=scopes.DEFAULT, show_default=True, help="What it may do, in one argument.")
def add(org: str, name: str, scopes: str) -> None:
    """Make a service account NAME; prints its id, which is its client_id. It then needs a secret or keys."""
    with db.write() as session:
        account = accounts.create(session, organization_of(org), name, scopes)
    click.echo(account.id)


@services.command("list")
def show() -> None:
    """One line per account and one per secret; warns of secrets that end soon."""
    for account in accounts.all_accounts(db.session):
        keys = account.jwks_url or ("uploaded keys" if account.jwks else "no keys")
        state = "active" if account.active else "inactive"
        about = (account.organization.name, account.name, account.scopes, keys, accounts.handling(account))
        click.echo("\t".join((account.id, state, *about)))
        for secret in account.secrets:
            used = f"used {to_text(secret.last_used_at)[:10]}" if secret.last_used_at else "never used"
            until = "revoked" if secret.revoked_at else f"until {to_text(secret.expires_at)[:10]}"
            click.echo(f"  {secret.id}\t{until}\t{used}")
        if last := accounts.ends_soon(account):
            click.echo(f"  WARNING: {last.id} is the last secret and ends on {to_text(last.expires_at)[:10]}", err=True)


@services.command("add-secret")
@_ACCOUNT
@click.option("--days", default=accounts.DAYS, show_default=True, help=f"Valid for, at most {MOST_DAYS}.")
def add_secret(account: str, days: int) -> None:
    """Print a new secret for ACCOUNT, and nothing else. It is shown only now; those before it go on working."""
    with db.write() as session:
        text = accounts.add_secret(session, accounts.find(session, account), days)
    click.echo(text)


@services.command("revoke-secret")
@_ACCOUNT
@click.argument("secret")
def revoke_secret(account: str, secret: str) -> None:
    """End SECRET (its id, the part after bfs_) of ACCOUNT at once."""
    with db.write() as session:
        done = accounts.revoke_secret(session, accounts.find(session, account), secret)
    if not done:
        raise click.ClickException(f"{account} has no valid secret {secret}")
    click.echo(f"{secret} is revoked")


@services.command("keys")
@_ACCOUNT
@click.option("--url", default="", help="Where the key set (JWKS) is; https.")
@click.option("--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A key set to upload.")
def keys(account: str, url: str, file: Path | None) -> None:
    """Say where the public keys of ACCOUNT are (RS384 or ES384), for access tokens by signed assertion."""
    with db.write() as session:
        jwks = file.read_text("utf-8", "replace") if file else ""
        accounts.set_keys(session, accounts.find(session, account), url=url, jwks=jwks)
    click.echo("stored")


@services.command("handling")
@_ACCOUNT
@click.argument("how", type=click.Choice(["strict", "lenient"]))
def handling(account: str, how: str) -> None:
    """Say what becomes of search parameters of ACCOUNT that are not understood: strict refuses them (the default),
    lenient leaves them out. `Prefer: handling=` of a call decides for that call."""
    with db.write() as session:
        accounts.set_lenient(session, accounts.find(session, account), how == "lenient")
    click.echo(f"{account} is {how}")


@services.command("deactivate")
@_ACCOUNT
@click.option("--undo", is_flag=True, help="Let it call again.")
def deactivate(account: str, undo: bool) -> None:
    """Refuse all calls of ACCOUNT from now on, and the document links it made."""
    with db.write() as session:
        accounts.set_active(session, accounts.find(session, account), undo)
    click.echo(f"{account} is {'active' if undo else 'inactive'}")


@origin_list.command("add")
@ORG
@click.argument("origin")
def add_origin(org: str, origin: str) -> None:
    """Let web pages of ORIGIN (https://host) read what their token may read."""
    with db.write() as session:
        origins.add(session, organization_of(org), origin)
    click.echo(f"{origin} is allowed")


@origin_list.command("remove")
@ORG
@click.argument("origin")
def remove_origin(org: str, origin: str) -> None:
    """Refuse web pages of ORIGIN from now on."""
    with db.write() as session:
        done = origins.remove(session, organization_of(org), origin)
    if not done:
        raise click.ClickException(f"{origin} is not on the list")
    click.echo(f"{origin} is not allowed any more")


@origin_list.command("list")
@ORG
def list_origins(org: str) -> None:
    """One origin a line."""
    for origin in origins.listed(db.session, organization_of(org)):
        click.echo(origin)
