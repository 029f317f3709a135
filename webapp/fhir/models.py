"""Tables of document retrieval, and why each index exists.

Instants that are searched or ordered by (`stored_at`) are microseconds since 1970 UTC in a BIGINT: the same exact
comparison on SQLite and PostgreSQL, and no end of the calendar. `to_timestamp(stored_at / 1000000.0)` shows one.

Every index of `document` ends in `(stored_at, id)`, so that it is read backwards from the newest and a page stops after
its last row; `id` is in it because it breaks ties and is the second half of the keyset cursor. What the planners make
of them was read at 50,000 rows, with `EXPLAIN (ANALYZE, BUFFERS)` on PostgreSQL 15 (plans for given values and generic
ones alike, which is what the reading connections use) and with `EXPLAIN QUERY PLAN` on SQLite 3.40:

    ix_document_newest    no filter, a date window, `status=current`, the keyset cursor (one index condition): 51 rows
                          read backwards; the part-days at the ends of a window are counted from the index alone
    ix_document_patient   `$everything` and `patient=<uuid>`: read backwards; `entered_in_error` rides along so that a
                          patient's documents are counted from the index alone
    ix_document_external  `patient=<system>|<value>`: the rows of both, in order
    ix_document_value     `patient=<value>`, whatever the system: in order, were it a value that half of them have
    ix_document_system    `patient=<system>|`: in order, and nothing is read where nobody has that system
    ix_document_type      `contenttype=`, also within a window: read backwards; without it a rare type would read the
                          whole organization
    ix_document_status    `status=entered-in-error`, the rare one
    ix_document_replaced  `status=superseded`, as rare

The outermost sort of every plan is of the page itself (51 rows), whose order a join does not promise. Totals without a
patient, and the day on which `_offset` lies, come from the primary key of `document_count`. At 1,000,000 rows no plan
was read; `python -m evals load fhir --documents N` gives the processor time of both servers.
"""

import enum
import uuid
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Integer, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from webapp.models import NAME_LENGTH, Base, utcnow

TITLE_LENGTH = 255
TYPE_LENGTH = 127  # RFC 6838: the longest type/subtype
SYSTEM_LENGTH, VALUE_LENGTH = 500, 255
TERM_LENGTH = 255  # a longer word is found by its beginning
WHOLE = -(2**31)  # `DocumentCount.day` of the row that counts all days

_TERM = String(TERM_LENGTH, collation="C").with_variant(String(TERM_LENGTH), "sqlite")  # by its bytes on both
Owned = Annotated[uuid.UUID, mapped_column(ForeignKey("organization.id", ondelete="CASCADE"))]
"""The organization of a row, with which the row ends."""
_Id = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself only in an INTEGER primary key


def _where(condition: str, sqlite: str = "") -> dict[str, Any]:
    """The condition of an index over a part of a table; that of SQLite where it has to be written otherwise there."""
    return {"postgresql_where": text(condition), "sqlite_where": text(sqlite or condition)}


class Status(enum.StrEnum):
    """The states of a document; a soft-deleted one is `entered-in-error`, one that another has replaced `superseded`.

    They are two facts that are independent of each other: undoing the mark on a replaced document does not put it back
    in force.
    """

    CURRENT = "current"
    ENTERED_IN_ERROR = "entered-in-error"
    SUPERSEDED = "superseded"

    @classmethod
    def of(cls, entered_in_error: bool, superseded: bool) -> "Status":
        """The status that the two facts make."""
        return cls.ENTERED_IN_ERROR if entered_in_error else cls.SUPERSEDED if superseded else cls.CURRENT


