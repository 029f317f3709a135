"""Befund's own answers to the tasks of `befund_bench`, as they are served without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from clinical.claims import Reading
from clinical.contract import ExtractRequest
from clinical.letters import judge
from clinical.reading import SearchIndex
from evals.benchmark.befund_bench.baselines import RANKED, Baseline
from evals.benchmark.befund_bench.data import TaskRow
from evals.benchmark.befund_bench.tasks import DEPTH, LISTS
from evals.letters.fields import answers, entries, single_values
from evals.letters.negatives import answer_of, is_kept
from evals.rules_model import RulesModel

BEFUND: Final = "Befund, tier 1"
VECTORS: Final = "plain vectors"
STATED_CHANCE: Final = 0.5
"""A mention counts where the tagger thinks it likelier than not."""

Answers = Iterator[dict[str, Any]]


def wordings_of(index: SearchIndex) -> list[tuple[str, str]]:
    """Code and words of everything that a catalog is searched by."""
    codes, wordings = index.catalog.codes, index.wordings
    rows = wordings.tables.code.tolist()
    return [(codes[code].code, wordings.text(number)) for number, code in enumerate(rows)]


def systems_of(task: str, index: SearchIndex) -> dict[str, Baseline]:
    """Befund on a task, and of codes its encoder alone."""
    if task == "typed":
        return {BEFUND: lambda rows: _typed(index, rows)}
    if task in RANKED:
        return {VECTORS: lambda rows: _vectors(index, rows), BEFUND: lambda rows: _coded(index, rows)}
    others: dict[str, Baseline] = {
        "notes": lambda rows: _noted(index, rows),
        "claims": _claimed,
        "extraction": _extracted,
        "lies": _judged,
    }
    return {BEFUND: others[task]}


def _coded(index: SearchIndex, rows: Sequence[TaskRow]) -> Answers:
    texts = [row["text"] for row in rows]
    yield from ({"codes": [hit.code for hit in hits]} for hits in index.search_many(texts, DEPTH))


def _vectors(index: SearchIndex, rows: Sequence[TaskRow]) -> Answers:
    wordings = index.wordings
    every = wordings.vectors(np.arange(len(wordings)))
    for vector in index.encoder.encode([row["text"] for row in rows]):
        scores = every @ (vector / max(float(np.linalg.norm(vector)), 1e-9))
        of_code = np.maximum.reduceat(np.asarray(scores, dtype=np.float64), wordings.starts)
        best = [place for place in np.argsort(-of_code, kind="stable")[:DEPTH] if of_code[place] > 0]
        yield {"codes": [index.catalog.codes[wordings.codes[place]].code for place in best]}


def _typed(index: SearchIndex, rows: Sequence[TaskRow]) -> Answers:
    suggester = index.suggester
    for row in rows:
        found = suggester.suggest(row["text"]) if suggester else ()
        yield {"codes": [one.code.code for one in found]}


def _noted(index: SearchIndex, rows: Sequence[TaskRow]) -> Answers:
    for row in rows:
        found = (one for one in index.read(row["text"]).mentions if one.chance >= STATED_CHANCE)
        yield {"mentions": sorted({(one.start, one.end) for one in found})}


def _claimed(rows: Sequence[TaskRow]) -> Answers:
    for row in rows:
        reading = Reading.of(row["text"])
        yield {"claims": [reading.claim(start, end).label for start, end in row["mentions"]]}


def _extracted(rows: Sequence[TaskRow]) -> Answers:
    asked = [ExtractRequest(document_type=row["kind"], text=row["text"]) for row in rows]
    for answer in answers(asked, RulesModel()):
        data = answer.data.model_dump(mode="json") if answer else {}
        fields: dict[str, Any] = {path: value for path, value in single_values(data) if value}
        yield {"fields": fields | {path: entries(data[path]) for path in LISTS if data.get(path)}}


def _judged(rows: Sequence[TaskRow]) -> Answers:
    for row in rows:
        path = "eingriffe.bezeichnung" if row["path"] == "eingriffe" else row["path"]
        answer = answer_of(path, row["value"], None)
        if path == "eingriffe.bezeichnung":
            answer = {"eingriffe": [{"bezeichnung": row["value"]}]}
        yield {"supported": is_kept(path, judge(answer, row["text"]))}
