"""Training of the networks of a letter's single values (`clinical.letters.ValueFeatures`) on annotated letters.

A word begins a value where a mark begins, and goes on where the mark does. Other places that say the same words are
neither right nor wrong, and so are optional values. Measured by `python -m catalog_build statements --measure`: each
group of authors by a network of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catalog_build.training.letters import LabelledLetter
from catalog_build.training.letters.varied import exchanged, misread, relined, values_by_field
from catalog_build.training.spans import groups_of
from catalog_build.training.statements import Authors, moved
from clinical.letters import (
    DILATIONS,
    LEARNED,
    VALUE_STATES,
    RulesReader,
    ValueFeatures,
    ValueNet,
    ValueTagger,
    known_rows,
    settled,
    value_in,
)
from clinical.quantised import quantise

SIZE: Final = 64
"""Numbers of a word's vector."""
NETS: Final = 2
"""Networks that judge together."""
ROUNDS, RATE, DECAY, BATCH = 16, 4e-3, 1e-5, 8
"""Rounds over all letters, the highest rate of learning, the decay of weights, and letters of a step."""
VARIED = 0.5
"""Share of the letters that a round sees in other words and lines (`value_lessons`)."""
UNSEEN, UNSEEN_RULES, DROPPED = 0.2, 0.3, 0.25
"""Shares of the features that a step does not see, of the letters without what the rules found, and of the numbers of
each layer that are dropped."""
KNOWN_FROM: Final = 2
"""Letters that have a feature from which on it is learned: what one letter alone has is learned by heart."""
_OUTSIDE: Final = -1
_PARTIES: Final = frozenset(("absender.name", "empfaenger.name"))
"""People who may stand in the letterhead or the address and again in signature or salutation, in other words."""


class ValueLesson(NamedTuple):
    """The features of a letter's words, or the rows of those that are known (one run, the place behind each word's,
    which of them are the rules'), and the state of each word, -1 where nothing is learned."""

    features: NDArray[np.integer]
    ends: NDArray[np.int64]
    of_rules: NDArray[np.bool_]
    states: NDArray[np.int64]


class ReadLetter(NamedTuple):
    """A letter with what the rules found, and the words of its head and foot."""

    letter: LabelledLetter
    form: dict[str, object]
    features: ValueFeatures


def read_letter_by_rules(letter: LabelledLetter) -> ReadLetter:
    """The letter as the rules alone read it."""
    reader = RulesReader(letter.text)
    form = reader.by_rules(letter.kind)
    return ReadLetter(letter, form, ValueFeatures(reader.sheet, reader.dates, form, letter.kind))


def value_lesson(read: ReadLetter) -> ValueLesson:
    """A letter as a lesson."""
    features, levels = read.features, read.features.levels
    every = [
        (
            [*levels.letter, *levels.lines[word.line], *levels.pieces[word.piece], *levels.words[n]],
            [*levels.found, *levels.rules.get(n, ())],
        )
        for n, word in enumerate(features.words)
    ]
    seen = np.array([*chain.from_iterable(chain(*both) for both in every)], dtype=np.uint32)
    marked = [*chain.from_iterable([*([False] * len(a)), *([True] * len(b))] for a, b in every)]
    ends = np.cumsum([len(a) + len(b) for a, b in every])
    return ValueLesson(seen, ends, np.array(marked, dtype=np.bool_), _states(read))


def _states(read: ReadLetter) -> NDArray[np.int64]:
    letter, features = read.letter, read.features
    places = moved(letter.text, features.sheet.text)
    states = np.zeros(len(features.words), dtype=np.int64)
    unsure = np.zeros(len(features.words), dtype=np.bool_)
    for value in (one for one in letter.values if one.field in LEARNED):
        at = LEARNED.index(value.field)
        elsewhere = np.array(features.occurring(value.field, value.stated or value.words))
        words = _place(features, value.start, value.end, value.words, places)
        if words is None:  # its columns were moved: only what stands once is known to stand there
            words = np.flatnonzero(elsewhere).tolist() if (elsewhere == 1).sum() == 1 else []
        unsure |= elsewhere > 0
        if value.field in _PARTIES:
            unsure[features.naming(value.words)] = True
        if value.optional:
            unsure[words] = True
            continue
        free = [n for n in words if states[n] == 0]
        states[free] = 2 + 2 * at
        states[[n for n in free if n == words[0]]] = 1 + 2 * at
    states[unsure & (states == 0)] = _OUTSIDE
    return states


