"""A sentence-transformers model of one's own: copied into the artifact, checked, fine-tuned; no hub is asked."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from catalog_build.official import Synonym
from catalog_build.synonyms import fold_of
from catalog_build.training.finetuning import TOGETHER, Remembered, pairs, tuned
from clinical.errors import ArtifactMismatch, SettingError
from clinical.reading import SearchIndex
from clinical.search import TransformerEncoder, Wordings, built, nearest
from clinical.text import folded_words
from tests.catalog_build.test_training import PAIRS, WITH_TORCH, apart
from tests.tiny_model import tiny_model

pytestmark = WITH_TORCH
TEXTS = [text for texts in PAIRS.values() for text in texts]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_model(TEXTS * 2, tmp_path_factory.mktemp("tiny"))


def test_an_artifact_holds_its_model_and_refuses_a_changed_one(model, index, tmp_path):
    """The folder that the model came from may go; what is searched with lies in the artifact, under its checksums."""
    shutil.copytree(model, tmp_path / "mine")
    encoder = TransformerEncoder(tmp_path / "mine")
    names = sorted(PAIRS, key=index.catalog.number)
    texts = [(text, index.catalog.number(code)) for code in names for text in PAIRS[code]]
    wordings = Wordings.build([text for text, _ in texts], [n for _, n in texts], [False] * len(texts), encoder)
    manifest = replace(index.manifest, encoder=encoder.name)
    (tmp_path / "artifact").mkdir()
    parts = (index.catalog, wordings, encoder, index.ranker, manifest, index.expansion)
    SearchIndex(*parts).save(tmp_path / "artifact")
    shutil.rmtree(tmp_path / "mine")

    again = SearchIndex.load(tmp_path / "artifact")
    assert again.encoder.name == encoder.name == again.manifest.encoder
    np.testing.assert_allclose(again.encoder.encode(TEXTS), encoder.encode(TEXTS), atol=1e-5)
    assert again.search("Zystitis", 1)[0].code == "N30.9"

    weights = tmp_path / "artifact" / "encoder" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(ArtifactMismatch, match=r"encoder/model\.safetensors .* is changed or cut off"):
        SearchIndex.load(tmp_path / "artifact")


def test_an_artifact_that_only_names_its_model_is_refused_in_a_sentence(index, tmp_path):
    index.save(tmp_path)
    (tmp_path / "encoder.safetensors").unlink()
    tree = json.loads((tmp_path / "manifest.json").read_text())
    del tree["files"]["encoder.safetensors"]
    (tmp_path / "manifest.json").write_text(json.dumps(tree))
    with pytest.raises(ArtifactMismatch, match="only names its encoder"):
        SearchIndex.load(tmp_path)


@pytest.mark.parametrize("made", [False, True])
def test_what_is_no_model_is_said_in_a_sentence_and_no_hub_is_asked(made, tmp_path, monkeypatch):
    """Also where the hub may be asked: the folder decides. A broken model is a sentence, too."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    if made:
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "modules.json").write_text("[]}")
    with pytest.raises(SettingError, match="cannot be loaded" if made else "holds no sentence-transformers model"):
        TransformerEncoder(tmp_path / "there")


def test_what_is_remembered_has_the_same_rows_and_is_asked_once(model):
    asked = []
    encoder = TransformerEncoder(model)
    folded = folded_words("Zoster Infarkt Zoster")
    plain = encoder.encode(folded)
    remembered = Remembered(encoder)
    remembered.ahead(["Herpes Zoster", "Infarkt"])
    encode = encoder.encode
    again = Remembered(encoder)
    again.encode([f"Nummer {number}" for number in range(TOGETHER + 1)])
    assert len(again._rows) == TOGETHER + 1
    encoder.encode = lambda texts: asked.extend(texts) or encode(texts)
    np.testing.assert_allclose(remembered.encode(folded), plain, atol=1e-5)
    assert asked == []
    assert remembered.encode([]).shape == (0, 32)


def test_fine_tuning_brings_wordings_of_one_code_together(model, tmp_path):
    texts = [Synonym(text, code) for code, own in PAIRS.items() for text in own]
    drawn = pairs(texts, 3)
    assert len(drawn) == 3 * len(PAIRS)
    assert all(one != other for one, other in drawn)
    outcome = tuned(model, texts, fold=0, out=tmp_path / "tuned", rounds=40, rate=5e-3)
    assert outcome.queries == sum(fold_of(text) == 0 for text in texts)
    before, after = (apart(TransformerEncoder(folder)) for folder in (model, tmp_path / "tuned"))
    assert after > before + 0.2
    assert {path.name for path in tmp_path.iterdir()} == {"tuned"}


def test_every_kind_of_index_finds_what_is_near():
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(2_000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    exact = nearest(built(vectors, "flat"), vectors[:50], 10)[1]
    assert (exact[:, 0] == np.arange(50)).all()
    for kind, least in (("hnsw", 0.95), ("ivf", 0.3)):
        found = nearest(built(vectors, kind), vectors[:50], 10)[1]
        assert np.mean([np.isin(own, right).mean() for own, right in zip(found, exact, strict=True)]) >= least
    assert type(built(vectors)).__name__ == "IndexScalarQuantizer"
