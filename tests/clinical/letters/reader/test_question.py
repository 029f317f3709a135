"""The question of a letter: the likeliest statement that asks, with those beside it that ask, too."""

import numpy as np
import pytest

from clinical.letters import RulesReader, asking, question_rows, read_letter
from clinical.letters.reader.hashed import ROWS, HashedRegression
from clinical.letters.reader.question import question_of


@pytest.mark.parametrize(
    ("likely", "asked"),
    [
        ([], []),
        ([0.05, 0.14], []),
        ([0.1, 0.2, 0.1], [1]),
        ([0.6, 0.9, 0.4, 0.7], [0, 1]),
        ([0.1, 0.5, 0.9, 0.6], [1, 2, 3]),
    ],
)
def test_the_likeliest_statement_is_the_question_with_its_likely_neighbours(likely, asked):
    assert list(asking(np.array(likely, dtype=np.float32))) == asked


LETTER = """Sehr geehrte Frau Kollegin,

ich überweise Ihnen Frau Karin Ott, geb. 02.02.1970, mit Leistenschmerz seit Mai.
Im Sono zeigt sich eine Hernie rechts. OP-Indikation? Laparoskopisch möglich?

Mit freundlichen Grüßen
Dr. Lea Kunz
"""


def test_the_question_is_what_the_model_says_of_each_statement():
    statements = RulesReader(LETTER).lists.statements
    rows = question_rows(statements.features, statements.rows, "zuweisung")
    weights = np.zeros((ROWS, 1), dtype=np.float32)
    for row, one in zip(rows, statements.all, strict=True):
        if one.text.endswith("?"):
            weights[row] = 1
    for row, one in zip(rows, statements.all, strict=True):
        if not one.text.endswith("?"):
            weights[row] = -1
    assert question_of(statements, "zuweisung", HashedRegression(weights)) == "OP-Indikation? Laparoskopisch möglich?"
    assert question_of(statements, "zuweisung", HashedRegression(-np.abs(weights))) is None


def test_the_same_statement_has_other_features_in_another_kind_of_document():
    statements = RulesReader(LETTER).lists.statements
    one, other = (question_rows(statements.features, statements.rows, kind) for kind in ("zuweisung", "arztbrief"))
    assert all(a != b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("text", "kind", "asked"),
    [
        (LETTER, "zuweisung", "OP-Indikation?"),
        (LETTER.replace("OP-Indikation? Laparoskopisch möglich?", "Wir bitten um Beurteilung und ggf. Operation."),
         "zuweisung", "Wir bitten um Beurteilung und ggf. Operation."),
        ("Konsil vom 03.03.2026\nFragestellung: Delir? Weiter Haloperidol?\n\nDer Patient ist wach und orientiert.\n",
         "arztbrief", "Delir?"),
    ],
)  # fmt: skip
def test_a_question_is_read_as_it_stands(text, kind, asked):
    assert asked in (read_letter(text, kind)["fragestellung"] or "")


def test_a_letter_that_asks_nothing_has_no_question():
    told = LETTER.replace(" OP-Indikation? Laparoskopisch möglich?", "")
    assert read_letter(told.replace("überweise Ihnen", "berichte über"), "arztbrief")["fragestellung"] is None
