"""File content: `Binary/<id>` for members with a token, presigned URLs for whoever holds one.

Served with Range, an ETag that is the file's hash, and headers under which a browser runs nothing of it.
"""

import re
import time
import unicodedata
import uuid
from binascii import b2a_base64
from itertools import chain
from urllib.parse import quote

import orjson
from flask import Blueprint, Response, request, send_file

from clinical.fhir import XML_TYPE, to_xml
from webapp.fhir import answers
from webapp.fhir.access import authorize, log_access, parse_id
from webapp.fhir.answers import FhirError
from webapp.fhir.resources import DocumentRow
from webapp.fhir.service import service
from webapp.storage import BucketFiles, FileMissing
from webapp.watching import DOCUMENTS_SERVED

binary = Blueprint("fhir_files", __name__, url_prefix="/<organization>")
answers.init_blueprint(binary)

# The document itself may be HTML or SVG: it gets no scripts, no origin and no network, wherever it is opened.
SAFE = {"Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-cache"}  # fmt: skip
LOST = "Die Datei dieses Dokuments fehlt im Speicher. Bitte den Betreiber verständigen."
ENCODED = 3 * 256 * 1024  # bytes encoded at once; a multiple of three, so that the parts make one Base64
_UNSAFE = re.compile(r"[^A-Za-z0-9._ ()+=@,-]")
UNKNOWN_TYPE = "application/octet-stream"
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")  # RFC 6838, section 4.2


@binary.get("/fhir/r4/Binary/<document_id>")
def read_binary(organization: str, document_id: str) -> Response:
    """The file, for a member."""
    organization_id = authorize(organization)
    row = current(organization_id, parse_id(document_id))
    log_access("binary", organization_id, uuid.UUID(row.id))
    form = answers.resource_format()
    return _as_resource(row, form) if form else content(row)


@binary.get("/files/<document_id>")
def read_presigned(organization: str, document_id: str) -> Response:
    """The file, for the holder of a presigned URL.

    403 when it is not exactly what we signed, has expired, or the token,
    membership or account it was made with has ended. With BEFUND_PRESIGN=storage and an S3 storage the answer is a
    redirect to a link of S3's own, which nobody can take back and which therefore lives BEFUND_STORAGE_LINK seconds."""
    given = request.args
    if not service().presigner.grants(organization, document_id, given, time.time()):
        raise FhirError(403, "Dieser Link ist ungültig oder abgelaufen. Die Suche liefert einen neuen.")
    organization_id = uuid.UUID(organization)
    token = given.get("token", "")
    user = service().callers.stands(token, organization_id)
    if user is None:
        raise FhirError(403, "Der Zugang, mit dem dieser Link erstellt wurde, besteht nicht mehr.")
    row = current(organization_id, parse_id(document_id))
    log_access("presigned", organization_id, uuid.UUID(row.id), user=user, token=token)
    return _at_the_storage(row) or content(row)


def _at_the_storage(row: DocumentRow) -> Response | None:
    """A redirect to the storage's own link, where files are handed out there."""
    parts = service()
    if not parts.storage_link or not isinstance(parts.files, BucketFiles):
        return None
    url = parts.files.url(row.sha256, row.content_type, disposition(row.title), parts.storage_link)
    return Response(status=302, headers={"Location": url, "Cache-Control": "no-store"})


def _as_resource(row: DocumentRow, form: str) -> Response:
    """The file in a FHIR Binary, encoded while it is sent."""
    digest, size = row.sha256, row.size
    told = {"resourceType": "Binary", "id": row.id, "contentType": row.content_type,
            "securityContext": {"reference": f"DocumentReference/{row.id}"}, "data": "="}  # fmt: skip
    before, after = (to_xml(told) if form == XML_TYPE else orjson.dumps(told)).split(b'"="')
    files = service().files
    if not files.has(digest):
        raise FhirError(500, LOST)
    spans = range(0, size, ENCODED)
    pieces = (b"".join(files.read(digest, start, min(size, start + ENCODED))) for start in spans)
    parts = (b2a_base64(piece, newline=False) for piece in pieces)
    length = len(before) + len(after) + 2 + (size + 2) // 3 * 4
    DOCUMENTS_SERVED.inc()
    headers = {"Content-Length": str(length), "X-Content-Type-Options": "nosniff"}
    body = () if request.method == "HEAD" else chain([before + b'"'], parts, [b'"' + after])
    return Response(body, content_type=form, headers=headers, direct_passthrough=True)


def content(row: DocumentRow, *, inline: bool = False) -> Response:
    """The file of a document: whole, a Range, or 304."""
    digest, size, content_type = row.sha256, row.size, row.content_type
    headers = SAFE | {"Content-Disposition": disposition(row.title, inline=inline)}
    try:
        path = service().files.path(digest)
        if path is not None:
            response = send_file(path, mimetype=content_type, conditional=True, etag=digest.hex())
        else:
            response = _remote(digest, size, content_type)
    except FileMissing:
        raise FhirError(500, LOST) from None
    DOCUMENTS_SERVED.inc()
    response.headers.update(headers)
    response.headers["Content-Type"] = content_type  # without a charset nobody declared
    return response


def disposition(title: str, *, inline: bool = False) -> str:
    """Content-Disposition (RFC 6266) for any file name: a plain ASCII one and the true one, percent-encoded."""
    plain = _UNSAFE.sub("_", title).strip(". ") or "dokument"
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(title, safe='')}"


def clean_title(text: str) -> str:
    """A file name, harmless in any header, page and file system: NFC, no control, format or surrogate characters (they
    hide or turn what is read), no folders."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)
    text = "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Cs"))
    return " ".join(text.replace("/", "_").replace("\\", "_").split()) or "Dokument"


def clean_content_type(text: str) -> str:
    """`type/subtype` in lower case without parameters; what is no MIME type is octets."""
    text = text.partition(";")[0].strip().lower()
    return text if _TYPE.fullmatch(text) else UNKNOWN_TYPE


def current(organization_id: uuid.UUID, key: uuid.UUID | None) -> DocumentRow:
    """The document, if its file may be given out. Raises FhirError 404."""
    found = service().documents.one(organization_id, key) if key else None
    if found is None:
        raise FhirError(404, "Dieses Dokument gibt es in dieser Organisation nicht.")
    row = DocumentRow._make(found)
    if row.entered_in_error:
        raise FhirError(404, "Dieses Dokument wurde als fehlerhaft markiert und wird nicht mehr ausgegeben.")
    return row


def _remote(digest: bytes, size: int, content_type: str) -> Response:
    """From a storage without local paths: streamed through, with the same Range and ETag."""
    response = Response(content_type=content_type)
    response.set_etag(digest.hex())
    response.make_conditional(request, accept_ranges=True, complete_length=size)
    span = response.content_range
    start, end = (span.start or 0, span.stop or 0) if span else (0, size)
    if response.status_code != 304:
        response.headers["Content-Length"] = str(end - start)
        response.response = service().files.read(digest, start, end) if request.method != "HEAD" else ()
    return response
