"""python -m evals feedback import|show|approve|reject: reviewed codings become an evaluation set and synonyms.

import FILE --catalog DIR --out FOLDER
    FILE holds reviewed codings (JSON lines or CSV: query, accepted, rejected, optional reviewer and date). Writes
    reviewed.tsv with its card (for `evals coding`) and candidates.json. A bad line is reported by its number, the
    others are kept (exit 1). Importing again keeps what was decided.
show FOLDER
    the candidate synonyms: id, status, kind, text, codes, and what the index says today
approve FOLDER ID... --catalog DIR / reject FOLDER ID... --catalog DIR
    decides, and writes the approved ones to synonyms.txt in the format of the catalog's own synonyms: append its lines
    to catalog_build/starter/icd10gm*_alphaidse_*.txt and build the catalog again. Nothing enters an index by itself.

The folder holds the texts of the reviews: keep it where those may be kept.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from clinical.catalog import Catalog
from clinical.command_line import PATH, Group, paragraphs
from clinical.errors import SourceError
from clinical.search import SearchIndex, checksum
from evals.coding.card import write_card
from evals.command import JSON, main_of
from evals.feedback.reviews import Review, disagreements, read_reviews
from evals.feedback.synonyms import Candidate, candidates_of, decided, next_number, synonym_lines
from evals.reports.files import write_json, write_text

SET, CANDIDATES, SYNONYMS = "reviewed.tsv", "candidates.json", "synonyms.txt"


@click.group(cls=Group, help=paragraphs(__doc__))
def command() -> None:
    """Reviewed codings."""


@command.command("import")
@click.argument("file", type=PATH)
@click.option("--catalog", type=PATH, required=True, help="the artifact the reviews are about")
@click.option("--out", type=PATH, required=True, help="folder for the evaluation set and the candidates")
def _import(file: Path, catalog: Path, out: Path) -> int:
    """Read reviewed codings; status 1 where lines were left out."""
    index = SearchIndex.load(catalog)
    reviews, faults = read_reviews(file, index.catalog)
    disputed = disagreements(reviews)
    faults += [
        f"{file.name}, lines {', '.join(map(str, lines))}: one review accepts what another rejects"
        for lines in disputed.values()
    ]
    agreed = [review for review in reviews if review.query not in disputed]
    rows = _write_set(file, out, agreed, index)
    fresh, none = candidates_of([review for review in agreed if review.accepted], index)
    before = {each.id: each for each in _read(out)} if (out / CANDIDATES).is_file() else {}
    tree = [asdict(each) | ({"status": before[each.id].status} if each.id in before else {}) for each in fresh]
    known = {each.id for each in fresh}
    tree += [asdict(each) for each in before.values() if each.id not in known and each.status != "proposed"]
    write_json(out / CANDIDATES, tree)
    for fault in faults:
        print(fault, file=sys.stderr)
    kinds = Counter(each.kind for each in fresh)
    print(
        f"{len(reviews)} reviews, {len(faults)} faults; {rows} queries in {out / SET}; "
        f"{len(fresh)} candidates ({', '.join(f'{count} {kind}' for kind, count in kinds.items()) or 'none'}), "
        f"{none} texts make none; look at them: python -m evals feedback show {out}"
    )
    return 1 if faults else 0


def _write_set(file: Path, out: Path, reviews: Sequence[Review], index: SearchIndex) -> int:
    """Every query with all codes accepted for it; a query for which all were rejected has no right code yet."""
    codes: dict[str, list[str]] = {}
    for review in reviews:
        codes.setdefault(review.query, []).extend(review.accepted)
    right = {query: ",".join(dict.fromkeys(own)) for query, own in codes.items() if own}
    if not right:
        raise SourceError(file.name, None, "no query has an accepted code", "at least one", "review more")
    path = out / SET
    version = checksum(file)[:12]
    write_text(path, "query\tcodes\n" + "".join(f"{query}\t{own}\n" for query, own in right.items()))
    write_card(
        path, "reviewed", version, source=f"reviews of {file.name}", licence="not stated: ask who reviewed",
        about=f"texts people coded, with ICD-10-GM {index.catalog.version}",
        faults=("only codes that reviewers saw or named: others may be right as well",),
    )  # fmt: skip
    return len(right)


def _read(folder: Path) -> list[Candidate]:
    path = folder / CANDIDATES
    remedy = "make it with python -m evals feedback import"
    try:
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        lists = ("codes", "says", "same_words")
        return [Candidate(**row | {key: tuple(row[key]) for key in lists}) for row in rows]
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
    lines = synonym_lines(rows, catalog, next_number())
    write_json(folder / CANDIDATES, [asdict(each) for each in rows])
    write_text(folder / SYNONYMS, "".join(f"{line}\n" for line in lines))
    print(f"{len(set(ids))} {status}; {len(lines)} approved synonyms in {folder / SYNONYMS}")


main = main_of(command, "feedback")
