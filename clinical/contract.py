"""The wire format of the text API: requests, responses and stream events, frozen.

Source: the contract "Medical Text-Processing API", sections 2 and 4, and the decisions on what it leaves open.
Lengths count Unicode code points of the value as sent. Unknown JSON fields are ignored, wrong types refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictStr,
    model_serializer,
)

QUERY_MAX = 2_000
TEXT_MAX = 20_000
PROMPT_MAX = 5_000
TIER1_MAX_CODES = 10

Confidence = Literal["high", "medium", "low", "score"]


class Frozen(BaseModel):
    """A value that does not change once made; unknown fields of a request are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _not_blank(value: str) -> str:
    """A value of white space alone counts as empty (decisions, "Which limit answers first")."""
    if not value.strip():
        raise ValueError("must not be empty")
    return value


Query = Annotated[StrictStr, Field(min_length=1, max_length=QUERY_MAX), AfterValidator(_not_blank)]
Text = Annotated[StrictStr, Field(min_length=1, max_length=TEXT_MAX), AfterValidator(_not_blank)]
Prompt = Annotated[StrictStr, Field(min_length=1, max_length=PROMPT_MAX), AfterValidator(_not_blank)]


class ResearchRequest(Frozen):
    """POST /api/deep-research. `details` is ours and opt-in: without it the answer is exactly the contract's."""

    query: Query
    rerank: StrictBool = False
    details: StrictBool = False


class CodeEntry(Frozen):
    """One ICD-10-GM code: `description` is the official title; `score` 0-100 only with confidence `score`."""

    code: str
    description: str
    confidence: Confidence
    reasoning: str = ""
    score: float | None = None


Assertion = Literal["present", "suspected", "history", "excluded", "family"]


class Span(Frozen):
    """A place in the request's text: `start` inclusive, `end` exclusive, in code points."""

    start: int
    end: int


Certainty = Literal["G", "V", "A", "Z"]
"""The German outpatient marker of a diagnosis: gesichert, Verdacht, ausgeschlossen, Zustand nach."""
Side = Literal["R", "L", "B"]
"""rechts, links, beidseits."""
NoCode = Literal["denied", "of-a-relative", "no-code-found", "not-a-diagnosis"]


class Mention(Frozen):
    """A place of the text that names a disease, finding, procedure or state, and what became of it.

    `codes`: those of the answer that rest on it, best first. `reason`: why there is none, None where there is one.
    `certainty` and `side` as above; None where the text gives none.
    """

    span: Span
    claim: Assertion
    certainty: Certainty | None
    side: Side | None
    codes: tuple[str, ...]
    reason: NoCode | None


class DetailedCodeEntry(CodeEntry):
    """A code entry with what it rests on; only in answers to requests with `details: true`.

    `evidence` is None where the text does not say it literally. `terminal`: may be used for billing as it stands.
    `pair`: the dagger or star code that belongs to it. `probability`: calibrated, of the search, None where the
    code was not found by search. `notes`: the rules of the classification that made a difference, in German.
    `certainty`, `side`: the outpatient markers, None where the text gives none. `missing`: what a more specific code
    would need and the text leaves open, in German.
    """

    evidence: Span | None
    assertion: Assertion | None
    terminal: bool
    pair: str | None
    probability: float | None
    notes: tuple[str, ...]
    certainty: Certainty | None = None
    side: Side | None = None
    missing: tuple[str, ...] = ()


Entries = tuple[DetailedCodeEntry | CodeEntry, ...]


class StatusEvent(Frozen):
    """Progress (`searching`) or a failure that ends the stream (`error`); `message` never holds the query."""

    type: Literal["status"] = "status"
    status: Literal["searching", "error"]
    message: str


class PartialEvent(Frozen):
    """Tier 1 or tier 2.

    `mentions`: the ledger of the text in its order, every mention once; only in tier 1 and where details are asked for.
    """

    type: Literal["partial"] = "partial"
    layer: Literal[1, 2]
    summary: str = ""
    codes: Entries
    mentions: tuple[Mention, ...] | None = None

    @model_serializer(mode="wrap")
    def _without_an_empty_ledger(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """None is left out of the answer, so that a strict client sees exactly the contract."""
        tree: dict[str, Any] = handler(self)
        if tree["mentions"] is None:
            del tree["mentions"]
        return tree


class ResultEvent(Frozen):
    """Tier 3; the stream ends after it."""

    type: Literal["result"] = "result"
    layer: Literal[3] = 3
    summary: str
    codes: Entries


Event = StatusEvent | PartialEvent | ResultEvent


class Usage(Frozen):
    """Tokens over all attempts of one request."""

    tokens_in: int
    tokens_out: int


class GenerateRequest(Frozen):
    """POST /api/llm/generate: `prompt` is the system message, `text` the user message, nothing is added."""

    text: Text
    prompt: Prompt


class GenerateResponse(Frozen):
    """Free text, not validated against the input."""

    output: str
    model: str
    usage: Usage
    processing_time_ms: float


class CatalogHealth(Frozen):
    """What is loaded; counts of all codes, of terminal codes and of synonym texts. Own synonyms by file: where any."""

    system: Literal["ICD-10-GM"] = "ICD-10-GM"
    version: str
    codes: int
    terminal_codes: int
    synonyms: int
    encoder: str
    built_at: str
    vocabularies: dict[str, int] = Field(default={}, exclude_if=lambda found: not found)


class Health(Frozen):
    """GET /api/health."""

    status: Literal["ok", "starting"]
    version: str
    catalog: CatalogHealth | None


class ModelHealth(Frozen):
    """GET /api/llm/health."""

    status: Literal["ok", "down", "not_configured"]
    model: str | None


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
