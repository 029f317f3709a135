"""The shipped finder of mentions, and how it reads texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_build.build import FINDER, WEIGHTS
from clinical.errors import ArtifactMismatch
from clinical.reading.finder import Finder, labels, mentions
from clinical.search.tensors import write_tensors
from clinical.text import DENSE, see


@pytest.fixture(scope="module")
def finder() -> Finder:
    return Finder.load(WEIGHTS / FINDER)


def best(finder: Finder, text: str) -> list[str]:
    """The texts of the runs that are more probably a mention than not."""
    seen = see(text)
    runs = mentions(finder.probabilities(seen), 0.5, 12)
    return [text[seen.places[first, 0] : seen.places[last, 1]] for first, last, _ in runs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Arterielle Hypertonie, Diabetes mellitus Typ 2, Gicht", 3),
        ("1. Hypertonie\n2. Gicht\n3. Asthma bronchiale", 3),
        ("Ramipril 5 mg 1-0-0", 0),
    ],
)
def test_what_is_a_mention(finder, text, expected):
    assert len(best(finder, text)) == expected


def test_a_longer_wording_is_one_mention(finder):
    assert best(finder, "Bekannt: chron. Pankreatitis, seit 2019") == ["chron. Pankreatitis"]


def test_weights_of_another_form_are_refused_with_a_sentence(finder, tmp_path):
    arrays = {name: getattr(finder, name) for name in finder.__dataclass_fields__}
    write_tensors(tmp_path / "old.safetensors", arrays, {"format": "befund-finder-0"})
    with pytest.raises(ArtifactMismatch, match="train it again"):
        Finder.load(tmp_path / "old.safetensors")


def test_what_is_saved_is_what_is_loaded(finder, tmp_path):
    finder.save(tmp_path / FINDER)
    seen = see("Migräne ohne Aura, Asthma")
    np.testing.assert_array_equal(Finder.load(tmp_path / FINDER).probabilities(seen), finder.probabilities(seen))


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    finder, seen = Finder.load(WEIGHTS / FINDER), see(text)
    shares = finder.probabilities(seen)
    assert shares.shape == (len(seen.first), 3)
    assert seen.dense.shape == (len(seen.first), DENSE)
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-4)
    runs = mentions(shares, 0.01, 12)
    assert len(runs) <= 12 * len(seen.first)
    assert all(0 <= first <= last < len(seen.first) for first, last, _ in runs)


def test_labels_mark_the_first_word_and_the_others():
    text = "Bekannt sind akute Pankreatitis, Gicht"
    assert labels(see(text), [(13, 31), (33, 38)]).tolist() == [0, 0, 1, 2, 1]
