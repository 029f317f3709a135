"""The static encoder: file, mapping, int8 rows, exact products and sums, and what it does with unknown texts."""

import json
import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from clinical.errors import ArtifactMismatch, ArtifactMissing
from clinical.quantised import quantise
from clinical.search.cosines import EXACT, whole
from clinical.search.encoder import StaticEncoder, grams, unit, vocabulary_of
from clinical.search.manifest import Manifest
from clinical.search.native.compiled import added, scaled_to_one
from clinical.search.ranking import Ranker
from clinical.search.tensors import LINE, map_tensors, write_tensors
from clinical.text.folding import words
from tests.fakes import HashEncoder, hash_index

TEXTS = ["akute Bronchitis", "chronische Bronchitis", "Lungenentzündung", "Herzinfarkt", "Bluthochdruck", "Zystitis"]


def trained(seed: int = 0) -> StaticEncoder:
    vocabulary = vocabulary_of(TEXTS, 500, minimum=1)
    table = np.random.default_rng(seed).normal(size=(len(vocabulary), 24)).astype(np.float32)
    return StaticEncoder.from_floats(vocabulary, table)


def test_saved_and_loaded_it_gives_the_same_vectors(tmp_path: Path) -> None:
    encoder = trained()
    encoder.save(tmp_path / "encoder.safetensors")
    again = StaticEncoder.load(tmp_path / "encoder.safetensors")
    assert (again.name, again.dimensions) == (encoder.name, 24)
    np.testing.assert_array_equal(again.encode(TEXTS), encoder.encode(TEXTS))
    assert np.linalg.norm(again.encode(TEXTS), axis=1).min() > 0


def test_the_table_is_int8_and_memory_mapped(tmp_path: Path) -> None:
    trained().save(tmp_path / "encoder.safetensors")
    rows = map_tensors(tmp_path / "encoder.safetensors")[0]["rows"]
    assert rows.dtype == np.int8
    assert not rows.flags.writeable
    below = rows
    while not isinstance(below, np.memmap | mmap.mmap):
        below = below.base  # AttributeError: the array has memory of its own


def test_the_file_is_one_that_the_library_reads_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        trained().save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert set(load_file(tmp_path / "one")) == {"rows", "scales", "vocabulary"}
    (tmp_path / "any").touch()
    assert (tmp_path / "one").stat().st_mode == (tmp_path / "any").stat().st_mode, "whoever may read any may read it"


def test_int8_keeps_each_row_to_half_a_step() -> None:
    table = np.random.default_rng(1).normal(size=(50, 24)).astype(np.float32)
    rows, scales = quantise(table)
    assert (np.abs(rows * scales[:, None] - table) <= 0.51 * np.abs(table).max(axis=1, keepdims=True) / 127).all()


def test_a_text_is_encoded_the_same_alone_and_among_others() -> None:
    encoder = trained()
    many = encoder.encode(TEXTS * 200 + ["", "😀"])
    np.testing.assert_allclose(many[: len(TEXTS)], np.concatenate([encoder.encode([text]) for text in TEXTS]))
    np.testing.assert_array_equal(many[len(TEXTS) : 2 * len(TEXTS)], many[: len(TEXTS)])


@pytest.mark.parametrize("text", ["", "   ", "😀", "\x00", "\ud800"])
def test_a_text_without_a_word_gives_a_zero_row(text: str) -> None:
    rows = trained().encode([text, "Herzinfarkt"])
    assert not rows[0].any()
    assert rows[1].any()
    assert not np.isnan(unit(rows)).any()


def test_a_word_of_unknown_characters_is_near_to_itself_alone() -> None:
    one, same, other = unit(trained().encode(["qqqq", "QQQQ", "xxyyxx"]))
    assert one @ same > 0.999
    assert abs(one @ other) < 0.9


def test_folded_words_are_encoded_as_the_texts_of_them() -> None:
    texts = [*TEXTS, "Labyrinthhydrops", "WPW", "akute Bronchitis, WPW", "..."]
    spelled = [[word.text for word in words(text)] for text in texts]
    assert spelled[len(TEXTS)] != [word.text for word in words(" ".join(spelled[len(TEXTS)]))]  # folded twice: another
    expected = trained().encode([" ".join(own) for own in spelled])
    np.testing.assert_array_equal(trained().encode_words(spelled), expected)
    assert expected[:-1].any(axis=1).all()


def test_no_text_gives_no_row() -> None:
    assert trained().encode([]).shape == (0, 24)


def test_spellings_have_the_same_vector() -> None:
    one, other = trained().encode(["Lungenentzündung, Zystitis", "LUNGENENTZUENDUNG Cystitis"])
    np.testing.assert_array_equal(one, other)


def test_grams_are_the_whole_word_and_what_is_in_it() -> None:
    assert grams("herk") == ["<herk>", "<he", "her", "erk", "rk>", "<her", "herk", "erk>", "<herk", "herk>"]
    (word,) = words("Lungenentzündung")
    assert all(gram in f"<{word.text}>" for gram in grams(word.text))


def test_the_vocabulary_has_the_most_frequent_first() -> None:
    found = vocabulary_of(["Herz Herz Herz", "Lunge"], 1_000, minimum=2)
    assert "<lunge>" not in found
    assert "her" in found
    assert found == vocabulary_of(["Lunge", "Herz Herz Herz"], 1_000, minimum=2)
    assert vocabulary_of(["Herz Herz", "Lunge Lunge"], 3) == vocabulary_of(["Lunge Lunge", "Herz Herz"], 3)


