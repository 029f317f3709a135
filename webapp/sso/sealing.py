"""Keys from the one configured secret: encryption of client secrets at rest, keyed hashes of what must not be read."""

import base64
import hmac
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from clinical.errors import SettingError
from webapp.config import settings


def seal(text: str) -> str:
    """`text` encrypted (Fernet: AES-128-CBC with HMAC-SHA-256), as ASCII."""
    return _fernet(settings().secret).encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """The text that was sealed, under the key of now or the one before it.

    Raises SettingError when it was sealed under another one.
    """
    for secret in (settings().secret, settings().previous_secret):
        try:
            if secret:
                return _fernet(secret).decrypt(sealed.encode("ascii")).decode()
        except InvalidToken:
            continue
    raise SettingError(
        "a stored client secret was sealed under another BEFUND_SECRET_KEY",
        "the key it was stored with",
        "set the former key as BEFUND_SECRET_KEY_PREVIOUS, or enter the client secret of each provider anew",
    )


def sealed_by_previous(sealed: str) -> bool:
    """Return True when only the former key decrypts it; see `flask --app webapp providers reseal`."""
    try:
        _fernet(settings().secret).decrypt(sealed.encode("ascii"))
    except InvalidToken:
        return True
    return False


def keyed_hash(purpose: str, *parts: str) -> str:
    """HMAC-SHA-256 in hex under a key of its own per `purpose`: short values (codes, addresses) stay unguessable."""
    message = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hmac.digest(_derived(settings().secret, purpose), message, "sha256").hex()


@lru_cache(maxsize=16)
def _derived(secret_key: str, purpose: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=f"befund/{purpose}".encode()).derive(secret_key.encode())


@lru_cache(maxsize=4)
def _fernet(secret_key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_derived(secret_key, "client-secrets")))
