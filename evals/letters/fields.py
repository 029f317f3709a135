"""Fields of letters, right, wrong and missing: annotated letters and generated ones go through extraction as a request.

Annotated letters: FILE holds one JSON object a line: `id`, `document_type`, `data` (the true fields in the contract's
shape), `accept` (variants that count as right: by path of a single value, by list or list[i] for entries that need not
be there). TEXTS holds `<id>.txt`.

A single value is right, wrong (another value, or one where the letter has none) or missing. Names of institutions,
streets, insurers, telephone numbers and questions may differ in a few words (`alike`). An entry of a list is right
where it is `alike` one that is wanted; one that is part of a wanted entry, or holds it, is neither right nor wrong.
Values of one letter fall together, and so do letters of one hand: the intervals of precision and recall are Wilson's on
the effective number of values, F1 has the bootstrap, and both draw whole authors (of generated letters whole layouts)
where there are several, else letters.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from catalog_build.training.letters import read_letters
from clinical.contract import TEXT_MAX, ExtractRequest, ExtractResponse, FieldState
from clinical.errors import LanguageModelError
from clinical.letters import DOCUMENTS, extract
from clinical.listed import read_listed
from clinical.llm import LanguageModel
from clinical.progress import progress
from evals.exchange import gathered
from evals.letters.generator import Letter
from evals.measures.intervals import bootstrap, clusters_of, ratio, rounded
from evals.measures.results import Row, beside, row
from evals.rules_model import RulesModel

LISTS = ("diagnosen", "medikation", "eingriffe", "procedere")
LOOSE = ("institution", "abteilung", "name", "fragestellung", "strasse", "telefon")
"""Endings of paths whose values may differ from the annotation in a few words."""
SAME_F1, CONTAINED = 0.8, 0.6
"""Two wordings are alike from this F1 of their words on, or where one holds the other with this share of the longer."""
COUNTED = ("right", "wrong", "missing")
FIGURES = ("precision", "recall", "f1")
SINGLE, ENTRIES = "all single values", "all lists"


class Asked(NamedTuple):
    """A letter as it is asked for, with its annotation: `name`, true `data`, and variants that count as right. `hand`:
    its author or layout, "" where nobody is known."""

    name: str
    request: ExtractRequest
    data: Mapping[str, Any]
    accept: Mapping[str, Any]
    hand: str = ""


@dataclass(frozen=True)
class Fault:
    """One value that is not right: `got` is None where it is missing, `want` where the letter has none."""

    letter: str
    path: str
    got: str | None
    want: str | None

    @property
    def cause(self) -> str:
        if self.got is None:
            return "missing"
        return "invented" if self.want is None else "another value"


@dataclass
class FieldCounts:
    """Values right, wrong and missing, every fault, what grounding removed, and letters that were not answered."""

    counts: list[tuple[str, str, int, int, int]] = field(default_factory=list)
    """(letter, field, right, wrong, missing)."""
    faults: list[Fault] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    removed: list[tuple[str, FieldState]] = field(default_factory=list)
    """(letter, path with its value) of everything that grounding took away."""
    failed: list[str] = field(default_factory=list)
    hands: dict[str, str] = field(default_factory=dict)
    """The author of each letter, where that is known."""
    kinds: dict[str, str] = field(default_factory=dict)
    """The kind of each letter by an author."""

    def add(self, letter: str, path: str, *, right: int = 0, wrong: int = 0, missing: int = 0) -> None:
        """Count values of a field of a letter."""
        self.counts.append((letter, path, right, wrong, missing))

    def table(self) -> pd.DataFrame:
        """The counts with their names."""
        return pd.DataFrame(self.counts, columns=["letter", "path", *COUNTED])

    def by_field(self) -> pd.DataFrame:
        """Right, wrong and missing values of each field."""
        return self.table().groupby("path", sort=False)[list(COUNTED)].sum()

    def sets(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """The counts of all single values and of all lists, of authors also of each kind of letter where there are two,
        and of each field."""
        table = self.table()
        whole, kind = table["path"].isin(LISTS).map({True: ENTRIES, False: SINGLE}), table["letter"].map(self.kinds)
        yield from ((of, table[whole == of]) for of in (SINGLE, ENTRIES))
        kinds = sorted(set(self.kinds.values()))
        for name in kinds if len(kinds) > 1 else ():
            yield from ((f"{of}, {name}", table[(whole == of) & (kind == name)]) for of in (SINGLE, ENTRIES))
        yield from table.groupby("path", sort=False)

    def rows(self) -> list[Row]:
        """Precision, recall and F1 of every field and of all."""
        found = row("failed", SINGLE, len(self.milliseconds) + len(self.failed), float(len(self.failed)))
        for of, own in self.sets():
            by_letter = own.groupby("letter", sort=False)[list(COUNTED)].sum()
            names = list(by_letter.index)
            authors = [self.hands.get(name) or name for name in names] if self.hands else [""] * len(names)
            found += _figures(of, by_letter.to_numpy(float), clusters_of(names, authors))
        return found


def _figures(of: str, table: NDArray[np.float64], drawn: Sequence[str]) -> list[Row]:
    """Precision, recall and F1 of letters (n, 3): right, wrong, missing; `drawn`: what each is drawn with."""
    right, wrong, missing = (int(one) for one in table.sum(axis=0))
    if not right + wrong + missing:
        return []
    told, stated = (table @ each for each in ([1, 1, 0], [1, 0, 1]))
    found = row("precision", of, right + wrong, ratio(table[:, 0].tolist(), told.tolist(), drawn))
    found += row("recall", of, right + missing, ratio(table[:, 0].tolist(), stated.tolist(), drawn))
    place = np.unique(drawn, return_inverse=True)[1]
    both, more = (np.bincount(place, each) for each in (table[:, 0], table @ [2, 1, 1]))
    f1 = bootstrap(len(both), lambda weights: _divided(2 * (weights @ both), weights @ more))
    return found + row("f1", of, right + missing, rounded(float(2 * both.sum() / more.sum()), *f1))


def _divided(part: Any, whole: Any) -> Any:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def normal(value: object) -> str:
    """Words alone, in lower case."""
    return " ".join(re.sub(r"[^\wäöüß]+", " ", str(value).casefold()).split())


def alike(one: object, other: object) -> bool:
    """Return True when two wordings say the same but for a few words."""
    first, second = normal(one), normal(other)
    if first == second:
        return True
    a, b = Counter(first.split()), Counter(second.split())
    if not a or not b:
        return False
    both, longer = (a & b).total(), max(a.total(), b.total())
    return 2 * both / (a.total() + b.total()) >= SAME_F1 or (
        both >= CONTAINED * longer and (first in second or second in first)
    )


def single_values(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(path, value) of everything that is no list; None where nothing is stated."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", one) for inner, one in value.items())
        elif key not in LISTS:
            yield key, value


def entries(value: Any) -> list[str]:
    """The wordings of a list: its strings, or the names of its procedures."""
    return [one if isinstance(one, str) else (one or {}).get("bezeichnung") or "" for one in value or ()]


def compared(report: FieldCounts, letter: Asked, got: Mapping[str, Any]) -> None:
    """Count one letter; `got`: the fields that were extracted."""
    accepted = letter.accept
    if letter.hand:
        report.hands[letter.name] = letter.hand
        report.kinds[letter.name] = letter.request.document_type
    have = dict(single_values(got))
    for path, want in single_values(letter.data):
        variants = accepted.get(path) or []
        variants = variants if isinstance(variants, list) else [variants]
        _single(report, (letter.name, path), have.get(path), [want, *variants])
    for path in LISTS:
        if path in letter.data:
            optional = [
                text
                for key, value in accepted.items()
                if re.split(r"[.\[]", key)[0] == path and not key.endswith(".datum")
                for text in entries(value if isinstance(value, list) else [value])
                if text
            ]
            _list(report, (letter.name, path), entries(got.get(path)), (entries(letter.data[path]), optional))


def _single(report: FieldCounts, where: tuple[str, str], have: Any, good: Sequence[Any]) -> None:
    want = good[0]
    wanted = want is not None and None not in good[1:]
    if have is None:
        report.add(*where, missing=wanted)
    elif any(
        one is not None and (normal(one) == normal(have) or (where[1].endswith(LOOSE) and alike(one, have)))
        for one in good
    ):
        report.add(*where, right=1)
        return
    else:
        report.add(*where, wrong=1, missing=wanted)
    if have is not None or wanted:
        report.faults.append(Fault(*where, have, want))


def _list(report: FieldCounts, where: tuple[str, str], have: list[str], good: tuple[list[str], list[str]]) -> None:
    want, optional = good
    left = list(want)
    for one in have:
        match = next((other for other in left if alike(other, one)), None)
        if match is not None:
            left.remove(match)
            report.add(*where, right=1)
        elif not any(alike(other, one) for other in optional) and not (normal(one) and _part(one, want)):
            report.add(*where, wrong=1)
            report.faults.append(Fault(*where, one, None))
    for one in left:
        instead = [other for other in optional if _part(other, [one])]
        if not any(alike(other, given) for other in instead for given in have):
            report.add(*where, missing=1)
            report.faults.append(Fault(*where, None, one))


def _part(one: str, others: Sequence[str]) -> bool:
    return any(normal(one) in normal(other) or normal(other) in normal(one) for other in others)


def annotated(file: Path, texts: Path, explain: bool = False) -> list[Asked]:
    """The letters of a file. Raises OSError where a text is missing."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        one = json.loads(line)
        text = read_listed(texts, f"{one['id']}.txt")[:TEXT_MAX]
        request = ExtractRequest(document_type=one["document_type"], text=text, evidence=explain)
        found.append(Asked(one["id"], request, one["data"], one.get("accept") or {}))
    return found


