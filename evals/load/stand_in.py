"""HTTP of the stand-ins that servers under load ask: JSON over kept connections, thousands of them in one loop.

No library: every cycle spent here is taken from the servers that are measured.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

Answer = Callable[[bytes, bytes, asyncio.StreamReader], Awaitable[Mapping[str, Any]]]
"""(head, body, the connection's reader) to the answer. ConnectionError ends the connection."""


async def connection(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one kept connection until it is closed."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            body = json.dumps(await answer(head, await reader.readexactly(length), reader)).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def serve(answer: Answer, port: int) -> None:
    """Serve on 127.0.0.1 until the process is ended."""
    server = await asyncio.start_server(partial(connection, answer), "127.0.0.1", port, backlog=4_096)
    await server.serve_forever()
