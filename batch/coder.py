"""The step of batch coding: a table of texts in, a table of codes out. One class, whoever runs it.

`Coder` is what a process of `batch.workers` calls, and what Ray Data's `map_batches` takes as it is. It pickles
as its options; the index is mapped into memory where it is first used.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from clinical.coding import Hit, with_written_codes
from clinical.contract import QUERY_MAX
from clinical.search import Candidate, SearchIndex

CODED, NOTHING = "coded", "nothing-found"
MISSING, EMPTY, TOO_LONG, BAD_UTF8, MALFORMED = "missing", "empty", "too-long", "bad-utf-8", "malformed"
STATUSES: Final = (CODED, NOTHING, MISSING, EMPTY, TOO_LONG, BAD_UTF8, MALFORMED)
"""What became of a row: codes, no code, no value, white space alone, more than 2,000 characters, bytes that are no
UTF-8, a line with too few or too many fields."""


class Read(NamedTuple):
    """One row as read: its text, or why it cannot be coded."""

    text: str | None
    status: str


class Coder:
    """Tier 1 over tables.

    In: `row` (int64), `id`, `text` (large_binary, UTF-8, nullable), `malformed` (bool). Out, a row for each row and in
    their order: `row`, `id`, `status`, and as lists of equal length, best first, `codes`, `confidences`,
    `probabilities`; with `keep_text` also `text`. Codes of every confidence are listed, at most `limit`.
    """

    def __init__(self, catalog: str, limit: int = 10, keep_text: bool = False) -> None:
        self.catalog, self.limit, self.keep_text = catalog, limit, keep_text

    def __reduce__(self) -> tuple[type[Coder], tuple[str, int, bool]]:
        return Coder, (self.catalog, self.limit, self.keep_text)

    @cached_property
    def _index(self) -> SearchIndex:
        index = SearchIndex.load(Path(self.catalog))
        gc.collect()
        gc.freeze()  # what stays for the life of the process need not be looked through again
        return index

    def __call__(self, table: pa.Table) -> pa.Table:
        """Code one table. Equal texts are searched once, like texts together: they share cached data."""
        values = zip(table["text"].to_pylist(), table["malformed"].to_pylist(), strict=True)
        rows = [_read(value, malformed) for value, malformed in values]
        texts = sorted({row.text for row in rows if row.status == CODED and row.text is not None})
        found = dict(zip(texts, self._coded(texts), strict=True))
        hits = [found.get(row.text or "", ()) if row.status == CODED else () for row in rows]
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
        if self.keep_text:
            columns["text"] = pa.array([row.text for row in rows], pa.string())
        return pa.table(columns)

    def _coded(self, texts: Sequence[str]) -> list[Sequence[Hit]]:
        """As tier 1 of the text API: a text that is a code is looked up, codes inside a text count as named."""
        catalog = self._index.catalog
        bare = [catalog.parse(text) for text in texts]
        asked = [text for text, code in zip(texts, bare, strict=True) if code is None]
        searched = iter(self._index.search_many(asked, self.limit))
        coded: list[Sequence[Hit]] = []
        for text, code in zip(texts, bare, strict=True):
            if code is not None:
                coded.append([Hit(code, 1.0, "high", 0, len(text))] if code in catalog else [])
            else:
                hits = [_hit(candidate) for candidate in next(searched)]
                coded.append(with_written_codes(text, hits, catalog)[: self.limit])
        return coded


def _hit(found: Candidate) -> Hit:
    return Hit(found.code, found.probability, found.confidence, found.start, found.end)


def _read(value: bytes | None, malformed: bool) -> Read:
    if malformed or value is None:
        return Read(None, MALFORMED if malformed else MISSING)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return Read(None, BAD_UTF8)
    if not text.strip():
        return Read(text, EMPTY)
    return Read(text, TOO_LONG if len(text) > QUERY_MAX else CODED)
