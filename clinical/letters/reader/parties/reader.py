"""Sender and recipient of one sheet."""

from __future__ import annotations

from clinical.letters.layout import LetterLayout
from clinical.letters.reader.names import Name
from clinical.letters.reader.parties.head import Contact, LetterHead
from clinical.letters.reader.parties.recipient import Recipient
from clinical.letters.reader.parties.sender import Sender


class PartyReader:
    """Reads sender and recipient of one sheet; `patient` is left out of both."""

    def __init__(self, sheet: LetterLayout, patient: Name | None) -> None:
        head = LetterHead(sheet, patient)
        self._recipient = Recipient(head)
        self._sender = Sender(head, self._recipient)

    def recipient(self, referral: bool) -> Contact:
        return self._recipient.read(referral)

    def sender(self, referral: bool) -> Contact:
        return self._sender.read(referral)
