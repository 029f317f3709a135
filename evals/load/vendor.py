"""A vendor to sign in with: answers token and userinfo requests at once, out of the code itself.

The load generator plays the person and the authorization endpoint, so it makes the codes: base64url of the claims and
the client they are for. One loop, no library: every cycle spent here is taken from the server under test.
usage: python -m evals.load.vendor PORT
"""

import asyncio
import base64
import json
import sys
from urllib.parse import parse_qs


def make_code(claims: dict[str, str]) -> str:
    """An authorization code, which is its access token too."""
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")


def read_code(code: str) -> dict[str, str]:
    """The claims in a code."""
    claims: dict[str, str] = json.loads(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)))
    return claims


class Vendor(asyncio.Protocol):
    """One connection, kept alive."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport; nothing has arrived yet."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer every complete request."""
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, rest = self.received.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(rest) < length:
                return
            self.received = rest[length:]
            body = json.dumps(self._answer(head, rest[:length].decode())).encode()
            self.transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            )

    @staticmethod
    def _answer(head: bytes, body: str) -> dict[str, object]:
        """A token for the client the code is for, or the claims of a token."""
        if not head.startswith(b"POST"):
            token = head.partition(b"Authorization: Bearer ")[2].partition(b"\r\n")[0].decode()
            return dict(read_code(token))
        form = {name: values[0] for name, values in parse_qs(body).items()}
        client = form.get("client_id", "")
        if not client:
            basic = head.partition(b"Authorization: Basic ")[2].partition(b"\r\n")[0]
            client = base64.b64decode(basic).decode().partition(":")[0]
        if read_code(form["code"])["client"] != client:
            return {"error": "invalid_grant"}
        return {"access_token": form["code"], "token_type": "Bearer", "expires_in": 600}


async def serve(port: int) -> None:
    """Listen on loopback for ever."""
    server = await asyncio.get_running_loop().create_server(Vendor, "127.0.0.1", port, backlog=512)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
