"""The page "Formulieren": an instruction and a text become a draft; members keep the instructions they use again."""

import uuid
from datetime import datetime

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from flask_login import current_user
from sqlalchemy import ForeignKey, String, Text, UniqueConstraint, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column
from werkzeug.wrappers import Response

from clinical.contract import PROMPT_MAX, TEXT_MAX, GenerateRequest
from webapp import guards
from webapp.extensions import db
from webapp.models import Base, User, utcnow
from webapp.workbench import examples
from webapp.workbench.calls import stream
from webapp.workbench.words import DRAFTING, spoken

MOST_KEPT = 50  # of one person; a longer list is no help
TITLE_LENGTH = 80

drafting = Blueprint("drafting", __name__, url_prefix="/drafting")
drafting.before_request(guards.member)


class Instruction(Base):
    """An instruction for drafts, one person's own, found again by its title. No text of a patient is kept here."""

    __tablename__ = "instruction"
    __table_args__ = (UniqueConstraint("user_id", "title"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(TITLE_LENGTH))
    prompt: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)


@drafting.get("/")
def page() -> str:
    """The page, with one's own instructions."""
    mine = select(Instruction).where(Instruction.user_id == current_user.id).order_by(func.lower(Instruction.title))
    given = {
        "longest": TEXT_MAX, "longest_prompt": PROMPT_MAX, "title_length": TITLE_LENGTH, "words": spoken(DRAFTING),
        "example": examples.LETTER, "instruction": examples.INSTRUCTION,
    }  # fmt: skip
    return render_template("workbench/drafting.html", given=given, instructions=db.session.scalars(mine).all())


@drafting.post("/answer/")
def answer() -> Response:
    """The text API's draft, as one event."""
    return stream("/api/llm/generate", GenerateRequest, {})


@drafting.post("/instructions/")
def keep() -> Response:
    """Keep an instruction under a title; one of the same title is replaced."""
    title, prompt = request.form.get("title", "").strip()[:TITLE_LENGTH], request.form.get("prompt", "").strip()
    if not title or not prompt or len(prompt) > PROMPT_MAX or "\0" in title + prompt:
        flash(_("Eine Anweisung braucht einen Namen und einen Text von höchstens 5000 Zeichen."), "error")
        return redirect(url_for("drafting.page"))
    mine = Instruction.user_id == current_user.id
    with db.write() as session:
        session.scalars(select(User.id).where(User.id == current_user.id).with_for_update()).one()  # two tabs at once
        session.execute(delete(Instruction).where(mine, Instruction.title == title))
        full = (session.scalar(select(func.count()).select_from(Instruction).where(mine)) or 0) >= MOST_KEPT
        if not full:
            session.add(Instruction(user_id=current_user.id, title=title, prompt=prompt))
    if full:
        flash(
            _("Es sind schon %(number)d Anweisungen gespeichert. Löschen Sie zuerst eine.", number=MOST_KEPT), "error"
        )
    else:
        flash(_("Die Anweisung „%(title)s“ ist gespeichert.", title=title), "success")
    return redirect(url_for("drafting.page"))


@drafting.post("/instructions/<uuid:instruction>/delete/")
def drop(instruction: uuid.UUID) -> Response:
    """Delete one of one's own instructions."""
    with db.write() as session:
        mine = Instruction.user_id == current_user.id
        session.execute(delete(Instruction).where(mine, Instruction.id == instruction))
    flash(_("Die Anweisung ist gelöscht."), "success")
    return redirect(url_for("drafting.page"))
