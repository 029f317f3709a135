"""A vendor to sign in with: answers token and userinfo requests at once, out of the code itself.

The load generator plays the person and the authorization endpoint, so it makes the codes: base64url of the claims and
the client they are for.
usage: python -m evals.load.vendor PORT
"""

import asyncio
import base64
import json
import sys
from typing import Any
from urllib.parse import parse_qs

from evals.load.stand_in import serve


def make_code(claims: dict[str, str]) -> str:
    """An authorization code, which is its access token too."""
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def read_code(code: str) -> dict[str, str]:
    """The claims in a code."""
    claims: dict[str, str] = json.loads(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)))
    return claims


async def answer(head: bytes, body: bytes, _: asyncio.StreamReader) -> dict[str, Any]:
    """A token for the client the code is for, or the claims of a token."""
    if not head.startswith(b"POST"):
        return dict(read_code(head.partition(b"Authorization: Bearer ")[2].partition(b"\r\n")[0].decode()))
    form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    client = form.get("client_id", "")
    if not client:
        basic = head.partition(b"Authorization: Basic ")[2].partition(b"\r\n")[0]
        client = base64.b64decode(basic).decode().partition(":")[0]
    if read_code(form["code"])["client"] != client:
        return {"error": "invalid_grant"}
    return {"access_token": form["code"], "token_type": "Bearer", "expires_in": 600}


if __name__ == "__main__":
    asyncio.run(serve(answer, int(sys.argv[1])))
