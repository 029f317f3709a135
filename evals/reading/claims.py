"""python -m evals claims [FILE ...]: what is claimed of marked mentions, author by author, against what authors marked.

Without files the project's own authors of `--split` are read (report: nobody trained or tuned on them); a file is one
author, in their form (`.txt`) or as JSON lines with `text` and `mentions` (start, end, claim, also). `--table` asks the
table of triggers alone, `--tagger FILE` a tagger of other weights than the shipped ones.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from catalog_build.training.authors import CLAIMS, LabelledMention, LabelledText, parse, read
from clinical.claims import LABELS, Reading, Tagger
from clinical.command_line import PATH, paragraphs
from evals.command import main_of
from evals.measures.intervals import Measure, clustered, clusters_of, share
from evals.measures.results import Row, beside, printed
from evals.measures.results import row as _row

Asked = Callable[[Reading, LabelledMention], str]
"""A mention of a text to its claim."""
NOT_THERE: Final = frozenset(("excluded", "family", "other", "hypothetical"))
ERRORS: Final = ("right", "there_as_not", "not_as_there")
HIDDEN: Final = frozenset(("present", "suspected"))
"""Claims of a condition that is there and must not be read as not there; history is asked for by itself."""
OF_PATIENT: Final = ("present", "suspected", "history")
"""Claims of what the patient has, may have or had."""
WRONG: Final = {"there_read_as_not": ("hidden", "there"), "not_there_read_as_there": ("leaked", "absent")}
"""Measures of written inputs: (the count, its total) by name."""


class JudgedClaim(NamedTuple):
    """A marked mention and the claim that was read: `author` wrote it in `text`, `right`: the claim is defensible."""

    author: str
    claim: str
    read: str
    right: bool
    text: str = ""


def claimed(reading: Reading, mention: LabelledMention) -> str:
    """The claim of a mention as it is served."""
    return reading.claim(mention.start, mention.end).label


def ruled(reading: Reading, mention: LabelledMention) -> str:
    """The claim of a mention as the table of triggers alone has it."""
    return reading.ruled(mention.start, mention.end).label


def tagged(tagger: Tagger) -> Asked:
    """The claims of a tagger of other weights than the shipped ones."""

    def asked(reading: Reading, mention: LabelledMention) -> str:
        first, last = reading.words_in(mention.start, mention.end)
        told = ruled(reading, mention)
        if first > last:
            return told
        shares = tagger.read(reading.seen, reading.columns).shares(first, last, told)
        return LABELS[int(shares.argmax())]

    return asked


def judged(author: str, texts: Iterable[LabelledText], asked: Asked = claimed) -> Iterator[JudgedClaim]:
    """Every mention of an author's texts, with the claim that was read."""
    for text in texts:
        reading = Reading.of(text.text)
        for mention in text.mentions:
            claim = asked(reading, mention)
            right = claim in (mention.claim, mention.second)
            yield JudgedClaim(author, mention.claim, claim, right, text.ident)


def figures(rows: Sequence[JudgedClaim]) -> dict[str, Measure | None]:
    """Shares with intervals that draw authors, of fewer than SEVERAL their texts: right, by claim, and the two
    errors that count.

    `there_as_not`: of what is present or suspected, read as not there; `not_as_there`: the other way round.
    """
    there = [row for row in rows if row.claim in HIDDEN]
    gone = [row for row in rows if row.claim in NOT_THERE]
    found = {
        "right": _share(rows, [row.right for row in rows]),
        "there_as_not": _share(there, [not row.right and row.read in NOT_THERE for row in there]),
        "not_as_there": _share(gone, [not row.right and row.read not in NOT_THERE for row in gone]),
    }
    for claim in CLAIMS:
        own = [row for row in rows if row.claim == claim]
        found[claim] = _share(own, [row.right for row in own])
    return found


def _share(rows: Sequence[JudgedClaim], hits: Sequence[bool]) -> Measure | None:
    texts = [f"{row.author} {row.text}" for row in rows]
    return clustered(hits, clusters_of(texts, [row.author for row in rows]))


def confusion(rows: Iterable[JudgedClaim]) -> Mapping[tuple[str, str], int]:
    """Count mentions by their claim (first) and the indefensible one that was read (second)."""
    return Counter((row.claim, row.read) for row in rows if not row.right)


