"""The part `writing` of `fhir-speed`: how many documents a program stores over HTTP each second.

One service account, CLIENTS connections, each posting a DocumentReference with its own small file inline, on a database
of its own; every document is synced to the disk, committed under the organization's lock, counted and audited.
"""

import base64
import json
from typing import Any
from urllib.parse import urlsplit

from evals.speed.fhir.rig import Rig
from evals.speed.load import Load, measure

CLIENTS = 4
BYTES = 2_000  # a text letter; the disk's sync costs the same for any size up to some ten kilobytes
SCOPES = "system/DocumentReference.cs"


class WritingAccount:
    """A service account with a secret, and the documents it has posted."""

    def __init__(self, rig: Rig) -> None:
        account = rig.flask("services", "add", "Messung", "--org", rig.organization, "--scopes", SCOPES).strip()
        self._secret = rig.flask("services", "add-secret", account).strip()
        self._rig, self._posted = rig, 0

    def stores(self, seconds: float) -> Load:
        """Documents stored a second, and how long one takes."""
        return measure(self._rig.address, self._post, clients=CLIENTS, seconds=seconds, status=201)

    def _post(self, _: int) -> bytes:
        self._posted += 1
        body = json.dumps(_document(self._posted)).encode()
        head = [
            f"POST {urlsplit(self._rig.base).path}/DocumentReference HTTP/1.1",
            f"Host: {self._rig.address[0]}:{self._rig.address[1]}", f"Authorization: Bearer {self._secret}",
            "Content-Type: application/fhir+json", "Prefer: return=minimal", f"Content-Length: {len(body)}",
        ]  # fmt: skip
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body


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
