"""Sender and recipient of one sheet."""

from __future__ import annotations

from bentos.embedded.letter import Sheet
from bentos.embedded.names import Name
from bentos.embedded.parties.contacts import Contact
from bentos.embedded.parties.head import LetterHead
from bentos.embedded.parties.recipient import Recipient
from bentos.embedded.parties.sender import Sender


class PartyReader:
    """Reads sender and recipient of one sheet; `patient` is left out of both."""

    def __init__(self, sheet: Sheet, patient: Name | None) -> None:
        head = LetterHead(sheet, patient)
        self._recipient = Recipient(head)
        self._sender = Sender(head, self._recipient)

    def recipient(self, referral: bool) -> Contact:
        return self._recipient.read(referral)

    def sender(self, referral: bool) -> Contact:
        return self._sender.read(referral)
