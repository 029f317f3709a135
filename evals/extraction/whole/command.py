"""`python -m evals whole-letters`: what is read of whole invented letters, by field and by template.

Every template of `evals/extraction/whole` is filled in `--times` times with other people, lists and line breaks. What
is put into a slot is the truth of its field; a title that no slot names is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bentos.embedded import RehearsalModel
from clinical.command_line import paragraphs
from clinical.contract import ExtractRequest
from clinical.llm import LanguageModel
from evals.command import main_of
from evals.extraction.annotated import FieldCounts, answers, compared, shown
from evals.extraction.letters import Letter
from evals.extraction.whole.templates import REFLOWS, reflowed, templates, written

FOLDER = Path(__file__).parent
OPEN = "?"
"""The truth of a field on which people would differ: it is not counted."""
FILES = ("letters_a", "letters_b", "referrals_a", "referrals_b")


def whole_letters(name: str, times: int, seed: int = 0) -> list[Letter]:
    """Every template of a file `times` times; the same seed always gives the same letters."""
    return [
        reflowed(written(template, 1_000 * seed + n), REFLOWS[(n + number) % len(REFLOWS)])
        for number, template in enumerate(templates(FOLDER / f"{name}.txt"))
        for n in range(times)
    ]


def measured(letters: Sequence[Letter], model: LanguageModel | None = None) -> FieldCounts:
    """Counts by field; a fault is named by its template and seed."""
    report = FieldCounts()
    asked = [ExtractRequest.model_validate({"document_type": one.document_type, "text": one.text}) for one in letters]
    for letter, answer in zip(letters, answers(asked, model or RehearsalModel()), strict=True):
        row = {"id": f"{letter.layout}#{letter.seed}", "data": _data(type(answer.data)().model_dump(), letter)}
        report.milliseconds.append(answer.processing_time_ms)
        compared(report, row, answer.data.model_dump())
    return report


def _data(empty: dict[str, Any], letter: Letter) -> dict[str, Any]:
    data = {
        key: {**empty[key], **value} if isinstance(empty[key], dict) else value
        for key, value in {**empty, **letter.truth}.items()
    }
    if "typ" not in letter.truth.get("dokument", {}):
        data["dokument"].pop("typ")
    return {key: _judged(value) for key, value in data.items() if value != OPEN}


def _judged(value: Any) -> Any:
    return {key: one for key, one in value.items() if one != OPEN} if isinstance(value, dict) else value


@click.command(help=paragraphs(__doc__))
@click.option("--times", type=click.IntRange(1), default=6, help="letters of each template")
@click.option("--seed", type=int, default=0)
@click.option("--only", type=click.Choice(FILES), multiple=True, help="these files alone")
@click.option("--faults", is_flag=True, help="also every value that is not right")
def command(times: int, seed: int, only: tuple[str, ...], faults: bool) -> None:
    """Measure and print, file by file."""
    for name in only or FILES:
        report = measured(whole_letters(name, times, seed))
        worst = Counter(one.letter.split("#")[0].split("/")[0] for one in report.faults).most_common(6)
        print(f"== {name}: {len(report.milliseconds)} letters\n{shown(report, faults)}")
        print("most faults: " + ", ".join(f"{template} {count}" for template, count in worst))


main = main_of(command, "whole-letters")
