"""Scores written inputs with claims as they are served: recall of the stated codes, and precision of the shown ones.

The form of a line (JSON): `text`, `class`, `codes` (statements: `codes`, the first is the primary one, `also`, `claim`,
`text`), `optional` (texts of statements that need not be suggested), `absent` (what the text denies or says of others),
`author` (else what stands before the hyphen of `id`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pandas as pd

from catalog_build.training.authors import STATED, LabelledText, is_coded, parse
from clinical.errors import SourceError
from clinical.icd import category
from evals.data.examples import well_formed
from evals.measures.texts import COUNTS

Shown = Callable[[str], list[tuple[str, str]] | None]
"""A text to the codes that are shown, with their confidence, best first; None where nothing answered."""
WRITTEN: Final = Path(__file__).parents[1] / "data" / "written.jsonl"
"""Inputs of our own that nothing learns from."""
FORM = "an object with text, class and codes (statements), as evals/data/written.jsonl has them"


class StatedCode(NamedTuple):
    """A statement that has to be suggested: its words, their place in code points, its claim, and the codes of which
    one is enough."""

    words: str
    start: int
    end: int
    claim: str
    codes: frozenset[str]


def read_inputs(path: Path) -> list[dict[str, Any]]:
    """The lines of the file, or the texts of an author who gave codes (`.txt`, `catalog_build.training.authors`).

    Raises SourceError naming the line that is none, that has a malformed code, or words that its text has not.
    """
    if path.suffix == ".txt":
        return [_of_author(one, path.stem) for one in parse(path) if is_coded(one)]
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found = f"cannot be read: {getattr(error, 'strerror', None) or 'no UTF-8'}"
        raise SourceError(str(path), None, found, "JSON lines in UTF-8", "check the path") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                raise SourceError(path.name, number, "is no JSON", FORM, "mend the line") from None
            rows.append(input_of(row, path.name, number))
    return rows


def input_of(row: object, file: str, line: int) -> dict[str, Any]:
    """The row itself, with the class and the lists it left out. Raises SourceError for one that is none."""
    try:
        known: dict[str, Any] = {"class": "", "absent": [], "optional": []} | dict(row)  # type: ignore[call-overload]
        sets = [*known["codes"], *known["absent"]]
        codes = [str(code) for one in sets for code in (*one["codes"], *one.get("also", ()))]
        away = [one["text"] for one in sets if not one["text"] or one["text"] not in known["text"]]
        empty = not known["text"].strip() or not all(one["codes"] for one in known["codes"])
        known["codes"] = [{"claim": "present", **one} for one in known["codes"]]
    except (ValueError, KeyError, AttributeError, TypeError):
        raise SourceError(file, line, "is no written input", FORM, "mend the line") from None
    if empty:
        raise SourceError(file, line, "an empty text, or a statement without codes", "both", "fill or delete the line")
    if away:
        found = f"{len(away)} statements whose words do not stand in the text"
        raise SourceError(file, line, found, "`text` of a statement: words of the text as they are", "mend the line")
    well_formed(codes, file, line)
    return known


def is_input(row: object) -> bool:
    """Return True where a row has statements, each with its own codes, rather than codes for the whole of its text."""
    said = row.get("codes") if isinstance(row, Mapping) else None
    stated = isinstance(said, Sequence) and not isinstance(said, str) and all(isinstance(one, Mapping) for one in said)
    return bool(stated and (said or "absent" in row))  # type: ignore[operator]


def _of_author(text: LabelledText, author: str) -> dict[str, Any]:
    """The statements of an author's mentions with codes, and apart from them those denied, planned or of others."""
    said: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for one in text.mentions:
        own = {"codes": list(one.codes), "also": list(one.also), "text": text.text[one.start : one.end]}
        if one.codes:
            said[one.claim in STATED].append(own | {"claim": one.claim, "start": one.start})
    right = {code for one in said[True] for code in (*one["codes"], *one["also"])}
    absent = [one for one in said[False] if not right & set(one["codes"])]
    return {"id": text.ident, "text": text.text, "class": author, "codes": said[True], "absent": absent}


