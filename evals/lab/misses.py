"""Error analysis: a table of the misses of a data set, each with a cause and the notes of the classification.

`browser` writes such a table as one HTML page, complete in itself: each text with its mentions drawn, to be filtered by
cause and code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, get_args

import pandas as pd
from jinja2 import Environment, PackageLoader

from catalog_build.files import write_text
from clinical.contract import Assertion
from clinical.icd import PAIR_NOTE, Catalog, category, covers
from clinical.progress import progress
from clinical.reading import Mentioned, SearchIndex, Understood
from evals.coding.outcomes import Outcome
from evals.lab.measured import Evaluation, evaluate
from evals.lab.opened import Artifact, Data
from evals.reading.inputs import author_of
from evals.reading.judged import CAUSES as OF_TEXTS
from evals.reading.judged import TextError, errors_of

FAR: Final = 0.3
"""Share of words under which no wording is like the query: two words of seven; notebook 06 shows how it is spread."""
FEW: Final = 3
"""Wordings of a code up to which it is hardly known: a title and the median of two synonyms (notebook 01)."""
NOTES: Final = 4
"""Official notes shown of a code and its category."""

CAUSES: Final = OF_TEXTS | {
    "failed": "the target gave no answer",
    "another mention": "the right code is found, for another part of the text than the first code",
    "excluded by note": "an official note at the found code sends to the right one, or the other way round",
    "too general": "the found code leaves open what the right one says",
    "too specific": "the found code says more than the right one",
    "order": "the right code is found, below one of another category",
    "unlike any wording": f"under {FAR:.0%} of the words are shared with any wording of a right code",
    "few wordings": f"the best-known right code has at most {FEW} wordings",
    "other": "none of these",
}
"""Causes of a miss, of a missed statement and of a wrong code; the first that holds is given."""
COLUMNS: Final = (
    "text", "right", "right_title", "found", "found_title", "probability", "confidence", "rank", "cause",
    "right_notes", "found_notes", "mentions",
)  # fmt: skip
OF_STATEMENTS: Final = ("error", "words", "span", "rests_on", "said", "read", "kind", "author")
"""Columns that errors of texts with statements have besides."""


def errors(data: Data | Evaluation, catalog: Artifact = None, within: str = "", **options: Any) -> pd.DataFrame:
    """The queries whose first code is not right, the surest on top; of texts with statements every missed statement and
    every wrong code, in the order of the texts.

    `data`: what `evaluate` takes (with its `options`), or what it gave. `within`: only misses whose right or found
    code lies there: the beginning of codes (E11), a block (I10-I15) or a chapter (09). `cause`: see CAUSES.
    `right_notes`, `found_notes`: inclusions, exclusions and hints of the official files at the codes and above.
    `mentions`: where the text names something, for `browser`. The tables can be filtered as any other. Of statements
    there is more: `error` (missed, wrong), `words` and `span` of the statement or of what the code was found by,
    `rests_on`: the wording of the catalog behind the found code, `said` and `read`: the claim of the text and the one
    that was read, `rank`: of the right code among the ten of the statement's words, `kind`, `author`.
    """
    done = data if isinstance(data, Evaluation) else evaluate(data, catalog, **options)
    if done.inputs:
        return _of_statements(done, within)
    index, rows = done.index, []
    for outcome in done.outcomes:
        names = [*outcome.example.codes, *([outcome.first.code] if outcome.first else [])]
        if outcome.rank != 1 and _within(index.catalog, names, within):
            rows.append(_row(index, outcome, index.read(outcome.example.query)))
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"rank": "Int64", "probability": "float64"})
    return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def _row(index: SearchIndex, outcome: Outcome, read: Understood) -> tuple[Any, ...]:
    first, right = outcome.first, tuple(sorted(outcome.example.codes))
    found = (first.code,) if first else ()
    said = (first.probability, first.confidence) if first else (None, None)
    return (
        outcome.example.query, right, _titles(index.catalog, right), first.code if first else None,
        _titles(index.catalog, found), *said, outcome.rank, _cause(index, outcome, read), _notes(index.catalog, right),
        _notes(index.catalog, found), read.mentions,
    )  # fmt: skip


def _cause(index: SearchIndex, outcome: Outcome, read: Understood) -> str:
    catalog, right, first = index.catalog, outcome.example.codes, outcome.first
    if outcome.found is None:
        return "failed"
    if not any((code := catalog.get(name)) and code.terminal for name in right):
        return "unknown code"
    if _claimed(index, outcome, read):
        return "claim"
    if first is not None and (between := _between(catalog, right, first.code, read)):
        return between
    if outcome.rank is not None:
        return "order"
    if outcome.overlap < FAR:
        return "unlike any wording"
    return "few wordings" if outcome.wordings <= FEW else "other"


def _between(catalog: Catalog, right: frozenset[str], found: str, read: Understood) -> str:
    """The relation between the found and the right code; empty for none that the classification knows."""
    if _elsewhere(right, found, read):
        return "another mention"
    if any(_refers(catalog, found, code) or _refers(catalog, code, found) for code in right):
        return "excluded by note"
    if right & _names(catalog.more_specific(found)):
        return "too general"
    if any(found in _names(catalog.more_specific(code)) for code in right):
        return "too specific"
    return "sibling" if any(category(code) == category(found) for code in right) else ""


def _names(codes: Iterable[Any]) -> set[str]:
    return {code.code for code in codes}


def _claimed(index: SearchIndex, outcome: Outcome, read: Understood) -> bool:
    """Return True if words that the text excludes, or puts in the past or family, would alone give a right code."""
    text, right = outcome.example.query, outcome.example.codes
    shown = {hit.code for hit in outcome.found or () if hit.shown}
    gone = [one for one in read.mentions if one.claim in ("excluded", "history", "family")]
    found = index.search_many([text[one.start : one.end] for one in gone], limit=1)
    return any(hit.code in right - shown for hits in found for hit in hits)


def _elsewhere(right: frozenset[str], found: str, read: Understood) -> bool:
    """Return True when tier 1 also shows the right code, found at other words than the first code."""
    shown = {one.code: one for one in read.codes if one.confidence != "low"}
    own = shown.get(found)
    others = [shown[code] for code in right if code in shown]
    return own is not None and any(one.end <= own.start or own.end <= one.start for one in others)


def _refers(catalog: Catalog, code: str, other: str) -> bool:
    """Return True when an exclusion at a code, or above it, covers the other code."""
    entry = catalog.get(code)
    notes = catalog.exclusion_notes(entry) if entry else ()
    return any(covers(reference, other) for note in notes for reference in note.references)


def _titles(catalog: Catalog, codes: Iterable[str]) -> str:
    return "; ".join(code.title if (code := catalog.get(name)) else "?" for name in codes)


def _notes(catalog: Catalog, codes: Iterable[str]) -> str:
    """A line each, the nearest first."""
    lines: dict[str, None] = {}
    for code in codes:
        entry = catalog.get(code)
        while entry is not None:
            for note in entry.notes:
                if note.kind != PAIR_NOTE:
                    lines[f"{entry.code} {note.kind}: {note.text} {' '.join(note.references)}".strip()] = None
            entry = catalog.get(entry.parent) if entry.parent else None
    return "\n".join(list(lines)[:NOTES])


def _within(catalog: Catalog, names: Sequence[str], where: str) -> bool:
    """Return True when one of the codes lies in `where` (a code prefix, block or chapter)."""
    entries = [code for name in names if (code := catalog.get(name))]
    places = (name.startswith(where) for name in names)
    return any(places) or any(where in (code.block, code.chapter) for code in entries)


# --- texts with statements --------------------------------------------------------------------------------------------


def _of_statements(done: Evaluation, within: str) -> pd.DataFrame:
    """A row for each missed statement and each wrong code."""
    catalog, rows = done.index.catalog, []
    got = done.shown or [None] * len(done.inputs)
    both = zip(done.inputs, got, strict=True)
    for row, codes in progress(both, "errors", "texts read again", total=len(done.inputs)):
        mentions = done.index.read(row["text"]).mentions
        about = (row["class"], author_of(row))
        for one in errors_of(done.index, row, codes):
            names = (*one.right, *([one.found] if one.found else ()))
            if _within(catalog, names, within):
                rows.append(_statement(catalog, row["text"], one, mentions) + about)
    table = pd.DataFrame(rows, columns=[*COLUMNS, *OF_STATEMENTS])
    return table.astype({"rank": "Int64", "probability": "float64"})


def _statement(catalog: Catalog, text: str, one: TextError, mentions: Sequence[Mentioned]) -> tuple[Any, ...]:
    found = (one.found,) if one.found else ()
    return (
        text, one.right, _titles(catalog, one.right), one.found, _titles(catalog, found), one.probability,
        one.confidence, one.rank, one.cause, _notes(catalog, one.right), _notes(catalog, found), tuple(mentions),
        one.error, one.words, (one.start, one.end), one.wording, one.said, one.read,
    )  # fmt: skip


# --- the page of misses -----------------------------------------------------------------------------------------------


TEMPLATE: Final = "errors.html"


def browser(table: pd.DataFrame, path: str | Path, title: str = "Errors") -> Path:
    """Write the page of a table of `errors`, whole or filtered; returns where it lies. It holds the texts."""
    environment = Environment(loader=PackageLoader("evals.lab", "."), autoescape=True)
    rows = [_shown(row) for row in table.to_dict("records")]
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


def _shown(row: dict[str, Any]) -> dict[str, Any]:
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
