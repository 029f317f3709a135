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

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clinical.catalog import Catalog
from clinical.errors import BefundError, SourceError
from clinical.search import SearchIndex, checksum
from evals.coding.card import write_card
from evals.feedback.reviews import Review, disagreements, read_reviews
from evals.feedback.synonyms import Candidate, candidates_of, decided, next_number, synonym_lines
from evals.reports.files import write_json, write_text

SET, CANDIDATES, SYNONYMS = "reviewed.tsv", "candidates.json", "synonyms.txt"


def main(arguments: Sequence[str]) -> int:
    """0; 1 where lines were left out; 2 for input that cannot be used."""
    options = _parser().parse_args(arguments)
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "import": _import, "show": _show, "approve": _decide, "reject": _decide,
    }  # fmt: skip
    try:
        return commands[options.command](options)
    except BefundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m evals feedback", description=__doc__, formatter_class=raw)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("import", help="read reviewed codings")
    one.add_argument("file", type=Path)
    one.add_argument("--catalog", type=Path, required=True, help="the artifact the reviews are about")
    one.add_argument("--out", type=Path, required=True, help="folder for the evaluation set and the candidates")
    one = commands.add_parser("show", help="list candidate synonyms")
    one.add_argument("folder", type=Path)
    one.add_argument("--status", choices=("proposed", "approved", "rejected"))
    one.add_argument("--json", action="store_true", help="print JSON")
    for name in ("approve", "reject"):
        one = commands.add_parser(name, help=f"{name} candidates")
        one.add_argument("folder", type=Path)
        one.add_argument("ids", nargs="+", metavar="ID")
        one.add_argument("--catalog", type=Path, required=True, help="the artifact of the import")
        one.add_argument("--conflicts", action="store_true", help="also words that stand under another code")
    return parser


def _import(options: argparse.Namespace) -> int:
    index = SearchIndex.load(options.catalog)
    reviews, faults = read_reviews(options.file, index.catalog)
    disputed = disagreements(reviews)
    faults += [
        f"{options.file.name}, lines {', '.join(map(str, lines))}: one review accepts what another rejects"
        for lines in disputed.values()
    ]
    agreed = [review for review in reviews if review.query not in disputed]
    rows = _write_set(options, agreed, index)
    fresh, none = candidates_of([review for review in agreed if review.accepted], index)
    before = {each.id: each for each in _read(options.out)} if (options.out / CANDIDATES).is_file() else {}
    tree = [asdict(each) | ({"status": before[each.id].status} if each.id in before else {}) for each in fresh]
    known = {each.id for each in fresh}
    tree += [asdict(each) for each in before.values() if each.id not in known and each.status != "proposed"]
    write_json(options.out / CANDIDATES, tree)
    for fault in faults:
        print(fault, file=sys.stderr)
    kinds = Counter(each.kind for each in fresh)
    print(
        f"{len(reviews)} reviews, {len(faults)} faults; {rows} queries in {options.out / SET}; "
        f"{len(fresh)} candidates ({', '.join(f'{count} {kind}' for kind, count in kinds.items()) or 'none'}), "
        f"{none} texts make none; look at them: python -m evals feedback show {options.out}"
    )
    return 1 if faults else 0


def _write_set(options: argparse.Namespace, reviews: Sequence[Review], index: SearchIndex) -> int:
    """Every query with all codes accepted for it; a query for which all were rejected has no right code yet."""
    codes: dict[str, list[str]] = {}
    for review in reviews:
        codes.setdefault(review.query, []).extend(review.accepted)
    right = {query: ",".join(dict.fromkeys(own)) for query, own in codes.items() if own}
    if not right:
        raise SourceError(options.file.name, None, "no query has an accepted code", "at least one", "review more")
    path = options.out / SET
    version = checksum(options.file)[:12]
    write_text(path, "query\tcodes\n" + "".join(f"{query}\t{own}\n" for query, own in right.items()))
    write_card(
        path, "reviewed", version, source=f"reviews of {options.file.name}", licence="not stated: ask who reviewed",
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


def _show(options: argparse.Namespace) -> int:
    rows = [each for each in _read(options.folder) if options.status in (None, each.status)]
    if options.json:
        print(json.dumps([asdict(each) for each in rows], ensure_ascii=False))
        return 0
    for each in rows:
        under = f" under {', '.join(each.same_words)}" if each.kind == "conflict" else ""
        print(f"{each.id}  {each.status:9} {each.kind}{under}  {each.query}  ->  {' '.join(each.codes)}")
        print(f"{'':10}today: {', '.join(each.says) or 'nothing'}")
    print(
        f"{len(rows)} candidates; decide: python -m evals feedback approve|reject {options.folder} ID... --catalog DIR"
    )
    return 0


def _decide(options: argparse.Namespace) -> int:
    status = "approved" if options.command == "approve" else "rejected"
    catalog = Catalog.load(options.catalog / "codes.json")
    rows = decided(_read(options.folder), options.ids, status, options.conflicts)
    lines = synonym_lines(rows, catalog, next_number())
    write_json(options.folder / CANDIDATES, [asdict(each) for each in rows])
    write_text(options.folder / SYNONYMS, "".join(f"{line}\n" for line in lines))
    print(f"{len(set(options.ids))} {status}; {len(lines)} approved synonyms in {options.folder / SYNONYMS}")
    return 0
