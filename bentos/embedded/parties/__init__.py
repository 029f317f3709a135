"""Who writes and who is written to."""

from bentos.embedded.parties.contacts import Contact, segments
from bentos.embedded.parties.house_words import HOUSE
from bentos.embedded.parties.places import PLACE, place_in, street_in
from bentos.embedded.parties.reader import PartyReader

__all__ = ["HOUSE", "PLACE", "Contact", "PartyReader", "place_in", "segments", "street_in"]