def _place(features: ValueFeatures, start: int, end: int, words: str, places: Sequence[int] | None) -> list[int] | None:
    if places is None:
        return None
    first, last = places[start], places[end - 1] + 1
    same = "".join(features.sheet.text[first:last].split()) == "".join(words.split())
    return features.over(first, last) if same else None


class _Net(nn.Module):
    def __init__(self, known: int) -> None:
        super().__init__()
        self.table = nn.EmbeddingBag(known, SIZE, mode="sum")
        nn.init.normal_(self.table.weight, std=0.05)
        self.layers = nn.ModuleList([nn.Conv1d(SIZE, SIZE, 3, dilation=one, padding=one) for one in DILATIONS])
        self.out = nn.Linear(2 * SIZE, VALUE_STATES)

    def forward(self, rows: torch.Tensor, starts: torch.Tensor, sizes: list[int]) -> torch.Tensor:
        seen = torch.split(torch.tanh(self.table(rows, starts)), sizes)
        first = nn.functional.dropout(nn.utils.rnn.pad_sequence(list(seen), batch_first=True), DROPPED, self.training)
        inside = torch.arange(max(sizes))[None, :] < torch.tensor(sizes)[:, None]
        state = first.transpose(1, 2)
        for layer in self.layers:
            added = nn.functional.dropout(torch.relu(layer(state)), DROPPED, self.training)
            state = (state + added) * inside[:, None, :]
        said: torch.Tensor = self.out(torch.cat([state.transpose(1, 2), first], dim=2))[inside]
        return said

    def plain(self) -> ValueNet:
        """The network as it is served."""
        layers = tuple(
            (weight.detach().permute(2, 1, 0).reshape(3 * SIZE, SIZE).numpy(), bias.detach().numpy())
            for weight, bias in ((one.get_parameter("weight"), one.get_parameter("bias")) for one in self.layers)
        )
        table, out, bias = (one.detach().numpy() for one in (self.table.weight.T, self.out.weight.T, self.out.bias))
        columns, scale = quantise(table)
        of_others = np.zeros((1, SIZE), dtype=np.int8)
        return ValueNet(np.concatenate([columns.T, of_others]), scale, layers, np.ascontiguousarray(out), bias)


def train_values(letters: Iterable[LabelledLetter], nets: int = NETS) -> ValueTagger:
    """The networks of annotated letters."""
    return _tagger(value_lessons(map(read_letter_by_rules, letters)), nets)


def value_lessons(read: Iterable[ReadLetter]) -> list[tuple[ValueLesson, ...]]:
    """Of each letter its lesson as it was written, in other words, in other words and lines, in other lines misread;
    without those that have no words. Values are exchanged among these letters."""
    every = [*read]
    values, drawn = values_by_field(one.letter for one in every), np.random.default_rng(0)
    found = []
    for one in every:
        others = (
            exchanged(one.letter, values, drawn),
            relined(exchanged(one.letter, values, drawn), drawn),
            misread(relined(one.letter, drawn), drawn),
        )
        lessons = (value_lesson(one), *map(value_lesson, map(read_letter_by_rules, others)))
        if len(lessons[0].states):
            found.append(tuple(lesson for lesson in lessons if len(lesson.states)))
    return found


def _tagger(lessons: Sequence[Sequence[ValueLesson]], nets: int) -> ValueTagger:
    known = _known(lessons)
    learned = [[_of_known(one, known) for one in each] for each in lessons]
    return ValueTagger(known, tuple(_fitted(learned, len(known), seed) for seed in range(nets)))


def _known(lessons: Iterable[Sequence[ValueLesson]]) -> NDArray[np.uint32]:
    """The features that several letters have."""
    own = [np.unique(np.concatenate([one.features for one in each])) for each in lessons]
    found, letters = np.unique(np.concatenate(own), return_counts=True)
    return found[letters >= KNOWN_FROM]


