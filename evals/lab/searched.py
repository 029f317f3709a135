"""Texts searched in one call: a table with a row for each code, as tier 1 finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pandas as pd

from clinical.claims import Reading
from clinical.coding import CodedAs, code_many, status_of
from clinical.contract import BAD_UTF8, CODED, MISSING, NOTHING
from clinical.reading import SearchIndex
from evals.lab.opened import Artifact, opened, texts_of

COLUMNS: Final = (
    "text", "rank", "code", "title", "confidence", "probability", "wording", "span", "claim", "side", "status",
)  # fmt: skip


def search(texts: str | Iterable[Any] | None, catalog: Artifact = None, limit: int = 10) -> pd.DataFrame:
    """At most `limit` codes of any confidence for each text, best first; a text without codes has one row all the same.

    `span`: (start, end) of the part of the text that the code was found by, in characters. `status`: as in batch
    coding: coded, nothing-found, missing (None, NaN), empty, too-long (over 2,000 characters), bad-utf-8. The table's
    index is that of the texts, so that it joins with the table they came from. Raises TypeError for what is neither a
    string nor missing.
    """
    index, series = opened(catalog), texts_of(texts)
    status = [_status(text) for text in series]
    asked = [text for text, said in zip(series, status, strict=True) if said == CODED]
    found = iter(code_many(index, asked, limit))
    places, rows = [], []
    for place, text, said in zip(series.index, series, status, strict=True):
        own = _rows(index, text, next(found)) if said == CODED else []
        own = own or [(_shown(text), pd.NA, *[None] * 8, NOTHING if said == CODED else said)]
        places += [place] * len(own)
        rows += own
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table.index = pd.Index(places, name=series.index.name, tupleize_cols=isinstance(series.index, pd.MultiIndex))
    return table.astype({"rank": "Int64", "probability": "float64"})


def first(texts: str | Iterable[Any] | None, catalog: Artifact = None) -> pd.DataFrame:
    """One row for each text, in their order: its best code, or none."""
    return search(texts, catalog, limit=1)


def _status(text: object) -> str:
    if not isinstance(text, str):
        if text is None or text is pd.NA or text != text:  # NaN differs from itself
            return MISSING
        raise TypeError(f"a text is a string, not {type(text).__name__}: convert the column with .astype(str)")
    try:
        text.encode()
    except UnicodeEncodeError:
        return BAD_UTF8
    return status_of(text)


def _shown(text: object) -> str | None:
    """A text as a table can hold it: with a question mark for what is no character."""
    return text.encode(errors="replace").decode() if isinstance(text, str) else None


def _rows(index: SearchIndex, text: str, found: Sequence[CodedAs]) -> list[tuple[Any, ...]]:
    if not found:
        return []
    reading, rows = Reading.of(text), []
    for rank, (one, wording) in enumerate(found, start=1):
        title = index.catalog.codes[index.catalog.number(one.code)].title
        said = reading.claim(one.start, one.end).assertion, reading.side(one.start, one.end), CODED
        span = (one.start, one.end)
        rows.append((text, rank, one.code, title, one.confidence, one.probability, wording, span, *said))
    return rows
