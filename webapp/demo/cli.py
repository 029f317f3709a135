"""`flask --app webapp demo`: a vendor, people, an organization and a few documents to look at, only in development."""

import json
import uuid
from pathlib import Path
from typing import Any, TypeVar

import click
from flask import Flask
from flask.cli import with_appcontext
from sqlalchemy import select
from sqlalchemy.orm import Session

from clinical.command_line import Command
from webapp.config import settings
from webapp.demo.vendor import CLIENT_ID, PEOPLE, PROVIDER, client_secret, demo_vendor, token
from webapp.extensions import csrf, db
from webapp.fhir.bulk.documents import DocumentImporter
from webapp.fhir.service import service
from webapp.models import Base, Membership, Organization, Role, User, email_key, utcnow
from webapp.sso.models import Identity
from webapp.sso.providers import ProviderFields, store
from webapp.urls import as_outside, external_url

Row = TypeVar("Row", bound=Base)
ORGANIZATION = "Praxis am Beispielplatz"
LETTERS = {
    "Arztbrief Kardiologie": "Arztbrief (erfunden)\n\nPatient: Max Mustermann, geb. 01.02.1960\nDiagnose: Arterielle "
    "Hypertonie, Z. n. Hinterwandinfarkt 2019.\nProcedere: Kontrolle in sechs Monaten.\n",
    "Laborbefund": "Laborbefund (erfunden)\n\nPatientin: Erika Musterfrau, geb. 03.04.1975\nHbA1c 7,1 %, Kreatinin "
    "0,9 mg/dl, CRP < 5 mg/l.\n",
    "Zuweisung Radiologie": "Zuweisung (erfunden)\n\nPatient: Max Mustermann\nFragestellung: Pneumonie rechts basal?\n",
}


def init_app(app: Flask) -> None:
    """Add the command, which says why it does nothing in production; the vendor is not even there."""
    app.cli.add_command(demo)
    if app.config["BEFUND"].development:
        csrf.exempt(token)
        app.register_blueprint(demo_vendor)


@click.command("demo", cls=Command)
@with_appcontext
def demo() -> None:
    """A vendor to sign in with, two people, an organization with documents. Development only; may be repeated."""
    if not settings().development:
        raise click.ClickException("demo is for development; BEFUND_ENV is production")
    organization, stored = seed()
    with as_outside():
        click.echo(f"organization {organization}: {len(LETTERS)} documents, {stored} of them stored now")
        click.echo(f"sign in at {external_url('home.login')} as Erika (operator), Max, Otto (no e-mail) or Olga")


def seed() -> tuple[uuid.UUID, int]:
    """Add the demo's vendor, people and documents; return the organization and the number of documents stored now."""
    with as_outside():
        authorize, token_url, userinfo = (
            external_url(f"demo_vendor.{name}") for name in ("authorize", "token", "userinfo")
        )
        vendor = ProviderFields(
            PROVIDER, "Demo-Klinikum", authorize, token_url, userinfo, CLIENT_ID, client_secret(), own_callback=True
        )
        with db.write() as session:
            store(session, vendor)
            organization = _there(session, Organization, {"name": ORGANIZATION}).id
            for name, role in (("erika", Role.OPERATOR), ("max", Role.MEMBER)):
                _member(session, organization, name, role)
        return organization, _documents(organization)


def _member(session: Session, organization: uuid.UUID, name: str, role: Role) -> None:
    person = PEOPLE[name]
    key, names = email_key(person["email"]), {part: person[part] for part in ("given_name", "family_name")}
    user = _there(session, User, {"email_key": key}, email=person["email"], email_verified_at=utcnow(), **names)
    _there(session, Membership, {"user_id": user.id, "organization_id": organization}, role=role)
    # a vendor's word alone would not open an operator's account
    _there(session, Identity, {"provider_id": PROVIDER, "subject": name}, user_id=user.id)


def _there(session: Session, kind: type[Row], known_by: dict[str, Any], **more: Any) -> Row:
    """The row that is known by these columns, stored with `more` where there is none."""
    row = session.scalars(select(kind).filter_by(**known_by)).one_or_none()
    if row is None:
        row = kind(**known_by, **more)
        session.add(row)
        session.flush()
    return row


def _documents(organization: uuid.UUID) -> int:
    """Write the letters into the var folder and import them as an operator would."""
    folder = settings().var / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (title, text) in enumerate(LETTERS.items()):
        Path(folder, f"{number}.txt").write_text(text, "utf-8")
        lines.append(json.dumps({"path": f"{number}.txt", "title": title, "content_type": "text/plain"}))
    manifest = folder / "manifest.jsonl"
    manifest.write_text("\n".join(lines) + "\n", "utf-8")
    return sum(
        result.kind == "stored" for result in DocumentImporter(organization, service().files).documents(manifest)
    )
