"""python -m evals feedback import|show|approve|reject|queue: reviews become an evaluation set and synonyms.

import FILE --catalog DIR --out FOLDER
    FILE holds reviewed codings (JSON lines or CSV: query, accepted, rejected, optional reviewer and date). They are
    added to those of earlier imports (reviews.jsonl, by content: the same review twice is one). One text in four goes
    to reviewed.tsv with its card (for `evals coding`), the others to training.tsv and candidates.json, for good: no
    synonym is measured on itself. What became nothing, and why, stands by line in dropped.tsv (exit 1 where lines of
    FILE could not be read). A FILE without texts (the workbench's, where the member keeps them) has counts alone: they
    are added to counts.tsv, and how often each confidence was right is printed; no data set comes of it.
show FOLDER
    the candidate synonyms: id, status, kind, text, codes, and what the index says today
approve FOLDER ID... --catalog DIR / reject FOLDER ID... --catalog DIR
    decides, and writes the approved ones to synonyms.tsv: the next build takes it with --synonyms. Nothing enters an
    index by itself.
queue TEXTS --catalog DIR [--folder FOLDER]
    which texts (one a line) to review next: frequent ones on which the search is unsure, or a higher tier disagrees

The folder holds the texts of the reviews: keep it where those may be kept.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from clinical.catalog import Catalog
from clinical.command_line import PATH, Group, paragraphs
from clinical.errors import SourceError
from clinical.search import SearchIndex, checksum
from evals.coding.card import write_card
from evals.coding.targets import target_of
from evals.command import JSON, main_of
from evals.feedback import counts, store
from evals.feedback.queue import texts_of, waiting
from evals.feedback.reviews import disagreements, read_reviews
from evals.feedback.store import Kept
from evals.feedback.synonyms import SynonymCandidate, candidates_of, decided, synonym_lines, why_none
from evals.reports.files import write_json, write_text

SET, TRAINING, CANDIDATES = "reviewed.tsv", "training.tsv", "candidates.json"
SYNONYMS, DROPPED = "synonyms.tsv", "dropped.tsv"


@click.group(cls=Group, help=paragraphs(__doc__))
def command() -> None:
    """Reviewed codings."""


@command.command("import")
@click.argument("file", type=PATH)
@click.option("--catalog", type=PATH, required=True, help="the artifact the reviews are about")
@click.option("--out", type=PATH, required=True, help="folder for the evaluation set and the candidates")
def _import(file: Path, catalog: Path, out: Path) -> int:
    """Add reviewed codings; status 1 where lines were left out."""
    index = SearchIndex.load(catalog)
    if counts.is_counts(file):
        return _import_counts(file, index.catalog, out)
    reviews, faults = read_reviews(file, index.catalog)
    before = store.read(out)
    rows = store.added(before, file.name, reviews)
    if not any(row.review.accepted for row in rows):
        raise SourceError(file.name, None, "no query has an accepted code", "at least one", "review more")
    store.write(out, rows)
    disputed = disagreements([row.review for row in rows])
    agreed = [row for row in rows if row.review.query not in disputed and row.review.accepted]
    measured = [row for row in agreed if store.side_of(row.review.query) == "evaluation"]
    learnt = [row for row in agreed if store.side_of(row.review.query) == "training"]
    _write_set(out / SET, measured, index, card=True)
    _write_set(out / TRAINING, learnt, index)
    fresh = _write_candidates(out, learnt, index)
    left = _write_dropped(out, rows, disputed, index)
    for fault in [*faults, *left]:
        print(fault, file=sys.stderr)
    pairs, same = store.agreement(rows)
    agree = f"{pairs} pairs of reviewers, same codes {same[0]:.2f} ({same[1]:.2f}-{same[2]:.2f})" if same else "none"
    print(
        f"{len(reviews)} reviews in {file.name}, {len(rows) - len(before)} of them new, {len(faults)} faults; in all "
        f"{len(rows)}: {len(measured)} for evaluation in {out / SET}, {len(learnt)} for training, "
        f"{len(rows) - len(measured) - len(learnt)} in neither; {len(left)} reasons why not, or why no candidate, by "
        f"line in {out / DROPPED}; agreement: {agree}; {len(fresh)} candidates ({_kinds(fresh)}): "
        f"python -m evals feedback show {out}"
    )
    return 1 if faults else 0


def _import_counts(file: Path, catalog: Catalog, out: Path) -> int:
    fresh, faults = counts.read_counts(file, catalog)
    rows = counts.added(out, fresh)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(counts.table(rows))
    print(
        f"{file.name} holds no texts, only how often {len(fresh)} codes were accepted and rejected: added to "
        f"{out / counts.FILE} ({len(rows)} lines in all). Nothing is measured or learnt from it; for that, the texts "
        "have to come along."
    )
    return 1 if faults else 0


def _kinds(candidates: Sequence[SynonymCandidate]) -> str:
    kinds = Counter(each.kind for each in candidates)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"


def _write_set(path: Path, rows: Sequence[Kept], index: SearchIndex, card: bool = False) -> None:
    """Every query with all codes accepted for it; no file where there is none yet."""
    codes: dict[str, list[str]] = {}
    for row in rows:
        codes.setdefault(row.review.query, []).extend(row.review.accepted)
    if not codes:
        return
    lines = [f"{query}\t{','.join(dict.fromkeys(own))}\n" for query, own in codes.items()]
    write_text(path, "query\tcodes\n" + "".join(lines))
    if card:
        files = ", ".join(dict.fromkeys(row.file for row in rows))
        write_card(
            path, "reviewed", checksum(path)[:12], source=f"reviews of {files}", licence="not stated: ask who reviewed",
            about=f"one in {store.EVALUATED} of the texts people coded, with ICD-10-GM {index.catalog.version}",
            faults=("only codes that reviewers saw or named: others may be right as well",),
        )  # fmt: skip


def _write_candidates(out: Path, rows: Sequence[Kept], index: SearchIndex) -> list[SynonymCandidate]:
    """What was decided stays decided, also where a later review disputes it."""
    fresh = candidates_of([row.review for row in rows if not why_none(row.review, index.catalog)], index)
    before = {each.id: each for each in _read(out)} if (out / CANDIDATES).is_file() else {}
    tree = [asdict(each) | ({"status": before[each.id].status} if each.id in before else {}) for each in fresh]
    known = {each.id for each in fresh}
    tree += [asdict(each) for each in before.values() if each.id not in known and each.status != "proposed"]
    write_json(out / CANDIDATES, tree)
    return fresh


def _write_dropped(out: Path, rows: Sequence[Kept], disputed: Iterable[str], index: SearchIndex) -> list[str]:
    """Reviews that became neither a measured query nor a candidate, by line with the reason and without their text."""
    found, unclear = list[str](), set(disputed)
    for row in rows:
        why = ""
        if row.review.query in unclear:
            why = "one review accepts what another rejects: in neither set until they agree"
        elif not row.review.accepted:
            why = "no code is accepted: there is no right answer yet"
        elif store.side_of(row.review.query) == "training" and (why := why_none(row.review, index.catalog)):
            why = f"no candidate synonym: {why}"
        if why:
            found.append(f"{row.place}: {why}")
    write_text(out / DROPPED, "place\twhy\n" + "".join(line.replace(": ", "\t", 1) + "\n" for line in found))
    return found


def _read(folder: Path) -> list[SynonymCandidate]:
    path = folder / CANDIDATES
    remedy = "make it with python -m evals feedback import"
    try:
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        lists = ("codes", "says", "same_words")
        return [SynonymCandidate(**row | {key: tuple(row[key]) for key in lists}) for row in rows]
    except FileNotFoundError:
        raise SourceError(str(folder), None, f"there is no {CANDIDATES}", "a folder of an import", remedy) from None
    except (ValueError, TypeError, KeyError):
        raise SourceError(str(path), None, "is no list of candidates", "the file as written", remedy) from None


@command.command("show")
@click.argument("folder", type=PATH)
@click.option("--status", type=click.Choice(["proposed", "approved", "rejected"]))
@JSON
def _show(folder: Path, status: str | None, as_json: bool) -> None:
    """List candidate synonyms."""
    rows = [each for each in _read(folder) if status in (None, each.status)]
    if as_json:
        print(json.dumps([asdict(each) for each in rows], ensure_ascii=False))
        return
    for each in rows:
        under = f" under {', '.join(each.same_words)}" if each.kind == "conflict" else ""
        print(f"{each.id}  {each.status:9} {each.kind}{under}  {each.query}  ->  {' '.join(each.codes)}")
        print(f"{'':10}today: {', '.join(each.says) or 'nothing'}")
    print(f"{len(rows)} candidates; decide: python -m evals feedback approve|reject {folder} ID... --catalog DIR")


def _deciding(name: str, status: str) -> None:
    """Add the command `name`, which gives candidates this status."""

    @command.command(name, help=f"{name} candidates")
    @click.argument("folder", type=PATH)
    @click.argument("ids", nargs=-1, required=True, metavar="ID...")
    @click.option("--catalog", type=PATH, required=True, help="the artifact of the import")
    @click.option("--conflicts", is_flag=True, help="also words that stand under another code")
    def _(folder: Path, ids: Sequence[str], catalog: Path, conflicts: bool) -> None:
        _decide(folder, ids, status, Catalog.load(catalog / "codes.json"), conflicts)


_deciding("approve", "approved")
_deciding("reject", "rejected")


def _decide(folder: Path, ids: Sequence[str], status: str, catalog: Catalog, conflicts: bool) -> None:
    rows = decided(_read(folder), ids, status, conflicts)
    lines = synonym_lines(rows, catalog)
    write_json(folder / CANDIDATES, [asdict(each) for each in rows])
    write_text(folder / SYNONYMS, "".join(f"{line}\n" for line in lines))
    print(f"{len(set(ids))} {status}; {max(0, len(lines) - 1)} approved synonyms in {folder / SYNONYMS}")


@command.command("queue")
@click.argument("texts", type=PATH)
@click.option("--catalog", type=PATH, required=True, help="the artifact that answers")
@click.option("--folder", type=PATH, help="of an import: what was reviewed there is left out")
@click.option("--tier", type=click.IntRange(1, 3), default=1, help="2 or 3: ask this tier too")
@click.option("--limit", type=click.IntRange(1), default=50, help="how many texts")
def _queue(texts: Path, catalog: Path, folder: Path | None, tier: int, limit: int) -> None:
    """The texts to review next, most useful first, as a CSV that `import` reads once accepted is filled in."""
    index = SearchIndex.load(catalog)
    reviewed = [row.review.query for row in store.read(folder)] if folder else []
    higher = target_of("in-process", index, tier) if tier > 1 else None
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["query", "accepted", "rejected", "times", "shown", "probability", f"tier {max(tier, 2)}", "worth"])
    for row in waiting(texts_of(texts), reviewed, index, higher)[:limit]:
        figures = [row.times, row.code, f"{row.probability:.3f}", row.other, f"{row.worth:.2f}"]
        rows.writerow([row.query, "", "", *figures])


main = main_of(command, "feedback")