def author_of(row: Mapping[str, Any]) -> str:
    """The author of an input; the input itself where nobody is named."""
    ident = str(row.get("id", ""))
    return str(row.get("author") or (ident.partition("-")[0] if "-" in ident else "somebody"))


def frame_of(rows: Sequence[Mapping[str, Any]], shown: Shown) -> pd.DataFrame:
    """One row for each text: `id` (a hash of the text and its right codes, so that two results can be paired without
    it), text, kind, author, whether the target failed, the counts (`COUNTS`), `asked` (the codes of which each
    statement accepts one), `hit` (whether it is shown), and `wrong` (the codes shown that no statement means)."""
    seen: Counter[str] = Counter()
    table = []
    for row in rows:
        said, got = statements(row), shown(row["text"])
        codes = [code for code, _ in got or ()]
        name = hashlib.sha256("\0".join([row["text"], *sorted(right_of(row))]).encode()).hexdigest()[:16]
        seen[name] += 1
        known = {"id": f"{name}.{seen[name]}", "text": row["text"], "kind": row["class"], "author": author_of(row)}
        told = {"asked": [sorted(one.codes) for one in said], "hit": [bool(one.codes & set(codes)) for one in said]}
        counts = _counted(row, got or [])
        counted = {count: counts[count] for count in COUNTS}
        wrong = [code for code in codes if code not in right_of(row)]
        table.append(known | {"failed": got is None} | counted | told | {"wrong": wrong})
    return pd.DataFrame(table).astype({"failed": bool})


def right_of(row: Mapping[str, Any]) -> set[str]:
    """The codes that some statement of an input means."""
    return {code for said in row["codes"] for code in (*said["codes"], *said.get("also", ()))}


def _counted(row: Mapping[str, Any], got: list[tuple[str, str]]) -> Counter[str]:
    codes = {code for code, _ in got}
    right = right_of(row)
    asked = statements(row)
    own: Counter[str] = Counter(inputs=1, silent=not got, statements=len(asked), shown=len(got))
    own["found"] = sum(bool(one.codes & codes) for one in asked)
    own["right"] = sum(code in right for code in codes)
    for name, high in (("high", True), ("medium", False)):
        own[name] = sum((level == "high") is high for _, level in got)
        own[f"{name}_right"] = sum((level == "high") is high and code in right for code, level in got)
    categories = codes | {category(code) for code in codes - right} - {category(one) for one in right}
    for absent in row.get("absent", ()):
        own["absent"] += 1
        own["absent_shown"] += bool({form for code in absent["codes"] for form in (code, category(code))} & categories)
    return own


def statements(row: Mapping[str, Any], every: bool = False) -> list[StatedCode]:
    """The statements that have to be suggested, `every`: the optional ones too; words that stand there twice are taken
    in the order of the text."""
    return [
        StatedCode(
            said["text"], *place, said.get("claim", "present"), frozenset((said["codes"][0], *said.get("also", ())))
        )
        for said, place in zip(row["codes"], _places(row["text"], row["codes"]), strict=True)
        if every or said["text"] not in row.get("optional", ())
    ]


def absent_places(row: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Places (start, end) of what an input denies or says of others."""
    return _places(row["text"], row.get("absent", ()))


def _places(text: str, said: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """The place of each of these words, apart from those before it where they stand there more than once."""
    taken: list[tuple[int, int]] = []
    for one in said:
        words = one["text"]
        starts = [one["start"]] if "start" in one else []
        at = text.find(words)
        while at >= 0:
            starts.append(at)
            at = text.find(words, at + 1)
        free = (at for at in starts if all(at >= end or at + len(words) <= start for start, end in taken))
        at = next(free, starts[0] if starts else 0)
        taken.append((at, at + len(words)))
    return taken