@given(share=st.floats(0, 0.999))
def test_a_file_cut_off_anywhere_is_refused(share: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "cut-off"
    folder.mkdir(exist_ok=True)
    whole, part = folder / "encoder.safetensors", folder / "part.safetensors"
    if not whole.exists():
        trained().save(whole)
    part.unlink(missing_ok=True)
    part.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
    with pytest.raises(ArtifactMismatch, match=r"part\.safetensors"):
        StaticEncoder.load(part)


@pytest.mark.parametrize(
    "header",
    [b"no json", b"[]", b"5", b'{"rows": 5}', b'{"rows": {"dtype": "XX", "shape": [1], "data_offsets": [0, 1]}}'],
)
def test_a_damaged_header_is_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "encoder.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(64))
    with pytest.raises(ArtifactMismatch, match="damaged"):
        StaticEncoder.load(path)


def test_another_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "encoder.safetensors"
    save_file({"rows": np.zeros((2, 2), np.float32)}, path, metadata={"format": "somebody-else-3"})
    with pytest.raises(ArtifactMismatch, match=r"somebody-else-3.*befund-static-1.*catalog_build train"):
        StaticEncoder.load(path)


def test_a_missing_file_is_a_missing_artifact(tmp_path: Path) -> None:
    with pytest.raises(ArtifactMissing, match=r"no encoder\.safetensors"):
        StaticEncoder.load(tmp_path / "encoder.safetensors")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, np.int32, np.int64, np.float16])
def test_tensors_of_every_type_come_back(tmp_path: Path, dtype: type) -> None:
    tensor = np.arange(12).reshape(3, 4).astype(dtype)
    write_tensors(tmp_path / "file", {"b": tensor, "a": np.arange(3, dtype=np.int8)}, {"z": "1", "a": "ä"})
    arrays, metadata = map_tensors(tmp_path / "file")
    np.testing.assert_array_equal(arrays["b"], tensor)
    assert metadata == {"z": "1", "a": "ä"}
    assert json.loads((tmp_path / "file").read_bytes()[8:].split(b"}}")[0] + b"}}")


def test_rows_begin_at_lines_of_memory_and_the_library_reads_the_file(tmp_path: Path) -> None:
    tensors = {
        "a": np.arange(7, dtype=np.int64),
        "b": np.arange(192 * 5).reshape(5, 192).astype(np.int8),
        "c": np.arange(3, dtype=np.uint8),
        "d": np.arange(64 * 3).reshape(3, 64).astype(np.int8),
    }
    write_tensors(tmp_path / "file", tensors, {"format": "f"})
    mapped, _ = map_tensors(tmp_path / "file")
    assert [mapped[name].ctypes.data % LINE for name in "bd"] == [0, 0]
    assert mapped["a"].flags.aligned
    for name, found in load_file(tmp_path / "file").items():
        np.testing.assert_array_equal(found, tensors[name])


def test_another_encoder_works_through_the_same_index(starter_artifact: Path) -> None:
    index = hash_index(Manifest.load(starter_artifact), Ranker.load(starter_artifact / "ranker.safetensors"))
    assert index.encoder.name == HashEncoder.name
    for query, code in (("Herzinfarkt", "I21.9"), ("Lungenentzuendung", "J18.9"), ("Candida-Vaginitis", "B37.3")):
        assert code in [hit.code for hit in index.search(query, 5)]
    assert index.search("😀") == ()


def vectors(rows: int, dimensions: int, seed: int = 0) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32))


@pytest.mark.parametrize("dimensions", [64, 192, 768])
def test_products_never_reach_what_float32_cannot_hold(dimensions: int) -> None:
    most = int(np.abs(whole(vectors(40, dimensions)).numbers).max()) * 127 * dimensions
    assert most <= EXACT


def test_a_cosine_is_that_of_the_vectors_to_within_their_rounding() -> None:
    left, right = vectors(9, 192), vectors(30, 192, 1)
    (numbers, scales), (rows, row_scales) = whole(left), quantise(right)
    found = numbers.astype(np.int64) @ rows.astype(np.int64).T * scales[:, None] * row_scales
    np.testing.assert_allclose(found, left @ right.T, atol=0.005)
    assert not whole(np.zeros((1, 64), dtype=np.float32)).numbers.any()


chance = np.random.default_rng(5)
ROWS = chance.integers(-127, 128, (400, 192)).astype(np.int8)
SCALES = chance.random(400, dtype=np.float32)


@pytest.mark.parametrize("longest", [1, 7, 9, 40, 128, 130, 700])
def test_sums_and_lengths_are_those_of_numpy(longest: int) -> None:
    sizes = np.append(chance.integers(1, longest + 1, 12), longest)
    numbers, ends = chance.integers(0, len(ROWS), sizes.sum()), np.cumsum(sizes)
    table = ROWS * SCALES[:, None]
    expected = np.add.reduceat(table[numbers], ends - sizes, axis=0)
    found = added(ROWS, SCALES, numbers, np.append(0, ends))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(added(table, None, numbers, np.append(0, ends)), expected)
    lengths = np.linalg.norm(expected, axis=1)
    np.testing.assert_array_equal(scaled_to_one(found), lengths)
    np.testing.assert_array_equal(found, expected / lengths[:, None])


def test_a_row_of_zeros_stays_one_and_no_run_gives_no_row() -> None:
    rows = np.zeros((2, 192), dtype=np.float32)
    assert scaled_to_one(rows).tolist() == [0, 0]
    assert not rows.any()
    assert added(ROWS, SCALES, np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)).shape == (0, 192)
