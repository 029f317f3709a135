"""Training of the model of the entries of a letter's lists (`clinical.letters.WordFeatures`) on annotated letters.

A word begins an entry where a mark begins, and goes on where the mark does. What may be left out is left out. The
features hold the verdict of the statements' model and of the rules, so each author's letters are read with a model of
other authors: it would be surer of what it has seen. Measured by `python -m catalog_build statements --measure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catalog_build.training.letters import LabelledLetter
from catalog_build.training.statements import Authors, moved, train_parts, train_statements
from clinical.letters import (
    LISTS,
    SPAN_ROWS,
    STATES,
    EntrySpan,
    HashedRegression,
    ReaderModels,
    RulesReader,
    entries_in,
)

ROUNDS: Final = 12
RATE: Final = 0.05
DECAY: Final = 1e-4
DROPPED: Final = 0.3
"""Share of the features that a step does not see, so that none is relied on alone, not even the rules' verdict."""
BATCH: Final = 8
"""Letters of a step."""
GROUPS: Final = 4
"""Groups of authors, each read by a model of the statements of the others."""


class SpanLesson(NamedTuple):
    """The words of a letter: hashed features (n, features), and for each list 0 outside of every entry, 1 where one
    begins, 2 where it goes on, -1 where the letter has no such list, (n, lists)."""

    rows: NDArray[np.int64]
    states: NDArray[np.int64]


def marked_spans(letter: LabelledLetter, straightened: str) -> dict[str, list[tuple[EntrySpan, bool]]] | None:
    """(place in the straightened text, may be left out) of each entry by list; None where more than spaces moved."""
    places = moved(letter.text, straightened)
    if places is None:
        return None
    found: dict[str, list[tuple[EntrySpan, bool]]] = {name: [] for name in LISTS}
    for value in letter.values:
        if value.field in LISTS:
            found[value.field].append((EntrySpan(places[value.start], places[value.end - 1] + 1), value.optional))
    return found


def span_lesson(letter: LabelledLetter, models: ReaderModels) -> SpanLesson | None:
    """A letter as a lesson, read by those models; None where its layout moved its columns."""
    reader = RulesReader(letter.text, models=models)
    marks = marked_spans(letter, reader.sheet.text)
    features = reader.lists.words
    if marks is None or not len(features.words):
        return None
    states = np.full((len(features.words), len(LISTS)), -1, dtype=np.int64)
    for at, name in enumerate(LISTS):
        if name in letter.data:
            states[:, at] = features.inside(_places(marks[name], optional=False))
    return SpanLesson(features.rows(), states)


def _places(marks: Iterable[tuple[EntrySpan, bool]], optional: bool) -> list[EntrySpan]:
    return [span for span, each in marks if each is optional]


def train_spans(authors: Authors) -> HashedRegression:
    """The model of the letters of several authors, by author; each group's lessons are read with a model of the
    statements of the others."""
    lessons: list[SpanLesson | None] = []
    for own, others in groups_of(authors):
        models = _models(others)
        lessons += [span_lesson(letter, models) for letters in own.values() for letter in letters]
    return _fitted([one for one in lessons if one is not None])


def _models(authors: Authors) -> ReaderModels:
    """Train the models that the rules ask, on the letters of these authors."""
    letters = [letter for own in authors.values() for letter in own]
    return ReaderModels(train_statements(letters), train_parts(letters))


def groups_of(authors: Authors) -> Iterator[tuple[Authors, Authors]]:
    """(the authors of a group, all others)."""
    names = list(authors)
    for n in range(min(GROUPS, len(names))):
        own = names[n::GROUPS]
        yield {name: authors[name] for name in own}, {name: authors[name] for name in names if name not in own}


def _fitted(every: Sequence[SpanLesson]) -> HashedRegression:
    """Softmax regressions over the states of each list, by Adagrad (Duchi et al. 2011)."""
    torch.manual_seed(0)
    table = nn.EmbeddingBag(SPAN_ROWS, (STATES + 1) * len(LISTS), mode="sum")
    nn.init.zeros_(table.weight)
    optimizer = torch.optim.Adagrad(table.parameters(), lr=RATE, weight_decay=DECAY)
    steps = ROUNDS * -(-len(every) // BATCH)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - 0.95 * step / steps)
    for _ in range(ROUNDS):
        for batch in torch.split(torch.randperm(len(every)), BATCH):
            rows, states = (np.concatenate([every[at][n] for at in batch.tolist()]) for n in range(2))
            seen = torch.from_numpy(rows)[:, torch.rand(rows.shape[1]) >= DROPPED]
            said = table(seen).unflatten(1, (len(LISTS), STATES + 1)).flatten(0, 1)
            loss = nn.functional.cross_entropy(
                said, torch.from_numpy(states).flatten(), ignore_index=-1, reduction="sum"
            )
            optimizer.zero_grad()
            torch.autograd.backward(loss / 1_000)
            optimizer.step()
            falling.step()
    weights: NDArray[np.float32] = table.weight.detach().numpy().reshape(SPAN_ROWS, len(LISTS), STATES + 1)
    return HashedRegression((weights[..., 1:] - weights[..., :1]).reshape(SPAN_ROWS, -1))


def spans_left_out(authors: Authors) -> dict[str, NDArray[np.int64]]:
    """(3,): right, wrong and missing entries of each list, begun and ended at the right words; each group of authors
    read by models of the others."""
    sums = {name: np.zeros(3, dtype=np.int64) for name in LISTS}
    for own, others in groups_of(authors):
        model, models = train_spans(others), _models(others)
        for letter in (one for letters in own.values() for one in letters):
            reader = RulesReader(letter.text, models=models)
            marks = marked_spans(letter, reader.sheet.text)
            if marks is None:
                continue
            found = entries_in(reader.sheet, reader.lists.words, model)
            for name in (name for name in LISTS if name in letter.data):
                words = reader.lists.words.words
                said, sure, spared = (
                    {tuple(np.searchsorted(words[:, 0], span).tolist()) for span in spans}
                    for spans in (
                        found[name],
                        _places(marks[name], optional=False),
                        _places(marks[name], optional=True),
                    )
                )
                sums[name] += [len(said & sure), len(said - sure - spared), len(sure - said)]
    return sums
