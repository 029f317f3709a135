"""`python -m evals letters FILE TEXTS`: how well letters that people have annotated are read, field by field.

FILE holds one JSON object a line: `id`, `document_type`, `data` (the true fields in the contract's shape), `accept`
(variants that count as right: by path of a single value, by list or list[i] for entries that need not be there). TEXTS
holds `<id>.txt`. Every letter goes through extraction and grounding as a request does.

A single value is right, wrong (another value, or one where the letter has none) or missing. Names of institutions,
streets, insurers, telephone numbers and questions may differ in a few words (`alike`). An entry of a list is right
where it is `alike` one that is wanted; one that is part of a wanted entry, or holds it, is neither right nor wrong.

`--write-prompts DIR` writes what a language model would be sent instead; `--answers DIR` measures what one answered
(`evals.extraction.replayed`), on the letters that have an answer. `--review` measures what `review` says of values in
the wrong field: of each letter's true answer with two values exchanged, and of the true ones.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from bentos.embedded import RehearsalModel, second_opinion
from bentos.models import model_of
from clinical.command_line import PATH, paragraphs
from clinical.contract import TEXT_MAX, Document, ExtractRequest, ExtractResponse, FieldState
from clinical.extraction import DOCUMENTS, extract
from clinical.llm import LanguageModel
from clinical.settings import Settings
from evals.command import main_of
from evals.extraction import replayed
from evals.extraction.judges import wrong_fields
from evals.extraction.judges.wrong_fields import AnsweredLetter
from evals.extraction.letters import Letter

LISTS = ("diagnosen", "medikation", "eingriffe", "procedere")
LOOSE = ("institution", "abteilung", "name", "fragestellung", "strasse", "telefon")
"""Endings of paths whose values may differ from the annotation in a few words."""
SAME_F1, CONTAINED = 0.8, 0.6
"""Two wordings are alike from this F1 of their words on, or where one holds the other with this share of the longer."""
SINGLE, ENTRIES = "all single values", "all lists"


@dataclass
class Count:
    """Right, wrong and missing values of one field."""

    right: int = 0
    wrong: int = 0
    missing: int = 0

    def plus(self, other: Count) -> Count:
        return Count(self.right + other.right, self.wrong + other.wrong, self.missing + other.missing)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missing) if self.right + self.missing else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


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
    """Counts by field, every fault, and what grounding removed."""

    fields: dict[str, Count] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    removed: list[tuple[str, FieldState]] = field(default_factory=list)
    """(letter, path with its value) of everything that grounding took away."""

    def of(self, path: str) -> Count:
        return self.fields.setdefault(path, Count())

    def totals(self) -> dict[str, Count]:
        sums = {SINGLE: Count(), ENTRIES: Count()}
        for path, count in self.fields.items():
            name = ENTRIES if path in LISTS else SINGLE
            sums[name] = sums[name].plus(count)
        return sums


def normal(value: object) -> str:
    """Words alone, in lower case."""
    return " ".join(re.sub(r"[^\wäöüß]+", " ", str(value).casefold()).split())


def alike(one: object, other: object) -> bool:
    """Whether two wordings say the same but for a few words."""
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


def compared(report: FieldCounts, row: Mapping[str, Any], got: Mapping[str, Any]) -> None:
    """Count one letter: `row` is its annotation, `got` the fields that were extracted."""
    accepted = row.get("accept") or {}
    have = dict(single_values(got))
    for path, want in single_values(row["data"]):
        variants = accepted.get(path) or []
        variants = variants if isinstance(variants, list) else [variants]
        _single(report, (row["id"], path), have.get(path), [want, *variants])
    for path in LISTS:
        if path in row["data"]:
            optional = [
                text
                for key, value in accepted.items()
                if re.split(r"[.\[]", key)[0] == path and not key.endswith(".datum")
                for text in entries(value if isinstance(value, list) else [value])
                if text
            ]
            _list(report, (row["id"], path), entries(got.get(path)), (entries(row["data"][path]), optional))


def _single(report: FieldCounts, where: tuple[str, str], have: Any, good: Sequence[Any]) -> None:
    count, want = report.of(where[1]), good[0]
    wanted = want is not None and None not in good[1:]
    if have is None:
        count.missing += wanted
    elif any(
        one is not None and (normal(one) == normal(have) or (where[1].endswith(LOOSE) and alike(one, have)))
        for one in good
    ):
        count.right += 1
        return
    else:
        count.wrong += 1
        count.missing += wanted
    if have is not None or wanted:
        report.faults.append(Fault(*where, have, want))


def _list(report: FieldCounts, where: tuple[str, str], have: list[str], good: tuple[list[str], list[str]]) -> None:
    want, optional = good
    count, left = report.of(where[1]), list(want)
    for one in have:
        match = next((other for other in left if alike(other, one)), None)
        if match is not None:
            left.remove(match)
            count.right += 1
        elif not any(alike(other, one) for other in optional) and not (normal(one) and _part(one, want)):
            count.wrong += 1
            report.faults.append(Fault(*where, one, None))
    for one in left:
        instead = [other for other in optional if _part(other, [one])]
        if not any(alike(other, given) for other in instead for given in have):
            count.missing += 1
            report.faults.append(Fault(*where, None, one))


def _part(one: str, others: Sequence[str]) -> bool:
    return any(normal(one) in normal(other) or normal(other) in normal(one) for other in others)


def answers(requests: Sequence[ExtractRequest], model: LanguageModel) -> list[ExtractResponse]:
    """The answers in order. In a thread of its own: a notebook's event loop runs already."""

    def work() -> list[ExtractResponse]:
        with asyncio.Runner() as runner:
            return [runner.run(extract(request, model)) for request in requests]

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def letters_of(file: Path, texts: Path, explain: bool = False) -> dict[str, tuple[dict[str, Any], ExtractRequest]]:
    """(annotation, request) of each letter by its id. Raises OSError where a text is missing."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return {
        row["id"]: (
            row,
            ExtractRequest(
                document_type=row["document_type"],
                text=(texts / f"{row['id']}.txt").read_text("utf-8")[:TEXT_MAX],
                evidence=explain,
            ),
        )
        for row in rows
    }


def measured(file: Path, texts: Path, model: LanguageModel | None = None, given: Path | None = None) -> FieldCounts:
    """Every letter of the file through extraction with the model (the embedded reader without one); with `given`, those
    alone that have an answer in that folder. Raises OSError where a text is missing, BefundError of the model.
    """
    letters = letters_of(file, texts, explain=given is not None)
    if given is not None:
        letters = {name: letters[name] for name in replayed.answered(letters, given)}
        model = replayed.replayed({name: request for name, (_, request) in letters.items()}, given)
    report = FieldCounts()
    said = answers([request for _, request in letters.values()], model or RehearsalModel())
    for (row, _), answer in zip(letters.values(), said, strict=True):
        report.milliseconds.append(answer.processing_time_ms)
        report.removed += [(row["id"], one) for one in answer.states or () if one.value is not None]
        compared(report, row, answer.data.model_dump())
    return report


def generated(letters: Sequence[Letter], model: LanguageModel) -> FieldCounts:
    """The same counts for generated letters, each named by its layout."""
    report = FieldCounts()
    kinds = [ExtractRequest.model_validate({"document_type": one.document_type, "text": one.text}) for one in letters]
    for letter, answer in zip(letters, answers(kinds, model), strict=True):
        row = {"id": letter.layout, "data": _whole(type(answer.data)(), letter.truth)}
        compared(report, row, answer.data.model_dump())
    return report


def _whole(empty: Document, truth: Mapping[str, Any]) -> dict[str, Any]:
    """The truth with null for everything that it does not name."""
    data = empty.model_dump()
    for key, value in truth.items():
        data[key] = {**data[key], **value} if isinstance(value, Mapping) else value
    return data


def shown(report: FieldCounts, faults: bool) -> str:
    """The report as lines for a person."""
    lines = [f"{'field':30} precision recall    F1   right wrong missing"]
    for path, one in {**report.fields, **report.totals()}.items():
        figures = f"{one.precision:9.3f} {one.recall:6.3f} {one.f1:5.3f}  {one.right:6} {one.wrong:5} {one.missing:7}"
        lines.append(f"{path:30} {figures}")
    causes = Counter(fault.cause for fault in report.faults)
    lines.append("faults: " + ", ".join(f"{cause} {count}" for cause, count in causes.most_common()))
    if faults:
        lines += [f"{f.letter} | {f.path} | {f.cause} | got {f.got!r} | want {f.want!r}" for f in report.faults]
        lines += [
            f"{letter} | {one.path} | {one.state} | {one.value!r} {one.words or ''}" for letter, one in report.removed
        ]
    return "\n".join(lines)


def reviewed(file: Path, texts: Path) -> str:
    """What the role check says of exchanged and of true values, alone and with the second reader of a served answer."""
    rows = [
        AnsweredLetter(asked.text, DOCUMENTS[asked.document_type], row["data"])
        for row, asked in letters_of(file, texts).values()
    ]
    lines = []
    for name, second in (("role check alone", None), ("as served, with the embedded reader", second_opinion)):
        found = wrong_fields.measured(rows, second=second)
        named, alarms = found["named"] / found["wrong"], found["false_alarms"] / found["true"]
        lines.append(
            f"{name}: {found['named']} of {found['wrong']} exchanged values named ({named:.1%}), "
            f"{found['false_alarms']} of {found['true']} true ones ({alarms:.1%})"
        )
    return "\n".join(lines)


@click.command(help=paragraphs(__doc__))
@click.argument("file", type=PATH)
@click.argument("texts", type=PATH)
@click.option("--faults", is_flag=True, help="also every value that is not right, and every one removed")
@click.option("--json", "as_json", is_flag=True, help="the counts as JSON")
@click.option("--review", is_flag=True, help="measure the review of values in the wrong field instead")
@click.option("--write-prompts", "prompts", type=PATH, help="write <id>.prompt.txt into this folder, measure nothing")
@click.option("--answers", "given", type=PATH, help="measure the <id>.answer.json of this folder")
def command(
    file: Path, texts: Path, faults: bool, as_json: bool, review: bool, prompts: Path | None, given: Path | None
) -> None:
    """Measure the annotated letters of FILE, one JSON object a line; TEXTS is the folder of <id>.txt."""
    if prompts is not None:
        asked = {name: request for name, (_, request) in letters_of(file, texts).items()}
        replayed.write_prompts(asked, prompts)
        print(f"{len(asked)} prompts written to {prompts}")
        return
    if review:
        print(reviewed(file, texts))
        return
    settings = Settings.read()
    model = model_of(settings) if settings.llm_base_url else None
    report = measured(file, texts, model, given)
    counts = {path: vars(one) | {"f1": one.f1} for path, one in {**report.fields, **report.totals()}.items()}
    print(json.dumps(counts, ensure_ascii=False, indent=1) if as_json else shown(report, faults))


main = main_of(command, "letters")
