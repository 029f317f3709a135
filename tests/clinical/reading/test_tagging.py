"""The compiled loops read a text as the tagger's own matrices do."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clinical.claims import Reading, Tagger, tagger
from clinical.reading.tagging import CompiledTagger, compiled
from clinical.search.native import compiled as native
from clinical.search.native import tagged
from clinical.search.native.library import compile_into

TEXTS = [
    ";",
    "Pneumonie;",
    "Kein Fieber, Z. n. Appendektomie 2019; V. a. Pneumonie.",
    "Mutter: Mammakarzinom.\nDiagnosen:\n- Diabetes mellitus Typ 2\n- arterielle Hypertonie, seit 03/2021 behandelt\n"
    * 9,
]


@pytest.fixture(scope="module")
def quick() -> Tagger:
    found = compiled(tagger())
    assert isinstance(found, CompiledTagger)
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_words_have_the_states_and_shares_that_numpy_gives(quick: Tagger, text: str) -> None:
    reading = Reading.of(text)
    words = len(reading.written)
    plain, own = (one.read(reading.seen, reading.columns) for one in (tagger(), quick))
    for name in ("first", "last", "state"):
        expected = getattr(plain, name)
        assert expected.shape[1] == words
        np.testing.assert_allclose(getattr(own, name), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(own.marks, plain.marks, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kinds", [1, 2])
def test_every_kind_of_processor_finds_the_same(
    quick: Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: int
) -> None:
    """With the layers for any processor, and with those for one of the last ten years."""
    reading = Reading.of(TEXTS[3])
    here = quick.read(reading.seen, reading.columns)
    compile_into(tmp_path / "loops.so", f"-DKINDS={kinds}")
    monkeypatch.setattr(native, "LIBRARY", tmp_path / "loops.so")
    others = native.loops.__wrapped__()
    monkeypatch.setattr(tagged, "loops", lambda: others)
    there = quick.read(reading.seen, reading.columns)
    for name in ("first", "last", "state"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-4, atol=1e-5)


def test_a_word_far_from_another_does_not_depend_on_it(quick: Tagger) -> None:
    reach = sum(1 << depth for depth in range(quick.layers.shape[1]))
    common = "Husten und Schnupfen, " * (reach + 5)
    states = []
    for last in ("kein Fieber", "Mutter: Asthma, Vater gesund"):
        reading = Reading.of(common + last)
        states.append(quick.read(reading.seen, reading.columns).state[:, :reach])
    np.testing.assert_array_equal(*states)


def test_networks_of_a_width_that_the_loops_do_not_take_stay_as_they_are(quick: Tagger) -> None:
    net = tagger()
    narrow = replace(
        net,
        entry=net.entry[:, :, :9],
        layers=np.ascontiguousarray(net.layers[:, :, :27, :9]),
    )
    assert compiled(narrow) is narrow


def test_the_weights_are_saved_as_the_tagger_has_them(quick: Tagger, tmp_path) -> None:
    quick.save(tmp_path / "one")
    tagger().save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_texts_read_together_are_read_as_each_by_itself(quick: Tagger) -> None:
    readings = [Reading.of(text) for text in (*TEXTS, "", *TEXTS[1:3])]
    together = quick.read_all([(one.seen, one.columns) for one in readings])
    for reading, found in zip(readings, together, strict=True):
        alone = quick.read(reading.seen, reading.columns)
        for name in ("first", "last", "state", "marks"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
