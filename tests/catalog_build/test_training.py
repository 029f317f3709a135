"""Training of the encoder, and of how likely a code is by what is typed."""

from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catalog_build.training.suggesting import OF_CODE, ComparedCodes, SuggestWeights, conditional_logit
from clinical.search import MATCH
from clinical.search.encoder import StaticEncoder, unit

WITH_TORCH = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("sentence_transformers") is None,
    reason="torch and sentence-transformers (extra 'train') are not installed",
)
"""They are imported where they are needed: each process of the suite collects every file."""
pytestmark = WITH_TORCH
PAIRS = {
    "I10.90": ("Bluthochdruck", "arterielle Hypertonie", "Hypertonus", "erhöhter Blutdruck"),
    "I21.9": ("Herzinfarkt", "Myokardinfarkt", "Herzmuskelinfarkt", "Infarkt am Herzen"),
    "J18.9": ("Lungenentzündung", "Pneumonie", "Entzündung der Lunge", "pneumonisches Infiltrat"),
    "K37": ("Blinddarmentzündung", "Appendizitis", "Wurmfortsatzentzündung", "gereizter Blinddarm"),
    "N30.9": ("Blasenentzündung", "Zystitis", "Harnblasenkatarrh", "entzündete Blase"),
    "B02.9": ("Gürtelrose", "Herpes zoster", "Zoster", "Kopfrose"),
}


def train(**options: Any) -> StaticEncoder:
    from catalog_build.training.encoder import train_encoder

    texts = [text for texts in PAIRS.values() for text in texts]
    # every text twice: n-grams that come once only are not learnt
    codes = [code for code, texts in PAIRS.items() for _ in texts]
    return train_encoder(texts * 2, codes * 2, **options)


def apart(encoder: StaticEncoder) -> float:
    """Mean cosine of texts of one code minus that of texts of different codes."""
    rows = [(code, row) for code, texts in PAIRS.items() for row in unit(encoder.encode(texts))]
    same = [float(one @ other) for (a, one), (b, other) in combinations(rows, 2) if a == b]
    different = [float(one @ other) for (a, one), (b, other) in combinations(rows, 2) if a != b]
    return float(np.mean(same) - np.mean(different))


@pytest.fixture(scope="module")
def trained() -> StaticEncoder:
    return train(steps=40)


def test_texts_of_one_code_come_together(trained: StaticEncoder) -> None:
    before, after = apart(train(steps=1)), apart(trained)
    assert before < 0.3
    assert after > 0.6


def test_the_same_seed_gives_the_same_weights() -> None:
    one, other = (train(steps=3, seed=7) for _ in range(2))
    assert one.name == other.name
    assert one.name != train(steps=3, seed=8).name


def test_the_weights_leave_and_come_back(trained: StaticEncoder, tmp_path: Path) -> None:
    trained.save(tmp_path / "encoder.safetensors")
    again = StaticEncoder.load(tmp_path / "encoder.safetensors")
    assert again.name == trained.name
    np.testing.assert_array_equal(again.encode(["Herpes zoster"]), trained.encode(["Herpes zoster"]))


# --- Learning the weights of suggestions -----------------------------------------------------------------------------


@pytest.mark.parametrize(("true", "known"), [([2.0, -1.0, 0.0], [0.0, 0.0, 0.0]), ([1.0, 1.0], [1.0, 0.0])])
def test_the_right_one_gets_the_greatest_score_and_one_given_beforehand_is_not_learnt_again(true, known) -> None:
    chance = np.random.default_rng(1)
    choices = []
    for _ in range(400):
        columns = chance.normal(size=(6, len(true)))
        best = np.argmax(columns @ true + chance.gumbel(size=6))
        choices.append(ComparedCodes(columns, np.arange(6) == best, columns @ known))
    assert conditional_logit(choices) == pytest.approx(np.subtract(true, known), abs=0.3)


def test_the_shipped_weights_name_every_column() -> None:
    weights = SuggestWeights.load()
    assert tuple(weights.code) == OF_CODE
    assert tuple(weights.match) == MATCH
