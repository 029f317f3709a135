"""Claims of a text about a mention (negation, certainty, temporality, experiencer): triggers and their scopes."""

from clinical.claims.patterns import Element, Gap, Mark, Words, elements_of, read_groups
from clinical.claims.reading import (
    Claim,
    ClaimReader,
    Place,
    Reading,
    Side,
    Sign,
    claims_by_tagger,
    claims_by_triggers,
    tag_together,
)
from clinical.claims.tagger import BESIDES, LABELS, PLACES, WEIGHTS, TaggedText, Tagger, besides, tagger
from clinical.claims.trigger_words import begins_with_relative, either, ends_in_relative, names_relative
from clinical.claims.triggers import denying_words, group, written_groups

__all__ = [
    "BESIDES",
    "LABELS",
    "PLACES",
    "WEIGHTS",
    "Claim",
    "ClaimReader",
    "Element",
    "Gap",
    "Mark",
    "Place",
    "Reading",
    "Side",
    "Sign",
    "TaggedText",
    "Tagger",
    "Words",
    "begins_with_relative",
    "besides",
    "claims_by_tagger",
    "claims_by_triggers",
    "denying_words",
    "either",
    "elements_of",
    "ends_in_relative",
    "group",
    "names_relative",
    "read_groups",
    "tag_together",
    "tagger",
    "written_groups",
]
