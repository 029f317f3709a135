"""Mails that tell people what happened to their account. They never hold a sign-in back: what fails is audited."""

from flask_babel import gettext as _

from webapp import audit
from webapp.models import User
from webapp.sso import mail
from webapp.sso.models import Provider


def tell_linked(user: User, provider: Provider) -> None:
    """Tell the owner of an account that a vendor can now sign in to it."""
    text = _(
        "Guten Tag,\n\n"
        "Ihr Konto bei Befund wurde soeben mit dem Anbieter „%(name)s“ verknüpft: "
        "wer sich dort mit Ihrem Zugang anmeldet, kommt in Ihr Konto.\n\n"
        "Waren Sie das nicht, heben Sie die Verknüpfung auf der Seite „Konto“ auf, beenden Sie dort alle Sitzungen und "
        "verständigen Sie den Betreiber.",
        name=provider.name,
    )
    if not mail.can_send():
        audit.record_alone("notice_not_sent", user=user, provider_id=provider.id, detail="no mail server")
        return
    try:
        mail.send(user.email, _("Ein Anbieter wurde mit Ihrem Konto verknüpft"), text)
    except mail.MailFailed as error:
        audit.record_alone("notice_not_sent", user=user, provider_id=provider.id, detail=str(error))
