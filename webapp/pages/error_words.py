"""The texts of every error page: the problem and the remedy, for the person in front of it.

The outcomes of sign-in are those of the contract, section 7, and of the decisions; each is named so that a person can
read it to the support of their vendor.
"""

from dataclasses import dataclass
from typing import Any

from flask_babel import lazy_gettext as _l


@dataclass(frozen=True, slots=True)
class ErrorText:
    """Title, what happened, what to do; `retry` offers the login page rather than the start page."""

    title: Any
    what: Any
    remedy: Any
    retry: bool = True


AGAIN = _l("Bitte starten Sie die Anmeldung noch einmal.")
TELL = _l("Bitte versuchen Sie es später erneut. Wenn es so bleibt, wenden Sie sich an Ihren Anbieter.")
SUPPORT = _l("Bitte melden Sie dies dem Betreiber oder Ihrem Anbieter.")

WORDS = {
    "provider_not_found": ErrorText(
        _l("Anbieter nicht gefunden"),
        _l("Diesen Anmeldelink gibt es nicht oder nicht mehr: der Anbieter ist unbekannt oder abgeschaltet."),
        _l("Bitte prüfen Sie die provider_id im Link, oder wählen Sie Ihren Anbieter auf der Anmeldeseite."),
    ),
    "expired": ErrorText(
        _l("Anmeldung abgelaufen"),
        _l("Diese Anmeldung wurde nicht in diesem Browser begonnen, ist schon verwendet oder liegt zu lange zurück."),
        AGAIN,
    ),
    "denied": ErrorText(
        _l("Anmeldung abgelehnt"),
        _l("Die Anmeldung wurde beim Anbieter abgebrochen oder die Zustimmung verweigert."),
        _l("Wenn das ein Versehen war, starten Sie die Anmeldung noch einmal und stimmen Sie beim Anbieter zu."),
    ),
    "vendor_error": ErrorText(
        _l("Der Anbieter hat die Anmeldung abgelehnt"),
        _l("Ihr Anbieter konnte Sie nicht anmelden und nennt einen Fehler."),
        TELL,
    ),
    "redirect_mismatch": ErrorText(
        _l("Weiterleitungsadresse passt nicht"),
        _l("Der Anbieter kennt unsere Rücksprungadresse nicht."),
        _l("Sie muss dort genau so eingetragen sein, mit dem Schrägstrich am Ende:"),
    ),
    "wrong_issuer": ErrorText(
        _l("Antwort eines anderen Anbieters"),
        _l("Die Antwort kam nicht von dem Anbieter, bei dem Sie sich anmelden wollten. Es wurde nichts übernommen."),
        AGAIN,
    ),
    "mix_up": ErrorText(
        _l("Anmeldung noch nicht möglich"),
        _l("Mehrere Anbieter sind eingerichtet, und nichts unterscheidet ihre Antworten voneinander."),
        _l("Bitte melden Sie dies dem Betreiber: dieser Anbieter braucht einen Issuer oder eine eigene Callback-URL."),
    ),
    "invalid_grant": ErrorText(
        _l("Anmeldecode ungültig"),
        _l("Der Code des Anbieters ist abgelaufen oder wurde schon verwendet; jeder gilt nur einmal."),
        AGAIN,
    ),
    "invalid_token": ErrorText(
        _l("Zugriffstoken ungültig"),
        _l("Der Anbieter hat kein gültiges Zugriffstoken ausgestellt: es fehlt, ist abgelaufen oder fehlerhaft."),
        TELL,
    ),
    "vendor_client": ErrorText(
        _l("Zugangsdaten beim Anbieter stimmen nicht"),
        _l("Der Anbieter erkennt diesen Dienst nicht an."),
        _l("Bitte melden Sie dies dem Betreiber: Client ID, Client Secret oder das Verfahren sind zu prüfen."),
    ),
    "vendor_unreachable": ErrorText(
        _l("Anbieter nicht erreichbar"),
        _l("Ihr Anbieter antwortet gerade nicht oder nicht rechtzeitig."),
        TELL,
    ),
    "vendor_answer": ErrorText(
        _l("Unverständliche Antwort des Anbieters"),
        _l("Ihr Anbieter hat anders geantwortet, als es das Anmeldeverfahren vorsieht. Es wurde nichts übernommen."),
        TELL,
    ),
    "user_not_created": ErrorText(
        _l("Konto nicht angelegt"),
        _l("Der Anbieter hat nicht mitgeteilt, wer Sie sind: in seiner Antwort fehlt „sub“ oder „id“."),
        SUPPORT,
    ),
    "account_inactive": ErrorText(
        _l("Konto abgeschaltet"),
        _l("Zu dieser Anmeldung gehört ein Konto, das abgeschaltet ist."),
        _l("Bitte wenden Sie sich an den Betreiber."),
        retry=False,
    ),
    "no_mail": ErrorText(
        _l("Anmeldung noch nicht möglich"),
        _l(
            "Für diese Anmeldung muss eine E-Mail-Adresse bestätigt werden, und der Mailversand ist nicht eingerichtet."
        ),
        _l("Bitte melden Sie dies dem Betreiber: die Einstellung BEFUND_MAIL_URL fehlt."),
    ),
    "try_again": ErrorText(
        _l("Bitte noch einmal"),
        _l("Zur gleichen Zeit wurde an diesem Konto etwas geändert."),
        AGAIN,
    ),
    "http_503": ErrorText(
        _l("Gerade nicht zu speichern"),
        _l("Die Datenbank ist von einem anderen Vorgang belegt. Es wurde nichts geändert."),
        _l("Bitte versuchen Sie es in einer Minute erneut. Wenn es so bleibt, wenden Sie sich an den Betreiber."),
        retry=False,
    ),
    "http_400": ErrorText(
        _l("Anfrage nicht verstanden"),
        _l("Das Formular ist abgelaufen oder unvollständig."),
        _l("Bitte gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal."),
    ),
    "http_403": ErrorText(
        _l("Kein Zugriff"),
        _l("Diese Seite ist für Ihr Konto nicht freigegeben."),
        _l("Wenn Sie sie brauchen, wenden Sie sich an den Betreiber."),
    ),
    "http_404": ErrorText(
        _l("Seite nicht gefunden"),
        _l("Unter dieser Adresse gibt es nichts."),
        _l("Bitte prüfen Sie den Link."),
        retry=False,
    ),
    "http_405": ErrorText(
        _l("So nicht aufrufbar"),
        _l("Diese Adresse nimmt Anfragen dieser Art nicht an."),
        _l("Bitte rufen Sie die Seite über das Menü auf."),
        retry=False,
    ),
    "http_413": ErrorText(
        _l("Zu groß"),
        _l("Die gesendeten Daten sind zu groß."),
        _l("Bitte senden Sie weniger auf einmal."),
        retry=False,
    ),
    "http_429": ErrorText(
        _l("Zu viele Anfragen"),
        _l("Von Ihrer Adresse kamen in kurzer Zeit sehr viele Anfragen."),
        _l("Bitte warten Sie einen Moment und versuchen Sie es dann erneut."),
        retry=False,
    ),
    "outage": ErrorText(
        _l("Im Augenblick nicht möglich"),
        _l("Ein Teil des Dienstes antwortet gerade nicht. Es ist nichts verloren, und Sie bleiben angemeldet."),
        _l("Bitte versuchen Sie es gleich noch einmal."),
        retry=False,
    ),
}
OTHERWISE = ErrorText(
    _l("Da ist etwas schiefgegangen"),
    _l("Der Fehler liegt bei uns und ist aufgezeichnet."),
    _l("Bitte versuchen Sie es später erneut."),
    retry=False,
)


def error_words(key: str) -> ErrorText:
    """The words for `key`; general ones for a key nobody wrote words for."""
    return WORDS.get(key, OTHERWISE)
