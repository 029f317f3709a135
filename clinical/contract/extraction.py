"""POST /api/documents/extract and /text on the wire: files, the fields of a letter, and their evidence.

Source: the contract "Medical Text-Processing API", section 2; German identifiers are the contract's own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializeAsAny,
    StrictBool,
    StrictStr,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from clinical.contract.shared import Frozen, Text, Usage

DocumentType = Literal["zuweisung", "arztbrief"]


class OfLetters(Frozen):
    """A model that is built when it is first needed: these are as costly to build as all others together, and most
    requests are for codes."""

    model_config = ConfigDict(defer_build=True)


class ExtractRequest(OfLetters):
    """POST /api/documents/extract. `evidence` is ours and opt-in: without it the answer is exactly the contract's."""

    document_type: DocumentType
    text: Text
    evidence: StrictBool = False


def _bytes_of(value: Any) -> bytes:
    """The bytes of a part of a form, or of base64."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("base64", "expected base64")
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "expected base64") from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


class FileContent(OfLetters):
    """A file in a request, as FHIR's Attachment has it. Its bytes tell its kind; `contentType` is not believed."""

    data: Annotated[
        bytes,
        BeforeValidator(_bytes_of),
        PlainSerializer(_base64, str, when_used="json"),
        WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
    ] = Field(repr=False)
    contentType: StrictStr | None = None  # noqa: N815 - the name in FHIR


class ExtractFileRequest(OfLetters):
    """POST /api/documents/extract with a file in place of the text."""

    document_type: DocumentType
    content: FileContent
    text: None = None
    evidence: StrictBool = False


PAGES_DRAWN_MAX = 50


class TextRequest(OfLetters):
    """POST /api/documents/text: the text of a file with its map; `draw` names pages wanted as images."""

    content: FileContent
    draw: tuple[Annotated[int, Field(strict=True, ge=1, le=PAGES_DRAWN_MAX)], ...] = ()
    width: Annotated[int, Field(strict=True, ge=100, le=2_400)] = 1_000
    """Pixels of an image's width."""


class Dokument(OfLetters):
    """The letter itself: its kind in its own words, its date (ISO)."""

    typ: str | None = Field(default=None, title="Art")
    datum: str | None = Field(default=None, title="Datum")


class Patient(OfLetters):
    """Patient whom the letter is about; `geburtsdatum` is ISO, numbers are strings as written."""

    nachname: str | None = Field(default=None, title="Nachname")
    vorname: str | None = Field(default=None, title="Vorname")
    geburtsdatum: str | None = Field(default=None, title="Geburtsdatum")
    geschlecht: Literal["m", "w"] | None = Field(default=None, title="Geschlecht")
    strasse: str | None = Field(default=None, title="Straße")
    plz: str | None = Field(default=None, title="PLZ")
    ort: str | None = Field(default=None, title="Ort")
    versichertennummer: str | None = Field(default=None, title="Versichertennummer")
    fallnummer: str | None = Field(default=None, title="Fallnummer")


class Versicherung(OfLetters):
    """The insurer and the class; a type of clinic alone implies no class."""

    name: str | None = Field(default=None, title="Name")
    klasse: Literal["allgemein", "halbprivat", "privat"] | None = Field(default=None, title="Klasse")


class Kontakt(OfLetters):
    """Sender or recipient (fields: decisions, "Extraction payload")."""

    institution: str | None = Field(default=None, title="Institution")
    abteilung: str | None = Field(default=None, title="Abteilung")
    name: str | None = Field(default=None, title="Name")
    strasse: str | None = Field(default=None, title="Straße")
    plz: str | None = Field(default=None, title="PLZ")
    ort: str | None = Field(default=None, title="Ort")
    telefon: str | None = Field(default=None, title="Telefon")
    email: str | None = Field(default=None, title="E-Mail")


class Aufenthalt(OfLetters):
    """The kind of stay."""

    art: Literal["stationaer", "ambulant"] | None = Field(default=None, title="Art")


class Eingriff(OfLetters):
    """One procedure; `datum` is ISO."""

    bezeichnung: str | None = Field(default=None, title="Bezeichnung")
    datum: str | None = Field(default=None, title="Datum")


class Document(OfLetters):
    """Fields that both kinds of document have. All keys are always present; empty lists, never null."""

    dokument: Dokument = Field(default=Dokument(), title="Dokument")
    patient: Patient = Field(default=Patient(), title="Patient")
    versicherung: Versicherung = Field(default=Versicherung(), title="Versicherung")
    absender: Kontakt = Field(default=Kontakt(), title="Absender")
    empfaenger: Kontakt = Field(default=Kontakt(), title="Empfänger")
    aufenthalt: Aufenthalt = Field(default=Aufenthalt(), title="Aufenthalt")
    fragestellung: str | None = Field(default=None, title="Fragestellung")
    diagnosen: tuple[str, ...] = Field(default=(), title="Diagnosen")
    medikation: tuple[str, ...] = Field(default=(), title="Medikation")


