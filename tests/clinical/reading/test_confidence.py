"""Behind the search: the second calibration, the order of a mention's codes, and what codes are known to be."""

import numpy as np
import orjson
import pytest

from catalog_build.build import CONFIDENCE, WEIGHTS
from catalog_build.training.authors import WrittenInput
from catalog_build.training.confidence import (
    BEST,
    WINDOW,
    FoundMentions,
    bounds_of,
    experienced,
    fit_confidence,
    with_begun,
)
from clinical.errors import ArtifactMismatch
from clinical.reading import OF_EXPERIENCE, OF_HIT, Experience, Reranker, columns_of_hits
from clinical.reading.confidence import COLUMNS, Confidence, ConfidenceNetwork, Regression
from clinical.reading.experience import TimesRight
from clinical.search.hits import Hits
from clinical.thresholds import TextThresholds

BOUNDS = TextThresholds(high=0.9, medium=0.5, best=0.3)


def hits() -> Hits:
    part, code = np.array([0, 0, 1]), np.array([4, 7, 9])
    chances = np.array([0.8, 0.2, 0.6], dtype=np.float32)
    return Hits(part, code, chances, chances, np.array([1, 2, 3]))


def rows(chance: float = 0.9) -> np.ndarray:
    found = np.zeros((2, len(COLUMNS)), dtype=np.float32)
    found[:, COLUMNS.index("chance")] = chance
    return found


def found(rows: np.ndarray, right: np.ndarray) -> FoundMentions:
    """Examples of fifty categories, five of them left out at a time."""
    category = np.arange(len(right)) % 50
    return FoundMentions(rows, right, category, category % 5)


def blank(bias: float) -> ConfidenceNetwork:
    """A network that only knows its bias."""
    return ConfidenceNetwork(np.zeros((len(COLUMNS), 2)), np.zeros(2), np.zeros(2), bias)


def test_codes_of_one_mention_exclude_each_other():
    """A second code is as likely as the first is not; of a wording by itself it is a proposal, and stays."""
    first, columns = np.array([0, 2]), rows()
    served = Confidence(blank(2.0), BOUNDS).served(
        hits()._replace(probability=np.ones(3, dtype=np.float32)), first, columns
    )
    assert served.probability[1] == pytest.approx(1 - served.probability[0])
    assert min(served.probability[[0, 2]]) > 0.85
    columns[:, COLUMNS.index("plain")] = columns[:, COLUMNS.index("verbatim")] = 1
    served = Confidence(blank(2.0), BOUNDS).served(
        hits()._replace(probability=np.ones(3, dtype=np.float32)), first, columns
    )
    assert served.probability[1] == pytest.approx(served.probability[0])


def test_the_first_code_gets_the_new_probability_and_the_others_stay_in_proportion():
    sure = Confidence(blank(0.0), BOUNDS)
    served = sure.served(hits(), np.array([0, 2]), rows())
    np.testing.assert_allclose(served.probability, [0.5, 0.125, 0.5])


def test_no_code_of_a_text_is_surer_than_the_claim_under_which_it_is_given():
    told = rows()
    told[:, COLUMNS.index("doubt")] = 0.1, 0.7
    served = Confidence(blank(9.0), BOUNDS).served(hits(), np.array([0, 2]), told)
    np.testing.assert_allclose(served.probability, [0.9, 0.1, 0.3], atol=1e-6)


def test_what_a_short_text_finds_as_a_whole_is_not_made_surer():
    sure = Confidence(blank(9.0), BOUNDS)
    served = sure.served(hits(), np.array([0, 2]), rows(chance=0))
    np.testing.assert_allclose(served.probability, hits().probability)


def begun_rows() -> np.ndarray:
    """The first of two mentions stops within a word."""
    found = rows()
    found[:, COLUMNS.index("plain")] = 1
    found[0, COLUMNS.index("begun")] = 1
    return found


def test_a_wording_that_stops_within_a_word_has_a_regression_of_its_own():
    half = Regression(np.zeros(len(COLUMNS)), 0.0)
    served = Confidence(blank(9.0), BOUNDS, begun=half).served(hits(), np.array([0, 2]), begun_rows())
    np.testing.assert_allclose(served.probability, [0.5, 0.125, 0.6])
    without = Confidence(blank(9.0), BOUNDS).served(hits(), np.array([0, 2]), begun_rows())
    np.testing.assert_allclose(without.probability, hits().probability)


