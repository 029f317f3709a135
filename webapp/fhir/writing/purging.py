"""Deletion on request (GDPR, article 17): a document goes for good, its file with it, and a tombstone stays.

The tombstone says that there was a document of this id, when it was stored and when, by whom and why it was deleted;
it holds nothing of its content, title, patient or identifiers. The access log and the audit trail keep their rows,
which hold ids alone. Backups are the operator's.

`verify` finds damaged files, and those that a store that was rolled back or killed has left: no document points to
them. These are removed once they are a day old, so that none is taken from under a transaction that is about to point
to it (putting a file again renews its time).
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import BigInteger, ForeignKey, String, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from webapp import audit
from webapp.extensions import db
from webapp.fhir import clock, store
from webapp.fhir.models import Document, WaitingBinary
from webapp.models import Base
from webapp.storage import STALE, FileMissing, Files, FolderFiles

REASON_LENGTH = 200


class PurgedDocument(Base):
    """The tombstone of a document. `stored_at` and `purged_at` in microseconds since 1970."""

    __tablename__ = "purged_document"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organization.id", ondelete="CASCADE"), index=True)
    stored_at: Mapped[int] = mapped_column(BigInteger)
    purged_at: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(String(REASON_LENGTH), default="")


def purge(session: Session, document: uuid.UUID, reason: str) -> bytes | None:
    """Delete a document's row and leave its tombstone; None when there is none of that id. Else the hash of its file,
    which the caller lets `remove_unused` have once this is committed; empty where another document has the same."""
    row = session.get(Document, document)
    if row is None:
        return None
    now = store.stamp(session, row.organization_id)  # nobody stores, marks or counts meanwhile
    digest = bytes(row.sha256)
    store.remove(session, row)
    kept = {"id": row.id, "organization_id": row.organization_id, "stored_at": row.stored_at, "purged_at": now}
    session.add(PurgedDocument(**kept, reason=reason[:REASON_LENGTH]))
    audit.record(session, "purged", detail=f"{row.id}: {reason}")
    session.flush()
    return b"" if _used(session, digest) else digest


def remove_unused(files: Files, digest: bytes) -> bool:
    """Remove a file unless a document or a waiting Binary refers to it; whether it was removed. In a transaction of its
    own, so that the others wait for one file at most.

    Nobody stores meanwhile, and whoever stores looks under the lock whether the file is there still and puts it again
    if not (`store.put_and_store`): what somebody stores at this moment with the same content keeps its file.
    """
    with db.write() as session:
        clock.lock_all(session)
        if _used(session, digest):
            return False
        files.remove(digest)
    return True


def _used(session: Session, digest: bytes) -> bool:
    tables: tuple[type[Document | WaitingBinary], ...] = (Document, WaitingBinary)
    return any(session.scalar(select(table.id).where(table.sha256 == digest).limit(1)) for table in tables)


@dataclass(frozen=True, slots=True)
class StorageReport:
    """`faults`: hash and what is wrong; `unused`: files that no document points to; `removed`: those of them that were
    old enough and are gone; `swept`: temporary files of processes that died."""

    sound: int
    faults: tuple[tuple[bytes, str], ...]
    unused: int
    removed: int
    swept: int


def verify(files: Files, expected: Mapping[bytes, int], remove: Callable[[bytes], bool] | None = None) -> StorageReport:
    """Check the files of `expected` (hash to size in bytes). `remove` sweeps: it removes a file that no document points
    to at that moment and says whether it did."""
    faults = [(digest, fault) for digest, size in expected.items() if (fault := _fault(files, digest, size))]
    unused = sum(1 for digest in files.digests() if digest not in expected)
    removed = sum(remove(digest) for digest in files.digests(STALE) if digest not in expected) if remove else 0
    swept = files.sweep() if remove and isinstance(files, FolderFiles) else 0
    return StorageReport(len(expected) - len(faults), tuple(faults), unused, removed, swept)


def _fault(files: Files, digest: bytes, size: int) -> str:
    found, length = hashlib.sha256(), 0
    try:
        for chunk in files.read(digest):
            found.update(chunk)
            length += len(chunk)
    except FileMissing:
        return "missing"
    if length != size:
        return f"{length} bytes instead of {size}"
    return "" if found.digest() == digest else "changed"
