"""Grounding measured: labelled negatives that pass and positives that are lost, and one invented word in a true value.

Negatives and positives are about generated letters. One plain word that no letter says is put inside true values of
letters.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clinical.contract import DocumentType
from clinical.letters import DOCUMENTS, judge
from clinical.progress import progress
from clinical.thresholds import GroundingThresholds
from evals.letters.fields import Asked
from evals.letters.generator import Letter
from evals.letters.negatives import NEGATIVES, answer_of, is_kept, negatives, passes, values_of
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