def labelled(file: Path) -> tuple[LabelledText, ...]:
    """The texts of one author's file, `.txt` in the authors' form, else JSON lines."""
    if file.suffix == ".txt":
        return parse(file)
    rows = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    return tuple(LabelledText(row["id"], row["text"], tuple(map(_mention, row["mentions"]))) for row in rows)


def _mention(given: Mapping[str, object]) -> LabelledMention:
    also = given.get("also") or [None]
    return LabelledMention(given["start"], given["end"], given["claim"], also[0], (), ())  # type: ignore[arg-type, index]


def of_authors() -> list[JudgedClaim]:
    """Every mention of the own authors kept for reporting, with the claim that was read."""
    return [row for author, texts in read("report").items() for row in judged(author, texts)]


def measured_rows(rows: Sequence[JudgedClaim]) -> Iterator[Row]:
    """Rows of the table of results: what is right and both errors, by author and together; by claim, what is right
    and what it is read as instead."""
    for author in dict.fromkeys(row.author for row in rows):
        found = figures([row for row in rows if row.author == author])
        for measure in ERRORS:
            yield from _row(f"claim_{measure}", author, sum(row.author == author for row in rows), found[measure])
    together = figures(rows)
    for measure in ERRORS:
        yield from _row(f"claim_{measure}", "authors", len(rows), together[measure])
    for claim in CLAIMS:
        own = [row for row in rows if row.claim == claim]
        yield from _row("claim_right", f"authors: {claim}", len(own), together[claim])
        for wrong in CLAIMS:
            missed = [not row.right and row.read == wrong for row in own]
            if any(missed):
                yield from _row(f"claim_read_as_{wrong}", f"authors: {claim}", len(own), _share(own, missed))


# --- written inputs: their authors marked what is stated and what is absent -------------------------------------------


def of_written(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Counts of inputs with claims: there, hidden (of these read as denied, of others, or feared), absent, leaked (of
    these read as the patient's)."""
    counts: Counter[str] = Counter()
    for one in rows:
        reading = Reading.of(one["text"])
        there = [said["text"] for said in one["codes"] if said["claim"] in OF_PATIENT]
        absent = [said["text"] for said in one.get("absent", ())]
        counts += Counter(there=len(there), absent=len(absent))
        counts["hidden"] += sum(not _is_patients(reading, words) for words in there)
        counts["leaked"] += sum(_is_patients(reading, words) for words in absent)
    return counts


def _is_patients(reading: Reading, words: str) -> bool:
    """Return True when the text claims of the patient what these words name: the word that most probably begins a
    mention is asked for, since authors of inputs marked the words of denial together with what is denied."""
    start = reading.text.index(words)
    first, last = reading.words_in(start, start + len(words))
    if first > last:
        return reading.claim(start, start + len(words)).assertion in OF_PATIENT
    named = first + int(reading.marks[first : last + 1, 1].argmax())
    begin, end = reading.seen.places[named].tolist()
    return reading.claim(begin, end).assertion in OF_PATIENT


def written_rows(name: str, own: Mapping[str, int]) -> Iterator[Row]:
    """The two errors on a set of written inputs, as rows of the table of results."""
    for measure, (part, whole) in WRONG.items():
        yield from _row(measure, name, own[whole], share(own[part], own[whole]))


# --- the command ------------------------------------------------------------------------------------------------------


@click.command(help=paragraphs(__doc__))
@click.argument("files", type=PATH, nargs=-1)
@click.option("--split", default="report", type=click.Choice(("train", "tune", "report")), help="of the own authors")
@click.option("--table", is_flag=True, help="the table of triggers alone, in place of what is served")
@click.option("--tagger", type=PATH, help="weights of a tagger in place of the shipped ones")
def command(files: Sequence[Path], split: str, table: bool, tagger: Path | None) -> None:
    """Print a line an author and for all of them, then what is right and read otherwise by claim."""
    by_author = {file.stem: labelled(file) for file in files} if files else read(split)
    asked = ruled if table else claimed if tagger is None else tagged(Tagger.load(tagger))
    found = list(measured_rows([row for author, texts in by_author.items() for row in judged(author, texts, asked)]))
    authors = [row for row in found if ":" not in row.set]
    click.echo(f"{beside(authors)}\n\n{printed([row for row in found if row not in authors])}")


main = main_of(command, "claims")
