"""Requirements on a secret key before a server in production starts with it."""

from clinical.errors import SettingError
from clinical.running import is_made_up

SHORTEST_SECRET = 32
HOW_TO_MAKE_ONE = (
    'make one with: python -c "import secrets; print(secrets.token_urlsafe(48))"; to try things out on this machine '
    "run make up, or set BEFUND_ENV=development"
)


def refuse_weak(secret: str) -> None:
    """Raises SettingError for a key that is missing, short or easily guessed; the message never holds the key."""
    expected = f"at least {SHORTEST_SECRET} random characters in production"
    if not secret:
        raise SettingError("BEFUND_SECRET_KEY is not set", expected, HOW_TO_MAKE_ONE)
    if len(secret) < SHORTEST_SECRET:
        raise SettingError(f"BEFUND_SECRET_KEY has {len(secret)} characters", expected, HOW_TO_MAKE_ONE)
    if is_made_up(secret):
        raise SettingError("BEFUND_SECRET_KEY repeats itself", expected, HOW_TO_MAKE_ONE)
