"""Experience with codes: shares that lean on the general one, and that no author's own texts tell of."""

import numpy as np
import pytest

from catalog_build.training.confidence import FoundMentions, experienced
from clinical.reading import COLUMNS, OF_EXPERIENCE, Experience
from clinical.reading.experience import Seen

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
    assert twice.seen["erguss", "J90"] == Seen(4, 16)
    assert Experience.of_lines(twice.lines()) == twice


def test_an_author_is_judged_by_what_others_tell():
    """The first set alone is wrong with its words: of it the others' experience is told, and theirs with it."""
    rows = np.zeros((4, len(COLUMNS)), dtype=np.float32)
    said = (("knie", "M25.56"),) * 4
    found = FoundMentions(rows, np.array([False, True, True, True]), np.zeros(4, int), np.array([0, 1, 1, 2]), said)
    told, experience = experienced(found, Experience())
    words = told.rows[:, COLUMNS.index(OF_EXPERIENCE[1])]
    assert words[0] > words[3] > words[1]
    assert experience.seen["knie", "M25.56"] == Seen(3, 4)
    assert not rows.any()


def test_words_of_one_author_alone_are_no_experience():
    rows = np.zeros((2, len(COLUMNS)), dtype=np.float32)
    said = (("mein knie", "M25.56"), ("knie", "M25.56"))
    found = FoundMentions(rows, np.array([True, True]), np.zeros(2, int), np.array([0, 1]), said)
    _, experience = experienced(found, Experience())
    assert set(experience.seen) == {("", "M25.56")}
