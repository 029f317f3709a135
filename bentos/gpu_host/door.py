"""The door in front of vLLM: from outside only `/v1/...` answers, which is what vLLM guards by its key.

vLLM loads it by `--middleware`. Its other routes (health, metrics, tokenizer, load, profiling) ask for no key; they
answer whoever is on this machine itself, as the probes of the Bento are.
"""

from __future__ import annotations

import ipaddress
from typing import Any

OPEN = "/v1/"
PASSED_ON = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
"""Headers of a proxy; a client behind one is not on this machine, even if the connection is local."""


class OnlyV1:
    """ASGI middleware: 404 for a stranger on any path but `/v1/...`."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass `/v1/...`, the lifespan and this machine; close everything else."""
        if scope["type"] not in ("http", "websocket") or scope["path"].startswith(OPEN) or _is_here(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send({"type": "websocket.close", "code": 1000})


def _is_here(scope: Any) -> bool:
    client = (scope.get("client") or ("",))[0]
    try:
        loopback = ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False
    return loopback and not any(name.lower() in PASSED_ON for name, _ in scope["headers"])