def test_a_wording_that_some_wording_has_word_for_word_has_a_regression_of_its_own():
    zero = np.zeros(len(COLUMNS))
    verbatim = rows()
    verbatim[:, COLUMNS.index("verbatim")] = 1
    verbatim[0, COLUMNS.index("plain")] = 1
    served = Confidence(blank(0.0), BOUNDS, plain=Regression(zero, 9.0)).served(hits(), np.array([0, 2]), verbatim)
    np.testing.assert_allclose(served.probability, [1, 0.25, 0.5], atol=1e-3)


def test_what_a_begun_word_is_worth_is_learnt_from_what_differs_between_them():
    chance = np.random.default_rng(0)
    some = chance.normal(size=(2_000, len(COLUMNS))).astype(np.float32)
    right = some[:, COLUMNS.index("margin")] + chance.normal(size=2_000) > 0
    shipped = Confidence(blank(0.0), BOUNDS)
    begun = with_begun(shipped, found(some, right)).begun
    assert begun is not None
    assert np.argmax(np.abs(begun.weights)) == COLUMNS.index("margin")
    assert not begun.weights[COLUMNS.index("lower")]
    few = found(some[: WINDOW // 2], right[: WINDOW // 2])
    assert with_begun(shipped, few) == shipped


def test_fitting_finds_what_matters():
    chance = np.random.default_rng(0)
    some = chance.normal(size=(2_000, len(COLUMNS))).astype(np.float32)
    some[:, COLUMNS.index("doubt")] = 0
    right = some[:, 0] + chance.normal(size=2_000) > 0
    sure = fit_confidence(found(some, right), found(some[:9], right[:9]))
    believed = sure.network.probabilities(some)
    assert np.corrcoef(believed, some[:, 0])[0, 1] > 0.9
    assert abs(believed.mean() - right.mean()) < 0.02


def test_what_people_wrote_counts_more_than_what_was_generated():
    """Generated texts say one thing of a column, written ones the opposite: these are believed."""
    some = np.random.default_rng(0).normal(size=(2_000, len(COLUMNS))).astype(np.float32)
    some[:, [COLUMNS.index("plain"), COLUMNS.index("doubt")]] = 0
    right = some[:, 0] > 0
    sure = fit_confidence(found(some, ~right), found(some, right))
    assert np.mean((sure.network.probabilities(some) > 0.5) == right) > 0.9
    assert sure.bounds.best <= sure.bounds.medium <= sure.bounds.high


def test_what_was_fitted_on_other_columns_is_refused(tmp_path):
    shipped = Confidence.load(WEIGHTS / CONFIDENCE)
    shipped.save(tmp_path / CONFIDENCE)
    again = Confidence.load(tmp_path / CONFIDENCE)
    for one, other in zip(again.network, shipped.network, strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.reranker is not None
    assert shipped.reranker is not None
    np.testing.assert_array_equal(again.reranker.weights, shipped.reranker.weights)
    assert again.begun is not None
    assert shipped.begun is not None
    np.testing.assert_array_equal(again.begun.weights, shipped.begun.weights)
    assert again.plain is not None
    assert shipped.plain is not None
    np.testing.assert_array_equal(again.plain.weights, shipped.plain.weights)
    damaged = (tmp_path / CONFIDENCE).read_text().replace("margin", "distance")
    (tmp_path / CONFIDENCE).write_text(damaged)
    with pytest.raises(ArtifactMismatch, match="other columns"):
        Confidence.load(tmp_path / CONFIDENCE)


def test_a_column_that_it_was_fitted_without_has_no_weight(tmp_path):
    shipped = orjson.loads((WEIGHTS / CONFIDENCE).read_bytes())
    earlier = {**shipped, "columns": shipped["columns"][1:], "first": shipped["first"][1:]}
    del earlier["begun"], earlier["plain"]
    (tmp_path / CONFIDENCE).write_bytes(orjson.dumps(earlier))
    first = Confidence.load(tmp_path / CONFIDENCE).network.first
    assert first[0].tolist() == [0.0] * len(shipped["last"])
    assert first[1:].tolist() == shipped["first"][1:]


def test_a_band_ends_where_its_last_codes_are_wrong_too_often():
    """Of 0.95 nearly all are right, of 0.7 six in ten, of 0.3 none: high ends above 0.7, medium above 0.3."""
    probability = np.repeat(np.float32([0.95, 0.7, 0.3]), 3 * WINDOW)
    right = np.arange(9 * WINDOW) % 20 < np.repeat([20, 12, 0], 3 * WINDOW)
    bounds = bounds_of(probability, right, np.arange(9 * WINDOW) % 97)
    assert (bounds.high, bounds.medium) == (pytest.approx(0.95), pytest.approx(0.7))
    assert bounds.best == BEST < bounds.medium


def test_mistakes_of_one_category_are_one_observation():
    """The same share of right codes is worth less where the wrong ones are all of a few categories."""
    probability = np.full(4 * WINDOW, 0.9, dtype=np.float32)
    wrong = np.arange(4 * WINDOW) % 12 == 0
    spread = bounds_of(probability, ~wrong, np.arange(4 * WINDOW))
    together = bounds_of(probability, ~wrong, np.where(wrong, 1, np.arange(4 * WINDOW) + 2))
    assert spread.high == pytest.approx(0.9)
    assert together.high > 1


SITE = OF_HIT.index("title_beside")


@pytest.fixture(scope="module")
def ranked(index):
    """The spans of a text that explain it, and their hits as search orders them."""

    def of(text: str):
        draft, hits = index.ranked(text)
        return draft, index.reader.chosen(draft, hits)[1]

    return of


def codes(index, hits, part):
    return [index.catalog.codes[code].code for code in hits.code[hits.part == part].tolist()]


def test_words_beside_a_mention_count_where_a_title_has_them(index, ranked):
    draft, hits = ranked("Husten und Fieber. Posttraumatisch ist die Gonarthrose links.")
    rows, columns = columns_of_hits(draft, hits, index.wordings, index.kinds)
    own = [draft.spans[part].part.text == "Posttraumatisch" for part in hits.part[rows].tolist()]
    beside = {
        index.catalog.codes[hits.code[at]].code: row[SITE] for at, row in zip(rows[own], columns[own], strict=True)
    }
    assert beside["M17.3"] > 0
    assert beside["T79.3"] == 0


def test_compared_codes_change_places_and_probabilities_stay(index, ranked):
    draft, hits = ranked("Husten und Fieber. Seit Jahren Gonarthrose.")
    rows, columns = columns_of_hits(draft, hits, index.wordings, index.kinds)
    worst_first = Reranker.of({"logit": -1.0}).ordered(draft, hits, index.wordings, index.kinds)
    np.testing.assert_array_equal(worst_first.probability, hits.probability)
    np.testing.assert_array_equal(worst_first.part, hits.part)
    for part in np.unique(hits.part[rows]):
        compared = columns[hits.part[rows] == part, 0]
        assert sorted(codes(index, worst_first, part)) == sorted(codes(index, hits, part))
        if len(set(compared.tolist())) == len(compared):
            before, after = codes(index, hits, part), codes(index, worst_first, part)
            assert after[: len(compared)] == [before[at] for at in np.argsort(compared, kind="stable")]


def test_a_wording_by_itself_keeps_the_order_of_search(index, ranked):
    draft, hits = ranked("Gonarthrose")
    assert draft.plain
    again = Reranker.of({"logit": -1.0}).ordered(draft, hits, index.wordings, index.kinds)
    np.testing.assert_array_equal(again.code, hits.code)


TOLD = [("erguss", "J90", False)] * 6 + [("erguss", "J90", True)] * 2 + [("copd", "J44.99", True)] * 8


def share(logit: float) -> float:
    return 1 / (1 + np.exp(-logit))


def test_what_was_never_seen_is_as_probable_as_all_and_words_lean_on_their_code_and_a_code_on_all():
    known = Experience().with_more(TOLD)
    code, words, times = known.columns(["knoten"], "R22.9")
    assert share(code) == pytest.approx(known.share) == pytest.approx(11 / 18)
    assert (words, times) == (code, 0)
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
