"""The part `writing` of `fhir-speed`: how many documents a program stores over HTTP each second.

One service account, CLIENTS connections, each posting a DocumentReference with its own small file inline, on a database
of its own; every document is synced to the disk, committed under the organization's lock, counted and audited.
"""

import base64
import json
from typing import Any
from urllib.parse import urlsplit

from evals.speed.fhir_rig import Rig
from evals.speed.load import Load, measure

CLIENTS = 4
BYTES = 2_000  # a text letter; the disk's sync costs the same for any size up to some ten kilobytes
SCOPES = "system/DocumentReference.cs"


def stored(rig: Rig, seconds: float) -> Load:
    """Documents stored a second, and how long one takes."""
    account = rig.flask("services", "add", "Messung", "--org", rig.organization, "--scopes", SCOPES).strip()
    secret = rig.flask("services", "add-secret", account).strip()

    def post(number: int) -> bytes:
        body = json.dumps(_document(number)).encode()
        head = [
            f"POST {urlsplit(rig.base).path}/DocumentReference HTTP/1.1",
            f"Host: {rig.address[0]}:{rig.address[1]}", f"Authorization: Bearer {secret}",
            "Content-Type: application/fhir+json", "Prefer: return=minimal", f"Content-Length: {len(body)}",
        ]  # fmt: skip
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body

    return measure(rig.address, post, clients=CLIENTS, seconds=seconds, status=201)


def _document(number: int) -> dict[str, Any]:
    """A document of its own number, so that each has a file of its own."""
    text = (f"Befund {number}. " * BYTES)[:BYTES].encode()
    attachment = {"contentType": "text/plain", "title": f"Befund {number}.txt", "data": base64.b64encode(text).decode()}
    return {
        "resourceType": "DocumentReference",
        "status": "current",
        "subject": {"identifier": {"system": "urn:oid:1.2.3", "value": str(number % 500)}},
        "content": [{"attachment": attachment}],
    }
