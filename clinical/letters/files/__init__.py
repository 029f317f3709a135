"""Files as they come (PDF, Word, scans, text) to one value, `PageText`: the text, and where every character stands."""

from clinical.letters.files.apart import FileReader, ForkingFileReader
from clinical.letters.files.limits import (
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
from clinical.letters.files.page_text import PageBoxes, PageText
