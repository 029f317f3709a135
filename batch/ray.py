"""Batch coding as a stream of Ray Data: one reader, `map_batches` with the coder as it is, results as they come.

Only imported where Ray is installed (extra `ray`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
import ray.data
from ray.data import ActorPoolStrategy, DataContext
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from batch.coder import Coder
from batch.files import CHUNK

BLOCK_BYTES: Final = 1 << 17
"""Tables are handed on once they are this large together, seconds of work; Ray's 128 MB would be half an hour's."""


class TableSource(Datasource):
    """Any stream of tables as one read task: Ray pulls it as fast as the results are taken."""

    def __init__(self, tables: Callable[[], Iterable[pa.Table]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._tables = tables

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        return [ReadTask(self._tables, BlockMetadata(None, None, None, None))]


def coded(coder: Coder, tables: Callable[[], Iterable[pa.Table]], workers: int) -> Iterator[pa.Table]:
    """Coded tables in any order, from `workers` actors of one core each."""
    context = DataContext.get_current()
    context.target_max_block_size = BLOCK_BYTES
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    kind, options = coder.__reduce__()
    results = ray.data.read_datasource(TableSource(tables), override_num_blocks=1).map_batches(
        kind,
        fn_constructor_args=options,
        batch_size=CHUNK,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(size=workers),
        num_cpus=1,
    )
    yield from results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1)
