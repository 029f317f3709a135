"""Who writes and who is written to."""

from bentos.embedded.parties.contacts import PLACE, Contact, place_in, segments, street_in
from bentos.embedded.parties.reader import PartyReader

__all__ = ["PLACE", "Contact", "PartyReader", "place_in", "segments", "street_in"]
