"""The model of a letter's statements: what an author marked becomes lessons, and is learned."""

from catalog_build.training.letters import parse_letters
from catalog_build.training.statements import fitted, left_out, lesson
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
    likely = fitted(lessons, 10.0).judge(lessons[0].rows)
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
