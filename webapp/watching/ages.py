"""The age of what nobody misses before it is needed: the newest backup, and the certificate of the proxy in front."""

from pathlib import Path

from cryptography import x509

from clinical.settings import Settings
from webapp.watching.metrics import BACKUP, CERTIFICATE

NEVER = 1.0
"""As old as can be, where something is looked for and not there."""


def look(given: Settings) -> None:
    """Bring both metrics up to date; what no setting names is left at 0."""
    if given.backups:
        BACKUP.set(max((file.stat().st_mtime for file in given.backups.glob("*/manifest.json")), default=NEVER))
    if given.tls_certificate:
        CERTIFICATE.set(_expiry(given.tls_certificate))


def _expiry(file: Path) -> float:
    """The earliest end of all certificates in a PEM file."""
    try:
        return min(each.not_valid_after_utc.timestamp() for each in x509.load_pem_x509_certificates(file.read_bytes()))
    except (OSError, ValueError):
        return NEVER
