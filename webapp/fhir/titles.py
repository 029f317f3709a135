"""File names and MIME types as they are stored: harmless in any header, page and file system."""

import re
import unicodedata

UNKNOWN_TYPE = "application/octet-stream"
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")  # RFC 6838, section 4.2


def clean_title(text: str) -> str:
    """A file name: NFC, no control, format or surrogate characters (they hide or turn what is read), no folders."""
    text = unicodedata.normalize("NFC", text)
    text = "".join(" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)
    text = "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Cs"))
    return " ".join(text.replace("/", "_").replace("\\", "_").split()) or "Dokument"


def clean_content_type(text: str) -> str:
    """`type/subtype` in lower case without parameters; what is no MIME type is octets."""
    text = text.partition(";")[0].strip().lower()
    return text if _TYPE.fullmatch(text) else UNKNOWN_TYPE
