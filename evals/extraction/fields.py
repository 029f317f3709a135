"""Extraction field by field: what a model gives behind grounding, against the truth of generated letters.

Precision and recall have Wilson intervals, F1 the bootstrap over letters, since values of one letter fall together.
A field is a path without list numbers (`eingriffe.datum`); lists are compared as multisets.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from clinical.contract import ExtractRequest
from clinical.errors import LanguageModelError
from clinical.extraction import extract
from clinical.llm import LanguageModel
from clinical.progress import progress
from evals.extraction.letters import Letter
from evals.extraction.lies import values_of
from evals.reports.intervals import Measure, bootstrap, rounded, share

WORST = 5

Values = Counter[tuple[str, str]]


class ScoredLetter(NamedTuple):
    """One letter: its type, the values of the answer and those of its truth, each (path, value)."""

    kind: str
    got: Values
    want: Values


def answered(letters: Sequence[Letter], model: LanguageModel, concurrency: int = 1) -> list[ScoredLetter | None]:
    """Every letter through extraction and grounding, `concurrency` at once, in the order of the letters; None where
    the model gave nothing usable."""
    with progress(None, "letters", "letters read", total=len(letters)) as bar:
        return asyncio.run(_all(letters, model, concurrency, bar.update))


async def _all(
    letters: Sequence[Letter], model: LanguageModel, concurrency: int, done: Callable[[], object]
) -> list[ScoredLetter | None]:
    room = asyncio.Semaphore(concurrency)

    async def one(letter: Letter) -> ScoredLetter | None:
        async with room:
            found = await _answered(letter, model)
            done()
            return found

    return await asyncio.gather(*map(one, letters))


async def _answered(letter: Letter, model: LanguageModel) -> ScoredLetter | None:
    try:
        got = await _fields(letter, model)
    except LanguageModelError:
        return None
    return ScoredLetter(letter.document_type, Counter(values_of(got)), Counter(values_of(letter.truth)))


async def _fields(letter: Letter, model: LanguageModel) -> dict[str, Any]:
    request = ExtractRequest(document_type=letter.document_type, text=letter.text)
    return (await extract(request, model)).data.model_dump()


def measured(letters: Sequence[ScoredLetter | None]) -> dict[str, Any]:
    """Over all fields of the letters answered, by document type, by field of each, and the fields with most errors."""
    rows = [row for row in letters if row is not None]
    errors: Counter[str] = Counter()
    for row in rows:
        errors.update(path for path, _ in ((row.got - row.want) + (row.want - row.got)).elements())
    types = sorted({row.kind for row in rows})
    return {
        "letters": len(letters),
        "failed": len(letters) - len(rows),
        **figures(rows),
        "by_type": {kind: figures([row for row in rows if row.kind == kind]) for kind in types},
        "by_field": {kind: _by_field([row for row in rows if row.kind == kind]) for kind in types},
        "worst": dict(errors.most_common(WORST)),
    }


def _by_field(rows: Sequence[ScoredLetter]) -> dict[str, Any]:
    paths = sorted({path for row in rows for path, _ in row.got + row.want})
    return {path: figures([_only(row, path) for row in rows]) for path in paths}


def _only(row: ScoredLetter, path: str) -> ScoredLetter:
    got, want = (_at(values, path) for values in (row.got, row.want))
    return ScoredLetter(row.kind, got, want)


def _at(values: Values, path: str) -> Values:
    return Counter({key: count for key, count in values.items() if key[0] == path})


def figures(rows: Iterable[ScoredLetter]) -> dict[str, Any]:
    """`fields` (true values), `extra`, `missing`, precision, recall and F1."""
    counts = [((row.got & row.want).total(), row.got.total(), row.want.total()) for row in rows]
    both, got, want = np.asarray(counts, dtype=np.float32).reshape(-1, 3).T
    hits, given, true = (int(column.sum()) for column in (both, got, want))
    return {
        "fields": true,
        "extra": given - hits,
        "missing": true - hits,
        "precision": share(hits, given),
        "recall": share(hits, true),
        "f1": _f1(both, got + want),
    }


def _f1(both: Any, sizes: Any) -> Measure | None:
    if not sizes.sum():
        return None

    def f1(weights: Any) -> Any:
        size = weights @ sizes
        return np.where(size > 0, 2 * (weights @ both) / np.maximum(size, 1), np.nan)

    return rounded(2 * both.sum() / sizes.sum(), *bootstrap(len(both), f1))
