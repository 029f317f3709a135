"""Errors as `application/problem+json` (RFC 9457): fixed German sentences, never a piece of the request.

The table names every error of the tree in `clinical/errors.py` and of this package; a test holds it complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.responses import Response

from bentos.api.disconnect import ClientLeft
from bentos.keys import KeysUnavailable, LimitReached, Unauthorized
from bentos.terminology import ImportMissing, OperationRefused
from clinical import errors, letters


class InvalidBody(errors.BefundError):
    """The body does not fit. `places`: ways to what is wrong in it, each with its kind; values are not said."""

    def __init__(
        self,
        found: str,
        places: Iterable[tuple[Sequence[int | str], str]],
        expected: str = "JSON as in the contract",
        remedy: str = "",
    ) -> None:
        self.errors = [{"loc": ["body", *way], "msg": _german(kind), "type": kind} for way, kind in places]
        super().__init__(found, expected, remedy)


class BodyTooLarge(errors.BefundError):
    """The body is longer than 1 MiB, or than a file may be where one is taken."""


class YearNotLoaded(errors.BefundError):
    """The catalog of the year that is asked for is not loaded."""


class TooManyTexts(errors.BefundError):
    """The body has more lines than a bulk request may have."""


class BodyTooSlow(errors.BefundError):
    """The body did not arrive in time."""


_MESSAGES = {
    "json_invalid": "Der Inhalt ist kein gültiges JSON.",
    "missing": "Das Feld fehlt.",
    "extra_forbidden": "Das Feld ist nicht bekannt.",
    "string_type": "Erwartet wird Text.",
    "string_too_short": "Der Text ist leer.",
    "string_too_long": "Der Text ist zu lang.",
    "string_unicode": "Der Text ist kein gültiges Unicode.",
    "value_error": "Der Text ist leer.",
    "bool_type": "Erwartet wird true oder false.",
    "literal_error": "Der Wert ist nicht zugelassen.",
    "enum": "Der Wert ist nicht zugelassen.",
    "model_type": "Erwartet wird ein JSON-Objekt.",
    "none_required": "Entweder text oder content, nicht beides.",
    "base64": "Erwartet wird Base64.",
    "form_invalid": "Das Formular ist nicht lesbar.",
}


def _german(kind: str) -> str:
    return _MESSAGES.get(kind, "Der Wert ist ungültig.")


class ProblemKind(NamedTuple):
    """The HTTP answer to one kind of error: its status and its detail."""

    status: HTTPStatus
    detail: str


_NOT_READY = ProblemKind(
    HTTPStatus.SERVICE_UNAVAILABLE, "Der Dienst ist noch nicht bereit. Bitte später erneut versuchen."
)
_NO_MODEL = ProblemKind(HTTPStatus.SERVICE_UNAVAILABLE, "Es ist kein Sprachmodell eingerichtet.")
_BUSY = ProblemKind(HTTPStatus.SERVICE_UNAVAILABLE, "Das Sprachmodell ist ausgelastet. Bitte später erneut versuchen.")
_BAD_MODEL = ProblemKind(HTTPStatus.BAD_GATEWAY, "Das Sprachmodell hat keine verwertbare Antwort geliefert.")
_CUT = ProblemKind(HTTPStatus.BAD_GATEWAY, "Die Antwort des Sprachmodells war zu lang und wurde abgeschnitten.")
_TOO_LONG = ProblemKind(HTTPStatus.BAD_GATEWAY, "Der Text ist zu lang für das eingerichtete Sprachmodell.")


def _refused(detail: str) -> ProblemKind:
    return ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


_INVALID = _refused("Die Anfrage ist ungültig.")
_OURS = ProblemKind(HTTPStatus.INTERNAL_SERVER_ERROR, "Interner Fehler.")

ANSWERS: dict[type[errors.BefundError], ProblemKind] = {
    errors.BefundError: _OURS,
    errors.SourceError: _OURS,
    errors.CheckFailed: _OURS,
    errors.SettingError: _OURS,
    errors.ArtifactError: _NOT_READY,
    errors.ArtifactMissing: _NOT_READY,
    errors.ArtifactMismatch: _NOT_READY,
    errors.NotReady: _NOT_READY,
    errors.NoRoom: _NOT_READY,
    errors.LanguageModelError: _BAD_MODEL,
    errors.ModelNotConfigured: _NO_MODEL,
    errors.ModelUnavailable: _BAD_MODEL,
    errors.ModelBusy: _BUSY,
    errors.ModelTimeout: _BAD_MODEL,
    errors.ModelMalformed: _BAD_MODEL,
    errors.ModelTruncated: _CUT,
    errors.ModelContextTooSmall: _TOO_LONG,
    Unauthorized: ProblemKind(HTTPStatus.UNAUTHORIZED, "API-Schlüssel fehlt oder ist ungültig."),
    LimitReached: ProblemKind(HTTPStatus.TOO_MANY_REQUESTS, "Das Limit dieses API-Schlüssels ist erreicht."),
    KeysUnavailable: _NOT_READY,
    InvalidBody: _INVALID,
    BodyTooLarge: ProblemKind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Der Inhalt ist zu groß: Text bis 1 MiB, Dateien bis 20 MB."
    ),
    ClientLeft: ProblemKind(HTTPStatus.REQUEST_TIMEOUT, "Die Verbindung wurde beendet."),
    YearNotLoaded: ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "Der Katalog dieses Jahres ist nicht geladen."),
    OperationRefused: _INVALID,
    ImportMissing: _INVALID,
    BodyTooSlow: ProblemKind(HTTPStatus.REQUEST_TIMEOUT, "Der Inhalt kam nicht rechtzeitig an."),
    TooManyTexts: ProblemKind(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Zu viele Zeilen: höchstens 10 000 in einer Anfrage."
    ),
    letters.ReaderUnavailable: _NOT_READY,
    letters.FileRefused: _refused("Die Datei ist nicht lesbar."),
    letters.Unreadable: _refused("Die Datei ist beschädigt oder nicht lesbar."),
    letters.UnknownKind: _refused("Die Art der Datei ist nicht bekannt: PDF, DOCX, Text, PNG, JPEG oder TIFF."),
    letters.Encrypted: _refused("Die Datei ist mit einem Passwort geschützt."),
    letters.TooManyPages: _refused("Die Datei hat zu viele Seiten: höchstens 50, als Scan höchstens 20."),
    letters.FileTooLarge: _refused("Die Datei ist größer als 20 MB."),
    letters.TooDemanding: _refused("Die Datei zu lesen braucht zu viel Zeit oder Speicher."),
    letters.WithoutText: _refused(
        "Die Datei ist ein Scan oder hat keinen lesbaren Text; Texterkennung ist nicht eingerichtet."
    ),
    letters.Empty: _refused("In der Datei steht kein Text."),
    letters.TextTooLong: _refused("Der Text der Datei ist länger als 20 000 Zeichen."),
}

_TITLES = {
    400: "Ungültige Anfrage",
    401: "Nicht angemeldet",
    404: "Nicht gefunden",
    405: "Methode nicht zugelassen",
    408: "Zeitüberschreitung",
    413: "Inhalt zu groß",
    422: "Ungültige Eingabe",
    429: "Zu viele Anfragen",
    500: "Interner Fehler",
    502: "Fehler des Sprachmodells",
    503: "Nicht verfügbar",
    504: "Zeitüberschreitung",
}

RETRY_SECONDS = 5
"""Said with a 503: the time in which a start, or a lock, is usually over."""


class Problem(Response):
    """A problem document; the body is ASCII-escaped JSON."""

    media_type = "application/problem+json"

    def render(self, content: Any) -> bytes:
        """JSON bytes of `content`."""
        self.detail = str(content["detail"])
        return json.dumps(content).encode("ascii")


def of_error(error: errors.BefundError) -> Problem:
    """The answer to a deliberate error; of its own words only the places of invalid fields are shown."""
    answer = next(ANSWERS[kind] for kind in type(error).__mro__ if kind in ANSWERS)
    headers: dict[str, str] = {}
    if isinstance(error, LimitReached):
        headers["Retry-After"] = str(error.retry_after)
    elif answer.status == HTTPStatus.SERVICE_UNAVAILABLE and answer is not _NO_MODEL:
        headers["Retry-After"] = str(RETRY_SECONDS)
    elif isinstance(error, Unauthorized):
        shown = ', error="invalid_token"' if error.shown else ""  # RFC 6750, section 3.1
        headers["WWW-Authenticate"] = f'Bearer realm="Befund"{shown}'
    places = error.errors if isinstance(error, InvalidBody) else None
    return of_status(answer.status, answer.detail, headers, places)


def of_status(
    status: int, detail: str = "", headers: dict[str, str] | None = None, places: Sequence[dict[str, Any]] | None = None
) -> Problem:
    """A problem document of `status`; with type `about:blank` the title is the status in words (RFC 9457, 4.2.1)."""
    title = _TITLES.get(status) or HTTPStatus(status).phrase
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": title,
        "status": int(status),
        "detail": detail or f"{title}.",
    }
    if places is not None:
        content["errors"] = list(places)
    return Problem(content, status, {"Cache-Control": "no-store", **(headers or {})})
