"""Judges of evidence: negatives that pass and positives that are lost, under our rules, others, and your own program.

The same negatives and positives about generated letters for every judge: the contract's rule as it is worded, an
overlap of 60 % alone, this project's, and any program that reads one JSON object a line (`id`, `text`, `path`,
`value`) on its standard input and writes `{"id": ..., "kept": true|false}` for each. Then one plain word that no
letter says, inside a true value, and names and dates of letters by others against their own letter and against
another.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from clinical.contract import DocumentType
from clinical.errors import SettingError
from clinical.letters import DOCUMENTS, judge
from clinical.listed import read_listed
from clinical.text import parse_date
from evals.letters.fields import Asked
from evals.letters.generator import letters
from evals.letters.negatives import NEGATIVES, answer_of, is_kept, negatives, squashed, stands_in, values_of
from evals.letters.positives import POSITIVES
from evals.letters.traps import KEYWORDS
from evals.measures.intervals import share
from evals.measures.results import Row, row

OVERLAP = 0.6
"""The contract, section 4, grounding rule 3."""
MINUTES = 30
"""Time limit of a peer, in minutes."""


class EvidenceCase(NamedTuple):
    """A value and a text; `true`: the text says it."""

    kind: str
    true: bool
    text: str
    path: str
    value: str
    surname: str | None


Judge = Callable[[Sequence[EvidenceCase]], list[bool]]


def cases(letter_count: int, tries: int, seed: int) -> list[EvidenceCase]:
    """Negatives of every class, and of the same letters written otherwise every true value."""
    made = letters(letter_count, seed)
    found = [
        EvidenceCase(kind, False, one.text, one.path, one.value, one.surname)
        for kind in NEGATIVES
        for one in negatives(kind, made, tries, seed)
    ]
    for kind, written in POSITIVES.items():
        for letter in made[: max(1, tries // 10)]:
            name = letter.truth["patient"]["nachname"]
            found += [
                EvidenceCase(kind, True, written(letter), path, value, name) for path, value in values_of(letter.truth)
            ]
    return found


def ours(asked: Sequence[EvidenceCase]) -> list[bool]:
    """This project's grounding."""
    return [_kept(one) for one in asked]


def _kept(case: EvidenceCase) -> bool:
    return is_kept(case.path, judge(answer_of(case.path, case.value, case.surname), case.text))


def overlap_alone(asked: Sequence[EvidenceCase]) -> list[bool]:
    """At least 60 % of the value's words stand somewhere in the text."""
    return [_overlaps(one.value, one.text) for one in asked]


def _overlaps(value: str, text: str) -> bool:
    words, known = squashed(value).split(), set(squashed(text).split())
    return bool(words) and sum(word in known for word in words) >= OVERLAP * len(words)


def as_worded(asked: Sequence[EvidenceCase]) -> list[bool]:
    """The contract's rule, word for word: dates in common notations, numbers by digit sequence, lists by keyword, free
    text by substring or 60 % token overlap."""
    return [_as_worded(one) for one in asked]


def _as_worded(case: EvidenceCase) -> bool:
    if case.path in KEYWORDS:
        return re.search(KEYWORDS[case.path][case.value], case.text, re.IGNORECASE) is not None
    if case.path.endswith("datum"):
        day = parse_date(case.value)
        number = rf"0?{int(day[8:])}\.\s?0?{int(day[5:7])}\.\s?(?:{day[:4]}|{day[2:4]})" if day else r"(?!)"
        return re.search(number, case.text) is not None or bool(day and day in case.text)
    if case.path.endswith(("plz", "telefon", "nummer")):
        return re.sub(r"\D", "", case.value) in re.sub(r"\D", "", case.text)
    return squashed(case.value) in squashed(case.text) or _overlaps(case.value, case.text)


def peer(command: str) -> Judge:
    """A judge that is another program. Raises SettingError where it fails or does not answer every case."""

    def judged(asked: Sequence[EvidenceCase]) -> list[bool]:
        lines = [
            json.dumps({"id": number, "text": one.text, "path": one.path, "value": one.value}, ensure_ascii=False)
            for number, one in enumerate(asked)
        ]
        done = subprocess.run(
            shlex.split(command), input="\n".join(lines) + "\n", capture_output=True, text=True,
            timeout=60 * MINUTES, check=False,
        )  # fmt: skip
        answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        kept = {int(one["id"]): bool(one["kept"]) for one in answers}
        if done.returncode or len(kept) != len(asked):
            found = f"{command!r} ended with {done.returncode} and {len(kept)} of {len(asked)} answers"
            raise SettingError(found, "one JSON object with id and kept for every line read", done.stderr[-300:] or "-")
        return [kept[number] for number in range(len(asked))]

    return judged


def judged_rows(judges: Mapping[str, Judge], asked: Sequence[EvidenceCase]) -> list[Row]:
    """By judge: negatives kept and positives lost, over all and by class."""
    found: list[Row] = []
    for name, judge_all in judges.items():
        wrong = [kept != case.true for case, kept in zip(asked, judge_all(asked), strict=True)]
        for measure, true in (("lies_kept", False), ("truths_lost", True)):
            own = [(case.kind, fault) for case, fault in zip(asked, wrong, strict=True) if case.true is true]
            found += row(measure, name, len(own), share(sum(fault for _, fault in own), len(own)))
            for kind in dict.fromkeys(kind for kind, _ in own):
                faults = [fault for each, fault in own if each == kind]
                found += row(measure, f"{name}, {kind}", len(faults), share(sum(faults), len(faults)))
    return found


