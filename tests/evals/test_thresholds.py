"""The file of thresholds says what is true: of the data it was measured on, and of how the thresholds do there."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from catalog_build.build import WEIGHTS, Weights, thresholds_of, weights_digest
from catalog_build.official.source import read_source
from catalog_build.training.calibration import CALIBRATION, Calibration
from clinical.errors import SettingError
from clinical.letters.grounding.validator import judge
from clinical.thresholds import FILE, GroundingThresholds, grounding_thresholds, load_section, save_section
from evals.coding import confidence
from evals.letters.probes import FULL, SMALL, digest, measured

STATEMENTS = [each.text for each in read_source(Path(__file__).parents[2] / "catalog_build/starter").synonyms]


def test_grounding_does_on_the_same_letters_what_the_file_says() -> None:
    section = load_section("grounding")
    assert section.values == grounding_thresholds()
    assert (section.data["full"], section.data["small"]) == (digest(FULL, STATEMENTS), digest(SMALL, STATEMENTS))
    assert section.metrics["small"] == measured(grounding_thresholds(), SMALL, STATEMENTS)
    assert section.metrics["full"]["size"] == FULL._asdict()


def test_the_build_takes_the_confidence_that_was_cut_for_the_shipped_weights() -> None:
    section = load_section("confidence")
    assert weights_digest(WEIGHTS).items() <= section.data.items()
    assert Weights.load().thresholds == section.values
    assert json.loads(json.dumps(asdict(confidence.section()))) == json.loads(json.dumps(asdict(section)))


@pytest.fixture
def other_weights(tmp_path: Path) -> Path:
    """Weights that no section was written for: the shipped encoder with its last byte turned."""
    for name in ("encoder.safetensors", "ranker.safetensors"):
        shutil.copy(WEIGHTS / name, tmp_path)
    changed = bytearray((tmp_path / "encoder.safetensors").read_bytes())
    changed[-1] ^= 1
    (tmp_path / "encoder.safetensors").write_bytes(changed)
    return tmp_path


def test_other_weights_without_a_calibration_are_refused(other_weights: Path) -> None:
    with pytest.raises(SettingError, match=r"written for other weights.*04_confidence\.ipynb with WRITE = True"):
        Weights.load(other_weights)


def test_other_weights_take_the_thresholds_of_their_own_calibration(other_weights: Path) -> None:
    probability = np.repeat(np.float32([0.95, 0.7, 0.2]), 100)
    Calibration(probability, np.arange(300) % 100 < probability * 100 + 4).save(other_weights / CALIBRATION)
    with pytest.warns(UserWarning, match="other weights"):
        thresholds = thresholds_of(other_weights)
    assert (thresholds.high, thresholds.medium) == (np.float32(0.95), np.float32(0.95))
    assert confidence.section(other_weights).values == thresholds


def test_other_thresholds_judge_otherwise() -> None:
    text, shipped = "Diagnosen:\nFraktur distaler Radius\n\nVerlauf\nKein septischer Verlauf", grounding_thresholds()
    answer = {"diagnosen": ["Fraktur septischer distaler Radius"]}  # three of four words: the contract lets it pass
    strict = GroundingThresholds(1.0, shipped.skip, shipped.window)
    assert [judge(answer, text, one)[0].kept for one in (None, shipped, strict)] == [True, True, False]


def test_a_word_that_stands_nowhere_fails_at_any_threshold() -> None:
    text, shipped = "Diagnosen:\nFraktur distaler Radius", grounding_thresholds()
    lenient = GroundingThresholds(0.0, shipped.skip, shipped.window)
    for thresholds in (None, lenient):
        finding = judge({"diagnosen": ["Fraktur septischer distaler Radius"]}, text, thresholds)[0]
        assert not finding.kept
        assert finding.words == ("septischer",)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "there is no"),
        ("{", "is not JSON"),
        ('{"version": 2}', "version 2"),
        ('{"version": 1}', "section grounding"),
        ('{"version": 1, "grounding": {"values": {"overlap": 0.6}}}', "section grounding"),
    ],
)
def test_a_broken_file_is_refused_with_what_to_do(tmp_path: Path, content: str | None, found: str) -> None:
    path = tmp_path / "thresholds.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SettingError, match=rf"{found}.*07_grounding\.ipynb with WRITE = True"):
        load_section("grounding", path)


def test_writing_one_section_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.json"
    path.write_text(json.dumps(json.loads(FILE.read_text("utf-8")) | {"confidence": {"values": "as before"}}))
    section = load_section("grounding", path)
    save_section("grounding", section, path)
    assert load_section("grounding", path) == section
    assert json.loads(path.read_text())["confidence"] == {"values": "as before"}
