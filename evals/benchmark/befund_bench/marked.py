"""Reader of texts and letters that authors marked: the marks go, what they say stays, with places in code points.

    Seit 3 Tagen {Husten|present|R05}, kein {Fieber|excluded}. V. a. {Pneumonie|suspected/present|J18.9 / J15.9}

A file holds texts divided by lines of `===`. The second field is the claim, after `/` another that is defensible; the
third the codes, after `/` defensible ones. Letters begin with a line `### arztbrief` or `### zuweisung`; their marks
are `{words|field}`, `{words|field=value}` and `{words|field field?}`, may stand inside each other, and `?` makes a
value optional.

Befund's training reads the same files by readers of its own (`catalog_build.training`): this package is installed
without Befund.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

DIVIDER: Final = re.compile(r"={3,}\s*")
_MARK: Final = re.compile(r"\{([^{}|\n]+)\|([a-z]+)(?:/([a-z]+))?(?:\|([^{}|\n]*))?\}")
_PAST: Final = re.compile(r"^(?:Z\.?\s?n\.?|St\.?\s?[np]\.?|Zustand nach|Status (?:nach|post))\s+(?=\S)", re.IGNORECASE)
"""The mark of the past before a procedure, which is no part of its name."""


class MarkedMention(NamedTuple):
    """A condition named in a text: its place in code points, its claim and a defensible second one, its codes and the
    defensible ones beside them."""

    start: int
    end: int
    claim: str
    second: str | None
    codes: tuple[str, ...]
    also: tuple[str, ...]


class MarkedText(NamedTuple):
    """A text without its marks, and its mentions in order."""

    text: str
    mentions: tuple[MarkedMention, ...]


class MarkedValue(NamedTuple):
    """A value of a letter as a form would hold it; `optional`: a careful colleague may leave it out."""

    field: str
    value: str
    optional: bool


class MarkedLetter(NamedTuple):
    """A letter without its marks, its kind, and its values in the order of the text."""

    kind: str
    text: str
    values: tuple[MarkedValue, ...]


def blocks(path: Path) -> Iterator[str]:
    """The marked texts of a file, without the empty ones."""
    block: list[str] = []
    for line in [*path.read_text("utf-8").split("\n"), "==="]:
        if DIVIDER.fullmatch(line):
            if "".join(block).strip():
                yield "\n".join(block)
            block = []
        else:
            block.append(line)


def marked_texts(path: Path) -> list[MarkedText]:
    """The texts of an author's file."""
    return [marked_text(block) for block in blocks(path)]


def marked_text(block: str) -> MarkedText:
    """One text and its mentions."""
    marked, at, length = block.strip("\n"), 0, 0
    plain: list[str] = []
    mentions: list[MarkedMention] = []
    for mark in _MARK.finditer(marked):
        before, (words, claim, second, given) = marked[at : mark.start()], mark.groups()
        right, _, also = (given or "").partition("/")
        start = length + len(before)
        plain += [before, words]
        at, length = mark.end(), start + len(words)
        mentions.append(MarkedMention(start, length, claim, second, tuple(right.split()), tuple(also.split())))
    return MarkedText("".join([*plain, marked[at:]]), tuple(mentions))


def marked_letters(path: Path) -> list[MarkedLetter]:
    """The letters of an author's file."""
    return [marked_letter(block) for block in blocks(path)]


def marked_letter(block: str) -> MarkedLetter:
    """One letter and its values."""
    head, _, marked = block.lstrip("\n").partition("\n")
    marked = marked.rstrip()
    text, at = "", 0
    opened: list[int] = []
    found: list[tuple[int, int, MarkedValue]] = []
    while (sign := re.compile(r"[{|]").search(marked, at)) is not None:
        text += marked[at : sign.start()]
        at = sign.end()
        if sign.group() == "{":
            opened.append(len(text))
            continue
        start, close = opened.pop(), marked.index("}", at)
        names, _, stated = marked[at:close].partition("=")
        found += [(start, -len(text), _value(name, text[start:], stated.strip())) for name in names.split()]
        at = close + 1
    found.sort(key=lambda one: one[:2])
    return MarkedLetter(head.removeprefix("###").strip(), text + marked[at:], tuple(value for *_, value in found))


def _value(name: str, words: str, stated: str) -> MarkedValue:
    field = name.removesuffix("?")
    value = _PAST.sub("", words) if field == "eingriffe" else stated or words
    return MarkedValue(field, value, name.endswith("?"))