class Patient(Base):
    """A patient record of an organization; `resource` is the FHIR Patient without `id` and `meta`."""

    __tablename__ = "patient"
    __table_args__ = (Index("ix_patient_organization_id", "organization_id", "stored_at", "id"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    organization_id: Mapped[Owned]
    stored_at: Mapped[int] = mapped_column(BigInteger)
    resource: Mapped[dict[str, Any]] = mapped_column(JSON)

    identifiers: Mapped[list["PatientIdentifier"]] = relationship(
        cascade="all, delete-orphan", order_by="PatientIdentifier.id"
    )


class PatientIdentifier(Base):
    """An external identifier of a patient; `system` is empty where the source knows none."""

    __tablename__ = "patient_identifier"
    __table_args__ = (UniqueConstraint("organization_id", "value", "system"),)

    id: Mapped[int] = mapped_column(_Id, primary_key=True, autoincrement=True)
    organization_id: Mapped[Owned]
    patient_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("patient.id", ondelete="CASCADE"), index=True)
    system: Mapped[str] = mapped_column(String(SYSTEM_LENGTH), default="")
    value: Mapped[str] = mapped_column(String(VALUE_LENGTH))


class Document(Base):
    """A stored document. The file lies in the content-addressed storage under `sha256`.

    `patient_id` is the linked patient; `external_system` and `external_value` are the identifier it was tagged with.
    Either, both or neither may be there. `import_key` (line and content) makes a repeated import skip what is already
    in, `import_line` (folder and line) notices that the file of a known line was replaced. `version` is the number of
    the last `DocumentChange`.
    """

    __tablename__ = "document"
    __table_args__ = (
        Index("ix_document_newest", "organization_id", "stored_at", "id"),
        Index("ix_document_patient", "organization_id", "patient_id", "stored_at", "id", "entered_in_error"),
        *(
            Index(name, "organization_id", *columns, "stored_at", "id", **_where("external_value IS NOT NULL"))
            for name, *columns in (
                ("ix_document_external", "external_value", "external_system"), ("ix_document_value", "external_value"),
                ("ix_document_system", "external_system"),
            )
        ),
        Index("ix_document_type", "organization_id", "content_type", "stored_at", "id"),
        *(
            Index(name, "organization_id", "stored_at", "id", **_where(fact, f"{fact} = 1"))
            for name, fact in (("ix_document_status", "entered_in_error"), ("ix_document_replaced", "superseded"))
        ),
        Index("ix_document_import_line", "organization_id", "import_line", **_where("import_line IS NOT NULL")),
        UniqueConstraint("organization_id", "import_key"),
    )  # fmt: skip

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    organization_id: Mapped[Owned]
    patient_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("patient.id"))
    external_system: Mapped[str | None] = mapped_column(String(SYSTEM_LENGTH))
    external_value: Mapped[str | None] = mapped_column(String(VALUE_LENGTH))
    entered_in_error: Mapped[bool] = mapped_column(default=False)
    superseded: Mapped[bool] = mapped_column(default=False)
    version: Mapped[int] = mapped_column(Integer, default=1)
    content_type: Mapped[str] = mapped_column(String(TYPE_LENGTH))
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    stored_at: Mapped[int] = mapped_column(BigInteger)
    import_key: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    import_line: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    details: Mapped[str | None] = mapped_column(Text)  # JSON; see `webapp.fhir.details`

    @property
    def status(self) -> Status:
        """The FHIR status."""
        return Status.of(self.entered_in_error, self.superseded)


