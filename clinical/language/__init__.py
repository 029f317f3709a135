"""Reading of German clinical text: folding, OCR, tokens, segments, context, dates, the patient as
stated."""

from clinical.language.abbreviations import is_abbreviation
from clinical.language.context import (
    Element,
    Gap,
    Mark,
    Words,
    denying_words,
    elements_of,
    group,
    read_groups,
    written_groups,
)
from clinical.language.dates import MONTH_NAMES, DateMention, by_iso, dates_of, day_places, parse_date
from clinical.language.folding import Token, fold, folded_words, replaced, spelling, words
from clinical.language.keys import name_key
from clinical.language.morphemes import same_meaning, translated
from clinical.language.patient import StatedPatient, outside
from clinical.language.reading import Claim, Place, Reading, Side, Sign
from clinical.language.sections import Section
from clinical.language.segments import Part, content_words, cut, has_noun
from clinical.language.tokens import ARROW, BOX_SIGNS, BREAK, COLON, COMMA, LINE, SPACE, STOP, SourceText
from clinical.language.trigger_words import begins_with_relative, either, ends_in_relative, names_relative
from clinical.language.vocabulary import (
    CONNECTORS,
    FUNCTION_WORDS,
    QUALIFYING,
    SALUTATIONS,
    SIDES,
    TITLES,
    is_opposite,
    word_set,
)

__all__ = [
    "ARROW",
    "BOX_SIGNS",
    "BREAK",
    "COLON",
    "COMMA",
    "CONNECTORS",
    "FUNCTION_WORDS",
    "LINE",
    "MONTH_NAMES",
    "QUALIFYING",
    "SALUTATIONS",
    "SIDES",
    "SPACE",
    "STOP",
    "TITLES",
    "Claim",
    "DateMention",
    "Element",
    "Gap",
    "Mark",
    "Part",
    "Place",
    "Reading",
    "Section",
    "Side",
    "Sign",
    "SourceText",
    "StatedPatient",
    "Token",
    "Words",
    "begins_with_relative",
    "by_iso",
    "content_words",
    "cut",
    "dates_of",
    "day_places",
    "denying_words",
    "either",
    "elements_of",
    "ends_in_relative",
    "fold",
    "folded_words",
    "group",
    "has_noun",
    "is_abbreviation",
    "is_opposite",
    "name_key",
    "names_relative",
    "outside",
    "parse_date",
    "read_groups",
    "replaced",
    "same_meaning",
    "spelling",
    "translated",
    "word_set",
    "words",
    "written_groups",
]
