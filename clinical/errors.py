"""Every error Befund raises on purpose. Each says what was found, what was expected and what to do.

    BefundError
    |-- SourceError               a catalog source file cannot be read as what it should be (file, line)
    |-- ArtifactError             the built artifact cannot be used
    |   |-- ArtifactMissing       there is none at that place
    |   `-- ArtifactMismatch      another schema version, a changed or truncated file
    |-- CheckFailed               an expectation on the catalog tables does not hold
    |-- NotReady                  the catalog is not loaded (yet)
    |-- NoRoom                    a folder that is written to takes nothing: its disk is full
    |-- SettingError              a setting is missing, unsafe or contradicts another
    `-- LanguageModelError        the language model gave nothing usable
        |-- ModelNotConfigured    no model is set up
        |-- ModelUnavailable      refused, reset, 5xx, 429
        |-- ModelBusy             our own queue towards the model is full
        |-- ModelTimeout          no answer within the limit
        |-- ModelContextTooSmall  the text does not fit into what the model can read at once
        `-- ModelMalformed        an answer that does not fit the schema, also after one repair attempt
            `-- ModelTruncated    an answer that was cut at its tokens, also after one repair attempt

The text of an error never holds request content, secrets or tokens.
"""

import re


class BefundError(Exception):
    """Base of all deliberate errors: `found`, `expected` and `remedy` are whole clauses for an operator."""

    def __init__(self, found: str, expected: str = "", remedy: str = "") -> None:
        self.found, self.expected, self.remedy = found, expected, remedy
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        parts = [self.found]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.remedy:
            parts.append(self.remedy)
        return "; ".join(parts)


class SourceError(BefundError):
    """A catalog source file cannot be read; `file` and `line` (1-based, None: the whole file) say where."""

    def __init__(self, file: str, line: int | None, found: str, expected: str = "", remedy: str = "") -> None:
        self.file, self.line = file, line
        where = file if line is None else f"{file}, line {line}"
        super().__init__(f"{where}: {found}", expected, remedy)


class ArtifactError(BefundError):
    """The built artifact cannot be used."""


class ArtifactMissing(ArtifactError):
    """There is no finished artifact at the named place."""


class ArtifactMismatch(ArtifactError):
    """The artifact is of another schema version, or one of its files is changed or truncated."""


class CheckFailed(BefundError):
    """An expectation on the catalog tables does not hold; the build stops."""


class NotReady(BefundError):
    """The catalog is not loaded (yet)."""


class NoRoom(BefundError):
    """Nothing can be written into a folder."""


class SettingError(BefundError):
    """A setting is missing, unsafe in this environment, or contradicts another."""


class LanguageModelError(BefundError):
    """The language model gave nothing usable."""


class ModelNotConfigured(LanguageModelError):
    """No language model is set up."""


class ModelUnavailable(LanguageModelError):
    """The model server refused, reset the connection, or answered 5xx or 429."""


class ModelBusy(LanguageModelError):
    """Our own bounded queue towards the model server is full."""


class ModelTimeout(LanguageModelError):
    """The model server did not answer within the limit."""


class ModelMalformed(LanguageModelError):
    """The model's answer does not fit the schema, also after one repair attempt."""


class ModelTruncated(ModelMalformed):
    """The model's answer was cut at its number of tokens, also after one repair attempt; half of it is no answer."""


class ModelContextTooSmall(LanguageModelError):
    """The text does not fit into the context of the model."""


# Why a database or a counter of limits cannot be reached. A driver's sentence may hold values (statements, parameters,
# rows) and is never shown; what an operator has to know is one of a few things with well-known words.
_CAUSES = tuple(
    (re.compile(words, re.IGNORECASE), cause)
    for words, cause in (
        (r"connection refused|error 111", "nothing listens at its address"),
        (r"name or service not known|resolve host|name resolution|nodename nor servname", "its host is not known"),
        (r"no route to host|network is unreachable", "its network cannot be reached"),
        (r"timeout|timed out", "no answer in time"),
        (r"password authentication failed|wrongpass|invalid username-password", "the user or password is wrong"),
        (r"no password supplied|noauth|authentication required", "it wants a password"),
        (r"pg_hba\.conf", "it does not let this host or user in, or not without TLS (pg_hba.conf)"),
        (r'(FATAL|connection failed).*database "[^"]*" does not exist', "there is no database of that name"),
        (r'(FATAL|connection failed).*role "[^"]*" does not exist', "there is no user of that name"),
        (r"too many clients|connection slots|max number of clients", "it takes no further connections"),
        (r"starting up|shutting down|loading the dataset", "it is starting or stopping"),
        (r"closed the connection|terminating connection|terminated abnormally", "it closed the connection"),
        (r"unable to open database file", "its file cannot be opened or made"),
        (r"readonly database", "its file may not be written"),
        (r"file is not a database", "its file is no SQLite database"),
        (r"database is locked", "another process holds it"),
        (r"disk is full|no space left", "its disk is full"),
    )
)
LONGEST = 2_000
"""Characters of the driver's words that are looked at: connecting fails in one or two lines."""


def cause_of(error: BaseException) -> str:
    """Cause of a failed database or counter in our own words; of any other error its class, never its text."""
    inner = getattr(error, "orig", None) or getattr(error, "storage_error", None) or error  # SQLAlchemy's, limits'
    words = " ".join(str(inner)[:LONGEST].split())
    named = type(inner if hasattr(error, "storage_error") else error).__name__
    return next((cause for pattern, cause in _CAUSES if pattern.search(words)), named)
