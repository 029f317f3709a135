"""The report on a language model: Markdown, complete in itself, every figure with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isnan
from typing import Any, Final

from bentos.check_model import CheckedPoint
from evals.letters.fields import ENTRIES, SINGLE
from evals.measures.paired import PairedDifference
from evals.measures.results import Row, code_of, code_version
from evals.measures.texts import EVERY

TIERS: Final = {
    "stated_shown": "statements shown", "shown_right": "shown codes right", "high_right": "`high` right",
    "silent": "texts without a code", "absent_shown": "denied or others' shown",
}  # fmt: skip
DRAFTS: Final = {
    "answered": "answered", "german": "German", "words": "words", "numbers_of_the_letter": "numbers that stand there",
    "diseases_of_the_letter": "diseases that stand there", "diseases_kept": "diseases kept",
}  # fmt: skip
SPEED: Final = {
    "first_token_s": "first token, mean s", "first_token_p50_s": "p50 s", "first_token_p95_s": "p95 s",
    "tokens_a_second_each": "tokens/s of one answer", "tokens_a_second": "tokens/s of all", "failed": "failed",
}  # fmt: skip
COSTS: Final = {
    "calls": "calls", "tokens_in": "tokens in", "tokens_out": "tokens out", "seconds": "seconds of the model",
    "money_of_1000": "money of 1,000",
}  # fmt: skip


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
    """The report as text. Brackets hold 95 % intervals, n is what a share is of."""
    return "\n".join([*_head(made), *_checks(made), *_tiers(made), *_letters(made), *_lies(made), *_drafts(made),
                      *_speed(made), *_costs(made)]) + "\n"  # fmt: skip


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
        yield "\n## What the server can do\n"
        rows = [[each.check, each.verdict, each.found, each.remedy] for each in made.checks]
        yield from table(("check", "", "found", "what to do"), rows)


def _tiers(made: ModelReport) -> Iterator[str]:
    rows = made.rows.get("tiers")
    if not rows:
        return
    yield "\n## Coding: tiers 2 and 3 beside tier 1, which needs no model\n"
    names = [name.removesuffix(f": {EVERY}") for name in _sets(rows) if name.endswith(f": {EVERY}")]
    lines = [[name, *(_cell(rows, measure, f"{name}: {EVERY}") for measure in TIERS),
              _cell(rows, "offered", name), _cell(rows, "failed", f"{name}: {EVERY}")] for name in names]  # fmt: skip
    yield from table(("texts", *TIERS.values(), "right codes on offer", "failed"), lines)
    yield "\nIn pairs with tier 1, on the texts that failed in neither:\n"
    lines = [[name, TIERS[one.name], f"{one.before:.3f}", f"{one.after:.3f}",
              "{:+.3f} ({:+.3f} to {:+.3f})".format(*one.difference), f"{one.p:.3f}", _verdict(one)]
             for name, own in made.changes.items() for one in own if one.name in TIERS]  # fmt: skip
    yield from table(("texts", "measure", "tier 1", "here", "difference", "p", ""), lines)
    yield "\nBy class of text: `result.json`. With another model: `python -m evals compare` on both `tiers-*.json`."


def _verdict(one: PairedDifference) -> str:
    if not one.real:
        return "within chance"
    return "better" if one.better > 0 else "**worse**"


def _letters(made: ModelReport) -> Iterator[str]:
    rows = made.rows.get("extraction")
    if not rows:
        return
    yield "\n## Letters: fields read right\n"
    names = list(dict.fromkeys(name.rpartition(": ")[0] for name in _sets(rows) if name.endswith(f": {SINGLE}")))
    lines = [[name, _cell(rows, "f1", f"{name}: {SINGLE}"), _cell(rows, "precision", f"{name}: {SINGLE}"),
              _cell(rows, "f1", f"{name}: {ENTRIES}"), _cell(rows, "removed_by_grounding", name),
              _cell(rows, "failed", f"{name}: {SINGLE}")] for name in names]  # fmt: skip
    yield from table(("letters", "single values, F1", "their precision", "lists, F1", "told and removed by grounding",
                      "failed"), lines)  # fmt: skip
    yield "\nThe rules have been written beside these letters and are better here than on unread ones; a model is not."


def _lies(made: ModelReport) -> Iterator[str]:
    rows = made.rows.get("lies")
    if not rows:
        return
    yield "\n## The lie set: letters that tempt to state what they do not say\n"
    kinds = list(dict.fromkeys(name.partition(": ")[2] for name in _sets(rows)))
    columns = (("lies_told", "model"), ("lies_passed", "model"), ("lies_passed", "rules"))
    lines = [[kind, *(_cell(rows, name, f"{who}: {kind}") for name, who in columns)] for kind in kinds]
    yield from table(("class", "told by the model", "came out behind grounding", "the rules alone"), lines)


def _drafts(made: ModelReport) -> Iterator[str]:
    rows = made.rows.get("generation")
    if rows:
        yield "\n## Drafts\n"
        lines = [[name, *(_cell(rows, measure, name) for measure in DRAFTS)] for name in _sets(rows)]
        yield from table(("instruction", *DRAFTS.values()), lines)
        yield "\nSigns, no judgement: the drafts lie in `drafts/`, to be read."


def _speed(made: ModelReport) -> Iterator[str]:
    rows = made.rows.get("speed")
    if rows:
        yield "\n## Speed: streamed drafts of letters\n"
        lines = [[name, *(_cell(rows, measure, name) for measure in SPEED)] for name in _sets(rows)]
        yield from table(("answers", *SPEED.values()), lines)


def _costs(made: ModelReport) -> Iterator[str]:
    if not made.costs:
        return
    yield "\n## Cost of one text\n"
    lines = [[name, *(_cell(made.costs, measure, name) for measure in COSTS)] for name in _sets(made.costs)]
    yield from table(("texts", *COSTS.values()), lines)
    price = made.about["price"]
    if not any(each.value for each in made.costs if each.measure == "tokens_in"):
        yield "\nThe server counts no tokens: there is no cost to tell."
    elif any(price):
        yield f"\nAt {price[0]:g} for a million tokens in and {price[1]:g} out, as the server counts them, repairs too."
    else:
        yield "\nTokens as the server counts them, repairs too; `--price IN OUT` tells money."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for cells in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _sets(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(each.set for each in rows))


def _cell(rows: Sequence[Row], measure: str, of: str) -> str:
    """Value, interval and n of a figure; a dash where there is none."""
    one = next((each for each in rows if (each.measure, each.set) == (measure, of)), None)
    if one is None or isnan(one.value):
        return "-"
    value = f"{one.value:.3g}" if one.value < 1_000 else f"{one.value:,.0f}"
    if isnan(one.low):
        return value
    return f"{value} ({one.low:.3g} to {one.high:.3g}; n {one.n:,})"
