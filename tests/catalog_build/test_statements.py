"""The model of a letter's statements: what an author marked becomes lessons, and is learned."""

import numpy as np

from catalog_build.training.letters import parse_letters
from catalog_build.training.statements import left_out, lesson, regression
from clinical.letters import LISTS

LETTER = """### arztbrief
Diagnosen
- {Gicht|diagnosen}
- {Asthma|diagnosen?}

Verlauf ohne Komplikationen. {Wir bitten um Kontrolle in {n} Wochen.|procedere}
Die Wunde war reizlos.
"""


def letters(folder, count=3):
    file = folder / "l99.txt"
    file.write_text("\n===\n".join(LETTER.replace("{n}", str(n + 2)) for n in range(count)), "utf-8")
    return parse_letters(file)


def test_marks_become_right_lists_and_what_is_optional_is_not_learned(tmp_path):
    one = lesson(letters(tmp_path)[0])
    diagnoses, plans = LISTS.index("diagnosen"), LISTS.index("procedere")
    assert one.right[:, diagnoses].tolist() == [True, False, False, False, False]
    assert one.learned[:, diagnoses].tolist() == [True, False, True, True, True]
    assert one.right[:, plans].tolist() == [False, False, False, True, False]
    assert one.learned[:, plans].all()


def test_what_was_marked_is_likelier_than_what_was_not(tmp_path):
    lessons = [lesson(letter) for letter in letters(tmp_path, 8)]
    for known in lessons:
        known.right[0, 1:3] = True  # both other lists have to have something to learn
    right, learned = (np.concatenate([getattr(one, name) for one in lessons]) for name in ("right", "learned"))
    likely = regression([row for one in lessons for row in one.rows], right, learned, 10.0).judge(lessons[0].rows)
    assert likely[:, LISTS.index("procedere")].argmax() == 3
    assert likely[:, LISTS.index("diagnosen")].argmax() == 0


def test_an_author_is_judged_by_a_model_of_the_others():
    from catalog_build.training.letters import read_letters

    authors = dict(list(read_letters("train").items())[:2])
    sums = left_out(authors)
    right, wrong, missing = sums["procedere"]
    marked = sum(
        lesson(one).right[:, LISTS.index("procedere")].sum()
        for own in authors.values()
        for one in own
        if lesson(one) is not None
    )
    assert right + missing == marked
    assert right > wrong


def test_a_part_begins_a_diagnosis_where_a_mark_begins_in_it(tmp_path):
    from catalog_build.training.parts import part_lessons, train_parts

    file = tmp_path / "l98.txt"
    file.write_text(
        "### arztbrief\nDiagnosen: {Gicht|diagnosen}, {Asthma, gut eingestellt|diagnosen}, {Husten|diagnosen?}\n",
        "utf-8",
    )
    (letter,) = parse_letters(file)
    lessons = list(part_lessons(letter))
    assert [one.begins for one in lessons] == [True, True, False]
    assert train_parts(lessons * 4).judge([lessons[0].row, lessons[2].row])[:, 0].argmax() == 0
