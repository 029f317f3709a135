"""A port that accepts connections only while somebody is there to answer them.

BentoML's first process listens and then starts the workers, which import for seconds, on a busy machine for a minute:
the system accepts connections in their name, and neither a caller nor a proxy sees that nobody reads. Here the first
process only binds; the first worker that is ready listens for all of them, as `asyncio` does with each socket it is
given. Until then a connection is refused, and a proxy asks the next server.
"""

from __future__ import annotations


def listen_when_ready() -> None:
    """Sockets that the process manager of BentoML opens in this process from here on are bound alone: it has no setting
    for it."""
    from circus.sockets import CircusSocket

    CircusSocket.listen = _leave_to_the_workers


def _leave_to_the_workers(_socket: object, _backlog: int = 0) -> None:
    """Nothing is accepted yet."""
