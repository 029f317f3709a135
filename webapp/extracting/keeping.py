"""A result is kept, where somebody asks: a document of its own that transforms the one that was read, stored as if it
had been posted, and found again by what it was made of, so that the same is kept once."""

import hashlib
import io
import uuid
from collections.abc import Callable
from typing import Any

import orjson
from sqlalchemy.orm import Session

from webapp.extensions import db
from webapp.extracting.bundles import MADE, LetterReading, SourceDocument
from webapp.extracting.codes import Resource
from webapp.fhir import store
from webapp.fhir.answers import FhirError
from webapp.fhir.resources import DocumentRow
from webapp.fhir.service import service
from webapp.fhir.writing import generating, given, storing
from webapp.fhir.writing.storing import Result, SentDocument
from webapp.storage import Stored

_MARKED = "Das Ergebnis dieser Fassung ist als fehlerhaft markiert und wird nicht noch einmal abgelegt."


def made_of(source: SourceDocument, document_type: str, *, coded: bool) -> str:
    """The identifier of what the text API reads of this version of a document."""
    return f"{source.id}/_history/{source.version}?document_type={document_type}&coded={str(coded).lower()}"


def checked(source: SourceDocument, reading: LetterReading) -> str:
    """The identifier of what a person made of it: another with every value and code."""
    codes = [(one.code, one.certainty, one.side, one.line) for one in reading.codes or ()]
    digest = hashlib.sha256(orjson.dumps([reading.data, codes])).hexdigest()
    return f"{source.id}/_history/{source.version}?document_type={reading.document_type}&checked={digest}"


def there(organization: uuid.UUID, identifier: str) -> uuid.UUID | None:
    """The document that was kept of the same before. Raises FhirError 409 where that is marked in error."""
    word = storing.word_of(MADE, identifier)
    found = storing.documents_with(db.session, organization, [word]).get(word, [])
    row = service().documents.one(organization, found[0]) if found else None
    if row is None:
        return None
    if DocumentRow._make(row).entered_in_error:
        raise FhirError(409, _MARKED)
    return found[0]


def keep(
    organization: uuid.UUID, source: SourceDocument, bundle: Resource, note: Callable[[Session, Result], None]
) -> Result:  # fmt: skip
    """Store a Bundle unless the same was kept; `note` leaves its trace in the same transaction. Raises FhirError."""
    identifier = bundle["entry"][0]["resource"]["identifier"]["value"]
    said, _, data = given.posted_document(_reference(source, bundle))

    def write(file: Stored) -> Result:
        new = SentDocument(said, file, condition=(MADE, identifier))
        with db.write() as session:
            (result,) = storing.put_documents(session, organization, [new], service().files)
            if result.created:
                note(session, result)
        return result

    return store.put_and_store(lambda: service().files.put(io.BytesIO(data or b"")), write)


def kept(organization: uuid.UUID, document: uuid.UUID) -> Resource:
    """The Bundle of a kept result. Raises FhirError 404."""
    row = service().documents.one(organization, document)
    if row is None:
        raise FhirError(404)
    bundle: Resource = orjson.loads(b"".join(service().files.read(DocumentRow._make(row).sha256)))
    return bundle


def _reference(source: SourceDocument, bundle: Resource) -> Resource:
    """The DocumentReference that its Composition gives, of the patient of the document that was read."""
    parameters: dict[str, Any] = {"parameter": [{"name": "document", "resource": bundle}]}
    made = generating.generated({"resourceType": "Parameters", **parameters})
    made["content"][0]["attachment"]["title"] = f"{source.title}.fhir.json"
    named = {"reference", "identifier"} & source.subject.keys()
    target = {"reference": f"{given.DOCUMENT}/{source.id}"}
    relation = {"code": "transforms", "target": target}
    return made | {"subject": source.subject if named else None, "relatesTo": [relation]}
