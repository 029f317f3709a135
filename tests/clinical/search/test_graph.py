"""The graph that FAISS has built, searched by our own loops: the nearest are found, and nothing of a search stays."""

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from clinical.quantised import quantise
from clinical.search import Graph
from clinical.search.cosines import whole
from clinical.search.encoder import unit
from clinical.search.neighbours import SEARCH_DEPTH, built, graph_of, nearest, read_graph

WORDINGS, DIMENSIONS, NEAREST = 3_000, 16, 20
chance = np.random.default_rng(11)
VECTORS = unit(chance.standard_normal((WORDINGS, DIMENSIONS)).astype(np.float32))
ROWS, SCALES = quantise(VECTORS)
ASKED = unit(chance.standard_normal((40, DIMENSIONS)).astype(np.float32))


@pytest.fixture(scope="module")
def index() -> Any:
    return built(ROWS * SCALES[:, None], "hnsw")


@pytest.fixture(scope="module")
def graph(index: Any) -> Graph:
    found = graph_of(index, ROWS, SCALES)
    assert found is not None
    return found


def test_the_nearest_are_found_and_come_first(graph: Graph) -> None:
    exact = whole(ASKED).numbers.astype(np.float32) @ (ROWS * SCALES[:, None]).T
    near = graph.nearest(whole(ASKED).numbers, NEAREST, SEARCH_DEPTH, graph.room())
    expected = np.argsort(-exact, axis=1)[:, :NEAREST]
    shared = [len({*one} & {*other}) / NEAREST for one, other in zip(near.tolist(), expected.tolist(), strict=True)]
    assert np.mean(shared) > 0.97
    assert (np.diff(np.take_along_axis(exact, near, axis=1), axis=1) <= 1e-3).all()


def test_as_many_are_found_as_by_the_library(index: Any, graph: Graph) -> None:
    exact = np.argsort(-(ASKED @ VECTORS.T), axis=1)[:, :NEAREST].tolist()

    def recall(near: np.ndarray) -> float:
        return float(np.mean([len({*one} & {*other}) for one, other in zip(near.tolist(), exact, strict=True)]))

    own = recall(graph.nearest(whole(ASKED).numbers, NEAREST, SEARCH_DEPTH, graph.room()))
    assert own > 0.98 * recall(nearest(index, ASKED, NEAREST)[1])


def test_each_finds_the_same_alone_and_after_others_and_nothing_of_a_search_stays(graph: Graph) -> None:
    asked, room = whole(ASKED).numbers, graph.room()
    together = graph.nearest(asked, NEAREST, SEARCH_DEPTH, room)
    assert not room.seen.any()
    for number in (0, 7, 39):
        alone = graph.nearest(asked[number : number + 1], NEAREST, SEARCH_DEPTH, room)
        np.testing.assert_array_equal(alone[0], together[number])


@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_links_are_searched_where_the_mapped_file_has_them(graph: Graph, shift: int) -> None:
    links = graph._kept[0]
    written = np.frombuffer(bytes(shift) + links.neighbours.tobytes(), dtype=np.uint8)[shift:].view(np.int32)
    moved = Graph(links._replace(neighbours=written), ROWS, SCALES)
    asked = whole(ASKED).numbers
    found = (one.nearest(asked, NEAREST, SEARCH_DEPTH, one.room()) for one in (moved, graph))
    np.testing.assert_array_equal(*found)


def test_links_of_a_loaded_index_are_not_copied(index: Any, tmp_path: Path) -> None:
    faiss.write_index(index, str(tmp_path / "vectors.faiss"))
    loaded = graph_of(read_graph(tmp_path / "vectors.faiss", WORDINGS, DIMENSIONS), ROWS, SCALES)
    assert loaded is not None
    assert not loaded._kept[0].neighbours.flags.owndata


def test_where_there_are_fewer_the_rest_is_none() -> None:
    few = graph_of(built(ROWS[:5] * SCALES[:5, None], "hnsw"), ROWS[:5], SCALES[:5])
    assert few is not None
    near = few.nearest(whole(ASKED[:1]).numbers, 8, SEARCH_DEPTH, few.room())
    assert sorted(near[0].tolist()) == [-1, -1, -1, 0, 1, 2, 3, 4]


def test_an_index_of_another_kind_has_no_graph() -> None:
    assert graph_of(built(VECTORS[:50], "flat"), ROWS[:50], SCALES[:50]) is None
