"""Misses as one HTML page, complete in itself: each text with its mentions drawn, filtered by cause and code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
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
    counted = table["error"].value_counts().items() if "error" in table else ()
    html = environment.get_template(TEMPLATE).render(
        title=title,
        rows=rows,
        causes=list(causes),
        errors=list(counted),
        claims=get_args(Assertion),
    )
    target = Path(path).expanduser()
    write_text(target, html)
    return target


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """The row of one error for the page."""
    found = row["found"] if isinstance(row["found"], str) else None
    sure = "" if pd.isna(row["probability"]) else f"{row['probability']:.2f}"
    said = f"{row['confidence'] or ''} {sure}" if found else ""
    codes = [*row["right"], *([found] if found else [])]
    rank = None if pd.isna(row["rank"]) else row["rank"]
    known = {"found": found, "said": said, "codes": codes, "rank": rank, "why": CAUSES[row["cause"]]}
    of_statement = {"error": "", "words": "", "rests_on": None, "claims": ""}
    if isinstance(row.get("error"), str):
        claims = [name for name in (row["said"], row["read"]) if isinstance(name, str)]
        of_statement = {"error": row["error"], "words": row["words"]}
        of_statement["rests_on"] = row["rests_on"] if isinstance(row["rests_on"], str) else None
        of_statement["claims"] = " read as ".join(dict.fromkeys(claims))
    span: tuple[int, int] = row["span"] if isinstance(row.get("span"), tuple) else (0, 0)
    return row | known | of_statement | {"pieces": list(_pieces(row["text"], row["mentions"], span))}


def _pieces(text: str, mentions: Sequence[Mentioned], span: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """The text cut at its mentions and at the words in question; `claim` empty: no mention; `asked`: these words."""
    marks: list[tuple[int, int, str, Sequence[str]]] = []
    for one in sorted(mentions, key=lambda mention: mention.start):
        if not marks or one.start >= marks[-1][1]:  # else inside the one before
            claim = one.claim if one.codes or one.claim == "excluded" else "none"
            marks.append((one.start, one.end, claim, one.codes))
    cuts = sorted({0, len(text), *span, *(place for mark in marks for place in mark[:2])})
    for start, end in pairwise(cuts):
        own = next((mark for mark in marks if mark[0] <= start and end <= mark[1]), None)
        codes = own[3] if own and own[1] == end else ()
        asked = span[0] <= start and end <= span[1]
        yield {"text": text[start:end], "claim": own[2] if own else "", "codes": codes, "asked": asked}
