"""The step of batch coding: a table of texts in, a table of codes out. One class for all kinds of workers.

`Coder` is what a process of `batch.workers` calls, and what Ray Data's `map_batches` takes as it is. It travels as its
options alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import pyarrow as pa

from batch.files import KEPT
from clinical.claims import Reading
from clinical.coding import CodedAs, code_many, status_of
from clinical.contract import BAD_UTF8, CODED, MALFORMED, MISSING, NOTHING, TextStatus
from clinical.loaded import keep_loaded
from clinical.reading import SearchIndex

STATUSES: Final[tuple[str, ...]] = get_args(TextStatus)


class Read(NamedTuple):
    """One row as read: its text, or why it cannot be coded."""

    text: str | None
    status: str


OURS: Final = frozenset(("row", "id", "status", "codes", "confidences", "probabilities", "text")) | frozenset(
    ("titles", "wordings", "starts", "ends", "claims", "sides")
)
"""Names of the output's own columns."""


@lru_cache(maxsize=1)
def _index(catalog: str) -> SearchIndex:
    """The index of the process, mapped where it is first used."""
    index = SearchIndex.load(Path(catalog))
    keep_loaded()
    return index


@dataclass(frozen=True)
class Coder:
    """Tier 1 over tables.

    In: `row` (int64), `id`, `text` (large_binary, UTF-8, nullable), `malformed` (bool), `kept:NAME`. Out, a row for
    each row in their order: `row`, `id`, `status`, and as lists of equal length, best first, `codes`, `confidences`,
    `probabilities`; with `details` also `titles`, `wordings` (of the catalog), `starts` and `ends` (of the part of the
    text, in code points), `claims` and `sides`; each `kept:NAME` as NAME; with `keep_text` also `text`. Codes of every
    confidence are listed, at most `limit`.
    """

    catalog: str
    limit: int = 10
    keep_text: bool = False
    details: bool = False

    def __call__(self, table: pa.Table) -> pa.Table:
        """Code one table. Equal texts are searched once, like texts together: they share cached data."""
        values = zip(table["text"].to_pylist(), table["malformed"].to_pylist(), strict=True)
        rows = [_read(value, malformed) for value, malformed in values]
        texts = sorted({row.text for row in rows if row.status == CODED and row.text is not None})
        found = dict(zip(texts, code_many(_index(self.catalog), texts, self.limit), strict=True))
        coded = [found.get(row.text or "", ()) if row.status == CODED else () for row in rows]
        hits = [[one.hit for one in own] for own in coded]
        status = [
            NOTHING if row.status == CODED and not own else row.status for row, own in zip(rows, hits, strict=True)
        ]
        columns = {
            "row": table["row"],
            "id": table["id"],
            "status": pa.array(status, pa.string()),
            "codes": pa.array([[hit.code for hit in own] for own in hits], pa.list_(pa.string())),
            "confidences": pa.array([[hit.confidence for hit in own] for own in hits], pa.list_(pa.string())),
            "probabilities": pa.array([[hit.probability for hit in own] for own in hits], pa.list_(pa.float32())),
        }
        if self.details:
            columns |= self._details(rows, coded)
        kept = [name for name in table.column_names if name.startswith(KEPT)]
        columns |= {name.removeprefix(KEPT): table[name] for name in kept}
        if self.keep_text:
            columns["text"] = pa.array([row.text for row in rows], pa.string())
        return pa.table(columns)

    def _details(self, rows: Sequence[Read], coded: Sequence[Sequence[CodedAs]]) -> dict[str, pa.Array]:
        """The columns beside codes: lists of the same lengths."""
        catalog, strings, places = _index(self.catalog).catalog, pa.list_(pa.string()), pa.list_(pa.int32())
        readings = [Reading.of(row.text) if own and row.text else None for row, own in zip(rows, coded, strict=True)]
        said: list[list[tuple[Any, Any]]] = [
            [(f.hit.claim, r.side(f.hit.start, f.hit.end)) for f in own] if r else []
            for r, own in zip(readings, coded, strict=True)
        ]
        titles = [[catalog.codes[catalog.number(f.hit.code)].title for f in own] for own in coded]
        return {
            "titles": pa.array(titles, strings),
            "wordings": pa.array([[f.wording for f in own] for own in coded], strings),
            "starts": pa.array([[f.hit.start for f in own] for own in coded], places),
            "ends": pa.array([[f.hit.end for f in own] for own in coded], places),
            "claims": pa.array([[claim for claim, _ in own] for own in said], strings),
            "sides": pa.array([[side for _, side in own] for own in said], strings),
        }


def _read(value: bytes | None, malformed: bool) -> Read:
    if malformed or value is None:
        return Read(None, MALFORMED if malformed else MISSING)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return Read(None, BAD_UTF8)
    return Read(text, status_of(text))
