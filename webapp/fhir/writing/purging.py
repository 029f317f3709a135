"""Deletion on request (GDPR, article 17): a document goes for good, its file with it, and a tombstone stays.

The tombstone says that there was a document of this id, when it was stored and when, by whom and why it was deleted;
it holds nothing of its content, title, patient or identifiers. The access log and the audit trail keep their rows,
which hold ids alone. Backups are the operator's.
"""

import uuid
from dataclasses import dataclass

from sqlalchemy import BigInteger, ForeignKey, String, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from webapp import audit
from webapp.fhir import clock, store
from webapp.fhir.models import Document, WaitingBinary
from webapp.models import Base, User
from webapp.storage import Files

REASON_LENGTH = 200


class PurgedDocument(Base):
    """The tombstone of a document. `stored_at` and `purged_at` in microseconds since 1970."""

    __tablename__ = "purged_document"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organization.id", ondelete="CASCADE"), index=True)
    stored_at: Mapped[int] = mapped_column(BigInteger)
    purged_at: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(String(REASON_LENGTH), default="")


@dataclass(frozen=True, slots=True)
class Purged:
    """A deleted document: its id, and the hash of its file when no other document of anybody has the same file."""

    id: uuid.UUID
    unused: bytes | None


def purge(session: Session, document: uuid.UUID, reason: str, *, by: User | None = None) -> Purged | None:
    """Delete a document's row and leave its tombstone; None when there is none of that id. Once this is committed, the
    caller lets `remove_unused` have the hash."""
    row = session.get(Document, document)
    if row is None:
        return None
    now = store.stamp(session, row.organization_id)  # nobody stores, marks or counts meanwhile
    digest = bytes(row.sha256)
    store.remove(session, row)
    session.add(
        PurgedDocument(
            id=row.id,
            organization_id=row.organization_id,
            stored_at=row.stored_at,
            purged_at=now,
            reason=reason[:REASON_LENGTH],
        )
    )
    audit.record(session, "purged", user=by, detail=f"{row.id}: {reason}")
    session.flush()
    return Purged(row.id, None if _used(session, digest) else digest)


def remove_unused(session: Session, files: Files, digest: bytes) -> bool:
    """Remove a file unless a document or a waiting Binary refers to it; whether it was removed.

    Nobody stores meanwhile, and whoever stores looks under the lock whether the file is there still and puts it again
    if not (`store.put_and_store`): what somebody stores at this moment with the same content keeps its file.
    """
    clock.lock_all(session)
    if _used(session, digest):
        return False
    files.remove(digest)
    return True


def _used(session: Session, digest: bytes) -> bool:
    tables: tuple[type[Document | WaitingBinary], ...] = (Document, WaitingBinary)
    return any(session.scalar(select(table.id).where(table.sha256 == digest).limit(1)) for table in tables)