def authored(split: str) -> list[Asked]:
    """The letters of the authors of a split (`catalog_build.training.letters`)."""
    every = ((author, letter) for author, letters in read_letters(split).items() for letter in letters)
    return [
        Asked(one.ident, ExtractRequest(document_type=one.kind, text=one.text), one.data, one.accept, author)
        for author, one in every
    ]


def generated(letters: Sequence[Letter]) -> list[Asked]:
    """Generated letters, each named by its layout and seed. A title that no slot names is not counted."""
    return [_generated(letter) for letter in letters]


def _generated(letter: Letter) -> Asked:
    request = ExtractRequest(document_type=letter.document_type, text=letter.text)
    data: dict[str, Any] = DOCUMENTS[letter.document_type]().model_dump()
    for key, value in letter.truth.items():
        data[key] = {**data[key], **value} if isinstance(value, Mapping) else value
    if "typ" not in letter.truth.get("dokument", {}):
        data["dokument"].pop("typ")
    for path in letter.undecided:
        outer, _, inner = path.partition(".")
        _ = data[outer].pop(inner) if inner else data.pop(outer)
    return Asked(f"{letter.layout}#{letter.seed}", request, data, {}, letter.layout)


def measured(letters: Sequence[Asked], model: LanguageModel | None = None, concurrency: int = 1) -> FieldCounts:
    """Every letter through extraction with the model (the rules without one), `concurrency` at once."""
    return counted(letters, answers([letter.request for letter in letters], model or RulesModel(), concurrency))


