"""Recall of wordings that are shown alone, when put into lists and sentences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from clinical.reading import SearchIndex

SEPARATORS: Final = {
    "comma": ", ",
    "semicolon": "; ",
    "slash": " / ",
    "und": " und ",
    "plus": " + ",
    "lines": "\n",
}
SIZES: Final = (2, 3, 5, 8)
SENTENCES: Final = (
    "Bitte um Beurteilung bei {}.",
    "Pat. stellt sich mit {} in der Sprechstunde vor.",
    "Bekannte {} seit 2014, derzeit stabil.",
    "Der Patient leidet seit Jahren unter {}.",
    "{} rechts",
    "{} seit 2018",
    "Einweisung wegen {}, bitte stationäre Aufnahme.",
    "Aktuell {}, Therapie wie bisher.",
    "Dauerdiagnose: {}",
    "Zur Kontrolle bei {}, fühlt sich wohl.",
    "Verdacht auf {}.",
    "Nebenbefundlich zeigt sich {}.",
)
"""Of our own choosing; none is a frame of the training grammar."""


def sure_wordings(index: SearchIndex, count: int, seed: int) -> list[tuple[str, str]]:
    """(wording, code) of wordings that are `high` when they are all that is asked, at most four words long."""
    tables, chance = index.wordings.tables, random.Random(seed)  # noqa: S311 - a sample that can be drawn again
    found: list[tuple[str, str]] = []
    for number in chance.sample(range(len(index.wordings)), min(len(index.wordings), 8 * count)):
        text, code = index.wordings.text(number), index.catalog.codes[tables.code[number]].code
        plain = len(text.split()) <= 4 and text.replace(" ", "").replace("-", "").isalpha()
        first = index.search(text, 1) if plain else ()
        if first and first[0].confidence == "high" and first[0].code == code:
            found.append((text, code))
        if len(found) == count:
            break
    return found


def in_lists(index: SearchIndex, wordings: Sequence[tuple[str, str]], seed: int) -> dict[str, float]:
    """Share of the wordings whose code is shown, by separator and length of the list."""
    chance, result = random.Random(seed), {}  # noqa: S311 - as above
    for name, separator in SEPARATORS.items():
        for size in SIZES:
            order = chance.sample(list(wordings), len(wordings))
            lists = [order[at : at + size] for at in range(0, len(order) - size + 1, size)]
            hits = [_shown(index, separator.join(text for text, _ in own)) for own in lists]
            right = [code in shown for own, shown in zip(lists, hits, strict=True) for _, code in own]
            result[f"{name} {size}"] = sum(right) / max(1, len(right))
    return result


def in_sentences(index: SearchIndex, wordings: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Share of the wordings whose code is shown, by frame."""
    return {
        frame: sum(code in _shown(index, frame.format(text)) for text, code in wordings) / max(1, len(wordings))
        for frame in SENTENCES
    }


def _shown(index: SearchIndex, text: str) -> set[str]:
    return {hit.code for hit in index.search(text, 10) if hit.confidence != "low"}
