"""Documents come in from a manifest with one JSON object a line.

A line is stored or reported; a bad one stops nothing. A repeated import skips what is already in: each document carries
a key made of its line, whatever the order of the keys in it, of its file's content and of how many equal ones stood
before it, unique in the organization. So an import that was killed, or whose bad lines were mended, is simply run
again, and the same line with another file in another folder is another document. A file that was replaced after its
line had been imported is an error: neither of the two letters may be lost without a word.
"""

import hashlib
import mimetypes
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import orjson
from pydantic import Field, ValidationError, field_validator
from sqlalchemy import select

from clinical.listed import open_listed
from webapp.extensions import db
from webapp.fhir import clock, dates, linking, store
from webapp.fhir.bulk.details import DetailsLine, details_of
from webapp.fhir.bulk.lines import BadLine, LineResult, numbered, problems_of
from webapp.fhir.files import clean_content_type, clean_title
from webapp.fhir.models import SYSTEM_LENGTH, TITLE_LENGTH, VALUE_LENGTH, Document, Status
from webapp.storage import Files

_FIELDS = "path, title, content_type, patient, stored_at, status, and details as docs/documents.md has them"
BATCH = 200  # documents a transaction: few enough that others wait little for the organization's lock


class DocumentLine(DetailsLine):
    """One line of a document manifest; `path` is relative to the manifest's folder, and below it."""

    path: str = Field(min_length=1)
    title: str = ""
    content_type: str = ""
    patient: str = Field(default="", max_length=SYSTEM_LENGTH + VALUE_LENGTH)
    stored_at: str = ""
    status: Literal[Status.CURRENT, Status.ENTERED_IN_ERROR] = Status.CURRENT  # only another document replaces one

    @field_validator("path", "title", "patient")
    @classmethod
    def _no_nul(cls, value: str) -> str:
        if "\0" in value:
            raise ValueError("holds U+0000")
        return value


@dataclass(frozen=True, slots=True)
class Keyed:
    """A line that can be read, and its file: SHA-256 of the content, and what the line is known by (32 bytes each):
    `key` is of line and content, `line_key` of line and folder."""

    number: int
    line: DocumentLine
    digest: bytes
    key: bytes
    line_key: bytes
    whose: linking.Stated


Ready = tuple[Keyed, store.NewDocument]


