"""Answers: what search finds for each short wording of the catalog and for each of its words, found where it is built.

Half of what the spans of a text ask is word for word a wording, or one word of some wording. Its answer depends on its
words alone, to the last bit, so that it is looked up instead of searched. No text of a request is among them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np

from clinical.search.bounds import ArraySizes, Bound, check, require
from clinical.search.native.spoken import AnswerTables
from clinical.search.scoring import KEPT, Scorer
from clinical.search.tensors import map_tensors, write_tensors
from clinical.search.terms import Wordings

FILE: Final = "answers.safetensors"
FORMAT: Final = "befund-answers-1"
"""Goes on with the code that ranks: answers of another one are not those that a search gives."""
LONGEST: Final = 5
"""Words of the longest wording with an answer. Hardly a longer one stands in a text word for word, and each costs the
build more than a short one."""
AT_ONCE: Final = 256
"""Entries that are searched together."""
BOUNDS: Final = {
    "start": Bound("int64", ("entries+1",), starts="hits"),
    "wording": Bound("int32", ("hits",), low=0, high="N"),
    "share": Bound("float32", ("hits",)),
}


def answers_of(scorer: Scorer) -> AnswerTables | None:
    """The answers of a catalog: of each of its short wordings, and of each of its words that is none. Words that
    several wordings have, in one order, are asked once; the native calls run on all processors. None where search is
    not one call."""
    if not scorer.is_one_call:
        return None
    entries = _entries(scorer.wordings)
    asked = [number for number, words in enumerate(entries) if words]
    batches = [asked[at : at + AT_ONCE] for at in range(0, len(asked), AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda batch: scorer.of_words([entries[number] for number in batch]), batches))
    sizes = np.zeros(len(entries), dtype=np.int64)
    for batch, hits in zip(batches, found, strict=True):
        sizes[batch] = np.bincount(hits.part, minlength=len(batch))
    return AnswerTables(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([hits.wording for hits in found]).astype(np.int32),
        np.concatenate([hits.share for hits in found]),
    )


def _entries(wordings: Wordings) -> list[Sequence[str]]:
    """The words of each short wording and, behind them, each word by itself; nothing where the same stood before."""
    entries: list[Sequence[str]] = []
    known = set[tuple[str, ...]]()
    for words in (*map(wordings.folded, range(len(wordings))), *([word] for word in wordings.vocabulary)):
        entries.append(() if tuple(words) in known or len(words) > LONGEST else words)
        known.add(tuple(words))
    return entries


def save_answers(tables: AnswerTables, folder: Path) -> None:
    """Write `answers.safetensors`."""
    write_tensors(folder / FILE, tables._asdict(), {"format": FORMAT})


def load_answers(folder: Path, wordings: Wordings) -> AnswerTables | None:
    """Memory-map what `save_answers` wrote; None where it was written for other code. Raises ArtifactMismatch where a
    number leads out of its bounds."""
    arrays, metadata = map_tensors(folder / FILE)
    if metadata.get("format") != FORMAT:
        return None
    entries = len(wordings) + len(wordings.vocabulary)
    check(FILE, arrays, BOUNDS, ArraySizes({"N": len(wordings), "entries": entries}))
    most = int(np.diff(arrays["start"]).max())
    require(most <= KEPT, f"{FILE} has {most} codes of one query", f"at most {KEPT}")
    return AnswerTables(**arrays)
