"""Makes a Profile of the usable, cleaned parts of the vendor's userinfo answer; pure.

Claims: contract, section 2, "Vendor userinfo response"; OpenID Connect Core 1.0, section 5.1.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from email_validator import EmailNotValidError, validate_email

from webapp.models import EMAIL_LENGTH, NAME_LENGTH
from webapp.sso.models import SUBJECT_LENGTH

PICTURE_LENGTH = 2000
# OpenID Connect Core, 5.1, and what vendors with fields of their own are known to say instead.
VERIFIED_CLAIMS = ("email_verified", "emailVerified", "verified_email", "is_email_verified")
# RFC 2047: mail programs would read another address out of it than the one that is compared and stored.
ENCODED_WORD = re.compile(r"=\?")


class SubjectMissing(Exception):
    """The answer names nobody: neither `sub` nor `id` is a usable identifier."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A person as one vendor describes them. `email` is "" when absent or no address; `email_verified` is what the
    vendor said: True, False, or None for nothing."""

    subject: str
    email: str = ""
    email_verified: bool | None = None
    given_name: str = ""
    family_name: str = ""
    preferred_username: str = ""
    picture: str = ""


def read_profile(claims: Mapping[str, Any]) -> Profile:
    """The profile in a userinfo object. Raises SubjectMissing."""
    return Profile(
        subject=_subject(claims),
        email=usable_email(claims.get("email")),
        email_verified=_verified(claims),
        given_name=_name(claims, "given_name", "first_name"),
        family_name=_name(claims, "family_name", "last_name"),
        preferred_username=_name(claims, "preferred_username"),
        picture=_picture(claims.get("picture")),
    )


def usable_email(value: Any) -> str:
    """`value` as a normalised address, "" when it is none. Hospitals use domains the internet does not know, so
    special and dotless domains are allowed; no DNS is asked."""
    if not isinstance(value, str) or len(value) > EMAIL_LENGTH or ENCODED_WORD.search(value):
        return ""
    try:
        return str(validate_email(value.strip(), check_deliverability=False, globally_deliverable=False).normalized)
    except (EmailNotValidError, UnicodeError):
        return ""


def mailbox(email: str) -> str:
    """The mailbox an address most likely reaches: the part behind a plus is a label, and few servers tell capitals or
    compatibility forms apart. For rate-limiting mails only, never to identify an account."""
    local, _, domain = unicodedata.normalize("NFKC", email).casefold().rpartition("@")
    return f"{local.partition('+')[0] or local}@{domain}"


def clean(text: str, length: int) -> str:
    """One line of printable text: NFC, no control or format characters, no lone surrogates, at most `length`."""
    kept = "".join(" " if character.isspace() else character for character in text if _is_printable(character))
    return unicodedata.normalize("NFC", " ".join(kept.split()))[:length].strip()


def _is_printable(character: str) -> bool:
    # Cf holds the joiners emoji are built with; the bidirectional controls among them can make a name lie.
    category = unicodedata.category(character)
    return character.isspace() or character == "\u200d" or category not in ("Cc", "Cf", "Cs", "Co", "Cn")


def _subject(claims: Mapping[str, Any]) -> str:
    for key in ("sub", "id"):
        value = claims.get(key)
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if isinstance(text, str) and text.strip():
            if len(text) > SUBJECT_LENGTH or not text.isprintable():
                raise SubjectMissing
            return text
    raise SubjectMissing


def _verified(claims: Mapping[str, Any]) -> bool | None:
    """None when the vendor says nothing; True only for true and "true". Everything else that is said (0, "no", null, an
    empty list) is a doubt, never a yes; so is any doubt among several spellings of the claim."""
    said = [claims[name] for name in VERIFIED_CLAIMS if name in claims]
    return all(value is True or value == "true" for value in said) if said else None


def _name(claims: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = claims.get(key)
        if isinstance(value, str) and (name := clean(value, NAME_LENGTH)):
            return name
    return ""


def _picture(value: Any) -> str:
    if not isinstance(value, str) or len(value) > PICTURE_LENGTH or not value.isprintable() or " " in value:
        return ""
    try:
        parts = urlsplit(value)
    except ValueError:
        return ""
    return value if parts.scheme in ("http", "https") and parts.netloc else ""
