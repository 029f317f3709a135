"""From a letter to evidenced fields: reading by a language model or by rules, grounding, review."""

from typing import TYPE_CHECKING

from clinical.letters.files import (
    Empty,
    Encrypted,
    FileReader,
    FileRefused,
    FileTooLarge,
    ForkingFileReader,
    PageText,
    ReaderUnavailable,
    TextTooLong,
    TooDemanding,
    TooManyPages,
    UnknownKind,
    Unreadable,
    WithoutText,
)
from clinical.loaded import loaded_later

if TYPE_CHECKING:
    from clinical.letters.later import *  # noqa: F403 - each by its name there

__getattr__ = loaded_later(__name__)
