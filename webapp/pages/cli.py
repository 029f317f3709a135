"""`flask --app webapp users ...`, `orgs ...` and `audit ...`: people, organizations, and what they did."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from webapp import audit
from webapp.cli import Group
from webapp.extensions import db
from webapp.models import AuditEvent, Membership, Organization, Role, User, email_key
from webapp.pages import organizations
from webapp.sso.accounts import credentials_ended, end_sessions
from webapp.sso.profile import usable_email

users = Group("users", help="People with accounts.")
orgs = Group("orgs", help="Organizations whose documents are kept apart.")

member_commands = Group("members", help="Who belongs to an organization.")
orgs.add_command(member_commands)
trail = Group("audit", help="The audit trail.")


@users.command("add")
@click.argument("email")
@click.option("--given-name", default="")
@click.option("--family-name", default="")
def add_user(email: str, given_name: str, family_name: str) -> None:
    """Make an account ahead of the first sign-in, which then links to it."""
    address = usable_email(email)
    if not address:
        raise click.ClickException(f"{email!r} is no e-mail address")
    row = User(email=address, email_key=email_key(address), given_name=given_name, family_name=family_name)
    try:
        with db.write() as session:
            session.add(row)
            session.flush()
            audit.record(session, "created", user=row, detail="by the command line")
    except IntegrityError:
        raise click.ClickException(f"{address} already has an account") from None
    click.echo(f"{row.id}\t{row.email}")


@users.command("list")
def list_users() -> None:
    """One line per person."""
    for row in db.session.scalars(select(User).order_by(User.email_key)):
        click.echo(f"{row.id}\t{'active' if row.active else 'inactive'}\t{row.email}\t{row.name}")


@users.command("deactivate")
@click.argument("email")
@click.option("--undo", is_flag=True, help="Let the person sign in again.")
def deactivate(email: str, undo: bool) -> None:
    """End a person's sessions and tokens and refuse new sign-ins."""
    with db.write() as session:
        row = User.of(session, email)
        if row is None:
            raise click.ClickException(f"nobody has the address {email!r}; `users list` shows all")
        row.active = undo
        if not undo:
            end_sessions(session, row)
            credentials_ended.send(session, user=row)
        audit.record(session, "activated" if undo else "deactivated", user=row)
    click.echo(f"{row.email} is {'active' if undo else 'inactive'}")


@orgs.command("add")
@click.argument("name")
@click.option("--id", "organization_id", type=click.UUID, help="When another system already has one for it.")
def add_organization(name: str, organization_id: uuid.UUID | None) -> None:
    """Add an organization; prints its id, which is part of its FHIR base URL."""
    row = Organization(id=organization_id or uuid.uuid4(), name=name)
    try:
        with db.write() as session:
            session.add(row)
            audit.record(session, "organization_added", detail=name)
    except IntegrityError:
        raise click.ClickException("an organization with this name or id exists; `orgs list` shows all") from None
    click.echo(f"{row.id}\t{row.name}")


@orgs.command("list")
def list_organizations() -> None:
    """One line per organization: id, name, how searches of its people are handled."""
    for row in db.session.scalars(select(Organization).order_by(Organization.name)):
        click.echo(f"{row.id}\t{row.name}\t{organizations.handling(row)}")


@orgs.command("handling")
@click.argument("organization_id", metavar="ORG", type=click.UUID)
@click.argument("how", type=click.Choice(["strict", "lenient"]))
def set_handling(organization_id: uuid.UUID, how: str) -> None:
    """Say what becomes of search parameters of people's tokens in ORG that are not understood: lenient leaves them out
    (the default, and the contract's), strict refuses them. `Prefer: handling=` of a call decides for that call."""
    with db.write() as session:
        row = _organization(session, organization_id)
        organizations.set_strict(session, row, how == "strict")
    click.echo(f"{row.name} is {how}")


@orgs.command("allow")
@click.argument("organization_id", metavar="ORG", type=click.UUID)
@click.argument("what", type=click.Choice(["client-ids", "client-deletes"]))
@click.option("--undo", is_flag=True, help="forbid it again")
def allow(organization_id: uuid.UUID, what: str, undo: bool) -> None:
    """Let programs of ORG whose scopes allow it choose the ids of what they store (PUT of an unknown id), or delete
    documents and their files for good."""
    with db.write() as session:
        row = _organization(session, organization_id)
        organizations.allow(session, row, what.replace("-", "_"), not undo)
    click.echo(f"{row.name}: {what} {'forbidden' if undo else 'allowed'}")


def _organization(session: Session, organization_id: uuid.UUID) -> Organization:
    row = session.get(Organization, organization_id)
    if row is None:
        raise click.ClickException("no such organization; see `orgs list`")
    return row


@member_commands.command("add")
@click.argument("organization_id", metavar="ORG", type=click.UUID)
@click.argument("email")
@click.option("--role", type=click.Choice([role.value for role in Role]), default=Role.MEMBER.value)
def add_member(organization_id: uuid.UUID, email: str, role: str) -> None:
    """Make a person a member of ORG, or change the role; an operator also sees vendors and the audit trail."""
    with _changing(organization_id, email) as (session, organization, person):
        organizations.put_member(session, organization, person, Role(role))
    click.echo(f"{person.email} is {role}")


@member_commands.command("remove")
@click.argument("organization_id", metavar="ORG", type=click.UUID)
@click.argument("email")
def remove_member(organization_id: uuid.UUID, email: str) -> None:
    """End a membership: pages, tokens and document links of ORG end with the next call."""
    with _changing(organization_id, email) as (session, organization, person):
        done = organizations.remove_member(session, organization, person)
    if not done:
        raise click.ClickException(f"{person.email} is no member; `orgs members list` shows all")
    click.echo(f"{person.email} is no member any more")


@contextmanager
def _changing(organization_id: uuid.UUID, email: str) -> Iterator[tuple[Session, Organization, User]]:
    """A writing transaction with the organization and the person of a membership."""
    try:
        with db.write() as session:
            person = User.of(session, email)
            organization = session.get(Organization, organization_id)
            if person is None or organization is None:
                raise click.ClickException("no such person or organization; see `users list` and `orgs list`")
            yield session, organization, person
    except organizations.LastOperator:
        raise click.ClickException("this is the last operator: make somebody else one first") from None


@member_commands.command("list")
@click.argument("organization_id", metavar="ORG", type=click.UUID)
def list_members(organization_id: uuid.UUID) -> None:
    """One line per member."""
    rows = db.session.execute(
        select(User.email, Membership.role)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.organization_id == organization_id)
        .order_by(User.email_key)
    )
    for email, role in rows:
        click.echo(f"{role.value}\t{email}")


@trail.command("list")
@click.option("--kind", type=click.Choice(list(audit.KEPT)), help="Default: everything but refusals.")
@click.option("--newest", default=100, show_default=True)
def list_events(kind: str | None, newest: int) -> None:
    """One line per event, the newest first."""
    wanted = AuditEvent.kind == kind if kind else AuditEvent.kind != "refusal"
    for row in db.session.scalars(select(AuditEvent).where(wanted).order_by(AuditEvent.id.desc()).limit(newest)):
        click.echo(f"{row.at:%Y-%m-%d %H:%M:%S}\t{row.event}\t{row.actor}\t{row.provider_id}\t{row.detail}\t{row.ip}")


@trail.command("purge")
def purge_events() -> None:
    """Delete what is past its time now, rather than bit by bit as new events come."""
    with db.write() as session:
        number = audit.purge(session)
    click.echo(f"{number} rows deleted")
