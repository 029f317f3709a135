"""The ranking model: its file, and shares that are shares; hits of parts joined and merged to the best of each code."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinical.errors import ArtifactMismatch
from clinical.reading.index import SearchIndex
from clinical.search.features import candidates
from clinical.search.hits import Hits, joined, merged, merged_by_part
from clinical.search.ranking import WIDTH, Ranker
from clinical.search.retrieval import read_queries
from clinical.search.scoring import KEPT, Scorer
from clinical.search.tensors import map_tensors, write_tensors


@pytest.fixture(scope="module")
def ranker(starter_artifact: Path) -> Ranker:
    return Ranker.load(starter_artifact / "ranker.safetensors")


def columns(seed: int, candidates: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 1, size=(candidates, WIDTH)).astype(np.float32)


def test_saved_and_loaded_it_says_the_same(ranker: Ranker, tmp_path: Path) -> None:
    ranker.save(tmp_path / "one")
    again = Ranker.load(tmp_path / "one")
    np.testing.assert_array_equal(again.logits(columns(0, 20)), ranker.logits(columns(0, 20)))
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("changed", [{"columns": "similarity,guess"}, {"format": "befund-ranker-0"}])
def test_a_model_of_other_columns_is_refused(ranker: Ranker, tmp_path: Path, changed: dict[str, str]) -> None:
    ranker.save(tmp_path / "ranker")
    arrays, metadata = map_tensors(tmp_path / "ranker")
    write_tensors(tmp_path / "other", arrays, metadata | changed)
    with pytest.raises(ArtifactMismatch, match=r"other columns.*catalog_build train"):
        Ranker.load(tmp_path / "other")


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), candidates=st.integers(1, 200), stretch=st.sampled_from([0.0, 1.0, 100.0]))
def test_the_shares_and_none_of_these_make_one(ranker: Ranker, seed: int, candidates: int, stretch: float) -> None:
    shares = ranker.softmax(columns(seed, candidates) * np.float32(stretch))
    assert shares.shape == (candidates,)
    assert np.isfinite(shares).all()
    assert (shares >= 0).all()
    assert shares.sum() <= 1 + 1e-5


def test_the_compiled_model_gives_the_best_codes_that_numpy_gives(index: SearchIndex) -> None:
    scorer = Scorer(index.wordings, index.traits, index.ranker, index.encoder)
    texts = [index.wordings.text(number) for number in range(0, len(index.wordings), 97)]
    for queries in read_queries([*texts, *(text[:9] for text in texts)], index.encoder, index.wordings):
        some, best = candidates(queries, index.wordings, index.traits), scorer.best([queries])
        chances, shares = index.ranker.probabilities(some)
        for number, (first, last) in zip(queries.number, pairwise([*some.first, len(some.codes)]), strict=True):
            own, rows = best.at(best.part == number), first + np.argsort(-shares[first:last], kind="stable")[:KEPT]
            assert len(own.code) == min(KEPT, last - first)
            np.testing.assert_allclose(own.share, shares[rows], rtol=1e-3, atol=1e-6)
            np.testing.assert_allclose(own.probability, chances[rows], rtol=1e-2, atol=1e-4)
            at = {code: place for place, code in enumerate(some.codes[first:last].tolist())}
            places = first + np.array([at[code] for code in own.code.tolist()])
            np.testing.assert_allclose(shares[places], own.share, rtol=1e-3, atol=1e-6)
            np.testing.assert_array_equal(some.wordings[places], own.wording)


def test_the_order_of_the_candidates_does_not_matter(ranker: Ranker) -> None:
    block, order = columns(3, 30), np.random.default_rng(3).permutation(30)
    np.testing.assert_allclose(ranker.softmax(block[order]), ranker.softmax(block)[order], rtol=1e-4, atol=1e-7)


def test_the_calibration_rises_and_stays_a_probability(ranker: Ranker) -> None:
    assert (np.diff(ranker.raw) > 0).all()
    assert (np.diff(ranker.calibrated) >= 0).all()
    assert ranker.calibrated.min() >= 0
    assert ranker.calibrated.max() <= 1


Row = tuple[int, int, float, float, int]


def hits(*rows: Row) -> Hits:
    """From rows (part, code, share, probability, wording)."""
    part, code, share, probability, wording = zip(*rows, strict=True)
    return Hits(
        np.array(part),
        np.array(code),
        np.array(share, dtype=np.float32),
        np.array(probability, dtype=np.float32),
        np.array(wording),
    )


def rows(some: Hits) -> list[tuple[int, int, int]]:
    """(part, code, wording) of each hit."""
    return list(zip(some.part.tolist(), some.code.tolist(), some.wording.tolist(), strict=True))


SOME = hits(
    (0, 7, 0.9, 0.8, 70), (0, 3, 0.1, 0.2, 30), (1, 7, 0.95, 0.8, 71), (1, 5, 0.6, 0.5, 50), (0, 3, 0.3, 0.2, 31)
)


def test_the_best_hit_of_each_code_over_all_parts_is_kept_by_probability_then_share() -> None:
    assert rows(merged(SOME)) == [(1, 7, 71), (1, 5, 50), (0, 3, 31)]


def test_the_best_hit_of_each_code_is_kept_for_each_part() -> None:
    assert rows(merged_by_part(SOME)) == [(0, 7, 70), (0, 3, 31), (1, 7, 71), (1, 5, 50)]


def test_of_no_hits_there_is_nothing_to_merge() -> None:
    nothing = joined([])
    assert rows(merged(nothing)) == rows(merged_by_part(nothing)) == []
    assert rows(joined([nothing, SOME])) == rows(SOME)


def test_hits_are_joined_one_behind_the_other() -> None:
    assert rows(joined([SOME, SOME.at(slice(1))])) == [*rows(SOME), (0, 7, 70)]


def test_what_is_believed_less_has_a_lower_share_and_probability_and_nothing_else_changes() -> None:
    half = SOME.weighed(0.5)
    np.testing.assert_allclose(half.share, SOME.share / 2)
    np.testing.assert_allclose(half.probability, SOME.probability / 2)
    assert rows(half) == rows(SOME)
