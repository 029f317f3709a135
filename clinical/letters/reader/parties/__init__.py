"""Sender and recipient of a letter."""

from clinical.letters.reader.parties.head import segments
from clinical.letters.reader.parties.houses import HOUSE, PLACE, place_in, street_in
from clinical.letters.reader.parties.reader import PartyReader
