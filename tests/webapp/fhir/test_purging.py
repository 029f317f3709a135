"""Deletion on request: row, words, file and links go for good; a tombstone, the trail and the counters tell of it."""

import io
import threading
import uuid

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.webapp.conftest import Outside, command
from tests.webapp.fhir.conftest import Caller, Place
from webapp.extensions import db as database
from webapp.fhir import store
from webapp.fhir.models import AccessLog, Document, DocumentTerm
from webapp.fhir.service import service
from webapp.fhir.writing.purging import PurgedDocument, remove_unused
from webapp.models import AuditEvent
from webapp.storage import Stored

DETAILS = {"masterIdentifier": {"system": "urn:oid:1.2.3", "value": "brief-1"}}


def purge(app: Flask, document: uuid.UUID, *, fails: bool = False) -> str:
    return command(app, "documents", "purge", document, "--reason", "Antrag 7", "--yes", fails=fails)


@pytest.mark.parametrize("marked", [False, True])
def test_a_purged_document_is_nowhere_and_its_tombstone_tells_of_it(
    app: Flask, place: Place, caller: Caller, db: Outside, marked: bool
) -> None:
    kept = place.add_document(b"bleibt")
    gone = place.add_document(b"geht", details=DETAILS, title="Muster.pdf")
    link = caller.link(f"DocumentReference?_id={gone}")
    if marked:
        command(app, "documents", "mark-in-error", gone)
    assert "deleted" in purge(app, gone)
    assert caller.ids("DocumentReference") == [str(kept)]
    assert caller.bundle("DocumentReference?status=entered-in-error")["total"] == 0
    assert caller.bundle("DocumentReference?identifier=brief-1")["total"] == 0
    assert [caller.get(path).status_code for path in (f"DocumentReference/{gone}", f"Binary/{gone}")] == [410, 404]
    assert app.test_client().get(link).status_code == 404
    with app.app_context():
        assert len(list(service().files.digests())) == 1, "the file is removed"
    stone = db.session.scalars(select(PurgedDocument)).one()
    assert (stone.id, stone.reason, stone.purged_at > stone.stored_at) == (gone, "Antrag 7", True)
    assert db.session.scalar(select(func.count()).select_from(DocumentTerm)) == 0
    trail = db.session.scalars(select(AuditEvent).where(AuditEvent.event == "purged")).one()
    assert (trail.kind, trail.detail) == ("document", f"{gone}: Antrag 7")
    command(app, "documents", "verify")
    assert "no document" in purge(app, gone, fails=True)


def test_a_file_that_another_document_has_stays(app: Flask, place: Place, caller: Caller, db: Outside) -> None:
    first, second = place.add_document(b"gleich"), place.add_document(b"gleich")
    assert caller.get(f"Binary/{first}").data == b"gleich"
    assert "its file stays" in purge(app, first)
    assert caller.get(f"Binary/{second}").data == b"gleich"
    assert set(db.session.scalars(select(AccessLog.document_id))) == {first, second}, "who read it stays known"
    purge(app, second)
    assert db.session.scalar(select(func.count()).select_from(Document)) == 0
    with app.app_context():
        assert list(service().files.digests()) == []


def test_counters_stay_exact(app: Flask, place: Place, caller: Caller) -> None:
    documents = [place.add_document(bytes([number])) for number in range(5)]
    purge(app, documents[2])
    before = caller.bundle("DocumentReference")["total"]
    command(app, "documents", "recount", "--org", place.organization)
    assert (before, caller.bundle("DocumentReference")["total"]) == (4, 4)


def test_it_asks_before(app: Flask, place: Place, caller: Caller) -> None:
    document = place.add_document()
    run = app.test_cli_runner().invoke
    done = run(args=["documents", "purge", str(document), "--reason", "x"], input="n\n")
    assert done.exit_code != 0
    assert caller.ids("DocumentReference") == [str(document)]


def test_pollers_of_the_feed_are_told(app: Flask, place: Place, caller: Caller) -> None:
    kept, gone = place.add_document(b"bleibt"), place.add_document(b"geht")
    cursor = caller.get("DocumentReference/_history").headers["Befund-Complete-Until"]
    purge(app, gone)
    (entry,) = caller.bundle(f"DocumentReference/_history?_since={cursor}")["entry"][:1]
    assert (entry["request"]["method"], entry["request"]["url"]) == ("DELETE", f"DocumentReference/{gone}")
    assert "resource" not in entry
    feed = caller.bundle("DocumentReference/_history?_sort=_lastUpdated")["entry"]
    methods = [entry["request"]["method"] for entry in feed]
    assert methods == ["POST", "DELETE", "DELETE"], "its earlier version has nothing to show any more"
    own = caller.bundle(f"DocumentReference/{gone}/_history")["entry"]
    assert [(entry["request"]["method"], "resource" in entry) for entry in own] == [("DELETE", False)] * 2
    assert caller.ids("DocumentReference") == [str(kept)]


def test_what_is_stored_again_while_it_is_purged_keeps_its_file(app: Flask, place: Place, caller: Caller) -> None:
    """The new one puts its file, the purge of the old one removes it, and only then the new one's row is written."""
    old, put = place.add_document(b"gleich"), []

    def put_and_purge() -> Stored:
        put.append(service().files.put(io.BytesIO(b"gleich")))
        if len(put) == 1:
            assert purge(app, old) == f"{old} is deleted\n"
            assert not service().files.has(put[0].digest)
        return put[-1]

    def write(file: Stored) -> uuid.UUID:
        with database.write() as session:
            new = store.NewDocument(file, "neu.txt", "text/plain")
            return store.store_documents(session, place.organization, [new], service().files)[0].id

    with app.app_context():
        document = store.put_and_store(put_and_purge, write)
    assert len(put) == 2
    assert caller.get(f"Binary/{document}").data == b"gleich"
    command(app, "documents", "verify")


def test_a_file_is_not_removed_from_under_a_transaction_that_stores_it(
    app: Flask, place: Place, caller: Caller
) -> None:
    removed: list[bool] = []

    def remove(digest: bytes) -> None:
        with app.app_context():
            removed.append(remove_unused(service().files, digest))

    with app.app_context():
        file = service().files.put(io.BytesIO(b"gleich"))
        remover = threading.Thread(target=remove, args=[file.digest])
        with database.write() as session:
            new = store.NewDocument(file, "neu.txt", "text/plain")
            (placed,) = store.store_documents(session, place.organization, [new], service().files)
            remover.start()
            remover.join(0.3)
            assert remover.is_alive(), "it waits for the transaction"
        remover.join(20)
    assert removed == [False]
    assert caller.get(f"Binary/{placed.id}").data == b"gleich"
