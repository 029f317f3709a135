"""Misses as one HTML page, complete in itself: each text with its mentions drawn, filtered by cause and code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import pandas as pd
from jinja2 import Environment, PackageLoader

from catalog_build.files import write_text
from clinical.contract import Assertion
from clinical.reading import Mentioned
from evals.lab.misses import CAUSES

TEMPLATE: Final = "errors.html"


def browser(table: pd.DataFrame, path: str | Path, title: str = "Errors") -> Path:
    """Write the page of a table of `errors`, whole or filtered; returns where it lies. It holds the texts."""
    environment = Environment(loader=PackageLoader("evals.lab", "."), autoescape=True)
    rows = [_row(row) for row in table.to_dict("records")]
    causes = table["cause"].value_counts().items()
    html = environment.get_template(TEMPLATE).render(
        title=title, rows=rows, causes=list(causes), claims=get_args(Assertion)
    )
    target = Path(path).expanduser()
    write_text(target, html)
    return target


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """The row of one miss for the page."""
    found = row["found"] if isinstance(row["found"], str) else None
    sure = "" if pd.isna(row["probability"]) else f"{row['probability']:.2f}"
    said = f"{row['confidence']} {sure}" if found else ""
    codes = [*row["right"], *([found] if found else [])]
    rank = None if pd.isna(row["rank"]) else row["rank"]
    known = {"found": found, "said": said, "codes": codes, "rank": rank, "why": CAUSES[row["cause"]]}
    return row | known | {"pieces": list(_pieces(row["text"], row["mentions"]))}


def _pieces(text: str, mentions: Sequence[Mentioned]) -> Iterator[dict[str, Any]]:
    """The text cut at its mentions; `claim` empty: no mention."""
    at = 0
    for one in sorted(mentions, key=lambda mention: mention.start):
        if one.start < at:  # inside the one before
            continue
        claim = one.claim if one.codes or one.claim == "excluded" else "none"
        yield {"text": text[at : one.start], "claim": "", "codes": ()}
        yield {"text": text[one.start : one.end], "claim": claim, "codes": one.codes}
        at = one.end
    yield {"text": text[at:], "claim": "", "codes": ()}
