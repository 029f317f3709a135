"""`flask --app webapp documents|patients|studies|tokens ...`."""

import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
from sqlalchemy import select

from webapp import audit
from webapp.cli import Group
from webapp.extensions import db
from webapp.fhir import linking, store, tokens
from webapp.fhir.bulk.documents import DocumentImporter
from webapp.fhir.bulk.lines import LineResult
from webapp.fhir.bulk.resources import ResourceImporter
from webapp.fhir.dates import to_text
from webapp.fhir.models import Document, Status
from webapp.fhir.searching.wanted import UUID
from webapp.fhir.service import service
from webapp.fhir.writing.purging import purge, remove_unused, verify
from webapp.models import Organization, User

documents = Group("documents", help="Documents: import, mark, verify.")
patients = Group("patients", help="Patients: import, relink.")
studies = Group("studies", help="Imaging studies: import.")
access = Group("tokens", help="Access tokens of people.")
GROUPS = (documents, patients, studies, access)

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ORG = click.option("--org", required=True, help="Organization: its UUID or its name.")


@documents.command("import")
@ORG
@click.argument("manifest", type=_FILE)
def import_documents(org: str, manifest: Path) -> None:
    """Store the documents named in MANIFEST, one JSON object a line: path, title, content_type, patient (system|value,
    Patient/<id> or a patient's UUID), and optionally stored_at, status, type, category, author, encounter,
    masterIdentifier, description and more (docs/documents.md). Run it again to go on after an
    interruption. A document whose patient is not there yet is tagged, and linked once the patient is imported."""
    organization = organization_of(org)
    audit.record_alone("imported", detail=f"documents into organization {organization}")
    _report(manifest, DocumentImporter(organization, service().files).documents(manifest))


@documents.command("mark-in-error")
@click.argument("document", type=click.UUID)
@click.option("--undo", is_flag=True, help="Make it current again.")
def mark_in_error(document: uuid.UUID, undo: bool) -> None:
    """Mark DOCUMENT (its id) as entered in error: it stays listed as such, its file is no longer handed out."""
    with db.write() as session:
        found = store.mark(session, document, Status.CURRENT if undo else Status.ENTERED_IN_ERROR)
        if found is not None:
            audit.record(session, "unmarked" if undo else "marked", detail=str(document))
    if found is None:
        raise click.ClickException(f"there is no document {document}")
    click.echo(f"{document} is {found.status.value}")


@documents.command("purge")
@click.argument("document", type=click.UUID)
@click.option("--reason", required=True, help="Why, for the tombstone and the audit trail; nothing about a person.")
@click.confirmation_option(prompt="This deletes the document for good. Go on?")
def purge_document(document: uuid.UUID, reason: str) -> None:
    """Delete DOCUMENT (its id) and its file for good, on request (GDPR). Its links are dead, and a tombstone stays."""
    with db.write() as session:
        purged = purge(session, document, reason)
    if purged is None:
        raise click.ClickException(f"there is no document {document}")
    gone = purged and remove_unused(service().files, purged)
    kept = "" if gone else "; its file stays, since another document has the same"
    click.echo(f"{document} is deleted{kept}")


@documents.command("verify")
@click.option("--sweep", is_flag=True, help="Also remove what is a day old: files no document points to.")
def verify_documents(sweep: bool) -> None:
    """Read every stored file and compare it with its hash and size. Exits with 1 when a file is missing or rotten."""
    with db.engine.connect() as connection:
        expected = {bytes(row[0]): row[1] for row in connection.execute(select(Document.sha256, Document.size))}
    files = service().files
    report = verify(files, expected, partial(remove_unused, files) if sweep else None)
    for digest, fault in report.faults:
        click.echo(f"{digest.hex()}: {fault}", err=True)
    click.echo(f"{len(expected)} files expected, {report.sound} sound, {len(report.faults)} faulty, ", nl=False)
    click.echo(f"{report.unused} that no document points to ({report.removed} of them removed), ", nl=False)
    click.echo(f"{report.swept} temporary ones removed")
    sys.exit(1 if report.faults else 0)


