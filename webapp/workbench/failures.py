"""Error texts of the workbench: the part that failed, the problem, and the remedy.

The answers of the text API are told apart by their status (contract, section 7); its own words are not passed on.
"""

from typing import Any

from flask_babel import lazy_gettext as _l

API, MODEL, HERE = _l("Text-API"), _l("Sprachmodell"), _l("Arbeitsplatz")

FAILURES: dict[str, tuple[Any, Any, Any]] = {
    "busy": (HERE, _l("Gerade arbeiten zu viele gleichzeitig."), _l("Versuchen Sie es in ein paar Sekunden erneut.")),
    "dead": (
        API,
        _l("Sie antwortet nicht."),
        _l("Versuchen Sie es später erneut, oder sagen Sie dem Betreiber Bescheid."),
    ),
    "key": (
        API,
        _l("Sie nimmt den Schlüssel des Arbeitsplatzes nicht an."),
        _l("Der Betreiber setzt BEFUND_WORKBENCH_API_KEY."),
    ),
    "quota": (API, _l("Das Kontingent ist erreicht."), _l("Danach geht es weiter.")),
    "refused": (API, _l("Sie nimmt diesen Text nicht an."), _l("Er ist leer oder zu lang.")),
    "file": (
        API,
        _l("Sie kann diese Datei nicht lesen."),
        _l("Sie ist beschädigt, geschützt oder zu groß, oder ein Scan, und Texterkennung ist nicht eingerichtet."),
    ),
    "model": (MODEL, _l("Es gab keine verwertbare Antwort."), _l("Versuchen Sie es einmal erneut.")),
    "not_ready": (
        API,
        _l("Sie ist noch nicht bereit, oder es ist kein Sprachmodell eingerichtet."),
        _l("Versuchen Sie es in einer Minute erneut."),
    ),
    "broken": (
        API,
        _l("Die Verbindung brach mitten in der Antwort ab."),
        _l("Was schon da ist, gilt. Versuchen Sie es erneut."),
    ),
    "slow": (MODEL, _l("Es hat zu lange gedauert und wurde beendet."), _l("Was schon da ist, gilt.")),
}
BY_STATUS = {401: "key", 413: "refused", 422: "refused", 429: "quota", 502: "model", 503: "not_ready"}
LONGEST_WAIT_S = 86_400  # a quota lasts a day


def failure_words() -> dict[str, dict[str, Any]]:
    """Every failure as the pages show it, in the language of this request."""
    return {
        kind: {"type": "failure", "kind": kind, "part": str(part), "message": str(what), "remedy": str(remedy)}
        for kind, (part, what, remedy) in FAILURES.items()
    }


def kind_of(status: int, file: bool = False) -> str:
    """The failure that an answer of the text API to a text, or to a file, stands for."""
    kind = BY_STATUS.get(status, "dead")
    return "file" if file and kind == "refused" else kind


def wait_of(retry_after: str | None) -> int | None:
    """Seconds of a Retry-After header; None where there are none that can be shown."""
    shown = retry_after is not None and retry_after.isascii() and retry_after.isdigit()
    return min(int(retry_after or 0), LONGEST_WAIT_S) if shown else None
