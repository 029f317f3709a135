"""Limits of a file, and the reasons for which one is refused."""

from __future__ import annotations

import shutil
from typing import Final

from clinical.errors import BefundError

BYTES_MAX: Final = 20 * 1024 * 1024
PAGES_MAX: Final = 50
SECONDS: Final = 20.0
"""Wall clock of one step of reading: opening a file, drawing a page, recognising a page."""
RECOGNISING_SECONDS: Final = 60.0
"""Wall clock of the recognition of one page: 1 to 3 seconds on a free core."""
MEMORY: Final = 512 * 1024 * 1024
"""Bytes that reading one file may take beside what the process holds already."""


def tesseract() -> str | None:
    """The path of the program that recognises text; None where it is not installed."""
    return shutil.which("tesseract")


class ReaderUnavailable(BefundError):
    """The process that opens files does not start: no fault of the file's."""


class FileRefused(BefundError):
    """A file that cannot be read; its classes are the reasons, told to the caller."""


class Unreadable(FileRefused):
    """Broken, or of a kind that is not read."""


class UnknownKind(FileRefused):
    """The first bytes are those of no kind that is read."""


class Encrypted(FileRefused):
    """A password is wanted."""


class TooManyPages(FileRefused):
    """More pages than are read."""


class FileTooLarge(FileRefused):
    """More bytes than are read."""


class TooDemanding(FileRefused):
    """Reading took more time or memory than a file may: a trap, or far too much on a page."""


class WithoutText(FileRefused):
    """A scan, or a file whose characters are none, and no recognition of text is set up."""


class Empty(FileRefused):
    """No text at all, also after recognition."""


class TextTooLong(FileRefused):
    """More characters than one request may have."""