@documents.command("recount")
@ORG
def recount_documents(org: str) -> None:
    """Make the counters behind the exact totals anew, after documents were changed past the application."""
    organization = organization_of(org)
    differences = store.miscounted(db.session, organization)
    with db.write() as session:
        store.add_counts(session, organization, differences)
    click.echo(f"counted; {len(differences)} counters were wrong")


@patients.command("import")
@ORG
@click.argument("file", type=_FILE)
def import_patients(org: str, file: Path) -> None:
    """Store the FHIR R4 Patients in FILE, one a line. A known id or identifier renews the patient we have; documents
    that are tagged with one of the identifiers are linked."""
    _report(file, ResourceImporter(organization_of(org)).patients(file))


@patients.command("relink")
@ORG
def relink_documents(org: str) -> None:
    """Link all documents that are only tagged with an identifier to the patients that have it by now."""
    with db.write() as session:
        linked, tagged = linking.relink(session, organization_of(org))
    click.echo(f"{linked} linked, {tagged} tagged only")


@studies.command("import")
@ORG
@click.argument("file", type=_FILE)
def import_studies(org: str, file: Path) -> None:
    """Store the FHIR R4 ImagingStudies in FILE, one a line; `subject` names a patient of ours."""
    _report(file, ResourceImporter(organization_of(org)).studies(file))


@access.command("create")
@click.option("--user", "email", required=True, help="E-mail address of the account.")
@click.option("--name", default="", help="What it is for.")
@click.option("--days", default=tokens.DAYS, show_default=True, help=f"Valid for, at most {tokens.MOST_DAYS}.")
def create_token(email: str, name: str, days: int) -> None:
    """Print a new access token, and nothing else. It is shown only now."""
    user = _user(email)
    with db.write() as session:
        token, text = tokens.create(session, user.id, name, days)
        audit.record(session, "token_created", detail=f"{token.id} of {user.email}")
    click.echo(text)


@access.command("list")
@click.option("--user", "email", required=True)
def list_tokens(email: str) -> None:
    """The tokens of an account, without their secrets."""
    for token in tokens.of_user(db.session, _user(email).id):
        state = "revoked" if token.revoked_at else f"until {to_text(token.expires_at)[:10]}"
        click.echo(f"{token.id}  {state}  {token.name}")


@access.command("revoke")
@click.option("--user", "email", required=True)
@click.argument("token_id")
def revoke_token(email: str, token_id: str) -> None:
    """Revoke the token with the id TOKEN_ID (the part after bfa_)."""
    user = _user(email)
    with db.write() as session:
        done = tokens.revoke(session, user.id, token_id)
        if done:
            audit.record(session, "token_revoked", detail=f"{token_id} of {user.email}")
    if not done:
        raise click.ClickException(f"{email} has no valid token {token_id}")
    click.echo(f"{token_id} is revoked")


def _report(source: Path, results: Iterator[LineResult]) -> None:
    """Progress by bytes is not known ahead; lines are counted first, which costs little next to storing them."""
    with source.open("rb") as file:
        length = sum(1 for line in file if line.strip())
    counts: Counter[str] = Counter()
    with click.progressbar(length=length, label=source.name, file=sys.stderr) as bar:
        for result in results:
            counts.update({result.kind: 1, result.subject: 1, "waiting": result.documents})
            if said := result.reason or result.note:
                click.echo(f"\nline {result.line}: {said}", err=True)
            bar.update(1)
    click.echo(f"{counts['stored']} stored, {counts['known']} already there, {counts['bad']} bad")
    if counts["linked"] or counts["tagged"]:
        click.echo(f"{counts['linked']} linked, {counts['tagged']} tagged only")
    if counts["waiting"]:
        click.echo(f"{counts['waiting']} documents that were waiting are linked")
    sys.exit(1 if counts["bad"] else 0)


def organization_of(text: str) -> uuid.UUID:
    """The organization of that UUID or name; the command ends when there is none."""
    key = uuid.UUID(text) if UUID.fullmatch(text) else None
    found = db.session.scalar(select(Organization.id).where((Organization.id == key) | (Organization.name == text)))
    if found is None:
        raise click.ClickException(f"there is no organization {text}; see: flask --app webapp orgs add")
    return found


def _user(email: str) -> User:
    user = User.of(db.session, email)
    if user is None:
        raise click.ClickException(f"there is no account {email}; see: flask --app webapp users add")
    return user
