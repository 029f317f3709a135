"""Experience with codes: shares that lean on the general one, and that no author's own texts tell of."""

import numpy as np
import pytest

from catalog_build.training.confidence import FoundMentions, experienced
from catalog_build.training.written import WrittenInput
from clinical.reading import COLUMNS, OF_EXPERIENCE, Experience
from clinical.reading.experience import TimesRight

TOLD = [("erguss", "J90", False)] * 6 + [("erguss", "J90", True)] * 2 + [("copd", "J44.99", True)] * 8


def share(logit: float) -> float:
    return 1 / (1 + np.exp(-logit))


def test_what_was_never_seen_is_as_probable_as_all():
    known = Experience().with_more(TOLD)
    code, words, times = known.columns(["knoten"], "R22.9")
    assert share(code) == pytest.approx(known.share) == pytest.approx(11 / 18)
    assert (words, times) == (code, 0)


def test_words_lean_on_their_code_and_a_code_on_all():
    known = Experience().with_more(TOLD)
    code, words, times = known.columns(["erguss"], "J90")
    assert 2 / 8 < share(words) < share(code) < known.share
    assert times == pytest.approx(np.log(9))
    assert share(known.columns(["pleuraerguss"], "J90")[1]) == pytest.approx(share(code))


def test_what_is_seen_twice_adds_up_and_survives_its_lines():
    once = Experience().with_more(TOLD)
    twice = once.with_more(TOLD)
    assert twice.seen["erguss", "J90"] == TimesRight(4, 16)
    assert Experience.of_lines(twice.lines()) == twice


def test_an_author_is_judged_by_what_others_tell():
    """The first set alone is wrong with its words: of it the others' experience is told, and theirs with it."""
    rows = np.zeros((4, len(COLUMNS)), dtype=np.float32)
    said = (("knie", "M25.56"),) * 4
    right, part = np.array([False, True, True, True]), np.array([0, 1, 1, 2])
    found = FoundMentions(rows, right, np.zeros(4, int), part, said, (True,) * 4)
    told, experience = experienced(found, Experience())
    words = told.rows[:, COLUMNS.index(OF_EXPERIENCE[1])]
    assert words[0] > words[3] > words[1]
    assert experience.seen["knie", "M25.56"] == TimesRight(3, 4)
    assert not rows.any()


def test_words_of_one_author_alone_are_no_experience():
    rows = np.zeros((2, len(COLUMNS)), dtype=np.float32)
    said = (("mein knie", "M25.56"), ("knie", "M25.56"))
    found = FoundMentions(rows, np.array([True, True]), np.zeros(2, int), np.array([0, 1]), said, (True, True))
    _, experience = experienced(found, Experience())
    assert set(experience.seen) == {("", "M25.56")}


def test_what_was_read_with_another_claim_tells_nothing_of_its_words():
    """ "Gürtelrose" is mostly over: that it was read as present says nothing of its code."""
    rows = np.zeros((3, len(COLUMNS)), dtype=np.float32)
    said = (("gurtelrose", "B02.9"),) * 3
    found = FoundMentions(
        rows, np.array([True, True, False]), np.zeros(3, int), np.arange(3), said, (True, True, False)
    )
    _, experience = experienced(found, Experience())
    assert experience.seen["gurtelrose", "B02.9"] == TimesRight(2, 2)


def test_the_claim_of_a_mention_is_read_as_it_is_written():
    one = WrittenInput(
        "Gürtelrose 2015, V. a. Asthma", frozenset(), "a01", (), ((0, 10, "history"), (23, 29, "suspected"))
    )
    assert one.says(0, 10, "history")
    assert not one.says(0, 15, "present")
    assert one.says(23, 29, "present")
    assert one.says(11, 15, "family")
