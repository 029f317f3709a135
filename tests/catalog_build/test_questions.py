"""The model of a letter's question: what an author marked as one is learned, what is optional is not."""

import numpy as np

from catalog_build.training.letters import parse_letters, read_letters
from catalog_build.training.questions import question_lesson, questions_left_out, train_questions

LETTER = """### zuweisung
Sehr geehrte Kollegen,

Frau Ott klagt seit Mai über Leistenschmerz. {OP-Indikation?|fragestellung} {Ambulant möglich?|fragestellung?}
"""


def test_a_mark_is_learned_and_an_optional_one_is_not(tmp_path):
    file = tmp_path / "l99.txt"
    file.write_text(LETTER, "utf-8")
    lesson = question_lesson(parse_letters(file)[0])
    assert lesson.asks.tolist() == [False, False, True, False]
    assert lesson.learned.tolist() == [True, True, True, False]
    likely = train_questions(parse_letters(file) * 4).judge(lesson.rows)[:, 0]
    assert np.argmax(likely) in (2, 3)


def test_an_author_is_judged_by_a_model_of_the_others():
    authors = dict(list(read_letters("train").items())[:3])
    right, wrong, missing = questions_left_out(authors)
    marked = [question_lesson(one) for own in authors.values() for one in own]
    assert right + missing == sum(bool(one.asks.any()) for one in marked if one is not None)
    assert right > wrong
