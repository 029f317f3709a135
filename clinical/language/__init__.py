"""How German clinical text is read, once: folding, OCR, tokens, segments, context, dates, the patient as stated."""

from clinical.language.assertions import assertion_of
from clinical.language.dates import MONTH_NAMES, DateMention, by_iso, dates_of, parse_date
from clinical.language.folding import fold, replaced, spelling, words
from clinical.language.history import Past, past_of, says_past
from clinical.language.morphemes import same_meaning, translated
from clinical.language.patient import Stated, outside
from clinical.language.reading import Claim, Labelled, Place, Reading, Side, Sign
from clinical.language.scope import is_denied, is_of_a_relative
from clinical.language.sections import Section
from clinical.language.segments import Part, cut
from clinical.language.tokens import BREAK, COLON, COMMA, LINE, SPACE, STOP, Source, forget, name_key
from clinical.language.vocabulary import (
    CONNECTORS,
    FAMILIAL,
    FUNCTION_WORDS,
    NEGATIONS,
    QUALIFYING,
    RELATIVES,
    SALUTATIONS,
    SIDES,
    TITLES,
    is_opposite,
    word_set,
)

__all__ = [
    "BREAK",
    "COLON",
    "COMMA",
    "CONNECTORS",
    "FAMILIAL",
    "FUNCTION_WORDS",
    "LINE",
    "MONTH_NAMES",
    "NEGATIONS",
    "QUALIFYING",
    "RELATIVES",
    "SALUTATIONS",
    "SIDES",
    "SPACE",
    "STOP",
    "TITLES",
    "Claim",
    "DateMention",
    "Labelled",
    "Part",
    "Past",
    "Place",
    "Reading",
    "Section",
    "Side",
    "Sign",
    "Source",
    "Stated",
    "assertion_of",
    "by_iso",
    "cut",
    "dates_of",
    "fold",
    "forget",
    "is_denied",
    "is_of_a_relative",
    "is_opposite",
    "name_key",
    "outside",
    "parse_date",
    "past_of",
    "replaced",
    "same_meaning",
    "says_past",
    "spelling",
    "translated",
    "word_set",
    "words",
]
