"""German clinical text as it is written: folding, OCR, tokens, segments, dates, sections, the patient as stated."""

from clinical.text.abbreviations import is_abbreviation
from clinical.text.coded import CodedDiagnosis, coded_at, coded_diagnoses
from clinical.text.dates import MONTH_NAMES, DateMention, dates_of, day_places, full_year, is_birth, meaning, parse_date
from clinical.text.folding import Token, fold, folded_words, folds_of, replaced, spelling, words
from clinical.text.looked import LookedFor
from clinical.text.morphemes import same_meaning, translated
from clinical.text.patient import StatedPatient
from clinical.text.pieces import BLANKS, WORD_EDGE, find_pieces, lowered
from clinical.text.sections import Kind, Section, may_tell, sections_of
from clinical.text.seen import BUCKETS, DENSE, GAPS, Seen, see
from clinical.text.segments import Part, content_words, cut, has_more_content, has_noun
from clinical.text.sites import sites_of
from clinical.text.tokens import ARROW, BOX_SIGNS, BREAK, COLON, COMMA, HEAD, LINE, SPACE, STOP, SourceText, name_key
from clinical.text.typed import TypedText, as_prose, as_typed
from clinical.text.vocabulary import (
    BOTH,
    CONNECTORS,
    FUNCTION_WORDS,
    LEFT,
    QUALIFYING,
    RIGHT,
    ROMAN,
    SALUTATIONS,
    SIDES,
    STAGE_WORDS,
    TITLES,
    is_opposite,
    side_of,
    word_set,
)