@dataclass(frozen=True, slots=True)
class DocumentImporter:
    """Imports into one organization."""

    organization: uuid.UUID
    files: Files

    def documents(self, manifest: Path) -> Iterator[LineResult]:
        """Store the documents a manifest names; yields what became of each line, batch by batch, once committed."""
        folder, reader = manifest.parent.resolve(), _LineReader(manifest.parent.resolve())
        with manifest.open(encoding="utf-8", errors="replace") as source:
            lines = numbered(source)
            while batch := list(islice(lines, BATCH)):
                yield from self._batch(folder, [reader.read(number, text) for number, text in batch])

    def _batch(self, folder: Path, batch: list[Keyed | LineResult]) -> Iterator[LineResult]:
        keyed = [item for item in batch if isinstance(item, Keyed)]
        known, replaced = self._known(keyed)
        subjects = linking.Subjects(db.session, self.organization, (item.whose for item in keyed))
        results = [item for item in batch if isinstance(item, LineResult)]
        new: list[Ready] = []
        for item in keyed:
            try:
                if item.key in replaced:
                    raise BadLine(
                        "this line was imported before with another file",
                        "the same file under a known line",
                        "give the new letter a line of its own (a title or a path); if the stored one was wrong: "
                        "flask --app webapp documents mark-in-error",
                    )
                if item.key in known:
                    results.append(LineResult(item.number, "known"))
                else:
                    new.append((item, self._document(item, subjects)))
            except BadLine as error:
                results.append(LineResult(item.number, "bad", str(error)))
        # files first, then their rows in one transaction
        results += store.put_and_store(partial(self._put, folder, new), self._rows)
        yield from sorted(results, key=lambda result: result.line)

    def _known(self, keyed: Sequence[Keyed]) -> tuple[set[bytes], set[bytes]]:
        """Keys of the lines whose document is in, and of those that are in with another content."""
        of_key = Document.import_key.in_([item.key for item in keyed])
        of_line = Document.import_line.in_([item.line_key for item in keyed])
        mine = select(Document.import_key, Document.import_line).where(Document.organization_id == self.organization)
        found = db.session.execute(mine.where(of_key | of_line)).all()
        known = {bytes(key) for key, _ in found if key}
        lines = {bytes(line) for _, line in found if line}
        return known, {item.key for item in keyed if item.line_key in lines} - known

    def _put(self, folder: Path, new: list[Ready]) -> list[Ready | LineResult]:
        """The same with their files stored; the result of lines whose file cannot be had."""
        puts = self.files.put_all([partial(open_listed, folder, item.line.path) for item, _ in new])
        ready: list[Ready | LineResult] = []
        for (item, document), put in zip(new, puts, strict=True):
            if isinstance(put, OSError):
                ready.append(LineResult(item.number, "bad", str(_unreadable(put))))
            elif put.digest != item.digest:
                ready.append(LineResult(item.number, "bad", str(BadLine("the file changed while it was read"))))
            else:
                ready.append((item, replace(document, file=put)))
        return ready

    def _rows(self, put: Sequence[Ready | LineResult]) -> list[LineResult]:
        results = [one for one in put if isinstance(one, LineResult)]
        new = [one for one in put if not isinstance(one, LineResult)]
        try:
            with db.write() as session:
                store.store_documents(session, self.organization, [document for _, document in new], self.files)
        except clock.ImpossibleTime as error:
            if len(new) == 1:
                return [*results, LineResult(new[0][0].number, "bad", str(error))]
            return results + [result for one in new for result in self._rows([one])]
        return results + [LineResult(item.number, "stored", subject=_subject_of(document)) for item, document in new]

    def _document(self, item: Keyed, subjects: linking.Subjects) -> store.NewDocument:
        """The document a line describes; its file is put later."""
        line = item.line
        try:
            subject = subjects.of(item.whose)
        except linking.UnknownPatient:
            raise BadLine("patient is unknown", "a patient of this organization", "import patients first") from None
        stored_at = dates.parse_bound(line.stored_at) if line.stored_at else dates.ALWAYS
        if stored_at is None:
            raise BadLine("stored_at is no date", "an instant like 2026-03-05T10:20:30.400500Z")
        title = clean_title(line.title or Path(line.path).name)[:TITLE_LENGTH]
        guessed = line.content_type or mimetypes.guess_type(line.path)[0] or ""
        return store.NewDocument(
            store.NO_FILE, title, clean_content_type(guessed), *subject, line.status, stored_at.start,
            item.key, item.line_key, details_of(line),
        )  # fmt: skip


class _LineReader:
    """Reads lines in order, and counts the equal ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: Counter[bytes] = Counter()

    def read(self, number: int, text: str) -> Keyed | LineResult:
        """The line and its keys, or why it is bad."""
        try:
            line = _validated(text)
            digest, whose = _digest_of(self._folder, line.path), _stated(line.patient)
        except BadLine as error:
            return LineResult(number, "bad", str(error))
        # without the details it does not give: one that is added to the form changes the keys of no line
        given = orjson.dumps(line.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)
        said = hashlib.sha256(given).digest()
        where = hashlib.sha256(str(self._folder).encode() + b"\0" + said).digest()
        return Keyed(number, line, digest, self._counted(b"2" + said + digest), self._counted(b"line" + where), whose)

    def _counted(self, what: bytes) -> bytes:
        """A key of `what` and of how often it came before."""
        key = hashlib.sha256(what + str(self._seen[what]).encode()).digest()
        self._seen[what] += 1
        return key


def _stated(patient: str) -> linking.Stated:
    try:
        return linking.stated(patient)
    except ValueError:
        raise BadLine("patient is no identifier", "system|value, Patient/<id> or a patient's UUID") from None


def _digest_of(folder: Path, name: str) -> bytes:
    try:
        with open_listed(folder, name) as source:
            return hashlib.file_digest(source, "sha256").digest()
    except OSError as error:
        raise _unreadable(error) from None


def _unreadable(error: OSError) -> BadLine:
    return BadLine(f"path cannot be read ({error.strerror})", "a file in the manifest's folder or below it")


def _subject_of(document: store.NewDocument) -> str:
    if document.patient_id is not None:
        return "linked"
    return "tagged" if document.external_value is not None else ""


def _validated(text: str) -> DocumentLine:
    try:
        return DocumentLine.model_validate_json(text)
    except ValidationError as error:
        raise BadLine(problems_of(error, most=None, whole="line"), _FIELDS) from None
