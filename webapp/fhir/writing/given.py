"""What a program sends, read and checked: JSON, a FHIR R4 resource, its file. Faults name the element."""

import base64
import binascii
import hashlib
from typing import Any

import orjson
from pydantic import ValidationError

from webapp.fhir.answers import FhirError
from webapp.fhir.details import LARGEST, Details, picked
from webapp.fhir.models import TITLE_LENGTH
from webapp.fhir.titles import clean_content_type, clean_title

Resource = dict[str, Any]
DOCUMENT = "DocumentReference"
_ATTACHMENT = "content[0].attachment"


def resource_of(body: bytes, kind: str) -> Resource:
    """The resource in a body. Raises FhirError 400."""
    try:
        resource = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise FhirError(400, f"Der Inhalt ist kein JSON. Erwartet wird eine Ressource {kind}.") from None
    if not isinstance(resource, dict) or resource.get("resourceType") != kind:
        raise FhirError(400, f"Erwartet wird eine Ressource {kind}.", f"{kind}.resourceType")
    return resource


def checked(resource: Resource, kind: str, at: str = "") -> Resource:
    """The resource once fhir.resources (R4B) finds it valid. `at` is where it stands in a bundle. Raises FhirError 400
    that names the elements and never their values."""
    from fhir.resources.R4B.documentreference import DocumentReference  # slow to import: 1 s
    from fhir.resources.R4B.patient import Patient

    try:
        (Patient if kind == "Patient" else DocumentReference).model_validate(resource)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_context=False)[:10]
        places = [at + _expression(kind, fault["loc"]) for fault in faults]
        said = "; ".join(f"{place}: {fault['msg']}" for place, fault in zip(places, faults, strict=True))
        raise FhirError(400, f"Keine gültige Ressource {kind} (FHIR R4): {said[:1000]}", *places) from None
    if b"\\u0000" in orjson.dumps(resource):
        raise FhirError(400, "Das Zeichen U+0000 kommt in keinem Wert vor.", at + kind)
    return resource


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


def sha1_of(body: bytes) -> bytes:
    """FHIR R4 hashes attachments so; it protects nothing here."""
    return hashlib.sha1(body, usedforsecurity=False).digest()


def title_of(attachment: Resource) -> str:
    """File name to keep."""
    return clean_title(str(attachment.get("title") or ""))[:TITLE_LENGTH]


def type_of(attachment: Resource, otherwise: str = "") -> str:
    """MIME type to keep."""
    return clean_content_type(str(attachment.get("contentType") or otherwise))


def details_of(resource: Resource, at: str = "") -> Details | None:
    """What is kept of a valid DocumentReference beside the contract's fields. Raises FhirError 422."""
    details = picked(resource)
    if len(orjson.dumps(details)) > LARGEST:
        raise FhirError(422, f"Die Angaben zum Dokument sind länger als {LARGEST} Bytes.", f"{at}{DOCUMENT}")
    return details or None


def _expression(kind: str, place: tuple[int | str, ...]) -> str:
    """`('content', 0, 'attachment')` as FHIRPath: `DocumentReference.content[0].attachment`."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in place]
    return kind + "".join(parts)
