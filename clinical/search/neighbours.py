"""The nearest wordings by their vectors: which FAISS index for how many of them, and how each is searched.

Flat compares every vector: exact, built at once, as fast as the others while there are few, and indifferent to an
encoder that gives many texts one vector. HNSW (Malkov and Yashunin 2018) finds 0.992 of the 100 nearest of 107,000 in
a ninth of a scan's time. IVF (inverted lists) finds 0.963 and is built in a fifth of HNSW's time, which counts beyond
half a million. All keep int8 vectors. Measured by `python -m evals nearest`.
"""

from __future__ import annotations

import math
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from clinical.search.encoder import Vectors
from clinical.search.native import Graph, Links
from clinical.search.runs import Ints

FLAT_MOST, HNSW_MOST = 10_000, 500_000
"""Most wordings of a flat and of an HNSW index: a scan of 7,000 takes 0.18 ms where HNSW takes 0.21, of 20,000 0.54 and
0.24; HNSW of 107,000 is built in 23 s of processor time, of a million in minutes."""
LINKS, BUILD_DEPTH, SEARCH_DEPTH = 24, 100, 200
"""HNSW: neighbours of a node, candidates while building and while searching."""
LISTS, PROBED, TAUGHT = 4, 16, 40
"""IVF: so many lists for each root of the size, the part of them that is looked through, vectors a list learns from."""


def kind_for(size: int) -> str:
    """flat, hnsw or ivf."""
    return "flat" if size <= FLAT_MOST else "hnsw" if size <= HNSW_MOST else "ivf"


def built(vectors: Vectors, kind: str = "") -> Any:
    """An index of unit vectors (N, D) by inner product; `kind`: by their number where none is given."""
    eight: Any = faiss.ScalarQuantizer.QT_8bit  # an int in the module, an enum in its stubs
    size, dimensions = vectors.shape
    kind = kind or kind_for(size)
    if kind == "ivf":
        lists = max(1, int(LISTS * math.sqrt(size)))
        coarse: Any = faiss.IndexFlatIP(dimensions)
        index: Any = faiss.IndexIVFScalarQuantizer(coarse, dimensions, lists, eight, faiss.METRIC_INNER_PRODUCT)
        index.nprobe = max(1, lists // PROBED)
        index.own_fields, _ = True, coarse.this.disown()
        chosen = np.random.default_rng(0).permutation(size)[: TAUGHT * lists]
        index.train(np.ascontiguousarray(vectors[np.sort(chosen)]))
    elif kind == "hnsw":
        index = faiss.IndexHNSWSQ(dimensions, eight, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = BUILD_DEPTH
        index.train(vectors)
    else:
        index = faiss.IndexScalarQuantizer(dimensions, eight, faiss.METRIC_INNER_PRODUCT)
        index.train(vectors)
    index.add(vectors)
    return index


def nearest(index: Any, vectors: Vectors, count: int, depth: int = SEARCH_DEPTH) -> tuple[Vectors, Ints]:
    """Cosine and numbers of the nearest, shape (queries, count) each; number -1 where there are fewer. `depth`: of the
    search in an HNSW index."""
    if hasattr(index, "hnsw"):
        parameters = faiss.SearchParametersHNSW(efSearch=depth)  # type: ignore[attr-defined]  # not in the stubs
        similarity, numbers = index.search(vectors, count, params=parameters)
    else:
        similarity, numbers = index.search(vectors, count)
    return similarity, numbers


def graph_of(index: Any, rows: NDArray[np.int8], scales: Vectors) -> Graph | None:
    """The graph of an HNSW index for searches by the artifact's own rows, which are what the index was built of; None
    for an index of another kind. It finds what FAISS's search finds (recall of the 150 nearest of 107,000 wordings
    0.950 by either) in half of the time; the links are FAISS's own, not copied."""
    if not hasattr(index, "hnsw"):
        return None
    links = index.hnsw
    neighbours, start = (faiss.rev_swig_ptr(some.data(), some.size()) for some in (links.neighbors, links.offsets))
    before_level = faiss.vector_to_array(links.cum_nneighbor_per_level)
    own = Links(neighbours, start.view(np.int64), before_level, links.entry_point, links.max_level, owner=index)
    return Graph(own, rows, scales)
