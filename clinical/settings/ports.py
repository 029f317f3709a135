"""Hosts and ports in settings: a wrong one is said by the setting's name, before a library says it with a traceback."""

import errno
import socket

from clinical.errors import SettingError

HIGHEST = 65_535


def check_port(address: str) -> str:
    """`address`, a URL with or without user, password and path. Raises ValueError where its port is no number.

    The library that connects says so much later, with a traceback. Passwords may hold `/`, `#` and `:`, as SQLAlchemy
    reads them, so the host begins behind the last `@`."""
    place = address.partition("://")[2].rpartition("@")[2].partition("/")[0].partition("?")[0]
    _, colon, port = place.rpartition(":")
    if colon and "]" not in port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= HIGHEST):
        raise ValueError(f"has no port from 1 to {HIGHEST} behind its host")
    return address


def require_free_port(host: str, port: int, setting: str) -> None:
    """Raise SettingError when something already listens there, or the address is not ours; `setting` names the
    port, and as ..._HOST the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            found = f"{host}:{port} cannot be used ({reason})"
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise SettingError(
                    found, "an address of this machine", f"correct {setting.replace('_PORT', '_HOST')}"
                ) from None
            raise SettingError(found, "a free port", f"stop what listens there or set {setting}") from None
