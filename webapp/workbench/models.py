"""Tables of the workbench: instructions that members keep. No text of a patient is among them."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from webapp.models import Base, utcnow

TITLE_LENGTH = 80


class Instruction(Base):
    """An instruction for drafts, one person's own, found again by its title."""

    __tablename__ = "instruction"
    __table_args__ = (UniqueConstraint("user_id", "title"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    prompt: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