def counted(letters: Sequence[Asked], said: Sequence[ExtractResponse | None]) -> FieldCounts:
    """The answers beside what the letters state."""
    report = FieldCounts()
    for letter, answer in zip(letters, said, strict=True):
        if answer is None:
            report.failed.append(letter.name)
            continue
        report.milliseconds.append(answer.processing_time_ms)
        report.removed += [(letter.name, one) for one in answer.states or () if one.value is not None]
        compared(report, letter, answer.data.model_dump())
    return report


def answers(
    requests: Sequence[ExtractRequest], model: LanguageModel, concurrency: int = 1
) -> list[ExtractResponse | None]:
    """As `extracted`, in a thread of its own: a notebook's event loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, extracted(requests, lambda _: model, concurrency)).result()


async def extracted(
    requests: Sequence[ExtractRequest], model_for: Callable[[int], LanguageModel], concurrency: int
) -> list[ExtractResponse | None]:
    """The answers in order, each by the model for its number; None where it gave nothing usable."""

    async def one(number: int) -> ExtractResponse | None:
        try:
            return await extract(requests[number], model_for(number))
        except LanguageModelError:
            return None

    bar = progress(None, "letters", "letters read", total=len(requests))
    return await gathered(one, range(len(requests)), concurrency, bar)


def shown(report: FieldCounts, faults: bool) -> str:
    """The report as lines for a person."""
    lines = [beside(report.rows(), FIGURES)]
    causes = Counter(fault.cause for fault in report.faults)
    lines.append("faults: " + ", ".join(f"{cause} {count}" for cause, count in causes.most_common()))
    worst = Counter(one.letter.split("#")[0].split("/")[0] for one in report.faults).most_common(6)
    lines.append("most faults: " + ", ".join(f"{name} {count}" for name, count in worst))
    lines += [f"not answered: {', '.join(report.failed)}"] * bool(report.failed)
    if faults:
        lines += [f"{f.letter} | {f.path} | {f.cause} | got {f.got!r} | want {f.want!r}" for f in report.faults]
        lines += [f"{at} | {one.path} | {one.state} | {one.value!r} {one.words or ''}" for at, one in report.removed]
    return "\n".join(lines)