class DocumentTerm(Base):
    """A word by which a document with details is found (see `terms`): its type, category, author, encounter,
    identifier, security label or the time of its creation. The key is also the index of the search, which reads it
    backwards from the newest."""

    __tablename__ = "document_term"

    organization_id: Mapped[Owned] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    term: Mapped[str] = mapped_column(_TERM, primary_key=True)
    stored_at: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    document_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("document.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class ImagingStudy(Base):
    """An imaging study of a patient; `resource` is the FHIR ImagingStudy without `id`, `meta` and `subject`."""

    __tablename__ = "imaging_study"
    __table_args__ = (Index("ix_imaging_study_patient", "patient_id", "stored_at", "id"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    organization_id: Mapped[Owned]
    patient_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("patient.id", ondelete="CASCADE"))
    stored_at: Mapped[int] = mapped_column(BigInteger)
    resource: Mapped[dict[str, Any]] = mapped_column(JSON)


class SearchTerm(Base):
    """A word by which a patient or an imaging study is found; see `terms`. Compared by its bytes, so that what begins
    with a word is a range of the index on both databases."""

    __tablename__ = "search_term"
    __table_args__ = (Index("ix_search_term", "organization_id", "kind", "term", "owner"),)

    id: Mapped[int] = mapped_column(_Id, primary_key=True, autoincrement=True)
    organization_id: Mapped[Owned]
    owner: Mapped[uuid.UUID] = mapped_column(index=True)
    kind: Mapped[str] = mapped_column(String(20))
    term: Mapped[str] = mapped_column(_TERM)


class StorageClock(Base):
    """The last storage time given out in an organization; its row is the lock under which the next one is stamped."""

    __tablename__ = "storage_clock"

    organization_id: Mapped[Owned] = mapped_column(primary_key=True)
    last: Mapped[int] = mapped_column(BigInteger)
    changes: Mapped[int] = mapped_column(BigInteger, default=0)


class DocumentChange(Base):
    """One version of a document: stored (the first), marked, restored, replaced, linked to a patient, or deleted.

    `at` strictly increases per organization in the order in which changes become visible, as storage times do; `number`
    counts an organization's changes without a gap, so that how many there are since an instant is a subtraction. No
    foreign key to the document: that it was deleted is told as long as the organization is there.
    """

    __tablename__ = "document_change"

    document_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    organization_id: Mapped[Owned]
    at: Mapped[int] = mapped_column(BigInteger)
    number: Mapped[int] = mapped_column(BigInteger)
    entered_in_error: Mapped[bool] = mapped_column(default=False)
    superseded: Mapped[bool] = mapped_column(default=False)
    deleted: Mapped[bool] = mapped_column(default=False)
    kept: Mapped[str | None] = mapped_column(Text)  # JSON: what the version said, once a later one says something else

    __table_args__ = (Index("ix_document_change_at", "organization_id", "at", "number"),)


class DocumentCount(Base):
    """The number of documents of a type and status that were stored on a UTC day (days since 1970), or altogether
    (`WHOLE`).

    Kept by the storing transaction, under the lock of `StorageClock`: the exact total of a search over an organization
    is a sum of a few rows, whatever the number of documents.
    """

    __tablename__ = "document_count"

    organization_id: Mapped[Owned] = mapped_column(primary_key=True)
    day: Mapped[int] = mapped_column(Integer, primary_key=True)
    entered_in_error: Mapped[bool] = mapped_column(primary_key=True)
    superseded: Mapped[bool] = mapped_column(primary_key=True)
    content_type: Mapped[str] = mapped_column(String(TYPE_LENGTH), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)


class AccessToken(Base):
    """A bearer token `bfa_<id>_<secret>` of a person; only the SHA-256 of the secret is kept."""

    __tablename__ = "access_token"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(NAME_LENGTH), default="")
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    expires_at: Mapped[int] = mapped_column(BigInteger)  # microseconds, as compared in the statement that checks it
    revoked_at: Mapped[datetime | None]


class AccessLog(Base):
    """A record of who read which document, patient or imaging study (`kind`), when and how, for auditors; never the
    content. No foreign keys: it outlives them."""

    __tablename__ = "document_access"
    __table_args__ = (
        Index("ix_document_access_document", "organization_id", "document_id", "at"),
        Index("ix_document_access_at", "organization_id", "at"),
    )

    id: Mapped[int] = mapped_column(_Id, primary_key=True, autoincrement=True)
    at: Mapped[datetime] = mapped_column(default=utcnow)
    organization_id: Mapped[uuid.UUID]
    kind: Mapped[str] = mapped_column(String(20), default="DocumentReference")
    document_id: Mapped[uuid.UUID]  # or the id of what else `kind` says
    user_id: Mapped[uuid.UUID | None]
    token_id: Mapped[str | None] = mapped_column(String(16))
    how: Mapped[str] = mapped_column(String(20))  # metadata | binary | presigned | preview | download | extract
    address: Mapped[str] = mapped_column(String(45), default="")  # shortened


class WaitingBinary(Base):
    """A posted Binary: a file without a document. Used by one document of the same organization, within a day."""

    __tablename__ = "waiting_binary"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    organization_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organization.id", ondelete="CASCADE"), index=True)
    content_type: Mapped[str] = mapped_column(String(TYPE_LENGTH))
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
