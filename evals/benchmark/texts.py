"""The texts of the benchmark: everyday phrasings as they are, and lists, notes and claims made from the short ones.

Everything comes from `evals/data/everyday.tsv`, which was written for this project: no patient's words, none of the
phrasings verbatim in the starter catalog. `python -m evals benchmark --make` writes `data/texts.jsonl` and its card
again, to the byte: the draws have a fixed seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from catalog_build.files import write_json, write_text
from clinical.errors import SourceError
from clinical.icd import category
from clinical.search import checksum
from evals.data.examples import Example, read_examples

HERE: Final = Path(__file__).resolve().parent
EVERYDAY: Final = HERE.parent / "data" / "everyday.tsv"
TEXTS: Final = HERE / "data" / "texts.jsonl"
CARD: Final = HERE / "data" / "texts.card.json"
TASKS: Final = ("everyday", "lists", "notes", "claims")
SEED: Final = 2026
EACH: Final = 120
"""Texts of each made task: intervals of eight points at most, and a file of 150 kB."""
LONGEST: Final = 45
"""Characters of a phrasing that is set into a list or a sentence; a longer one is a sentence already."""
SEPARATORS: Final = (", ", "; ", " / ", "\n", "\n- ", " + ")
NOTES: Final = (
    "Patient, {age} Jahre. Bekannt: {0}. Heute {1}. Verlauf besprochen, Kontrolle in zwei Wochen.",
    "{0}. Im Übrigen beschwerdefrei, Vitalwerte unauffällig.",
    "Wiedervorstellung. {0}, außerdem {1}. Therapie fortgeführt.",
    "Anamnese: {0}; seit gestern {1}; in der Akte auch {2}. Labor abgenommen.",
    "Diagnosen:\n- {0}\n- {1}\n- {2}\nProzedere: Überweisung.",
)
CLAIMS: Final = (
    ("Kein Hinweis auf {1}. {0}.", "excluded"),
    ("{0}. Ausgeschlossen: {1}.", "excluded"),
    ("{0}; Vater: {1}.", "family"),
    ("Mutter hatte: {1}. Jetzt {0}.", "family"),
    ("{0}. Früher: {1}, folgenlos ausgeheilt.", "history"),
    ("{0}. Differentialdiagnostisch kein Anhalt für {1}.", "excluded"),
)


@dataclass(frozen=True)
class BenchmarkText:
    """One text. `right`: a set of codes for each diagnosis it states, any of the set is right; `absent`: the same for
    what it denies, leaves to the past or says of relatives."""

    id: str
    task: str
    text: str
    right: tuple[tuple[str, ...], ...]
    absent: tuple[tuple[str, ...], ...] = ()


def made() -> list[BenchmarkText]:
    """Every text, task by task."""
    phrasings = read_examples(EVERYDAY)
    short = [one for one in phrasings if "," not in one.query and len(one.query) <= LONGEST]
    chance = random.Random(SEED)  # noqa: S311 - reproducible, no secret
    found = [
        BenchmarkText(f"everyday-{n:03}", "everyday", one.query, (_codes(one),)) for n, one in enumerate(phrasings, 1)
    ]
    for task, make in (("lists", _list), ("notes", _note), ("claims", _claim)):
        found += [make(f"{task}-{number:03}", short, chance) for number in range(1, EACH + 1)]
    return found


def _list(name: str, short: Sequence[Example], chance: random.Random) -> BenchmarkText:
    chosen, separator = _apart(short, chance.randint(2, 6), chance), chance.choice(SEPARATORS)
    text = ("- " if separator == "\n- " else "") + separator.join(one.query for one in chosen)
    return BenchmarkText(name, "lists", text, tuple(map(_codes, chosen)))


def _note(name: str, short: Sequence[Example], chance: random.Random) -> BenchmarkText:
    frame = chance.choice(NOTES)
    chosen = _apart(short, sum(f"{{{place}}}" in frame for place in range(3)), chance)
    text = frame.format(*(one.query for one in chosen), age=chance.randint(18, 90))
    return BenchmarkText(name, "notes", text, tuple(map(_codes, chosen)))


def _claim(name: str, short: Sequence[Example], chance: random.Random) -> BenchmarkText:
    (frame, _), (said, denied) = chance.choice(CLAIMS), _apart(short, 2, chance)
    return BenchmarkText(name, "claims", frame.format(said.query, denied.query), (_codes(said),), (_codes(denied),))


def _apart(short: Sequence[Example], count: int, chance: random.Random) -> list[Example]:
    """Phrasings of different categories, so that no code of one is near to right for another."""
    chosen: list[Example] = []
    while len(chosen) < count:
        one = chance.choice(short)
        taken = {category(code) for other in chosen for code in other.codes}
        if not taken & {category(code) for code in one.codes}:
            chosen.append(one)
    return chosen


def _codes(example: Example) -> tuple[str, ...]:
    return tuple(sorted(example.codes))


def write(folder: Path = HERE / "data") -> None:
    """`texts.jsonl` and its card."""
    texts = made()
    lines = (json.dumps(asdict(one), ensure_ascii=False) for one in texts)
    write_text(folder / TEXTS.name, "".join(f"{line}\n" for line in lines))
    write_json(folder / CARD.name, _card(texts, checksum(folder / TEXTS.name)))


def _card(texts: Sequence[BenchmarkText], digest: str) -> dict[str, Any]:
    return {
        "name": "befund-benchmark",
        "version": "1",
        "source": "made by evals/benchmark/texts.py from evals/data/everyday.tsv, which was written for this project; "
        "no patient's words, nothing taken from a text of others",
        "licence": "as the project; codes are those of ICD-10-GM (BfArM)",
        "about": "everyday German phrasings of diagnoses, and lists, notes and claims (denied, past, of relatives) "
        "made of them, each with its ICD-10-GM codes; all codes are in the starter catalog",
        "rows": len(texts),
        "tasks": {task: sum(one.task == task for one in texts) for task in TASKS},
        "sha256": digest,
        "faults": [
            "written by people who know the classification: easier than what practices type",
            "lists, notes and claims are made by a program: they know only the forms that its author thought of",
            "where a phrasing leaves the last digit open, all codes that fit count as right",
        ],
    }


def read(path: Path = TEXTS) -> list[BenchmarkText]:
    """The texts of the file. Raises SourceError where it is not the one of its card."""
    card = json.loads(path.with_suffix(".card.json").read_text("utf-8"))
    if checksum(path) != card["sha256"]:
        raise SourceError(path.name, None, "is not the file of its card", "the benchmark as published", "--make")
    return list(_lines(path))


def _lines(path: Path) -> Iterator[BenchmarkText]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        pairs = {name: tuple(map(tuple, row[name])) for name in ("right", "absent")}
        yield BenchmarkText(**row | pairs)
