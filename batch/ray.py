"""Batch coding as a stream of Ray Data: one reader, `map_batches` with the coder as it is, results as they come.

The workers are counted from what the cluster has, and the reader, which mostly waits, takes no core: actors that held
every core would leave it none, and nothing would ever move. Only imported where Ray is installed (extra `ray`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from typing import Any, Final

import pyarrow as pa
import ray.data
from ray.data import ActorPoolStrategy, DataContext
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask
from ray.util.placement_group import placement_group, remove_placement_group

from batch.coder import Coder
from batch.files import CHUNK
from clinical.errors import BefundError, SettingError

BLOCK_BYTES: Final = 1 << 17
"""Tables are handed on once they are this large together, seconds of work; Ray's 128 MB would be half an hour's."""

PLACED_SECONDS: Final = 20.0
"""Seconds that a busy cluster has to free a core for each worker."""
STILL_SECONDS: Final = 600.0
"""Seconds without any table read or coded after which a run is given up; a table is a minute's work on a slow core."""

_OWN: Final = re.compile(r"^clinical\.errors\.\w+: (.+)$", re.MULTILINE)


class TableSource(Datasource):
    """Any stream of tables as one read task: Ray pulls it as fast as the results are taken."""

    def __init__(self, tables: Callable[[], Iterable[pa.Table]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._tables = tables

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[ReadTask]:
        return [ReadTask(self._tables, BlockMetadata(None, None, None, None))]


def coded(coder: Coder, tables: Callable[[], Iterable[pa.Table]], workers: int | None) -> Iterator[pa.Table]:
    """Coded tables in any order, from `workers` actors of one core each (None: one for each core that is free).

    Raises SettingError where the cluster has no room for them, loses them, or stands still.
    """
    size = _placed(workers)
    context = DataContext.get_current()
    context.target_max_block_size = BLOCK_BYTES
    context.enable_progress_bars = False
    context.execution_no_progress_timeout_s = STILL_SECONDS
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    results = ray.data.read_datasource(TableSource(tables), override_num_blocks=1, num_cpus=0).map_batches(
        Coder,
        fn_constructor_args=astuple(coder),
        batch_size=CHUNK,
        batch_format="pyarrow",
        compute=ActorPoolStrategy(size=size),
        num_cpus=1,
    )
    try:
        yield from results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1)
    except Exception as error:  # noqa: BLE001 - Ray raises those of a worker as its own, as theirs, or as both
        raise _stopped(error) from None


def _placed(workers: int | None) -> int:
    """Number of workers that find a core each, tried by reserving them together."""
    total = int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]
    free = int(ray.available_resources().get("CPU", 0))  # type: ignore[no-untyped-call]
    wanted = workers or max(free, 1)
    group = placement_group([{"CPU": 1}] * wanted)
    try:
        if not group.wait(PLACED_SECONDS):
            found = f"--workers {wanted} find no place: the Ray cluster has {total} cores, {free} of them free"
            remedy = "name fewer --workers, or begin when others are done"
            raise SettingError(found, "a free core for each worker", remedy)
    finally:
        remove_placement_group(group)
    return wanted


def _stopped(error: Exception) -> BefundError:
    """One sentence of what ended a run: our own error of a worker, which Ray hands on as text alone; of any other its
    kind, since it may quote."""
    if isinstance(error, BefundError):
        return error
    if own := _OWN.search(f"{error}\n{error.__cause__}"):
        return BefundError(own[1])
    remedy = "see that every node has this project, the input and the catalog; the same command goes on where it was"
    return SettingError(f"the Ray cluster gave up: {type(error).__name__}", "workers that live", remedy)
