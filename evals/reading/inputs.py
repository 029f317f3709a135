"""Scores written inputs with claims as they are served: recall of the stated codes, and precision of the shown ones.

The form of a line (JSON): `text`, `class`, `codes` (statements: `codes`, the first is the primary one, `also`, `claim`,
`text`), `optional` (texts of statements that need not be suggested), `absent` (what the text denies or says of others).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from catalog_build.training.authors import LabelledText, parse
from catalog_build.training.written import STATED, is_coded
from clinical.errors import SourceError
from clinical.icd import category
from evals.data.examples import well_formed

Shown = Callable[[str], list[tuple[str, str]]]
"""A text to the codes that are shown, with their confidence, best first."""


def read_inputs(path: Path) -> list[dict[str, Any]]:
    """The lines of the file, or the texts of an author who gave codes (`.txt`, `catalog_build.training.authors`).

    Raises SourceError naming the line that is none, or that has a malformed code.
    """
    if path.suffix == ".txt":
        return [_of_author(one, path.stem) for one in parse(path) if is_coded(one)]
    rows = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
                sets = [*row["codes"], *row.get("absent", ())]
                codes = [str(code) for one in sets for code in (*one["codes"], *one.get("also", ()))]
            except (ValueError, KeyError, AttributeError, TypeError):
                found, expected = "is no written input", "an object with text, class and codes, as evals/data has them"
                raise SourceError(path.name, number, found, expected, "mend the line") from None
            well_formed(codes, path.name, number)
            rows.append(row)
    return rows


def _of_author(text: LabelledText, author: str) -> dict[str, Any]:
    """The statements of an author's mentions with codes, and apart from them those denied, planned or of others."""
    said: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for one in text.mentions:
        own = {"codes": list(one.codes), "also": list(one.also), "text": text.text[one.start : one.end]}
        if one.codes:
            said[one.claim in STATED].append(own | {"claim": one.claim})
    right = {code for one in said[True] for code in (*one["codes"], *one["also"])}
    absent = [one for one in said[False] if not right & set(one["codes"])]
    return {"id": text.ident, "text": text.text, "class": author, "codes": said[True], "absent": absent}


def scored(rows: Iterable[Mapping[str, Any]], shown: Shown) -> dict[str, Counter[str]]:
    """Counts by class and for `ALL`: statements, found, shown, right, high, high_right, inputs, silent, absent,
    absent_shown."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        own = _counted(row, shown(row["text"]))
        counts[row["class"]] += own
        counts["ALL"] += own
    return counts


def _counted(row: Mapping[str, Any], got: list[tuple[str, str]]) -> Counter[str]:
    codes = {code for code, _ in got}
    right = {code for said in row["codes"] for code in (*said["codes"], *said.get("also", ()))}
    asked = _asked(row)
    own: Counter[str] = Counter(inputs=1, silent=not got, statements=len(asked), shown=len(got))
    own["found"] = sum(bool(accepted & codes) for _, accepted in asked)
    own["right"] = sum(code in right for code in codes)
    own["high"] = sum(level == "high" for _, level in got)
    own["high_right"] = sum(level == "high" and code in right for code, level in got)
    categories = codes | {category(code) for code in codes - right} - {category(one) for one in right}
    for absent in row.get("absent", ()):
        own["absent"] += 1
        own["absent_shown"] += bool({form for code in absent["codes"] for form in (code, category(code))} & categories)
    return own


def _asked(row: Mapping[str, Any]) -> list[tuple[str, set[str]]]:
    """The statements that have to be suggested: the text of each, and the codes of which one is enough."""
    asked = (said for said in row["codes"] if said["text"] not in row.get("optional", ()))
    return [(said["text"], {said["codes"][0], *said.get("also", ())}) for said in asked]


def given(rows: Iterable[Mapping[str, Any]], found: Callable[[str], list[tuple[str, str]]]) -> Counter[str]:
    """Counts of search on each statement alone, as if somebody had marked the mentions: `statements`, `first` (its
    first code is right), `ten` (one of all is), `found` (one that is shown is). `found`: a text to its codes with their
    confidence, most probable first, also those of low confidence."""
    counts: Counter[str] = Counter()
    for row in rows:
        for text, accepted in _asked(row):
            codes = found(text)
            own = [code in accepted for code, _ in codes]
            counts += Counter(statements=1, first=any(own[:1]), ten=any(own))
            counts["found"] += any(good and level != "low" for good, (_, level) in zip(own, codes, strict=True))
    return counts