class Zuweisung(Document):
    """A referral to an institution."""

    kostengutsprache: Literal["liegt_vor", "beantragt", "wird_eingeholt"] | None = Field(
        default=None, title="Kostengutsprache"
    )
    dringlichkeit: Literal["notfall", "dringlich", "elektiv"] | None = Field(default=None, title="Dringlichkeit")


class Arztbrief(Document):
    """A discharge or progress letter, findings."""

    eingriffe: tuple[Eingriff, ...] = Field(default=(), title="Eingriffe")
    procedere: tuple[str, ...] = Field(default=(), title="Procedere")


def words_of_fields() -> dict[str, str]:
    """The German word of every key of both documents, for people."""
    words: dict[str, str] = {}
    models: list[type[BaseModel]] = [Zuweisung, Arztbrief]
    for model in models:
        for name, field in model.model_fields.items():
            words[name] = field.title or name
            inner = [type(field.default), *get_args(field.annotation)]
            models += [one for one in inner if isinstance(one, type) and issubclass(one, BaseModel)]
    return words


Match = Literal["exact", "normalised", "overlap", "keyword", "date", "digits"]


class Evidence(OfLetters):
    """Place of a kept value in the text: code points of the request's text, `start` inclusive, `end` exclusive."""

    path: str
    start: int
    end: int
    match: Match
    support: Literal["label", "block", "salutation", "neighbourhood"] | None = None
    """Support for the field, where the rules read the same value there: its label, the block or section it stands in,
    the salutation, or its neighbourhood; None where they do not."""


class PageBox(OfLetters):
    """A rectangle on a page of a file, in points from the top left of the page; pages count from 1."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


class PlacedEvidence(Evidence):
    """Place of a kept value in a file: the page it begins on, and a box for each line it runs over.

    `start` and `end` are places in the answer's `text`. A Word or text file has no pages: None, and no boxes.
    """

    page: int | None = None
    boxes: tuple[PageBox, ...] = ()


class FilePage(OfLetters):
    """A page of a file: its size in points, and whether its text was read or recognised; its image where asked for."""

    number: int
    width: float
    height: float
    source: Literal["text", "ocr"]
    image: str | None = None
    """PNG in base64."""


class FieldState(OfLetters):
    """State of one field, or of one entry of a list, after grounding.

    `stated`: the letter says it. `denied`: the letter says no. `not_mentioned`: neither. `removed`: the model gave
    `value`, the letter does not evidence it; `words` are those of its words that stand nowhere in the letter. An entry
    that left its list has the list's name as its path.
    """

    path: str
    state: Literal["stated", "denied", "not_mentioned", "removed"]
    value: str | None = None
    words: tuple[str, ...] = ()


class ReviewNote(OfLetters):
    """A kept value that may belong into another field, and why, in German. Nothing is removed by it."""

    path: str
    reason: str


class ExtractResponse(OfLetters):
    """The grounded document. A non-empty `removed_by_grounding` is a signal that a human should look."""

    document_type: DocumentType
    data: SerializeAsAny[Zuweisung | Arztbrief]
    removed_by_grounding: tuple[str, ...] = ()
    model: str
    usage: Usage
    processing_time_ms: float
    evidence: tuple[SerializeAsAny[Evidence], ...] | None = None
    states: tuple[FieldState, ...] | None = None
    review: tuple[ReviewNote, ...] | None = None
    """All three only where asked for; None is left out, so that a strict client sees exactly the contract."""
    remarks: tuple[str, ...] | None = None
    """Remarks in German on the reading of the letter, as `evidence`: which of several lists of drugs was used."""


class ExtractFileResponse(ExtractResponse):
    """The grounded document of a file; with `"evidence": true` the text that was read, and its pages."""

    text: str | None = None
    pages: tuple[FilePage, ...] | None = None


class TextWord(OfLetters):
    """A word of a file's text, or a part of one divided at a line's end: its place in the text and on its page."""

    start: int
    end: int
    box: PageBox


class TextResponse(OfLetters):
    """The text of a file as it is read, its pages, and its words; no pages and no words of Word and text files."""

    text: str
    pages: tuple[FilePage, ...] = ()
    words: tuple[TextWord, ...] = ()
    processing_time_ms: float


def values_of(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every value of a document's data with its path, in their order; None and blank values are none."""
    for name, value in data.items():
        yield from _values(name, value)


def _values(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if value.strip():
            yield path, value
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _values(f"{path}[{number}]", one)
    elif isinstance(value, Mapping):
        yield from ((f"{path}.{inner}", one) for inner, one in values_of(value))
