"""Rules reader: reads a letter by its form, without a language model."""

from clinical.letters.reader.hashed import ROWS, HashedRegression, ReaderModels
from clinical.letters.reader.lists import lists_by_form
from clinical.letters.reader.parts import BEGINS, PARTS, Listed, entry_parts, part_features
from clinical.letters.reader.question import QUESTION, asking, question_of, question_rows
from clinical.letters.reader.reader import RulesReader, read_letter
from clinical.letters.reader.spans import SPAN_ROWS, SPANS, STATES, EntrySpan, WordFeatures, best_runs, entries_in
from clinical.letters.reader.statements import (
    LIKELY,
    LISTS,
    STATEMENTS,
    LetterStatement,
    StatementFeatures,
    statements_of,
)
from clinical.letters.reader.values import (
    DILATIONS,
    LEARNED,
    VALUE_STATES,
    VALUES,
    ValueFeatures,
    ValueNet,
    ValueTagger,
    known_rows,
    settled,
    value_in,
)
