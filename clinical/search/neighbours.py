"""The nearest wordings by their vectors: which FAISS index for how many of them, and how each is searched.

Flat compares every vector: exact, built at once, as fast as the others while there are few, and indifferent to an
encoder that gives many texts one vector. HNSW (Malkov and Yashunin 2018) finds 0.992 of the 100 nearest of 107,000 in
a ninth of a scan's time. IVF (inverted lists) finds 0.963 and is built in a fifth of HNSW's time, which counts beyond
half a million. All keep int8 vectors.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import faiss
import numpy as np
from numpy.typing import NDArray

from clinical.errors import ArtifactMismatch
from clinical.search.bounds import REMEDY, ArraySizes, Bound, check, require
from clinical.search.encoder import Vectors
from clinical.search.native.graph import Graph, Links
from clinical.search.runs import Ints

FLAT_MOST, HNSW_MOST = 10_000, 500_000
"""Most wordings of a flat and of an HNSW index: a scan of 7,000 takes 0.18 ms where HNSW takes 0.21, of 20,000 0.54 and
0.24; HNSW of 107,000 is built in 23 s of processor time, of a million in minutes."""
LINKS, BUILD_DEPTH, SEARCH_DEPTH = 24, 100, 200
"""HNSW: neighbours of a node, candidates while building and while searching."""
LINK_BOUNDS: Final = {
    "offsets": Bound("int64", ("N+1",), starts="links"),
    "levels": Bound("int32", ("N",), low=1, high="steps"),
    "before": Bound("int32", ("steps",), ascending=True),
}
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


def read_graph(file: Path, wordings: int, dimensions: int) -> Any:
    """The index of a file, of so many wordings. Raises ArtifactMismatch where it is of another kind, or leads out of
    itself."""
    name = file.name
    try:
        index = faiss.read_index(str(file), faiss.IO_FLAG_MMAP_IFC)  # shared by all workers, and read as it is needed
    except (RuntimeError, MemoryError):
        raise ArtifactMismatch(f"{name} cannot be read", "an index as the build writes it", REMEDY) from None
    of_its_kind = isinstance(index, faiss.IndexHNSWSQ | faiss.IndexScalarQuantizer | faiss.IndexIVFScalarQuantizer)
    require(of_its_kind, f"{name} is an index of another kind", "one that the build makes")
    found = (index.ntotal, index.d)
    require(found == (wordings, dimensions), f"{name} is of {found}", f"{(wordings, dimensions)}, wordings and numbers")
    if isinstance(index, faiss.IndexHNSWSQ):
        _check_links(name, index.hnsw, wordings)
        _check_vectors(name, faiss.downcast_index(index.storage), wordings)
    elif isinstance(index, faiss.IndexIVFScalarQuantizer):
        _check_lists(name, index, wordings)
    else:
        _check_vectors(name, index, wordings)
    return index


def _check_vectors(name: str, index: Any, wordings: int) -> None:
    """The vectors that FAISS itself compares: one for each wording, and what they are decoded by."""
    right = (
        isinstance(index, faiss.IndexScalarQuantizer)
        and index.ntotal == wordings
        and index.codes.size() == wordings * index.code_size
        and _decodes(index)
    )
    require(right, f"the vectors of {name} are not those of its wordings", f"{wordings} of 8 bits a number")


def _decodes(index: Any) -> bool:
    """True if the quantizer is the build's: 8 bits a number, and for each a least value and a step."""
    taught = faiss.vector_to_array(index.sq.trained)
    own = index.sq.qtype == faiss.ScalarQuantizer.QT_8bit and index.sq.code_size == index.code_size == index.d
    return bool(own and len(taught) == 2 * index.d and np.isfinite(taught).all())


def _check_lists(name: str, index: Any, wordings: int) -> None:
    """Inverted lists hold each wording once, and there is a centre for each list."""
    lists = index.invlists
    sizes = [lists.list_size(number) for number in range(lists.nlist)]
    require(sum(sizes) == wordings and _decodes(index), f"the lists of {name} are not full", f"{wordings} wordings")
    coarse = faiss.downcast_index(index.quantizer)
    right = lists.nlist == index.nlist == coarse.ntotal and coarse.d == index.d and lists.code_size == index.code_size
    require(right and 0 < index.nprobe <= index.nlist, f"the lists of {name} have no centres", f"{lists.nlist} centres")
    numbers = [faiss.rev_swig_ptr(lists.get_ids(number), size) for number, size in enumerate(sizes) if size]
    right = (np.sort(np.concatenate(numbers)) == np.arange(wordings)).all()
    require(right, f"a list of {name} leads nowhere", f"each number below {wordings} once")


def _check_links(name: str, links: Any, wordings: int) -> None:
    """Every link leads to a wording that has links at its level, and every run of links lies within them."""
    neighbours, offsets = _mapped(links.neighbors), _aligned(links.offsets)
    levels, before = faiss.vector_to_array(links.levels), faiss.vector_to_array(links.cum_nneighbor_per_level)
    arrays = {"offsets": offsets.view(np.int64), "levels": levels, "before": before}
    check(name, arrays, LINK_BOUNDS, ArraySizes({"N": wordings, "links": len(neighbours)}))
    right = neighbours.size > 0 and neighbours.min() >= -1 and neighbours.max() < wordings
    require(right, f"a link of {name} leads nowhere", f"numbers below {wordings}, or -1 for none")
    right = before[0] == 0 and levels.max() < len(before) and (np.diff(arrays["offsets"]) == before[levels]).all()
    require(right, f"the links of {name} have no place", "as many for each wording as its levels have")
    right = 0 <= links.entry_point < wordings and 0 <= links.max_level < levels[links.entry_point]
    require(right, f"the search in {name} begins nowhere", "a wording of the highest level")
    for level in range(1, links.max_level + 1):
        own = np.flatnonzero(levels > level)
        runs = arrays["offsets"][own, None] + np.arange(before[level], before[level + 1])
        found = neighbours[runs]
        right = (levels[found[found >= 0]] > level).all()
        require(right, f"a link of {name} leads to a lower level", f"wordings of level {level}")


def _mapped(values: Any) -> NDArray[Any]:
    """A vector of FAISS as an array, wherever the mapped file has it: links are 26 MB, which a copy would double."""
    return np.asarray(faiss.rev_swig_ptr(values.data(), values.size()))


def _aligned(values: Any) -> NDArray[Any]:
    """The same; a copy where the mapped file has it at no place for a number."""
    return np.require(_mapped(values), requirements="A")


def graph_of(index: Any, rows: NDArray[np.int8], scales: Vectors) -> Graph | None:
    """The graph of an HNSW index for searches by the artifact's own rows, which are what the index was built of; None
    for an index of another kind. It finds what FAISS's search finds (recall of the 150 nearest of 107,000 wordings
    0.950 by either) in half of the time."""
    if not hasattr(index, "hnsw"):
        return None
    links = index.hnsw
    neighbours, start = _mapped(links.neighbors), _aligned(links.offsets)
    before_level = faiss.vector_to_array(links.cum_nneighbor_per_level)
    own = Links(neighbours, start.view(np.int64), before_level, links.entry_point, links.max_level, owner=index)
    return Graph(own, rows, scales)
