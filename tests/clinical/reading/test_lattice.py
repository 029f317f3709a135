"""The lattice: candidate spans, and the cover of a text that explains it best."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical.claims import Reading
from clinical.reading.lattice import CandidateSpan, cover, gain, is_plain, mentions, spans_of
from clinical.reading.reader import _apart
from clinical.text import Part, words
from clinical.thresholds import reading_weights

WEIGHTS = reading_weights()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Diabetes mellitus Typ 2", True),
        ("Fraktur der Hand", True),
        ("Hypertonie, Diabetes", False),
        ("Pat. kommt mit Migräne", False),
        ("Seit gestern Fieber", False),
        ("NSTEMI am 12.03.2026", False),
        ("Aortenaneurysma 5,5 cm", False),
    ],
)
def test_what_is_a_wording_by_itself(text, plain):
    assert is_plain(text) is plain


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), max_size=30))
def test_mentions_are_runs_of_marked_words_and_linear_in_their_number(drawn):
    shares = np.array(drawn, dtype=np.float32).reshape(-1, 3)
    shares /= shares.sum(axis=1, keepdims=True)
    found = mentions(shares, 0.05, 12)
    assert len(found) <= 12 * len(shares)
    assert len({(first, last) for first, last, _ in found}) == len(found)
    for first, last, chance in found:
        inside = np.append(shares[:, 2], 0)
        expected = shares[first, 1] * inside[first + 1 : last + 1].prod() * (1 - inside[last + 1])
        assert chance == pytest.approx(expected, abs=1e-5)
        assert 0 <= first <= last < first + 12
        assert chance >= 0.05


@st.composite
def candidates(draw):
    places = draw(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=8, unique=True))
    chances = draw(st.lists(st.floats(0, 1), min_size=len(places), max_size=len(places)))
    found = [CandidateSpan(Part("x" * size, start, start + size), size, 0.5) for start, size in places]
    return found, [gain(chance, span, WEIGHTS) for chance, span in zip(chances, found, strict=True)]


@given(candidates())
def test_the_cover_is_the_best_of_all(drawn):
    found, gains = drawn
    chosen = cover(found, gains)
    best = 0.0
    for size in range(1, len(found) + 1):
        for some in itertools.combinations(range(len(found)), size):
            places = sorted((found[n].part.start, found[n].part.end) for n in some)
            if all(a[1] <= b[0] for a, b in itertools.pairwise(places)):
                best = max(best, sum(gains[n] for n in some))
    assert sum(gains[n] for n in chosen) == pytest.approx(best)
    places = [(found[n].part.start, found[n].part.end) for n in chosen]
    assert places == sorted(places)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(places))


def runs(text: str, *said: str) -> list[tuple[str, int, float]]:
    """The candidates of a text for runs of words that are given as they stand in it."""
    places = np.array([(word.start, word.end) for word in words(text)])
    found = []
    for one in said:
        start = text.index(one)
        inside = np.flatnonzero((places[:, 0] >= start) & (places[:, 1] <= start + len(one)))
        found.append((int(inside[0]), int(inside[-1]), 0.6))
    return [(span.part.text, span.content, span.chance) for span in spans_of(Reading.of(text), places, found)]


def test_no_mention_goes_across_the_end_of_a_sentence():
    text = "Wir sehen eine akute Bronchitis. Fieber bestand nicht."
    assert runs(text, "akute Bronchitis. Fieber") == [("akute Bronchitis", 2, 0.6), ("Fieber", 1, 0.6)]


@pytest.mark.parametrize("text", ["Lymphödem Stad. II", "Fraktur Dig. IV"])
def test_a_short_word_with_a_dot_ends_no_sentence(text):
    assert [one for one, _, _ in runs(text, text)] == [text]


def test_a_mention_begins_with_no_article_and_ends_with_no_preposition():
    assert runs("Hat den grauen Star mit Blendung", "den grauen Star mit") == [("grauen Star", 2, 0.6)]
    assert runs("Urtikaria nach der Mahlzeit", "nach der") == []


@pytest.mark.parametrize("separator", [", ", " & ", " - ", " · ", " bei ", " und "])
def test_what_a_mark_or_a_preposition_parts_is_also_a_candidate_by_itself(separator):
    text = separator.join(["Pollinosis", "Urtikaria"])
    assert {one for one, _, _ in runs(text, text)} == {text, "Pollinosis", "Urtikaria"}


def test_a_hyphen_and_a_slash_within_a_word_part_nothing():
    assert [one for one, _, _ in runs("Kälte-Urtikaria L4/5", "Kälte-Urtikaria L4/5")] == ["Kälte-Urtikaria L4/5"]


def test_words_beside_a_mention_are_none_of_it():
    assert [one for one, _, _ in runs("Heute nur Schluckauf wieder", "nur Schluckauf wieder")] == ["Schluckauf"]
    assert [one for one, _, _ in runs("Gallenkolik nicht", "Gallenkolik nicht")] == ["Gallenkolik"]


def test_without_the_words_that_lead_to_it_a_mention_is_also_a_candidate():
    text = "Vd. a. Sarkoidose"
    assert {one for one, _, _ in runs(text, text)} == {text, "Sarkoidose"}
    assert [one for one, _, _ in runs("Verdacht auf", "Verdacht auf")] == ["Verdacht"]


PLACES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=12)


@given(PLACES, PLACES)
def test_spans_apart_from_others_overlap_with_none_of_them(some, others):
    one, other = (
        [CandidateSpan(Part("x" * size, start, start + size), 1, 0.5) for start, size in drawn]
        for drawn in (some, others)
    )
    expected = [
        own
        for own in one
        if not any(own.part.start < each.part.end and each.part.start < own.part.end for each in other)
    ]
    assert _apart(one, other) == expected
