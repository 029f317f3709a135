"""Grounding measured: labelled negatives that pass and positives that are lost, and one invented word in a true value.

Negatives and positives are about generated letters. One plain word that no letter says is put inside true values of
letters; names and dates of letters by others are judged against their own letter and against another.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from clinical.contract import DocumentType
from clinical.letters import DOCUMENTS, judge
from clinical.listed import read_listed
from clinical.progress import progress
from clinical.text import parse_date
from clinical.thresholds import GroundingThresholds
from evals.letters.fields import Asked
from evals.letters.generator import Letter
from evals.letters.negatives import NEGATIVES, answer_of, is_kept, negatives, passes, stands_in, values_of
from evals.letters.positives import POSITIVES, removed_positives
from evals.measures.intervals import share
from evals.measures.results import Row, row

MEASURES: dict[str, tuple[str, ...]] = {"lies_kept": tuple(NEGATIVES), "truths_removed": tuple(POSITIVES)}


class LabelledClass(NamedTuple):
    """The values of a class that were judged wrongly: negatives that pass, positives that are removed."""

    measure: str
    kind: str
    wrong: int
    of: int


def labelled(
    made: Sequence[Letter], tries: int, seed: int, thresholds: GroundingThresholds | None = None
) -> Iterator[LabelledClass]:
    """Every class of negatives, `tries` of each, and of positives: all true values of the letters written otherwise."""
    kinds = [(measure, kind) for measure, every in MEASURES.items() for kind in every]
    for measure, kind in progress(kinds, "negatives and positives", "classes"):
        if measure == "lies_kept":
            tried = [passes(one, thresholds) for one in negatives(kind, list(made), tries, seed)]
            yield LabelledClass(measure, kind, sum(tried), len(tried))
        else:
            total, removed = removed_positives(kind, list(made), thresholds)
            yield LabelledClass(measure, kind, len(removed), total)


def labelled_rows(found: Iterable[LabelledClass]) -> list[Row]:
    """A row for each class."""
    return [each for one in found for each in row(one.measure, one.kind, one.of, share(one.wrong, one.of))]


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
