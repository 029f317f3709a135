"""Scores of answers: each measure is a ratio of sums over texts, with a 95 % interval that draws whole authors.

`answers` is a list beside the rows of `texts`, each the object of a submission without its id. Where a split has
SEVERAL authors their texts are no independent observations: Wilson's interval on the effective number of observations
(design effect: Kish 1965) with Student's t for so many authors (Korn and Graubard 1998); else texts are drawn.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .data import Key, TaskRow, key_of, words_of
from .tasks import CLAIMS, DEPTH, FIELDS, LISTS, LOOSE, TASKS, THERE

Z: Final = 1.959964
SEVERAL: Final = 5
SAME_F1, CONTAINED = 0.8, 0.6
"""Two wordings are alike from this F1 of their words on, or where one holds the other with this share of the longer."""

Answer = Mapping[str, Any]
Measured = tuple[float, float, float]
"""Value, lower and upper bound of the 95 % interval."""
Part = tuple[str, float, float]
"""Measure, and what a text adds to the upper and the lower side of its ratio."""


def score(task: str, rows: Sequence[TaskRow], answers: Sequence[Answer]) -> dict[str, Measured]:
    """The measures of a task; those that no text of `rows` says anything about are left out."""
    sums: defaultdict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for at, (row, answer) in enumerate(zip(rows, answers, strict=True)):
        for name, part, whole in _PARTS[task](row, answer, key_of(row)):
            sums[name].append((part, whole, at))
    found = {}
    for name in TASKS[task].measures:
        parts = [one for one in sums[name] if one[1] > 0]
        if parts:
            names = [rows[at]["author"] for *_, at in parts]
            several = len(set(names)) >= SEVERAL
            drawn = names if several else [rows[at]["id"] for *_, at in parts]
            found[name] = ratio([one[0] for one in parts], [one[1] for one in parts], drawn)
    return found


def ratio(parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str]) -> Measured:
    """The share that `parts` have of `wholes`, one number a text, with its interval."""
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    size = float(whole.sum())
    value = float(part.sum()) / size
    of = np.unique(np.asarray(clusters), return_inverse=True)[1]
    groups = int(of.max()) + 1
    off = np.bincount(of, part - value * whole)
    variance = groups / max(1, groups - 1) * float(np.square(off).sum()) / size**2
    effective = min(size, value * (1 - value) / variance) if variance > 0 else min(size, float(len(part)))
    if groups > 1:
        effective *= (Z / student(groups - 1)) ** 2
    squared = Z * Z / effective
    middle = (value + squared / 2) / (1 + squared)
    half = Z * float(np.sqrt(max(0.0, value * (1 - value)) / effective + squared / (4 * effective))) / (1 + squared)
    return round(value, 4), round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)


def student(freedom: int) -> float:
    """The 97.5 % point of Student's t by its expansion about the normal one (Abramowitz and Stegun 26.7.5)."""
    z, n = Z, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def _ranked(row: TaskRow, answer: Answer, key: Key) -> Iterator[Part]:
    got = [key(code) for code in dict.fromkeys(answer["codes"])][:DEPTH]
    right = [set(each) for each in row["answer"]["right"]]
    every, count = set().union(*right), len(right)
    yield "top_1", float(bool(got) and got[0] in every), 1
    yield "in_3", float(not every.isdisjoint(got[:3])), 1
    yield "in_8", float(not every.isdisjoint(got[:8])), 1
    yield "recall_10", sum(not each.isdisjoint(got) for each in right) / count, 1
    yield "precision", sum(code in every for code in got[:count]) / count, 1
    absent = set().union(*row["answer"].get("absent", ()))
    if absent:
        yield "denied", float(not absent.isdisjoint(got[:count])), 1


def _noted(row: TaskRow, answer: Answer, key: Key) -> Iterator[Part]:
    got = {(start, end) for start, end in answer["mentions"]}
    spans, words = set(row["answer"]["spans"]), set(row["answer"]["words"])
    said = {key(f"{start}-{end}") for start, end in got}
    yield "span_f1", 2.0 * len(spans & said), len(spans) + len(said)
    own = {key(str(start)) for start in words_within(row["text"], got)}
    yield "word_f1", 2.0 * len(words & own), len(words) + len(own)


def words_within(text: str, spans: Sequence[tuple[int, int]] | set[tuple[int, int]]) -> list[int]:
    """The beginnings of the words of a text that lie in a span, at least in part."""
    words = [match.span() for match in re.finditer(r"\w+", text)]
    return [begin for begin, end in words if any(begin < last and end > first for first, last in spans)]


