"""Mail: through the server of BEFUND_MAIL_URL; in development without one, as .eml files in var/outbox.

smtp://host:25                         plain, STARTTLS when the server offers it
smtp://user:password@host:587          STARTTLS is required before the password is said
smtps://user:password@host:465         TLS from the first byte
"""

import base64
import os
import smtplib
import ssl
import uuid
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import SplitResult, unquote, urlsplit

from flask_babel import gettext as _

from webapp import audit
from webapp.config import settings
from webapp.models import User
from webapp.sso.models import Provider

TIMEOUT_S = 8
AUTHENTICATED = 235
DEFAULT_SENDER = "befund@localhost"


class MailFailed(Exception):
    """The mail server did not take the message."""


def can_send() -> bool:
    """Return True when mail can be sent to people or, in development, to a folder."""
    return bool(settings().mail_url) or settings().development


def send(to: str, subject: str, text: str) -> None:
    """Send one plain-text message. Raises MailFailed."""
    message = EmailMessage()
    message["From"] = settings().mail_from or DEFAULT_SENDER
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = make_msgid(domain=message["From"].rsplit("@", 1)[-1].strip(">") or "localhost")
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: keeps out-of-office replies away
    message.set_content(text)
    if not settings().mail_url:
        _to_outbox(message)
        return
    try:
        _deliver(message, urlsplit(settings().mail_url))
    except (smtplib.SMTPException, OSError, UnicodeError) as error:
        raise MailFailed(type(error).__name__) from None


def _to_outbox(message: EmailMessage) -> None:
    folder = settings().var / "outbox"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)  # one that an earlier version made: a mail holds the code with which one signs in
    new = os.open(folder / f"{uuid.uuid4()}.eml", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(new, "wb") as file:
        file.write(bytes(message))


def _deliver(message: EmailMessage, server: SplitResult) -> None:
    context, host = ssl.create_default_context(), server.hostname or ""
    if server.scheme == "smtps":
        with smtplib.SMTP_SSL(host, server.port or 465, timeout=TIMEOUT_S, context=context) as smtp:
            _hand_over(smtp, message, server)
        return
    with smtplib.SMTP(host, server.port or 25, timeout=TIMEOUT_S) as smtp:
        smtp.ehlo()
        if smtp.has_extn("starttls"):
            smtp.starttls(context=context)
        elif server.username:
            raise MailFailed("the server offers no STARTTLS, and the password is not sent in the clear")
        _hand_over(smtp, message, server)


def _hand_over(smtp: smtplib.SMTP, message: EmailMessage, server: SplitResult) -> None:
    if server.username:
        _log_in(smtp, unquote(server.username), unquote(server.password or ""))
    smtp.send_message(message)


def _log_in(smtp: smtplib.SMTP, user: str, password: str) -> None:
    """smtplib knows passwords of ASCII only; others are said as UTF-8, which AUTH PLAIN takes (RFC 4616)."""
    if (user + password).isascii():
        smtp.login(user, password)
        return
    smtp.ehlo_or_helo_if_needed()
    code, answer = smtp.docmd("AUTH", "PLAIN " + base64.b64encode(f"\0{user}\0{password}".encode()).decode())
    if code != AUTHENTICATED:
        raise smtplib.SMTPAuthenticationError(code, answer)


def tell_linked(user: User, provider: Provider) -> None:
    """Tell the owner of an account that a vendor can now sign in to it. What fails is audited and holds no sign-in
    back."""
    text = _(
        "Guten Tag,\n\n"
        "Ihr Konto bei Befund wurde soeben mit dem Anbieter „%(name)s“ verknüpft: "
        "wer sich dort mit Ihrem Zugang anmeldet, kommt in Ihr Konto.\n\n"
        "Waren Sie das nicht, heben Sie die Verknüpfung auf der Seite „Konto“ auf, beenden Sie dort alle Sitzungen und "
        "verständigen Sie den Betreiber.",
        name=provider.name,
    )
    if not can_send():
        audit.record_alone("notice_not_sent", user=user, provider_id=provider.id, detail="no mail server")
        return
    try:
        send(user.email, _("Ein Anbieter wurde mit Ihrem Konto verknüpft"), text)
    except MailFailed as error:
        audit.record_alone("notice_not_sent", user=user, provider_id=provider.id, detail=str(error))
