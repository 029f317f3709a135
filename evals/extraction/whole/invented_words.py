"""`python -m evals invented-words [FILE TEXTS]`: one plain word that no letter says, put inside a true value.

Every value of free text (diagnoses, procedures, what is to be done next, questions) and of drugs is given as it is, and
with one invented word inside: a noun, an adjective, a verb or an adverb. Counted is what grounding keeps of both. The
letters are the whole invented ones, or annotated ones of one's own (`python -m evals letters` says their form).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from clinical.command_line import PATH, paragraphs
from clinical.contract import DocumentType
from clinical.extraction import DOCUMENTS
from clinical.grounding import judge
from evals.command import main_of
from evals.extraction.annotated import letters_of
from evals.extraction.lies import answer_of, is_kept, values_of
from evals.extraction.whole.command import FILES, OPEN, whole_letters

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
    """How many values with an invented word were kept, and how many true ones removed; with what they were."""

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


def measured(letters: Iterable[tuple[DocumentType, str, dict[str, Any]]], seed: int = 0) -> Judged:
    """`letters`: (document type, text, truth in the contract's shape)."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    found = Judged()
    for kind, text, truth in letters:
        said = text.casefold()
        words = [one for one in PLAIN if one.casefold()[:5] not in said]
        surname = (truth.get("patient") or {}).get("nachname")
        for path, value in values_of(truth):
            if path not in FREE:
                continue
            found.true += 1
            if not _is_kept(kind, text, path, value, surname):
                found.removed.append((path, value))
            elif (lie := _with_one(chance, value, words)) is not None:
                found.invented += 1
                if _is_kept(kind, text, path, lie, surname):
                    found.kept.append((path, lie))
    return found


def _with_one(chance: random.Random, value: str, words: list[str]) -> str | None:
    parts = value.split()
    if len(parts) < 2 or not words:
        return None
    at = chance.randrange(1, len(parts))
    return " ".join([*parts[:at], chance.choice(words), *parts[at:]])


def _is_kept(kind: DocumentType, text: str, path: str, value: str, surname: str | None) -> bool:
    return is_kept(path, judge(answer_of(path, value, surname), text, document=DOCUMENTS[kind]))


def of_whole_letters(times: int, seed: int = 0) -> Iterator[tuple[DocumentType, str, dict[str, Any]]]:
    """The whole invented letters of every file, `times` of each template."""
    for name in FILES:
        for one in whole_letters(name, times, seed):
            truth = {key: value for key, value in one.truth.items() if value != OPEN}
            yield one.document_type, one.text, truth


@click.command(help=paragraphs(__doc__))
@click.argument("file", type=PATH, required=False)
@click.argument("texts", type=PATH, required=False)
@click.option("--times", type=click.IntRange(1), default=6, help="letters of each template")
@click.option("--seed", type=int, default=2026)
def command(file: Path | None, texts: Path | None, times: int, seed: int) -> None:
    """Measure and print."""
    if file is not None and texts is not None:
        rows = letters_of(file, texts).values()
        found = measured(((row["document_type"], asked.text, row["data"]) for row, asked in rows), seed)
    else:
        found = measured(of_whole_letters(times), seed)
    print(f"one invented word inside, kept: {len(found.kept)} of {found.invented} ({found.share_kept:.2%})")
    print(f"true values removed:            {len(found.removed)} of {found.true} ({found.share_removed:.2%})")
    for what, rows_of in (("kept", found.kept), ("removed", found.removed)):
        for path, value in rows_of:
            print(f"  {what}: {path}: {value[:140]}")


main = main_of(command, "invented-words")
