"""The table of files that came in alone and wait for the document that refers to them."""

import uuid
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from webapp.fhir.models import TYPE_LENGTH
from webapp.models import Base, utcnow


class WaitingBinary(Base):
    """A posted Binary: a file without a document. Used by one document of the same organization, within a day."""

    __tablename__ = "waiting_binary"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    organization_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("organization.id", ondelete="CASCADE"), index=True)
    content_type: Mapped[str] = mapped_column(String(TYPE_LENGTH))
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[bytes] = mapped_column(LargeBinary(32))
    created_at: Mapped[datetime] = mapped_column(default=utcnow, index=True)
