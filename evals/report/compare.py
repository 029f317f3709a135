"""python -m evals compare A.json B.json: what changed from A to B, on the same queries, and which queries flipped.

A and B are results of `evals coding --out`, or of `evals reading --inputs FILE --out`: statements instead of queries.
Each measure: before, after, the difference with its 95 % interval, and p, the chance of so large a difference if
nothing had changed (exact McNemar test, paired bootstrap; of statements whole texts are drawn). Then precision and
coverage of `high` and `medium` and the calibration error, over all and by kind of input, with intervals that draw
whole categories. A dozen measures are tested at once: a single p just under 0.05 is no news. Flips are listed by
their codes, and by their text if both results were made with `--keep-texts`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import pandas as pd

from clinical.command_line import PATH, paragraphs
from evals.command import main_of
from evals.measures.paired import (
    FLIPPING,
    PairedDifference,
    Pairs,
    changes,
    flips,
    label_changes,
    pairs_of,
    text_flips,
)
from evals.measures.results import MeasuredResult, read_result

SHOWN = 20
"""Flips printed of each kind unless `--flips` says otherwise."""
HEAD = f"{'':24}before  after   difference (95 %)              p        won  lost"
"""Above the lines of `line_of`."""
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


def comparison(first: MeasuredResult, second: MeasuredResult, pairs: Pairs) -> dict[str, Any]:
    """Everything that is printed: n, failed, what was measured differently, changes, flips of top-1 and top-10."""
    context = {key: [each.about.get(key) for each in (first, second)] for key in CONTEXT}
    return {
        "n": len(pairs.before),
        "failed": [int(side["failed"].sum()) for side in pairs],
        "context": {key: both for key, both in context.items() if both[0] != both[1]},
        "changes": [asdict(change) for change in changes(pairs)],
        "labels": [asdict(change) for change in label_changes(pairs)],
        "flips": _flips(pairs),
    }


def _flips(pairs: Pairs) -> dict[str, Any]:
    if pairs.of_texts:
        return {name: flipped_texts(pairs, name) for name in FLIPPING}
    return {
        name: dict(zip(("won", "lost"), map(flipped, flips(pairs, name)), strict=True)) for name in ("top_1", "top_10")
    }


def flipped_texts(pairs: Pairs, name: str) -> dict[str, list[dict[str, Any]]]:
    """Statements or wrong codes that flipped, as plain values: id and text of their text where both know it, codes."""
    texts = dict(zip(pairs.before["id"], pairs.before["text"], strict=True)) if "text" in pairs.before else {}
    found: dict[str, list[dict[str, Any]]] = {"won": [], "lost": []}
    for one in text_flips(pairs, name):
        known = {"text": texts[one.id]} if one.id in texts and "text" in pairs.after else {}
        found[one.kind].append({"id": one.id, **known, "codes": list(one.codes)})
    return found


def flipped(pairs: Pairs) -> list[dict[str, Any]]:
    """Queries that flipped, as plain values: id, text where both know it, right codes, and both first codes."""
    rows = zip(*(side.to_dict("records") for side in pairs), strict=True)
    return [
        {"id": one["id"], **_text(one, other), "codes": one["codes"], "before": _said(one), "after": _said(other)}
        for one, other in rows
    ]


def _text(one: dict[str, Any], other: dict[str, Any]) -> dict[str, str]:
    return {"text": one["text"]} if "text" in one and "text" in other else {}


def _said(row: dict[str, Any]) -> dict[str, Any]:
    rank = None if pd.isna(row["rank"]) else int(row["rank"])
    return {key: row[key] if isinstance(row[key], str) else None for key in ("first", "confidence")} | {"rank": rank}


def shown(found: dict[str, Any], most: int) -> str:
    """The comparison as text."""
    lines = [f"{found['n']} queries in both; failed {found['failed'][0]} before, {found['failed'][1]} after"]
    lines += [f"  {key}: {_brief(before)} -> {_brief(after)}" for key, (before, after) in found["context"].items()]
    if not found["context"]:
        lines.append("  measured in the same way on the same artifact")
    lines.append(HEAD)
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
    counts = f"  {change.won:4}  {change.lost:4}" if change.won is not None else ""
    verdict = "" if not change.real else "  better" if change.better > 0 else "  WORSE"
    chance = f"{change.p:7.4f}" if change.p >= 0.0001 else "<0.0001"
    return (
        f"{change.name:24}{change.before:.3f}   {change.after:.3f}   {value:+.4f} ({low:+.4f} to {high:+.4f})"
        f"  {chance}{counts}{verdict}"
    )


def _flip_line(row: dict[str, Any]) -> str:
    def code(said: dict[str, Any]) -> str:
        return f"{said['first'] or 'nothing'} ({said['confidence'] or '-'}, rank {said['rank'] or '-'})"

    codes = "/".join(row["codes"])
    if "before" not in row:
        return f"  {row['id']}  {codes}  {row.get('text', '')}"
    return f"  {row['id']}  {codes}: {code(row['before'])} -> {code(row['after'])}  {row.get('text', '')}"


def _brief(said: Any) -> str:
    if isinstance(said, dict):
        return " ".join(str(part)[:12] for part in said.values() if part not in (None, False))
    return str(said)[:40]
