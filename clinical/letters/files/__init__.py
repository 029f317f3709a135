"""Files as they come (PDF, Word, scans, text) to one value, `PageText`: the text, and where every character stands."""

from clinical.letters.files.apart import FileReader
from clinical.letters.files.limits import (
    BYTES_MAX,
    PAGES_MAX,
    Empty,
    Encrypted,
    FileRefused,
    FileTooLarge,
    ReaderUnavailable,
    TextTooLong,
    TooDemanding,
    TooManyPages,
    UnknownKind,
    Unreadable,
    WithoutText,
)
from clinical.letters.files.page_text import Box, FileWord, PageBoxes, PageText, SheetPage

__all__ = [
    "BYTES_MAX",
    "PAGES_MAX",
    "Box",
    "Empty",
    "Encrypted",
    "FileReader",
    "FileRefused",
    "FileTooLarge",
    "FileWord",
    "PageBoxes",
    "PageText",
    "ReaderUnavailable",
    "SheetPage",
    "TextTooLong",
    "TooDemanding",
    "TooManyPages",
    "UnknownKind",
    "Unreadable",
    "WithoutText",
]
