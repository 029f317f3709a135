"""The body that a program sends, read and checked: JSON, XML, a FHIR R4 resource, its file. Faults name the element.

All of it is done before a lock is taken: others wait for what needs the database alone.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from webapp.fhir import details as kept_details
from webapp.fhir.answers import FhirError
from webapp.fhir.details import LARGEST, Details, Resource
from webapp.fhir.files import UNKNOWN_TYPE, clean_content_type, clean_title
from webapp.fhir.models import TITLE_LENGTH, Status
from webapp.fhir.searching import terms
from webapp.fhir.writing.bounds import beyond
from webapp.fhir.writing.examining import examine, misread

Words = tuple[tuple[str, str], ...]
DOCUMENT = "DocumentReference"
MOST_WORDS = 250  # of one document: each is a row of an index, and some fifteen are usual
MOST_RELATED = 10
_ATTACHMENT = "content[0].attachment"
_BESIDE = 8_192  # bytes of what is not kept among the details: file name, type, hash, address
_UNITS = {"items": "Einträge", "characters": "Zeichen", "bytes": "Bytes"}
_STUMBLES = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, RecursionError)
_SHA256 = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """A document that another is related to: the text of the reference and the identifier that name it, whether it is
    replaced, and which of `relatesTo` says so."""

    reference: str
    identifier: tuple[str, str] | None
    replaces: bool
    number: int


@dataclass(frozen=True, slots=True)
class GivenDocument:
    """A DocumentReference as far as it is known without the database; `at` is where it stands in a bundle."""

    title: str
    content_type: str  # "" where none is given
    status: Status
    subject: Resource
    details: Details
    words: Words
    related: tuple[RelatedDocument, ...]
    references: frozenset[str]  # all that its details refer to
    at: str = ""

    def led(self, references: Mapping[str, str]) -> "GivenDocument":
        """The same, its references to other entries of a bundle as they are stored."""
        if self.references.isdisjoint(references):
            return self
        details = _led(self.details, references)
        return replace(self, details=details, words=terms.document_words(details))


@dataclass(frozen=True, slots=True)
class GivenPatient:
    """A Patient as it is kept, its identifiers (system, value) in order, and the words it is found by."""

    resource: Resource
    pairs: tuple[tuple[str, str] | None, ...]  # None for one without a value
    words: Words
    at: str = ""

    @property
    def identifiers(self) -> list[tuple[str, str]]:
        """Those with a value, each once."""
        return [pair for pair in dict.fromkeys(self.pairs) if pair]


def checked(resource: Resource, kind: str, at: str = "") -> Resource:
    """The resource without what is empty, once fhir.resources (R4B) finds it valid and understands it as it was sent.
    `at` is where it stands in a bundle. Raises FhirError 400 that names the elements and never their values, and 422
    (see `examine`)."""
    examine(resource, kind, at)
    cleaned = _cleaned(resource)
    if kind == DOCUMENT:
        _require_small(cleaned, LARGEST + _BESIDE, f"{at}{kind}")
    read = _validated(cleaned, kind, at)
    if b"\\u0000" in orjson.dumps(cleaned):
        raise FhirError(400, "Das Zeichen U+0000 kommt in keinem Wert vor.", at + kind)
    if where := misread(cleaned, read, at + kind):
        raise FhirError(400, "Erwartet wird der Typ, den FHIR R4 (JSON) für dieses Element nennt.", where)
    return cleaned


def _cleaned(resource: Resource) -> Resource:
    """Without what is empty but an attachment, whose file was taken out of it."""
    cleaned: Resource = kept_details.without_nothing(resource)
    content = resource.get("content")
    if isinstance(content, list):
        cleaned["content"] = [
            {"attachment": {}} | kept_details.without_nothing(item)
            if isinstance(item, dict) and item.get("attachment") == {}
            else kept_details.without_nothing(item)
            for item in content
        ]
    return cleaned


def _validated(resource: Resource, kind: str, at: str) -> Resource:
    """The resource as fhir.resources reads it. Raises FhirError 400."""
    from fhir.resources.R4B import get_fhir_model_class  # slow to import: 1 s

    model = get_fhir_model_class(kind)
    try:
        read: Resource = orjson.loads(model.model_validate(resource).model_dump_json())
    except ValidationError as error:
        faults = error.errors(include_input=False, include_context=False)[:10]
        places = [at + _expression(kind, fault["loc"]) for fault in faults]
        said = "; ".join(f"{place}: {fault['msg']}" for place, fault in zip(places, faults, strict=True))
        raise FhirError(400, f"Keine gültige Ressource {kind} (FHIR R4): {said[:1000]}", *places) from None
    except _STUMBLES:  # over some values of a wrong type, as a list where a URL has to be
        names = [name for name, value in resource.items() if _stumbles(model, kind, name, value)]
        places = [f"{at}{kind}.{name}" for name in names[:10]] or [at + kind]
        raise FhirError(400, f"Keine gültige Ressource {kind} (FHIR R4).", *places) from None
    return read


def _stumbles(model: type[BaseModel], kind: str, name: str, value: Any) -> bool:
    try:
        model.model_validate({"resourceType": kind, name: value})
    except ValidationError:
        return False
    except _STUMBLES:
        return True
    return False


def taken_data(resource: Resource, at: str = "") -> bytes | None:
    """The inline file of a DocumentReference, taken out of it so that it is checked without; None when there is none.
    Raises FhirError 400."""
    content = resource.get("content")
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    attachment = first.get("attachment")
    data = attachment.pop("data", None) if isinstance(attachment, dict) else None
    return None if data is None else decoded(data, f"{at}{DOCUMENT}.{_ATTACHMENT}.data")


def decoded(data: Any, at: str) -> bytes:
    """Base64 (RFC 4648, section 4), white space allowed. Raises FhirError 400."""
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (AttributeError, ValueError, binascii.Error):
        raise FhirError(400, "Kein Base64.", at) from None


def attachment_of(resource: Resource, at: str = "") -> Resource:
    """The one attachment of a valid DocumentReference. Raises FhirError 422: other numbers cannot be kept."""
    if len(resource["content"]) != 1:
        raise FhirError(422, "Ein Dokument hat hier genau eine Datei.", f"{at}{DOCUMENT}.content")
    attachment: Resource = resource["content"][0]["attachment"]
    return attachment


def check_file(attachment: Resource, digest: bytes, sha1: bytes, size: int, at: str = "") -> None:
    """`size` and `hash` (SHA-1 as in FHIR R4, or SHA-256 as here), where they are given, are those of the file. Raises
    FhirError 422."""
    where = f"{at}{DOCUMENT}.{_ATTACHMENT}"
    if attachment.get("size") not in (None, size):
        raise FhirError(422, "Die Datei hat eine andere Größe als angegeben.", f"{where}.size")
    said = attachment.get("hash")
    if said is not None and decoded(said, f"{where}.hash") not in (digest, sha1):
        raise FhirError(422, "Die Datei hat einen anderen Hash als angegeben.", f"{where}.hash")


def check_same(body: bytes, digest: bytes) -> None:
    """Raise FhirError 422 where the file is another than that of this SHA-256."""
    if hashlib.sha256(body).digest() != digest:
        said = "Eine andere Datei ist ein anderes Dokument (POST mit relatesTo)."
        raise FhirError(422, said, f"{DOCUMENT}.{_ATTACHMENT}.data")


def sha1_of(body: bytes) -> bytes:
    """FHIR R4 hashes attachments so; it protects nothing here."""
    return hashlib.sha1(body, usedforsecurity=False).digest()


def document(resource: Resource, at: str = "", *, inline: bool = False, superseded: bool = False) -> GivenDocument:
    """The kept part of a valid DocumentReference; `inline`: its file was in it, `superseded`: another one has
    replaced it. Raises FhirError 400 and 422."""
    attachment, here = attachment_of(resource, at), f"{at}{DOCUMENT}"
    said = str(attachment.get("contentType") or "")
    content_type = clean_content_type(said) if said else ""
    if content_type == UNKNOWN_TYPE and said.partition(";")[0].strip().lower() != UNKNOWN_TYPE:
        raise FhirError(422, "Erwartet wird ein MIME-Typ wie application/pdf.", f"{here}.{_ATTACHMENT}.contentType")
    title = clean_title(str(attachment.get("title") or ""))[:TITLE_LENGTH]
    details = _details(resource, {"title": title, "contentType": content_type}, here, inline=inline)
    words = terms.document_words(details)
    if len(words) > MOST_WORDS:
        raise FhirError(
            422, f"Das Dokument hat {len(words)} Suchwörter (Kennungen, Kodes, Verweise); erwartet werden höchstens "
            f"{MOST_WORDS}.", f"{here}.{_longest(details)}",
        )  # fmt: skip
    return GivenDocument(
        title, content_type, _status(resource, here, superseded=superseded), resource.get("subject") or {}, details,
        words, tuple(_related(details, here)), frozenset(_references(details)), at,
    )  # fmt: skip


def posted_document(resource: Resource, at: str = "") -> tuple[GivenDocument, Resource, bytes | None]:
    """The kept part of a DocumentReference as it was sent, its attachment, and its file where that is inline. Raises
    FhirError 400 and 422."""
    data = taken_data(resource, at)
    valid = checked(resource, DOCUMENT, at)
    return document(valid, at, inline=data is not None), attachment_of(valid, at), data


def patient(resource: Resource, at: str = "") -> GivenPatient:
    """The kept part of a Patient, once it is valid. Raises FhirError 400 and 422."""
    if fault := beyond(resource):
        where = f"{at}Patient.{fault.element}".rstrip(".")
        unit = _UNITS[fault.unit]
        raise FhirError(422, f"Das sind {fault.found} {unit}; erwartet werden höchstens {fault.most}.", where)
    kept = kept_details.kept_resource(checked(resource, "Patient", at))
    listed = kept.get("identifier", [])
    pairs = tuple((item.get("system", ""), item["value"]) if item.get("value") else None for item in listed)
    return GivenPatient(kept, pairs, terms.patient_words(kept), at)


def _details(resource: Resource, own: Mapping[str, str], here: str, *, inline: bool) -> Details:
    """The details kept beside the contract's fields. Where these answer with something else than was posted (the
    storing time, a harmless title, SHA-256), that is kept as an extension."""
    given = resource["content"][0]["attachment"]
    details = kept_details.picked(resource)
    said = [(name, given[name]) for name in own if given.get(name) not in (None, own[name])]
    if given.get("hash") and len(decoded(given["hash"], f"{here}.{_ATTACHMENT}.hash")) != _SHA256:
        said.append(("hash", given["hash"]))
    if given.get("url") and inline:
        said.append(("url", given["url"]))
    if said:
        (content,) = details.get("content", [{}])
        attachment = content.get("attachment", {})
        extensions = [*attachment.get("extension", []), *(kept_details.posted(*pair) for pair in said)]
        details["content"] = [content | {"attachment": attachment | {"extension": extensions}}]
    if resource.get("date"):
        details["extension"] = [*details.get("extension", []), kept_details.posted("date", resource["date"])]
    _require_small(details, LARGEST, here)
    return details


def _require_small(said: Resource, most: int, here: str) -> None:
    """Raise FhirError 422 for what is said of a document where that is more than is kept."""
    if (size := len(orjson.dumps(said))) > most:
        raise FhirError(
            422, f"Die Angaben zum Dokument haben {size} Bytes; erwartet werden höchstens {LARGEST}.",
            f"{here}.{_longest(said)}",
        )  # fmt: skip


def _longest(details: Details) -> str:
    """The element of most bytes."""
    return max(details, key=lambda name: len(orjson.dumps(details[name])))


def _status(resource: Resource, here: str, *, superseded: bool) -> Status:
    """Only another document makes one superseded, by its `relatesTo`. Raises FhirError 422."""
    status = resource.get("status")  # its extensions alone are valid too
    if status not in (Status.SUPERSEDED if superseded else Status.CURRENT, Status.ENTERED_IN_ERROR):
        raise FhirError(422, "Erwartet wird current oder entered-in-error.", f"{here}.status")
    return Status(status)


def _related(details: Details, here: str) -> Iterator[RelatedDocument]:
    listed = details.get("relatesTo", [])
    if len(listed) > MOST_RELATED:
        raise FhirError(
            422, f"Erwartet werden höchstens {MOST_RELATED} Beziehungen, es sind {len(listed)}.", f"{here}.relatesTo"
        )
    for number, item in enumerate(listed):
        target = item.get("target") or {}
        token = target.get("identifier") or {}
        identifier = (token.get("system") or "", token["value"]) if token.get("value") else None
        yield RelatedDocument(target.get("reference", ""), identifier, item.get("code") == "replaces", number)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        named = value.get("reference")
        yield from [named] if isinstance(named, str) else []
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _references(item)


def _led(value: Any, references: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        led = {name: _led(item, references) for name, item in value.items()}
        named = value.get("reference")
        return led | {"reference": references[named]} if isinstance(named, str) and named in references else led
    return [_led(item, references) for item in value] if isinstance(value, list) else value


def _expression(kind: str, place: tuple[int | str, ...]) -> str:
    """`('content', 0, 'attachment')` as FHIRPath: `DocumentReference.content[0].attachment`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in place]
    return kind + "".join(parts)
