"""Measures over texts that state several things: how many statements are shown, how many of the shown codes are right.

A table of texts has a row for each (`evals.reading.inputs.frame_of`) with its counts; a measure is the share that one
column has of another (`OF_TEXTS`). Intervals draw whole texts, or authors where there are several of them: what one
text states, and what one author writes, is found or missed together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from evals.measures.intervals import clusters_of, ratio
from evals.measures.results import Row, row

OF_TEXTS: Final = {
    "stated_shown": ("found", "statements"),
    "shown_right": ("right", "shown"),
    "high_right": ("high_right", "high"),
    "medium_right": ("medium_right", "medium"),
    "silent": ("silent", "inputs"),
    "absent_shown": ("absent_shown", "absent"),
}
"""The columns whose share each measure is: of the statements those shown with a right code; of the codes shown those
that some statement means, of high and of medium confidence; texts for which nothing is shown; absent findings whose
category is shown."""
EVERY: Final = "ALL"
"""The set of all texts, beside those of one kind."""
COUNTS: Final = tuple(dict.fromkeys(name for both in OF_TEXTS.values() for name in both))


def drawn(texts: pd.DataFrame) -> list[str]:
    """Names of what is drawn whole, one for each text."""
    return clusters_of(texts["id"].tolist(), texts["author"].tolist())


def rows_of(texts: pd.DataFrame) -> Iterator[Row]:
    """Every measure by kind of text, and for EVERY; a text that failed counts nowhere."""
    answered = texts[~texts["failed"]]
    clusters = pd.Series(drawn(answered), index=answered.index)
    groups = [*(answered.groupby("kind", sort=False) if not answered.empty else ()), (EVERY, answered)]
    for name, own in groups:
        for measure, (part, whole) in OF_TEXTS.items():
            found = ratio(own[part].tolist(), own[whole].tolist(), clusters[own.index].tolist())
            yield from row(measure, name, int(own[whole].sum()), found)
