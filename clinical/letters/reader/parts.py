"""Parts of an entry among diagnoses, between commas: which begin a diagnosis of their own.

`Diabetes mellitus Typ 2, Hypertonie, NASH` are three diagnoses, `Mangelernährung, 47 kg, Kostaufbau läuft` and `pAVK,
Stadium IV` are one each. No rule over commas tells them apart: a logistic regression over the words of each part and
its neighbours does, learned from annotated letters (`catalog_build.training.statements`). Remarks stay with what they
remark on: whether they are a part of it is a habit of each house.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from clinical.letters.reader.diseases import has_disease
from clinical.letters.reader.entries import VERB, names_procedure
from clinical.letters.reader.hashed import HashedRegression, hashed, shipped

PARTS: Final = "parts.safetensors"
LONGEST: Final = 700
"""Characters of an entry that is divided; a longer one is prose."""
BEGINS: Final = 0.5
"""Probability from which a part begins a diagnosis (`python -m catalog_build statements --measure`)."""
_BORDER: Final = re.compile(r"(?<=[,;])\s+|(?<=[^\W\d_]{2}\.)\s+(?=[A-ZÄÖÜ])")
_WORD: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")


class Listed(NamedTuple):
    """Place of an entry in its list: on the heading's own line, and among how many."""

    running: bool
    entries: int


def entry_parts(entry: str) -> list[tuple[int, int]]:
    """(start, end) of each part of an entry, divided at commas, semicolons and stops outside of brackets."""
    found: list[tuple[int, int]] = []
    at = depth = last = 0
    for border in _BORDER.finditer(entry):
        depth += entry.count("(", last, border.start()) - entry.count(")", last, border.start())
        last = border.start()
        if depth <= 0:
            found.append((at, border.start()))
            at = border.end()
    return [*found, (at, len(entry))]


def part_features(entry: str, parts: Sequence[tuple[int, int]], listed: Listed) -> list[list[int]]:
    """The rows of the hashed features of each part."""
    texts = [entry[start:end] for start, end in parts]
    words = [["0" if word.isdigit() else word for word in _WORD.findall(text.lower())] for text in texts]
    diseased = [has_disease(text) for text in texts]
    commas, several = min(entry.count(","), 5), min(sum(diseased), 4)
    found = []
    for n, (text, own, disease) in enumerate(zip(texts, words, diseased, strict=True)):
        border = texts[n - 1][-1:] if n else "^"
        names = [
            *("bias", f"place {min(n, 3)}", f"border {border}", f"parts {min(len(parts), 5)}", f"run {listed.running}"),
            *(f"entries {min(listed.entries, 4)}", f"commas {commas} {disease}", f"several {several} {disease}"),
            *(f"commas {commas} {min(listed.entries, 3)} {border}", f"disease {disease} {border}"),
            *(f"upper {text[:1].isupper()} {border}", f"act {names_procedure(text)}", f"digit {text[:1].isdigit()}"),
            *(f"verb {VERB.search(text) is not None}", f"long {min(len(own), 8)}"),
        ]
        if own:
            names += [f"first {own[0]}", f"last {own[-1][-5:]}"]
        for word in own:
            names += [f"w {word}", *([f"p {word[:5]}", f"s {word[-5:]}"] if len(word) > 5 else [])]
        if n:
            names.append(f"after {diseased[n - 1]} {border} {disease}")
            names += [f"behind {words[n - 1][-1][-5:]}"] if words[n - 1] else []
        if n + 1 < len(words) and words[n + 1]:
            names.append(f"before {words[n + 1][0]}")
        found.append(hashed(names))
    return found


def diagnoses_of(entry: str, listed: Listed, model: HashedRegression | None = None) -> list[str]:
    """The diagnoses that an entry of a list names: the entry itself where it is one. `model`: not the shipped."""
    parts = entry_parts(entry) if len(entry) <= LONGEST else []
    if len(parts) < 2:
        return [entry]
    begins = (model or shipped(PARTS, 1)).judge(part_features(entry, parts, listed))[:, 0] >= BEGINS
    starts = [start for n, (start, _) in enumerate(parts) if begins[n] or not n]
    return [entry[start:end].strip(" ,;") for start, end in pairwise([*starts, len(entry)])]