def _claimed(row: TaskRow, answer: Answer, key: Key) -> Iterator[Part]:
    right = there = hidden = absent = leaked = 0
    for at, (good, said) in enumerate(zip(row["answer"]["claims"], answer["claims"], strict=True)):
        fits = key(f"{at}={said}") in good
        true = next(claim for claim in CLAIMS if key(f"{at}={claim}") == good[0])
        right += fits
        there += true in THERE
        absent += true not in THERE
        hidden += true in THERE and said not in THERE and not fits
        leaked += true not in THERE and said in THERE and not fits
    yield "accuracy", right, len(row["mentions"])
    yield "there_as_not", hidden, there
    yield "not_as_there", leaked, absent


def _extracted(row: TaskRow, answer: Answer, key: Key) -> Iterator[Part]:
    sums: Counter[tuple[str, str]] = Counter()
    for path in FIELDS[row["kind"]]:
        good = row["answer"]["fields"].get(key(path), {"right": [], "optional": []})
        given = answer["fields"].get(path)
        values = given if isinstance(given, list) else [given] if given else []
        got = [[key(word) for word in words_of(value)] for value in values]
        counts = _of_list(got, good) if path in LISTS else _of_single(got, good, path.endswith(LOOSE))
        kind = "lists" if path in LISTS else "single"
        for name, count in zip(("right", "wrong", "missing"), counts, strict=True):
            sums[kind, name] += count
    right, wrong, missing = (sums["lists", name] + sums["single", name] for name in ("right", "wrong", "missing"))
    yield "precision", right, right + wrong
    yield "recall", right, right + missing
    yield "f1", 2 * right, 2 * right + wrong + missing
    for kind in ("single", "lists"):
        right, wrong, missing = (sums[kind, name] for name in ("right", "wrong", "missing"))
        yield f"f1_{kind}", 2 * right, 2 * right + wrong + missing


Words = Sequence[str]


def _of_single(got: Sequence[Words], good: Mapping[str, Any], loose: bool) -> tuple[int, int, int]:
    """Right, wrong, missing of a field with one value; `right` of `good` are its variants."""
    wanted = bool(good["right"]) and not good["optional"]
    if not got or not got[0]:
        return 0, 0, int(wanted)
    if any(alike(one, got[0]) if loose else list(one) == list(got[0]) for one in good["right"]):
        return 1, 0, 0
    return 0, 1, int(wanted)


def _of_list(got: Sequence[Words], good: Mapping[str, Any]) -> tuple[int, int, int]:
    """Right, wrong, missing entries. One that is part of a wanted entry, or holds it, is neither right nor wrong."""
    right, wrong, left = 0, 0, [*good["right"]]
    for one in got:
        match = next((other for other in left if alike(other, one)), None)
        if match is not None:
            left.remove(match)
            right += 1
        elif not any(alike(other, one) for other in good["optional"]) and not (one and _is_part(one, good["right"])):
            wrong += 1
    missing = 0
    for one in left:
        instead = [other for other in good["optional"] if _is_part(other, [one])]
        missing += not any(alike(other, own) for other in instead for own in got)
    return right, wrong, missing


def alike(one: Words, other: Words) -> bool:
    """Return True when two wordings, given as their words, say the same but for a few words."""
    if list(one) == list(other):
        return True
    if not one or not other:
        return False
    both, longer = (Counter(one) & Counter(other)).total(), max(len(one), len(other))
    return 2 * both / (len(one) + len(other)) >= SAME_F1 or (both >= CONTAINED * longer and _is_part(one, [other]))


def _is_part(one: Words, others: Sequence[Words]) -> bool:
    return any(_holds(one, other) or _holds(other, one) for other in others)


def _holds(long: Words, short: Words) -> bool:
    return any(list(long[at : at + len(short)]) == list(short) for at in range(len(long) - len(short) + 1))


def _judged(row: TaskRow, answer: Answer, key: Key) -> Iterator[Part]:
    true = row["answer"]["supported"] == key("true")
    yield "lies_kept", float(not true and answer["supported"]), float(not true)
    yield "truths_lost", float(true and not answer["supported"]), float(true)


_PARTS: Final[dict[str, Callable[[TaskRow, Answer, Key], Iterator[Part]]]] = {
    "wordings": _ranked, "typed": _ranked, "lists": _ranked, "codes": _ranked, "notes": _noted, "claims": _claimed,
    "extraction": _extracted, "lies": _judged,
}  # fmt: skip
