"""POST /api/documents/extract on the wire: the fields of a referral and of an Arztbrief, and their evidence.

Source: the contract "Medical Text-Processing API", section 2; German identifiers are the contract's own.
"""

from __future__ import annotations

from typing import Literal

from pydantic import StrictBool

from clinical.contract.shared import Frozen, Text, Usage

DocumentType = Literal["zuweisung", "arztbrief"]


class ExtractRequest(Frozen):
    """POST /api/documents/extract. `evidence` is ours and opt-in: without it the answer is exactly the contract's."""

    document_type: DocumentType
    text: Text
    evidence: StrictBool = False


class Dokument(Frozen):
    """The letter itself: its kind in its own words, its date (ISO)."""

    typ: str | None = None
    datum: str | None = None


class Patient(Frozen):
    """Who the letter is about; `geburtsdatum` is ISO, numbers are strings as written."""

    nachname: str | None = None
    vorname: str | None = None
    geburtsdatum: str | None = None
    geschlecht: Literal["m", "w"] | None = None
    strasse: str | None = None
    plz: str | None = None
    ort: str | None = None
    versichertennummer: str | None = None
    fallnummer: str | None = None


class Versicherung(Frozen):
    """The insurer and the class; a type of clinic alone implies no class."""

    name: str | None = None
    klasse: Literal["allgemein", "halbprivat", "privat"] | None = None


class Kontakt(Frozen):
    """Sender or recipient (fields: decisions, "Extraction payload")."""

    institution: str | None = None
    abteilung: str | None = None
    name: str | None = None
    strasse: str | None = None
    plz: str | None = None
    ort: str | None = None
    telefon: str | None = None
    email: str | None = None


class Aufenthalt(Frozen):
    """The kind of stay."""

    art: Literal["stationaer", "ambulant"] | None = None


class Eingriff(Frozen):
    """One procedure; `datum` is ISO."""

    bezeichnung: str | None = None
    datum: str | None = None


class Document(Frozen):
    """What both kinds of document have. All keys are always present; empty lists, never null."""

    dokument: Dokument = Dokument()
    patient: Patient = Patient()
    versicherung: Versicherung = Versicherung()
    absender: Kontakt = Kontakt()
    empfaenger: Kontakt = Kontakt()
    aufenthalt: Aufenthalt = Aufenthalt()
    fragestellung: str | None = None
    diagnosen: tuple[str, ...] = ()
    medikation: tuple[str, ...] = ()


class Zuweisung(Document):
    """A referral to an institution."""

    kostengutsprache: Literal["liegt_vor", "beantragt", "wird_eingeholt"] | None = None
    dringlichkeit: Literal["notfall", "dringlich", "elektiv"] | None = None


class Arztbrief(Document):
    """A discharge or progress letter, findings."""

    eingriffe: tuple[Eingriff, ...] = ()
    procedere: tuple[str, ...] = ()


Match = Literal["exact", "normalised", "overlap", "keyword", "date", "digits"]


class Evidence(Frozen):
    """Where a kept value stands: code points of the request's text, `start` inclusive, `end` exclusive."""

    path: str
    start: int
    end: int
    match: Match
    support: Literal["label", "block", "salutation", "neighbourhood"] | None = None
    """What supports that the value is this field: its label, the block or section it stands in, the salutation, or what
    stands beside it; None where nothing does."""


class FieldState(Frozen):
    """What became of one field, or of one entry of a list.

    `stated`: the letter says it. `denied`: the letter says no. `not_mentioned`: neither. `removed`: the model gave
    `value`, the letter does not evidence it; `words` are those of its words that stand nowhere in the letter. An entry
    that left its list has the list's name as its path.
    """

    path: str
    state: Literal["stated", "denied", "not_mentioned", "removed"]
    value: str | None = None
    words: tuple[str, ...] = ()


class ReviewNote(Frozen):
    """A kept value that may belong into another field, and why, in German. Nothing is removed by it."""

    path: str
    reason: str


class ExtractResponse(Frozen):
    """The grounded document. A non-empty `removed_by_grounding` is a signal that a human should look."""

    document_type: DocumentType
    data: Zuweisung | Arztbrief
    removed_by_grounding: tuple[str, ...] = ()
    model: str
    usage: Usage
    processing_time_ms: float
    evidence: tuple[Evidence, ...] | None = None
    states: tuple[FieldState, ...] | None = None
    review: tuple[ReviewNote, ...] | None = None
    """All three only where asked for; None is left out, so that a strict client sees exactly the contract."""
    remarks: tuple[str, ...] | None = None
    """How the letter was read, in German, as `evidence`: of several lists of drugs, which one was taken."""
