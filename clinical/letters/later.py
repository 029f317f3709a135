"""All of the door of letters but the files: it is loaded when the first name of it is asked for."""

from clinical.letters.extraction import (
    extract,
    extract_by_rules,
    messages_for,
    pages_of,
    parts_of,
    placed,
    schema_of,
    words_of,
)
from clinical.letters.fields import DOCUMENTS, FIELDS, Field, field_of
from clinical.letters.grounding import Kind, Verdict, find_statement, ground, judge
from clinical.letters.layout import LetterLayout
from clinical.letters.reader import (
    BEGINS,
    DILATIONS,
    LEARNED,
    LIKELY,
    LISTS,
    PARTS,
    QUESTION,
    ROWS,
    SPAN_ROWS,
    SPANS,
    STATEMENTS,
    STATES,
    VALUE_STATES,
    VALUES,
    EntrySpan,
    HashedRegression,
    Listed,
    ReaderModels,
    RulesReader,
    StatementFeatures,
    ValueFeatures,
    ValueNet,
    ValueTagger,
    asking,
    best_runs,
    entries_in,
    entry_parts,
    known_rows,
    part_features,
    question_rows,
    read_letter,
    settled,
    statements_of,
    value_in,
)
from clinical.letters.review import reviewed
