"""Lines of forms as letters write them: parts numbered through, personal data in one line, narrow columns.

Rewrites separators and labels only; what is filled in stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bentos.embedded.labels import heading_field, label_of

LINE_MAX = 600
"""Characters of a line of a form; a longer one is prose."""
NUMBERED_LEAST = 3
"""Parts numbered one after the other, of which as many as this have a known label, make a numbered form."""
PIECES_LEAST = 3
"""Pieces of a line of personal data from which on their separator is read as a comma."""
_NUMBER = re.compile(r"^\s{0,4}(\d{1,2})[.)]?\s{1,4}(?=[^\W\d_])")
_HEAD = re.compile(r"([^\W\d_][^:\n]{1,60}?)\s*(:|$)")
_PERSONAL = re.compile(r"^\s*([^\W\d_][^:]{2,40}):\s*(\S.*)$")
_REQUEST = re.compile(r"(?:Zuweisung|Überweisung|Einweisung|Anmeldung|Vorstellung)$", re.IGNORECASE)
_DAY = re.compile(r"\b\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}\b")
_TITLED = re.compile(r"^(?:(?:Herrn?|Frau)\s)?(?:Dr|Prof|PD|Prim|Univ|OA|Dipl)\b")
_SEX = re.compile(r"^(?:Frau|Herrn?|Knabe|Bub|Junge|Mädchen|männlich|weiblich|männl\.|weibl\.|Säugling|Kind|[mwMWfF])$")
_DIVIDED_BY = (re.compile(r"\s*;\s+"), re.compile(r"\s+/\s+"))
_NARROW = re.compile(r"^([^\W\d_][^\s:]{3,30}(?: [^\W\d_][^\s:]{2,20})?) {2}(?=[^\s:])")
_BEGUN = re.compile(r"^([^\W\d_][\w-]{1,20}\.?):?\s+(?=1[.)]\s(?!.*\s2[.)]\s))")
"""A heading whose numbered list begins on its own line."""
_LISTED = ("diagnosen", "medikation")


def straightened(lines: list[str]) -> list[str]:
    """The lines of a form, its numbers, separators and narrow columns written as labels with commas."""
    return [one for line in _unnumbered(lines) for one in _straight(line)]


def _unnumbered(lines: list[str]) -> list[str]:
    """Without the numbers of parts that are numbered through and labelled, as `3 Zuweiser: ...`."""
    run: list[int] = []
    for n, line in enumerate(lines):
        found = _NUMBER.match(line[:LINE_MAX])
        if found and int(found[1]) == len(run) + 1 and _is_part(lines, n, line[found.end() :]):
            run.append(n)
    known = sum(_is_known(_NUMBER.sub("", lines[n])) for n in run)
    if known < NUMBERED_LEAST:
        return lines
    parts = frozenset(run)
    return [one for n, line in enumerate(lines) for one in (_labelled(_NUMBER.sub("", line)) if n in parts else [line])]


def _is_part(lines: list[str], n: int, rest: str) -> bool:
    """Whether a label with a colon stands there, or a heading alone below an empty line."""
    found = _HEAD.match(rest)
    return found is not None and (found[2] == ":" or n == 0 or not lines[n - 1].strip())


def _is_known(rest: str) -> bool:
    found = _HEAD.match(rest)
    return found is not None and (label_of(found[1]) is not None or heading_field(found[1]) is not None)


def _labelled(text: str) -> list[str]:
    """A part's label with its value; where nobody knows the label it stands alone, and ends the part before."""
    if ":" not in text:
        return [f"{text.rstrip()}:"]
    head, _, rest = text.partition(":")
    return [text] if _is_known(text) or not rest.strip() else [f"{head.strip()}:", rest.strip()]


def _straight(line: str) -> Iterator[str]:
    """One line, or the title of a request and its patient under each other."""
    if len(line) > LINE_MAX:
        yield line
        return
    if (begun := _BEGUN.match(line)) and heading_field(begun[1]) in _LISTED:
        yield f"{begun[1]}:"
        yield line[begun.end() :]
        return
    if (narrow := _NARROW.match(line)) and heading_field(narrow[1]) in _LISTED:
        yield f"{narrow[1]}: {line[narrow.end() :]}"
        return
    found = _PERSONAL.match(line) if _DAY.search(line) else None
    if found is None:
        yield line
        return
    requested = _REQUEST.match(found[1].strip()) is not None and not _TITLED.match(found[2])
    if not requested and label_of(found[1]) != "patient":
        yield line
        return
    if requested:
        yield found[1].strip()
    yield f"{'Patient' if requested else found[1].strip()}: {_with_commas(found[2])}"


def _with_commas(value: str) -> str:
    """`Kern Anna / 3.4.1960 / Frau / Weg 4` -> the same with commas, the sex behind the rest."""
    for sign in _DIVIDED_BY:
        pieces = sign.split(value)
        if len(pieces) >= PIECES_LEAST and not any(_DAY.search(one) for one in pieces[:1]):
            break
    else:
        pieces = re.split(r",\s+", value)
    sexes = [one for one in pieces[1:] if _SEX.match(one.strip())]
    if len(pieces) < PIECES_LEAST or (not sexes and ", ".join(pieces) == value):
        return value
    rest = [one for n, one in enumerate(pieces) if not (n and _SEX.match(one.strip()))]
    return ", ".join([*rest, *sexes])
