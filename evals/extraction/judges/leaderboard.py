"""`python -m evals grounding`: what passes and what is lost under different rules, and under a judge of your own.

The same lies and truths about generated letters for every judge: the contract's rule as it is worded, an overlap of
60 % alone, this project's, and with `--peer COMMAND` any program that reads one JSON object a line (`id`, `text`,
`path`, `value`) on its standard input and writes `{"id": ..., "kept": true|false}` for each.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from clinical.command_line import paragraphs
from clinical.errors import SettingError
from clinical.extraction import DOCUMENTS
from clinical.grounding import judge
from clinical.language import parse_date
from evals.command import JSON, main_of
from evals.extraction.judges.wrong_fields import AnsweredLetter, measured
from evals.extraction.letters import letters
from evals.extraction.lies import LIES, answer_of, is_kept, lies, squashed, values_of
from evals.extraction.lies_of_lists import KEYWORDS
from evals.extraction.truths import TRUTHS

OVERLAP = 0.6
"""The contract, section 4, grounding rule 3."""
MINUTES = 30
"""How long a peer may take."""


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
    """Lies of every class, and of the same letters written otherwise every true value."""
    made = letters(letter_count, seed)
    found = [
        EvidenceCase(kind, False, one.text, one.path, one.value, one.surname)
        for kind in LIES
        for one in lies(kind, made, tries, seed)
    ]
    for kind, written in TRUTHS.items():
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


def table(judges: dict[str, Judge], asked: Sequence[EvidenceCase]) -> dict[str, Any]:
    """By judge: lies kept by class, and truths lost by way of writing, each [count, of]."""
    found: dict[str, Any] = {}
    for name, judged in judges.items():
        rows: dict[str, list[int]] = {}
        for case, kept in zip(asked, judged(asked), strict=True):
            row = rows.setdefault(case.kind, [0, 0])
            row[0] += kept != case.true
            row[1] += 1
        lied = [row for kind, row in rows.items() if kind in LIES]
        told = [row for kind, row in rows.items() if kind in TRUTHS]
        found[name] = {
            "lies_kept": [sum(column) for column in zip(*lied, strict=True)],
            "truths_lost": [sum(column) for column in zip(*told, strict=True)], "by_class": rows,
        }  # fmt: skip
    return found


def shown(found: dict[str, Any], review: dict[str, Any]) -> str:
    """The leaderboard as lines of a Markdown table."""
    lines = ["| judge | lies kept | truths lost |", "|---|---|---|"]
    for name, row in sorted(found.items(), key=lambda each: each[1]["lies_kept"][0]):
        cells = (f"{wrong} of {n} ({100 * wrong / n:.2f} %)" for wrong, n in (row["lies_kept"], row["truths_lost"]))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    named = f"{review['named']} of {review['wrong']}"
    lines.append(f"\nreview: {named} exchanged values named, {review['false_alarms']} of {review['true']} true ones")
    return "\n".join(lines)


@click.command(help=paragraphs(__doc__))
@click.option("--peer", "command_line", help="a program that judges: JSON lines in, JSON lines out")
@click.option("--tries", type=int, default=100, help="lies of each class")
@click.option("--letters", "letter_count", type=int, default=96, help="generated letters")
@click.option("--seed", type=int, default=2026)
@JSON
def command(command_line: str | None, tries: int, letter_count: int, seed: int, as_json: bool) -> None:
    """Judge lies and truths by several rules, and count."""
    judges: dict[str, Judge] = {
        "Befund": ours,
        "the contract's rule as worded": as_worded,
        "60 % overlap": overlap_alone,
    }
    if command_line:
        judges["peer"] = peer(command_line)
    found = table(judges, cases(letter_count, tries, seed))
    made = letters(letter_count, seed + 1)
    review = measured(AnsweredLetter(one.text, DOCUMENTS[one.document_type], one.truth) for one in made)
    print(json.dumps({"judges": found, "review": review}, ensure_ascii=False) if as_json else shown(found, review))


main = main_of(command, "grounding")
