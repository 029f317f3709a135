"""python -m evals compare A.json B.json: what changed from A to B, on the same queries, and which queries flipped.

A and B are results of `evals coding --out`. Each measure: before, after, the difference with its 95 % interval, and p,
the chance of so large a difference if nothing had changed (exact McNemar test, paired bootstrap). Then precision and
coverage of `high` and `medium` and the calibration error, over all and by kind of input, with intervals that draw
whole categories. A dozen measures are tested at once: a single p just under 0.05 is no news. Flips are listed by
their codes, and by their text if both results were made with `--keep-texts`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from clinical.command_line import PATH, paragraphs
from evals.command import main_of
from evals.reports.paired import Pair, PairedDifference, Record, changes, flips, label_changes, pairs_of
from evals.reports.results import read_result

SHOWN = 20
"""Flips printed of each kind unless `--flips` says otherwise."""
CONTEXT = ("dataset", "variant", "manifest", "encoder", "target", "tier", "model", "prompts", "code", "seed")


@click.command(help=paragraphs(__doc__))
@click.argument("before", type=PATH, metavar="A.json")
@click.argument("after", type=PATH, metavar="B.json")
@click.option("--flips", type=int, default=SHOWN, help=f"flips listed of each kind ({SHOWN})")
@click.option("--json", "as_json", is_flag=True, help="print JSON, with all flips")
def command(before: Path, after: Path, flips: int, as_json: bool) -> None:
    """Print the comparison."""
    first, second = read_result(before), read_result(after)
    found = comparison(first, second, pairs_of(first, second, (before.name, after.name)))
    print(json.dumps(found) if as_json else shown(found, flips))


main = main_of(command, "compare")


def comparison(first: dict[str, Any], second: dict[str, Any], pairs: Sequence[Pair]) -> dict[str, Any]:
    """Everything that is printed: n, failed, what was measured differently, changes, flips of top-1 and top-10."""
    flipped = {name: flips(pairs, name) for name in ("top_1", "top_10")}
    return {
        "n": len(pairs),
        "failed": [sum(bool(row.get("failed")) for row in rows) for rows in zip(*pairs, strict=True)],
        "context": {key: [first.get(key), second.get(key)] for key in CONTEXT if first.get(key) != second.get(key)},
        "changes": [asdict(change) for change in changes(pairs)],
        "labels": [asdict(change) for change in label_changes(pairs)],
        "flips": {
            name: {kind: [_flip(pair) for pair in rows] for kind, rows in zip(("won", "lost"), both, strict=True)}
            for name, both in flipped.items()
        },
    }


def _flip(pair: Pair) -> dict[str, Any]:
    before, after = pair
    text = {"text": before["text"]} if "text" in before and "text" in after else {}
    return {"id": before["id"], **text, "codes": before["codes"], "before": _said(before), "after": _said(after)}


def _said(row: Record) -> dict[str, Any]:
    return {key: row.get(key) for key in ("first", "confidence", "rank")}


def shown(found: dict[str, Any], most: int) -> str:
    """The comparison as text."""
    lines = [f"{found['n']} queries in both; failed {found['failed'][0]} before, {found['failed'][1]} after"]
    lines += [f"  {key}: {_brief(before)} -> {_brief(after)}" for key, (before, after) in found["context"].items()]
    if not found["context"]:
        lines.append("  measured in the same way on the same artifact")
    lines.append(f"{'':24}before  after   difference (95 %)              p        won  lost")
    lines += [line_of(PairedDifference(**row)) for row in found["changes"]]
    lines += ["labels, whole categories drawn:"] * bool(found["labels"])
    lines += [line_of(PairedDifference(**row)) for row in found["labels"]]
    for name, both in found["flips"].items():
        for kind, rows in both.items():
            lines.append(f"{name} {kind}: {len(rows)}" + (f", the first {most}" if len(rows) > most else ""))
            lines += [_flip_line(row) for row in rows[:most]]
    return "\n".join(lines)


def line_of(change: PairedDifference) -> str:
    """One measure as one line."""
    value, low, high = change.difference
    flipped = f"  {change.won:4}  {change.lost:4}" if change.won is not None else ""
    verdict = "" if not change.real else "  better" if change.better > 0 else "  WORSE"
    return (
        f"{change.name:24}{change.before:.3f}   {change.after:.3f}   {value:+.4f} ({low:+.4f} to {high:+.4f})"
        f"  {_chance(change.p)}{flipped}{verdict}"
    )


def _chance(p: float) -> str:
    return f"{p:7.4f}" if p >= 0.0001 else "<0.0001"


def _flip_line(row: dict[str, Any]) -> str:
    def code(said: dict[str, Any]) -> str:
        return f"{said['first'] or 'nothing'} ({said['confidence'] or '-'}, rank {said['rank'] or '-'})"

    return (
        f"  {row['id']}  {'/'.join(row['codes'])}: {code(row['before'])} -> {code(row['after'])}  {row.get('text', '')}"
    )


def _brief(said: Any) -> str:
    if isinstance(said, dict):
        return " ".join(str(part)[:12] for part in said.values() if part not in (None, False))
    return str(said)[:40]