# --- one invented word ----------------------------------------------------------------------------------------------


_PLAIN = """
traumatischer metastasierter rupturierter septischer hämorrhagischer toxischer eitriger verkalkter gutartiger
angeborener schmerzhafter unklarer familiärer allergischer nekrotischer seltener kindlicher beruflicher
Schlagader Milz Impfung Narbe Perforation Blutung Bestrahlung Zwilling Fremdkörper Lymphknoten Schwangerschaft
Vergiftung Verbrennung Transplantat Lähmung Abszess verblutet gestürzt ertrunken transplantiert amputiert
erbrochen mehrmals heimlich gestern vermutlich
"""
PLAIN = tuple(_PLAIN.split())
"""Words that make a value another one; those that a letter says itself are not used in it."""
FREE = ("diagnosen", "eingriffe.bezeichnung", "procedere", "fragestellung", "medikation")


@dataclass
class Judged:
    """Counts of kept values with an invented word and of removed true values, each with its (field, value) pairs."""

    invented: int = 0
    kept: list[tuple[str, str]] = field(default_factory=list)
    true: int = 0
    removed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def share_kept(self) -> float:
        return len(self.kept) / self.invented if self.invented else 0.0

    @property
    def share_removed(self) -> float:
        return len(self.removed) / self.true if self.true else 0.0


def invented_words(letters: Iterable[Asked], seed: int = 0) -> Judged:
    """Every value of free text and of drugs as it is, and with one invented word inside."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    found = Judged()
    for letter in letters:
        kind, text, truth = letter.request.document_type, letter.request.text, letter.data
        said = text.casefold()
        words = [one for one in PLAIN if one.casefold()[:5] not in said]
        surname = (truth.get("patient") or {}).get("nachname")
        for path, value in values_of(truth):
            if path not in FREE:
                continue
            found.true += 1
            if not _is_kept(kind, text, path, value, surname):
                found.removed.append((path, value))
            elif (negative := _with_one(chance, value, words)) is not None:
                found.invented += 1
                if _is_kept(kind, text, path, negative, surname):
                    found.kept.append((path, negative))
    return found


def _with_one(chance: random.Random, value: str, words: list[str]) -> str | None:
    parts = value.split()
    if len(parts) < 2 or not words:
        return None
    at = chance.randrange(1, len(parts))
    return " ".join([*parts[:at], chance.choice(words), *parts[at:]])


def _is_kept(kind: DocumentType, text: str, path: str, value: str, surname: str | None) -> bool:
    return is_kept(path, judge(answer_of(path, value, surname), text, document=DOCUMENTS[kind]))


# --- letters by others ----------------------------------------------------------------------------------------------


def foreign_letters(folder: Path) -> dict[str, Any]:
    """GraSCCo (Modersohn et al. 2022): names and full dates of each letter against it, and against another letter.
    `folder` holds `grascco_phi.jsonl` and `grascco/`."""
    rows = [json.loads(line) for line in (folder / "grascco_phi.jsonl").read_text("utf-8").splitlines()]
    texts = {row["doc"]: read_listed(folder / "grascco", f"{row['doc']}.txt") for row in rows}
    values = {row["doc"]: sorted(set(_stated(row["phi"]))) for row in rows}
    result: dict[str, Any] = {}
    for kind in ("name", "date"):
        kept = [(_keeps(texts[doc], *one), one) for doc, stated in values.items() for one in stated if one[0] == kind]
        swapped = list(_swapped(values, texts, kind))
        result[kind] = {
            "true": len(kept),
            "kept": sum(ok for ok, _ in kept),
            "swapped": len(swapped),
            "swapped_removed": sum(not _keeps(text, *one) for text, one in swapped),
        }
    return result


def _stated(spans: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Names of patients and doctors, and dates that name a day, as a model would give them."""
    names = [("name", span["text"]) for span in spans if span["kind"] in ("NAME_PATIENT", "NAME_DOCTOR")]
    dates = [("date", day) for span in spans if span["kind"] == "DATE" and (day := parse_date(span["text"]))]
    return [one for one in names if len(one[1]) > 2] + dates


def _keeps(text: str, kind: str, value: str) -> bool:
    path = "absender.name" if kind == "name" else "eingriffe.datum"
    return all(finding.kept for finding in judge(answer_of(path, value, None), text))


def _swapped(values: dict[str, list[tuple[str, str]]], texts: dict[str, str], kind: str) -> Any:
    """Every value of every other letter that this one does not hold, by the eval's own idea of holding."""
    for doc, text in texts.items():
        days = {value for one, value in values[doc] if one == "date"}
        for other, stated in values.items():
            for one in stated if other != doc else ():
                if (one[0] == kind == "name" and not stands_in(one[1], text)) or (
                    one[0] == kind == "date" and one[1] not in days and not _day_in(one[1], text)
                ):
                    yield text, one


def _day_in(day: str, text: str) -> bool:
    """Return True when the text writes the day in a usual notation; independent of the validator's reading."""
    year, month, number = day.split("-")
    plain = rf"0?{int(number)}\.?\s?[./-]\s?0?{int(month)}\.?\s?[./ -]\s?(?:{year}|{year[2:]})"
    ranged = rf"\b0?{int(number)}\.\s?(?:0?{int(month)}\.)?\s?(?:-|–|bis|und)"
    return re.search(plain, text) is not None or re.search(ranged, text) is not None
