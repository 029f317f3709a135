"""The report on a language model: Markdown, complete in itself, every figure with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from bentos.check_model import CheckedPoint
from evals.letters.fields import ENTRIES, SINGLE
from evals.measures.paired import PairedDifference
from evals.measures.results import Row, beside, code_of, code_version
from evals.measures.texts import EVERY
from evals.report.compare import HEAD, line_of

PARTS: Final = {
    "tiers": (
        "Coding: tiers 2 and 3 beside tier 1, which needs no model",
        "By class of text: `result.json`. With another model: `python -m evals compare` on both `tiers-*.json`.",
    ),
    "extraction": (
        "Letters: fields read right",
        "The rules have been written beside these letters and are better here than on unread ones; a model is not.",
    ),
    "lies": (
        "The lie set: letters that tempt to state what they do not say",
        "Passed is what came out behind grounding; told is what the model said before.",
    ),
    "generation": ("Drafts", "Signs, no judgement: the drafts lie in `drafts/`, to be read."),
    "speed": ("Speed: streamed drafts of letters", ""),
}
"""Heading of each part, and what is to be said below its figures."""
WHOLE: Final = (EVERY, SINGLE, ENTRIES)
"""Endings of the sets that are shown of coding and of letters: classes of text and fields are in `result.json`."""


@dataclass
class ModelReport:
    """Everything that the report says, filled part by part. `rows`: by part; `costs`: what one item of each set takes;
    `changes`: by set and tier, beside tier 1."""

    about: dict[str, Any]
    checks: list[CheckedPoint] = field(default_factory=list)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    costs: list[Row] = field(default_factory=list)
    changes: dict[str, list[PairedDifference]] = field(default_factory=dict)


def markdown(made: ModelReport) -> str:
    """The report as text."""
    parts = (line for part, rows in made.rows.items() for line in _part(part, rows, made))
    return "\n".join([*_head(made), *_checks(made), *parts, *_costs(made)]) + "\n"


def _head(made: ModelReport) -> Iterator[str]:
    about = made.about
    yield f"# {about['model']}\n"
    yield f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Befund {code_of(code_version())}, prompts {about['prompts']}, "\
          f"catalog {str(about['manifest'])[:12]}"  # fmt: skip
    asked = {name: about[name] for name in ("thinking_tokens", "extra") if about.get(name)}
    yield f"- asked with {asked or 'nothing beside the question'}, {about['concurrency']} texts at once"
    yield f"- coding on {about.get('inputs', 'the public texts of Befund')}; no text that is kept for reporting"
    if about.get("limit"):
        yield f"- **at most {about['limit']} items of each set: a first look, not a measurement**"
    failed = sum(each.value for rows in made.rows.values() for each in rows if each.measure == "failed")
    yield f"- {failed:.0f} items failed" + ("; the same command asks for these alone" if failed else "")
    yield "\nBrackets hold 95 % intervals (whole texts or authors drawn where there are several), n what a share is of."


def _checks(made: ModelReport) -> Iterator[str]:
    if made.checks:
        yield "\n## What the server can do\n\n| check | | found | what to do |\n|---|---|---|---|"
    for each in made.checks:
        cells = (each.check, each.verdict, each.found, each.remedy)
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _part(part: str, rows: Iterable[Row], made: ModelReport) -> Iterator[str]:
    heading, behind = PARTS[part]
    if part in ("tiers", "extraction"):
        rows = [one for one in rows if one.set.endswith(WHOLE) or ": " not in one.set]
    yield f"\n## {heading}\n\n```text\n{beside(rows)}\n```"
    if part == "tiers":
        yield "\nIn pairs with tier 1, on the texts that failed in neither:\n\n```text"
        for name, own in made.changes.items():
            yield "\n".join([name, HEAD, *map(line_of, own)])
        yield "```"
    if behind:
        yield f"\n{behind}"


def _costs(made: ModelReport) -> Iterator[str]:
    if not made.costs:
        return
    yield f"\n## Cost of one text\n\n```text\n{beside(made.costs)}\n```"
    price = made.about["price"]
    if not any(each.value for each in made.costs if each.measure == "tokens_in"):
        yield "\nThe server counts no tokens: there is no cost to tell."
    elif any(price):
        yield f"\nAt {price[0]:g} for a million tokens in and {price[1]:g} out, as the server counts them, repairs too."
    else:
        yield "\nTokens as the server counts them, repairs too; `--price IN OUT` tells money."
