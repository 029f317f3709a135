"""A text as a picture: its mentions coloured by what the text claims of them, those without a code apart."""

from __future__ import annotations

from matplotlib.figure import Figure

from clinical.contract import Evidence
from clinical.reading import SearchIndex
from evals.letters.drawn import draw

NO_CODE = "no code shown"
LINE, ROOM = 78, 6
"""Characters of a line, which leave room for the legend beside the text, and empty lines below for its height."""


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
    return draw(_wrapped(text) + "\n" * ROOM, shown)


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
