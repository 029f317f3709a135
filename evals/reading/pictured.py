"""A text as pictures: its mentions coloured by what the text claims of them, and each stage of its reading."""

from __future__ import annotations

from itertools import islice
from typing import Final

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from clinical.claims import Reading
from clinical.contract import Evidence
from clinical.reading import SearchIndex
from evals.letters.drawn import draw

NO_CODE = "no code shown"
LINE = 96
"""Characters of a line."""


def drawn_mentions(index: SearchIndex, text: str) -> Figure:
    """The text, in lines of at most LINE characters, and under each mention the colour of its claim."""
    mentions = index.read(text).mentions
    shown = [
        Evidence(
            path=one.claim if one.codes or one.claim == "excluded" else NO_CODE,
            start=one.start,
            end=one.end,
            match="exact",
        )
        for one in mentions
    ]
    return draw(_wrapped(text), shown, COLOURS | {NO_CODE: "grey"})


def _wrapped(text: str) -> str:
    """The text with spaces turned into line ends where a line is too long: every character keeps its place."""
    characters, begun, space = list(text), 0, -1
    for at, character in enumerate(characters):
        if character == "\n":
            begun, space = at + 1, -1
        elif character == " ":
            space = at
        if at - begun >= LINE and space >= 0:
            characters[space] = "\n"
            begun, space = space + 1, -1
    return "".join(characters)


# --- a text, stage by stage -------------------------------------------------------------------------------------------

WORDS: Final = 45
"""Words of a text that are drawn; the axis holds no more."""
COLOURS: Final = {
    "present": "tab:green", "suspected": "goldenrod", "history": "tab:blue", "excluded": "tab:red",
    "family": "tab:purple",
}  # fmt: skip
"""One colour a claim, in every picture of a text."""


def drawn_marks(index: SearchIndex, text: str) -> Figure:
    """Of each word the tagger's probability of beginning a mention, and of continuing one."""
    reading = Reading.of(text, index.tagger)
    places = reading.seen.places[:WORDS].tolist()
    shares = reading.marks[:WORDS]
    figure, axis = plt.subplots(figsize=(11, 3.2))
    at = np.arange(len(places))
    axis.bar(at, shares[:, 1], color="tab:blue", label="begins a mention")
    axis.bar(at, shares[:, 2], bottom=shares[:, 1], color="tab:orange", label="continues one")
    axis.set_xticks(at, [text[start:end] for start, end in places], rotation=90)
    axis.set(ylabel="probability", ylim=(0, 1.02), title=f"marks: {len(places)} words")
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def drawn_spans(index: SearchIndex, text: str, most: int = 28) -> Figure:
    """The likeliest candidate spans over the words of the text: how probably each is a mention, what is claimed of it,
    its best code, and (framed) whether it is of the cover that explains the text."""
    draft, hits = index.ranked(text)
    chosen, _ = index.reader.chosen(draft, hits)
    order = sorted(range(len(draft.spans)), key=lambda n: (n not in chosen, -draft.spans[n].chance))[:most]
    order.sort(key=lambda n: (draft.spans[n].part.start, draft.spans[n].part.end))
    figure, axis = plt.subplots(figsize=(11, 0.8 + 0.27 * len(order)))
    for row, number in enumerate(order):
        part, chance = draft.spans[number].part, draft.spans[number].chance
        own = hits.at(hits.part == number)
        first = f"  {index.catalog.codes[int(own.code[0])].code} {own.probability[0]:.2f}" if len(own.part) else ""
        colour = COLOURS.get(draft.assertions[number], "grey")
        axis.barh(row, part.end - part.start, left=part.start, color=colour, alpha=0.25 + 0.6 * chance,
                  edgecolor="black" if number in chosen else "none", linewidth=1.6)  # fmt: skip
        axis.text(part.end, row, f" {part.text[:38]}  {chance:.2f}{first}", va="center", fontsize=8)
    axis.invert_yaxis()
    axis.set_yticks([])
    axis.set(xlabel="characters of the text", xlim=(0, 1.45 * max(1, len(text))))
    axis.set_title(f"{len(order)} of {len(draft.spans)} spans; framed: the {len(chosen)} that explain the text")
    axis.legend([Rectangle((0, 0), 1, 1, color=own) for own in COLOURS.values()], COLOURS, loc="upper right")
    return figure


def stages(index: SearchIndex, text: str) -> pd.DataFrame:
    """A row for each of the first codes of a chosen span: its probability by search alone, with the
    claims, and as it is shown; what is shown, and with what confidence."""
    draft, found = index.ranked(text)
    chosen, counted = index.reader.chosen(draft, found)
    shown = {one.code: one for one in index.read(text).codes}
    after = {one.code: one for one in index.search(text, 50)}
    rows: list[tuple[object, ...]] = []
    for number in chosen:
        own = found.at(found.part == number)
        left = counted.at(counted.part == number)
        kept = dict(zip(left.code.tolist(), left.probability.tolist(), strict=True))
        alone = dict(islice(zip(own.code.tolist(), own.probability.tolist(), strict=True), 3))
        for code in alone | dict(islice(kept.items(), 3)):
            name = index.catalog.codes[code].code
            last = after[name].probability if name in after else None
            level = shown[name].confidence if name in shown else "not shown"
            words, claim = draft.spans[number].part.text, draft.assertions[number]
            rows.append((words, claim, name, alone.get(code), kept.get(code), last, level))
        if not len(own.part):
            rows.append(
                (draft.spans[number].part.text, draft.assertions[number], None, None, None, None, "not searched")
            )
    columns = ["mention", "claim", "code", "search", "with claims", "in the text", "shown as"]
    return pd.DataFrame(rows, columns=columns)
