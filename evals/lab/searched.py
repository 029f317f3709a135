"""Texts searched in one call: a table with a row for each code, as tier 1 finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import pandas as pd

from clinical.claims import Reading
from clinical.coding import with_written_codes
from clinical.contract import BAD_UTF8, CODED, EMPTY, MISSING, NOTHING, QUERY_MAX, TOO_LONG
from clinical.reading import Candidate, SearchIndex
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
    found = iter(_found(index, asked, limit))
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
    if not text.strip():
        return EMPTY
    return TOO_LONG if len(text) > QUERY_MAX else CODED


def _shown(text: object) -> str | None:
    """A text as a table can hold it: with a question mark for what is no character."""
    return text.encode(errors="replace").decode() if isinstance(text, str) else None


def _found(index: SearchIndex, texts: Sequence[str], limit: int) -> list[list[Candidate]]:
    """As tier 1: a text that is a code is looked up, codes inside a text count as named."""
    bare = [index.catalog.parse(text) for text in texts]
    searched = iter(index.search_many([t for t, code in zip(texts, bare, strict=True) if code is None], limit))
    found = []
    for text, code in zip(texts, bare, strict=True):
        if code is None:
            found.append(_with_written(index, text, next(searched))[:limit])
        else:
            known = [Candidate(code, 1.0, "high", text, 0, len(text))] if code in index.catalog else []
            found.append(known)
    return found


def _with_written(index: SearchIndex, text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    own = {one.code: one for one in candidates}
    found = []
    for hit in with_written_codes(text, candidates, index.catalog):
        written = Candidate(hit.code, hit.probability, hit.confidence, text[hit.start : hit.end], hit.start, hit.end)
        found.append(own.get(hit.code, written))
    return found


def _rows(index: SearchIndex, text: str, found: Sequence[Candidate]) -> list[tuple[Any, ...]]:
    if not found:
        return []
    reading, rows = Reading.of(text), []
    for rank, one in enumerate(found, start=1):
        title = index.catalog.codes[index.catalog.number(one.code)].title
        said = reading.claim(one.start, one.end).assertion, reading.side(one.start, one.end), CODED
        span = (one.start, one.end)
        rows.append((text, rank, one.code, title, one.confidence, one.probability, one.text, span, *said))
    return rows
