"""`flask --app webapp providers ...`: vendors from the command line, without touching code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from clinical.errors import SettingError
from webapp import audit
from webapp.cli import Group
from webapp.extensions import db
from webapp.sso.blueprint import callback_url
from webapp.sso.models import Provider
from webapp.sso.probe import probe
from webapp.sso.providers import DEFAULT_SCOPES, MIX_UP, ProviderFields, all_providers, exposed, set_active, store
from webapp.sso.sealing import seal, sealed_by_previous, unseal
from webapp.sso.subjects import plan_moves, read_map
from webapp.urls import as_outside, external_url

providers = Group("providers", help="The vendors people sign in with.")


@providers.command("add")
@click.argument("provider_id", metavar="ID")
@click.option("--name", required=True, help="Shown on the login page.")
@click.option("--authorization-url", required=True)
@click.option("--token-url", required=True)
@click.option("--userinfo-url", required=True)
@click.option("--client-id", required=True)
@click.option("--client-secret", prompt=True, hide_input=True, help="Asked for when not given: shells keep a history.")
@click.option("--scopes", default=DEFAULT_SCOPES, show_default=True)
@click.option("--auth-method", "token_auth_method", type=click.Choice(["post", "basic"]), default="post")
@click.option("--issuer", default="", help="`iss` on the callback must be there and equal it (RFC 9207).")
@click.option("--own-callback", is_flag=True, help="A callback URL of its own, for vendors that send no `iss`.")
@click.option("--no-pkce", is_flag=True, help="For vendors that refuse PKCE parameters.")
@click.option("--no-trust-email", is_flag=True, help="Every first sign-in proves its address by a code.")
@click.option("--basic-percent-encode", is_flag=True, help="RFC 6749, 2.3.1, for servers that demand it.")
@click.option("--inactive", is_flag=True, help="A new vendor waits for its dry run and `providers activate`.")
def add(provider_id: str, no_pkce: bool, no_trust_email: bool, inactive: bool, **given: Any) -> None:
    """Add a vendor, or change the one with this ID."""
    fields = ProviderFields(id=provider_id, pkce=not no_pkce, trust_email=not no_trust_email, **given)
    with db.write() as session:
        row = store(session, fields, active=not inactive)
    with as_outside():
        click.echo(f"stored {provider_id}. Callback URL for the vendor's allow list, exactly:\n  {callback_url(row)}")
    _warn()


@providers.command("list")
def show_all() -> None:
    """One line per vendor."""
    for row in all_providers():
        click.echo(f"{row.id}\t{'active' if row.active else 'inactive'}\t{row.token_auth_method.value}\t{row.name}")
    _warn()


@providers.command("show")
@click.argument("provider_id", metavar="ID")
def show(provider_id: str) -> None:
    """Everything about a vendor but its secret."""
    row = _found(provider_id)
    for name in ("id", "name", "authorization_url", "token_url", "userinfo_url", "client_id", "scopes"):
        click.echo(f"{name}: {getattr(row, name)}")
    click.echo(f"client_secret: stored, encrypted\ntoken_auth_method: {row.token_auth_method.value}")
    for name in ("issuer", "own_callback", "pkce", "trust_email", "basic_percent_encode", "active"):
        click.echo(f"{name}: {getattr(row, name)}")
    with as_outside():
        click.echo(f"callback_url: {callback_url(row)}")
        click.echo(f"login_url: {external_url('vendor_oauth2.login', provider_id=row.id)}")


@providers.command("test")
@click.argument("provider_id", metavar="ID")
def test(provider_id: str) -> None:
    """Ask the vendor's endpoints and say what is wrong; exit code 1 when something is."""
    row = _found(provider_id)
    with as_outside():
        findings = probe(row, callback_url(row))
    for endpoint, (good, sentence) in findings.items():
        click.echo(f"{'ok  ' if good else 'FAIL'} {endpoint}: {sentence}")
    if not all(good for good, _ in findings.values()):
        raise SystemExit(1)


@providers.command("reseal")
def reseal() -> None:
    """Encrypt every client secret with the BEFUND_SECRET_KEY of now; BEFUND_SECRET_KEY_PREVIOUS is then needless."""
    number = 0
    with db.write() as session:
        for row in session.scalars(select(Provider)):
            if sealed_by_previous(row.client_secret_encrypted):
                row.client_secret_encrypted = seal(unseal(row.client_secret_encrypted))
                audit.record(session, "provider_resealed", provider_id=row.id)
                number += 1
    click.echo(f"{number} client secrets encrypted anew")


@providers.command("migrate-subjects")
@click.argument("provider_id", metavar="ID")
@click.option("--map", "file", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would happen, change nothing.")
@click.option("--leave-rest", is_flag=True, help="Move the others although some identities are not in the file.")
def migrate_subjects(provider_id: str, file: Path, dry_run: bool, leave_rest: bool) -> None:
    """Give a vendor's identities new subjects (CSV old_subject,new_subject): all or none."""
    _found(provider_id)
    try:
        pairs = read_map(file)
        with db.write() as session:
            plan = plan_moves(session, provider_id, pairs)
            for line in plan.lines():
                click.echo(line)
            if not dry_run:
                plan.carry_out(session, provider_id, leave_rest)
    except (SettingError, IntegrityError) as error:
        said = error if isinstance(error, SettingError) else "somebody signed in with a new subject meanwhile; again"
        raise click.ClickException(f"nothing was changed: {said}") from None
    click.echo("dry run: nothing was changed" if dry_run else f"{len(plan.moves)} identities moved")


def _warn() -> None:
    """Tell the operator which vendors nothing protects from a mix-up with another one (RFC 9700, 4.4)."""
    for row in exposed(all_providers()):
        click.echo(f"warning: {row.id} has neither issuer nor own callback; {MIX_UP}", err=True)


def _switch(active: bool) -> Callable[..., None]:
    def switch(provider_id: str) -> None:
        _found(provider_id)
        with db.write() as session:
            set_active(session, provider_id, active)
        click.echo(f"{provider_id} is {'active' if active else 'inactive'}")

    switch.__doc__ = "Let people sign in with this vendor." if active else "No more sign-ins with this vendor."
    return switch


for _name, _active in (("activate", True), ("deactivate", False)):
    providers.command(_name)(click.argument("provider_id", metavar="ID")(_switch(_active)))


def _found(provider_id: str) -> Provider:
    row = db.session.get(Provider, provider_id)
    if row is None:
        raise click.ClickException(f"there is no provider {provider_id!r}; `providers list` shows all")
    return row
