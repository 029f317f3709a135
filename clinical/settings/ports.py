"""The port of an address in a setting: a wrong one is said when the settings are read, by the setting's name."""

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
