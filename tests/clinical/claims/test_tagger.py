"""The tagger of claims reads any text as its networks were trained, once, in linear time, compiled or not."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_build.training.authors import LabelledMention, LabelledText
from clinical.claims import LABELS, PLACES, Claim, Reading, Tagger, tagger
from clinical.claims.reading import judged
from clinical.reading.tagging import CompiledTagger, compiled
from clinical.search.native import compiled as native
from clinical.search.native import tagged
from clinical.search.native.library import compile_into

BY_BYTES = 0.01
"""Difference that bytes between the layers may make to a probability."""


@pytest.mark.parametrize(
    ("text", "mention", "label"),
    [
        ("Husten seit drei Tagen, kein Fieber.", "Husten", "present"),
        ("Husten seit drei Tagen, kein Fieber.", "Fieber", "excluded"),
        ("Dekubitusprophylaxe und Mobilisation", "Dekubitusprophylaxe", "hypothetical"),
        ("Bei Fieber oder Luftnot bitte sofort wiederkommen.", "Luftnot", "hypothetical"),
        ("Ihr Mann hat eine Grippe.", "Grippe", "other"),
        ("Mutter an Brustkrebs verstorben", "Brustkrebs", "family"),
        ("Z. n. Apoplex 2019 mit residualer Hemiparese links", "Apoplex", "history"),
        ("V. a. Lungenembolie, CT angemeldet", "Lungenembolie", "suspected"),
        ("Der Verdacht auf eine Thrombose hat sich nicht bestätigt.", "Thrombose", "excluded"),
        ("Früher: Asthma, Heuschnupfen. Aktuell: Ekzem", "Ekzem", "present"),
    ],
)
def test_what_a_text_claims_of_a_mention(text, mention, label):
    at = text.index(mention)
    assert Reading.of(text).claim(at, at + len(mention)).label == label


def test_each_label_is_a_claim_of_its_own():
    text = "Husten. Kein Fieber. Mutter mit Gicht. V. a. Asthma. Z. n. Infarkt."
    reading = Reading.of(text)
    for words in ("Fieber", "Gicht", "Asthma", "Infarkt", "Husten"):
        claim = reading.claim(at := text.index(words), at + len(words))
        changed = [
            name for name in ("negation", "certainty", "temporality", "experiencer")
            if getattr(claim, name) != getattr(Claim(), name)
        ]  # fmt: skip
        assert len(changed) == (words != "Husten")
        assert {sign.axis for sign in claim.signs} <= set(changed)


@given(st.text(max_size=120), st.integers(0, 120), st.integers(0, 120))
def test_any_text_and_any_place_has_a_claim(text, one, other):
    start, end = min(one, other, len(text)), min(max(one, other), len(text))
    reading = Reading.of(text)
    assert reading.claim(start, end).label in LABELS
    first, last = reading.words_in(start, end)
    assert all(
        reading.seen.places[row, 1] > start and reading.seen.places[row, 0] < end for row in range(first, last + 1)
    )


def test_what_is_there_wins_where_denial_is_hardly_likelier_and_stays_doubted():
    told = Claim(negation="denied")
    near, clear = dict.fromkeys(LABELS, 0.0), dict.fromkeys(LABELS, 0.0)
    near |= {"present": 0.4, "excluded": 0.6}
    clear |= {"present": 0.3, "excluded": 0.7}
    claim = judged(told, [near[label] for label in LABELS])
    assert claim.label == "present"
    assert claim.doubt == pytest.approx(0.6)
    assert judged(told, [clear[label] for label in LABELS]).label == "excluded"


def test_mentions_that_are_judged_together_have_the_claims_that_each_has_alone():
    text = "V. a. Pneumonie, kein Fieber. Mutter: Diabetes. Z. n. Infarkt 2015; Gallensteine geplant, Husten"
    names = ("Pneumonie", "Fieber", "Diabetes", "Z. n. Infarkt", "Infarkt", "Gallensteine", "Husten", ",", text)
    spans = [(text.index(name), text.index(name) + len(name)) for name in names]
    alone = [Reading.of(text).claim(*span) for span in spans]
    together = Reading.of(text).claims(spans)
    assert together == alone
    np.testing.assert_allclose([one.doubt for one in together], [one.doubt for one in alone], atol=1e-5)
    assert len({one.label for one in together}) >= 4
    assert Reading.of(text).claims([]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Arterielle Hypertonie, Diabetes mellitus Typ 2, Gicht", 3),
        ("1. Hypertonie\n2. Gicht\n3. Asthma bronchiale", 3),
        ("Ramipril 5 mg 1-0-0", 0),
        ("Bekannt: chron. Pankreatitis, seit 2019", 1),
    ],
)
def test_words_that_begin_a_mention_are_marked(text, expected):
    assert (Reading.of(text).marks[:, 1] > 0.5).sum() == expected


@given(st.text(max_size=200))
def test_the_marks_of_any_word_are_shares(text):
    reading = Reading.of(text)
    assert reading.marks.shape == (len(reading.seen.words), PLACES)
    assert np.allclose(reading.marks.sum(axis=1), 1, atol=1e-4)


def test_texts_that_are_only_marked_teach_where_mentions_stand_and_no_claim():
    pytest.importorskip("torch", reason="torch (extra 'train') is not installed")
    from catalog_build.training.claims import NO_MATTER, batch_of, lesson, marked_lesson

    text = "Z. n. Stent, akute Pankreatitis, Gicht"
    one = marked_lesson(text, [(13, 31), (33, 38)], frozenset({("stent",)}))
    assert one.places.tolist() == [0, 0, NO_MATTER, 1, 2, 1]
    assert len(one.spans) == len(one.right) == 0
    batch = batch_of(
        [one, lesson(LabelledText("x-1", "Kein Asthma", (LabelledMention(5, 11, "excluded", None, (), ()),)))]
    )
    assert batch.places.tolist() == [one.places.tolist(), [0, 1, *4 * [NO_MATTER]]]
    assert len(batch.right) == 1


def test_it_reads_as_the_networks_that_were_trained():
    torch = pytest.importorskip("torch", reason="torch (extra 'train') is not installed")
    from catalog_build.training.authors import read
    from catalog_build.training.claims import Network, Recipe, batch_of, lesson

    torch.manual_seed(3)
    trained = [Network(Recipe()).eval() for _ in range(2)]
    served = Tagger.joined([network.served() for network in trained])
    networks = [Network.of(served, number).eval() for number in range(2)]  # with tables as they are served, in bytes
    for network, before in zip(networks, trained, strict=True):
        for name, value in before.named_parameters():
            near = value.abs().max().item() / 250 if name in ("grams.weight", "words.weight") else 0.0
            np.testing.assert_allclose(network.get_parameter(name).detach(), value.detach(), rtol=0, atol=near)
    for text in [one for texts in list(read("train").values())[:2] for one in texts[:20]]:
        with torch.no_grad():
            told = [network(batch_of([lesson(text)])) for network in networks]
        claims, places = (torch.stack(of) for of in zip(*told, strict=True))
        expected, marks = torch.softmax(claims.mean(0), -1).numpy(), torch.softmax(places, -1).mean(0).numpy()
        reading = Reading.of(text.text)
        tagged = served.read(reading.seen, reading.columns)
        np.testing.assert_allclose(tagged.marks, marks[0], atol=BY_BYTES)
        for mention, right in zip(text.mentions, expected, strict=True):
            told = reading.ruled(mention.start, mention.end).label
            found = tagged.shares(*reading.words_in(mention.start, mention.end), told)
            np.testing.assert_allclose(found, right, atol=BY_BYTES)


def test_what_is_saved_is_what_is_loaded_and_other_weights_are_refused(tmp_path):
    shipped = tagger()
    shipped.save(tmp_path / "same.safetensors")
    again = Tagger.load(tmp_path / "same.safetensors")
    assert all((getattr(again, one.name) == getattr(shipped, one.name)).all() for one in dataclasses.fields(Tagger))
    dataclasses.replace(shipped, grams=shipped.grams[:, :100]).save(tmp_path / "short.safetensors")
    with pytest.raises(ValueError, match="trained for another reading"):
        Tagger.load(tmp_path / "short.safetensors")


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
