"""Sender and recipient of a letter."""

from clinical.letters.reader.parties.head import Contact, segments
from clinical.letters.reader.parties.houses import HOUSE, PLACE, place_in, street_in
from clinical.letters.reader.parties.reader import PartyReader

__all__ = ["HOUSE", "PLACE", "Contact", "PartyReader", "place_in", "segments", "street_in"]