def _of_known(lesson: ValueLesson, known: NDArray[np.uint32]) -> ValueLesson:
    """The lesson with the rows of its known features."""
    rows = known_rows(known, lesson.features)
    is_known = rows < len(known)
    before = np.concatenate([[0], np.cumsum(is_known)])
    return ValueLesson(rows[is_known], before[lesson.ends], lesson.of_rules[is_known], lesson.states)


def _fitted(lessons: Sequence[Sequence[ValueLesson]], known: int, seed: int) -> ValueNet:
    """A network of the lessons of letters, each as it was written, then varied. `known`: the number of features."""
    torch.manual_seed(seed)
    drawn = np.random.default_rng(seed)
    net = _Net(known)
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=DECAY, fused=True)
    batches = -(-len(lessons) // BATCH)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=ROUNDS * batches + 1, pct_start=0.1)
    for _ in range(ROUNDS):
        for batch in np.array_split(drawn.permutation(len(lessons)), batches):
            own = [_drawn(lessons[at], drawn) for at in batch]
            rows, starts = _seen(own, drawn)
            said = net(rows, starts, [len(one.states) for one in own])
            states = torch.from_numpy(np.concatenate([one.states for one in own]))
            loss = nn.functional.cross_entropy(said, states, ignore_index=_OUTSIDE, reduction="sum")
            optimizer.zero_grad()
            torch.autograd.backward(10 * loss / len(states))
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            rates.step()
    return net.plain()


def _drawn(lessons: Sequence[ValueLesson], drawn: np.random.Generator) -> ValueLesson:
    is_varied = len(lessons) > 1 and drawn.random() < VARIED
    return lessons[int(drawn.integers(1, len(lessons)))] if is_varied else lessons[0]


def _seen(lessons: Sequence[ValueLesson], drawn: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows that a step sees, and where those of each word start."""
    rows, starts, behind = [], [], 0
    for one in lessons:
        kept = drawn.random(len(one.features)) >= UNSEEN
        if drawn.random() < UNSEEN_RULES:
            kept &= ~one.of_rules
        before = np.concatenate([[0], np.cumsum(kept)])
        starts.append(before[np.concatenate([[0], one.ends[:-1]])] + behind)
        rows.append(one.features[kept])
        behind += int(kept.sum())
    return torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(starts))


def values_left_out(authors: Authors, heads: Iterable[LabelledLetter] = ()) -> dict[str, NDArray[np.int64]]:
    """(3,): right, wrong and missing values, by the rules alone and beside the networks; each group of authors by
    networks of the others and of `heads`."""
    sums = {name: np.zeros(3, dtype=np.int64) for name in ("rules", "values")}
    groups = [[letter for each in own.values() for letter in each] for own, _ in groups_of(authors)]
    known = [[*map(read_letter_by_rules, letters)] for letters in groups]
    lessons = [value_lessons(read) for read in known]  # values of its own group alone: none of those that are left out
    of_heads = value_lessons(map(read_letter_by_rules, heads))
    for n, own in enumerate(known):
        tagger = _tagger([one for other in (*lessons[:n], *lessons[n + 1 :], of_heads) for one in other], NETS)
        for read in own:
            for of, changed in (("rules", {}), ("values", settled(read.features, read.form, tagger))):
                for field in LEARNED:
                    have = changed[field] if field in changed else value_in(read.form, field)
                    sums[of] += _compared(read.letter, field, have)
    return sums


def _compared(letter: LabelledLetter, field: str, said: str | None) -> tuple[bool, bool, bool]:
    """(right, wrong, missing) of one value, by its words."""
    want = value_in(letter.data, field)
    good = [want, *letter.accept.get(field, ())]
    is_right = said is not None and _bare(said) in map(_bare, good)
    return is_right, said is not None and not is_right, not is_right and want is not None and None not in good


def _bare(value: str | None) -> str:
    return "".join(filter(str.isalnum, value or "")).casefold()
