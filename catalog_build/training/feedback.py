"""python -m catalog_build feedback import|show|approve|reject|queue: reviews become an evaluation set and synonyms.

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
import hashlib
import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import click

from catalog_build.files import write_json, write_text
from catalog_build.own_synonyms import spelled
from clinical.command_line import PATH, Group, paragraphs
from clinical.contract import PartialEvent, ResultEvent
from clinical.errors import SettingError, SourceError
from clinical.icd import Catalog
from clinical.reading import SearchIndex
from clinical.search import checksum
from clinical.sse import Decoder
from clinical.text import cut, words

# --- reviews ----------------------------------------------------------------------------------------------------------


MAX_TEXT = 2_000
"""Code points of a query, as in the contract."""


@dataclass(frozen=True, slots=True)
class Review:
    """One line of a file: a text, the codes that are right for it, and codes that are not."""

    line: int
    query: str
    accepted: tuple[str, ...]
    rejected: tuple[str, ...]
    reviewer: str | None = None
    date: str | None = None
    file: str = ""

    @property
    def id(self) -> str:
        """The same content has the same id, in whatever file, line or order of codes it comes."""
        said = [self.query, sorted(self.accepted), sorted(self.rejected), self.reviewer, self.date]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def read_reviews(path: Path, catalog: Catalog) -> tuple[list[Review], list[str]]:
    """(reviews, what was wrong with the other lines). Raises SourceError where the file has no such lines at all."""
    reviews, faults = [], []
    for line, row in _json_rows(path) if path.suffix in (".jsonl", ".ndjson") else _csv_rows(path):
        try:
            reviews.append(replace(_review(line, row, catalog), file=path.name))
        except ValueError as error:
            faults.append(f"{path.name}, line {line}: {error}")
    if not reviews:
        first = f"; the first: {faults[0]}" if faults else ""
        raise SourceError(path.name, None, f"holds no review{first}", "query, accepted, rejected", "see --help")
    return reviews, faults


def _review(line: int, row: Any, catalog: Catalog) -> Review:
    if not isinstance(row, dict):
        raise ValueError("is not an object with query, accepted, rejected")
    query = row.get("query")
    if not isinstance(query, str) or not query.strip() or len(query) > MAX_TEXT:
        raise ValueError(f"query is no text of 1 to {MAX_TEXT} characters")
    if any("\ud800" <= character <= "\udfff" for character in query):
        raise ValueError("query holds half a character (a lone surrogate)")
    if "\ufffd" in query or "\0" in query:
        raise ValueError("query is not UTF-8")
    accepted, rejected = _codes_of(row, "accepted", catalog), _codes_of(row, "rejected", catalog)
    if not accepted and not rejected:
        raise ValueError("neither an accepted nor a rejected code")
    if both := set(accepted) & set(rejected):
        raise ValueError(f"{', '.join(sorted(both))} both accepted and rejected")
    reviewer, date = (str(row[key]) if row.get(key) else None for key in ("reviewer", "date"))
    return Review(line, " ".join(query.split()), accepted, rejected, reviewer, date)


def _codes_of(row: dict[str, Any], key: str, catalog: Catalog) -> tuple[str, ...]:
    """Codes in the order given, in the spelling of the catalog, none twice."""
    given = row.get(key) or []
    if isinstance(given, str):
        given = [code for code in re.split(r"[\s,;/]+", given) if code]
    if not isinstance(given, list) or not all(isinstance(code, str) for code in given):
        raise ValueError(f"{key} is no list of codes")
    codes = []
    for place, code in enumerate(given, start=1):
        known = catalog.parse(code)
        if known is None:
            raise ValueError(f"entry {place} of {key} is no ICD-10-GM code")
        if known not in catalog:
            raise ValueError(f"{known} of {key} is not in the catalog {catalog.version}")
        codes.append(known)
    return tuple(dict.fromkeys(codes))


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each line that is not empty; None for one that is no JSON."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except (ValueError, RecursionError):
                    yield number, None


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        head = file.readline()
        file.seek(0)
        rows = csv.DictReader(file, delimiter=max(",;\t", key=head.count))
        if not {"query", "accepted"} <= set(rows.fieldnames or ()):
            found = f"columns {', '.join(rows.fieldnames or ()) or 'none'}"
            raise SourceError(path.name, 1, found, "query, accepted and rejected", "add a header line with these")
        try:
            for row in rows:
                yield rows.line_num, row
        except csv.Error as error:  # a cell without end: what follows cannot be told apart
            raise SourceError(path.name, rows.line_num, str(error), "CSV", "save it as CSV again") from None


def disagreements(reviews: Iterable[Review]) -> set[str]:
    """Queries of which one review accepts a code that another rejects."""
    accepted, rejected = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for review in reviews:
        accepted[review.query].update(review.accepted)
        rejected[review.query].update(review.rejected)
    return {query for query, codes in accepted.items() if codes & rejected[query]}


# --- reviews kept by content ------------------------------------------------------------------------------------------


REVIEWS: Final = "reviews.jsonl"
EVALUATED: Final = 4
"""One text in four measures, three may become synonyms: with 400 texts, 100 give a share to about 10 points."""

Side = Literal["training", "evaluation"]
Share = tuple[float, float, float]
"""A proportion with its 95 % interval."""


def _share(hits: int, of: int) -> Share | None:
    """Wilson (1927); None of nothing."""
    if not of:
        return None
    from scipy.stats import binomtest

    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return hits / of, float(interval.low), float(interval.high)


def side_of(text: str) -> Side:
    """By the words alone: two spellings of one text are on one side."""
    number = int(hashlib.sha256(" ".join(spelled(text)).encode()).hexdigest(), 16)
    return "training" if number % EVALUATED else "evaluation"


def read_kept(folder: Path) -> list[Review]:
    """Every review of the folder, in the order of import; none where nothing was imported yet."""
    path = folder / REVIEWS
    if not path.is_file():
        return []
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lists = [{key: tuple(row["review"][key]) for key in ("accepted", "rejected")} for row in rows]
        return [Review(**row["review"] | own, file=row["file"]) for row, own in zip(rows, lists, strict=True)]
    except (ValueError, TypeError, KeyError):
        raise SourceError(str(path), None, "is no list of reviews", "the file as written", "restore it") from None


def _write_kept(folder: Path, rows: Sequence[Review]) -> None:
    """Replace the file in one step."""
    said = ({name: one for name, one in asdict(row).items() if name != "file"} for row in rows)
    trees = ({"id": row.id, "file": row.file, "review": own} for row, own in zip(rows, said, strict=True))
    write_text(folder / REVIEWS, "".join(json.dumps(tree, ensure_ascii=False) + "\n" for tree in trees))


def agreement(rows: Iterable[Review]) -> tuple[int, Share | None]:
    """(pairs of named reviewers who coded the same words, [share with the same codes, low, high]); the last review of
    a person counts."""
    said: dict[tuple[str, ...], dict[str, frozenset[str]]] = {}
    for row in rows:
        if row.reviewer:
            said.setdefault(spelled(row.query), {})[row.reviewer] = frozenset(row.accepted)
    pairs = [one == other for own in said.values() for one, other in combinations(own.values(), 2)]
    return len(pairs), _share(sum(pairs), len(pairs))


# --- counts without texts ---------------------------------------------------------------------------------------------


COUNTS = "counts.tsv"
CONFIDENCES = ("high", "medium", "low", "hand")  # `hand`: added by the person, from the catalog
LARGEST_COUNT = 1_000_000
MOST_REJECTED = 10


@dataclass(frozen=True, slots=True)
class CodeCount:
    """Number of times that people accepted and rejected a code shown with this confidence."""

    page: str
    date: str
    code: str
    confidence: str
    accepted: int
    rejected: int


def is_counts(path: Path) -> bool:
    """True if the first line that is JSON has counts in it and no text."""
    row = next((row for _, row in _json_rows(path) if row is not None), None)
    return isinstance(row, dict) and "query" not in row and "code" in row


def read_counts(path: Path, catalog: Catalog) -> tuple[list[CodeCount], list[str]]:
    """(counts, what was wrong with the other lines). Raises SourceError where the file has none at all."""
    counts, faults = [], []
    for number, row in _json_rows(path):
        try:
            counts.append(_count(row, catalog))
        except ValueError as error:
            faults.append(f"{path.name}, line {number}: {error}")
    if not counts:
        raise SourceError(path.name, None, f"holds no counts; the first: {faults[0]}", "code, confidence, accepted")
    return counts, faults


def _count(row: Any, catalog: Catalog) -> CodeCount:
    if row is None:
        raise ValueError("is no JSON")
    if not isinstance(row, dict) or "query" in row:
        raise ValueError("is no object with code, confidence, accepted, rejected and without a text")
    given = row.get("code")
    code = catalog.parse(given) if isinstance(given, str) else None
    if code is None or code not in catalog:
        raise ValueError(f"code is none of the catalog {catalog.version}")
    if row.get("confidence") not in CONFIDENCES:
        raise ValueError(f"confidence is none of {', '.join(CONFIDENCES)}")
    numbers = [row.get(name, 0) for name in ("accepted", "rejected")]
    if not all(type(number) is int and 0 <= number <= LARGEST_COUNT for number in numbers) or not sum(numbers):
        raise ValueError(f"accepted and rejected are no counts of 0 to {LARGEST_COUNT}, one of them more than 0")
    page, date = (str(row.get(name) or "")[:36] for name in ("page", "date"))
    if not (page + date).isprintable():
        raise ValueError("page and date are no words of one line")
    return CodeCount(page, date[:10], code, row["confidence"], *numbers)


def add_counts(out: Path, counts: Iterable[CodeCount]) -> list[CodeCount]:
    """Merge these counts into those of the folder, each page, code and confidence once: of a page that was saved
    several times, or imported twice, the last. Written to `counts.tsv`."""
    fresh = list(counts)
    pages = {one.page for one in fresh}
    kept = [one for one in _kept_counts(out / COUNTS) if one.page not in pages]
    merged = {(one.page, one.code, one.confidence): one for one in [*kept, *fresh]}
    rows = [merged[key] for key in sorted(merged)]
    names = [field.name for field in fields(CodeCount)]
    write_text(out / COUNTS, "".join("\t".join(map(str, line)) + "\n" for line in (names, *map(astuple, rows))))
    return rows


def _kept_counts(path: Path) -> list[CodeCount]:
    if not path.is_file():
        return []
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines()[1:])
    return [CodeCount(page, date, code, how, int(right), int(wrong)) for page, date, code, how, right, wrong in rows]


def counts_table(counts: Iterable[CodeCount]) -> str:
    """Accepted and rejected by confidence, with the share that is right, then the codes rejected most often."""
    rows = list(counts)
    lines = ["confidence  accepted  rejected  right"]
    for confidence in CONFIDENCES:
        own = [one for one in rows if one.confidence == confidence]
        right, wrong = sum(one.accepted for one in own), sum(one.rejected for one in own)
        if of := _share(right, right + wrong):
            middle, low, high = of
            lines.append(f"{confidence:<10}  {right:>8}  {wrong:>8}  {middle:.2f} ({low:.2f}-{high:.2f})")
    wrong_codes: Counter[str] = Counter()
    for one in rows:
        wrong_codes[one.code] += one.rejected
    often = sorted((+wrong_codes).items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_REJECTED]
    lines.append("rejected most often: " + (", ".join(f"{code} {number}" for code, number in often) or "none"))
    return "\n".join(lines)


# --- candidate synonyms -----------------------------------------------------------------------------------------------


LONGEST: Final = 120
"""Code points: a wording that is longer is a text, not a name of a diagnosis."""
SAYS: Final = 3
STATUSES: Final = ("proposed", "approved", "rejected")


@dataclass(frozen=True, slots=True)
class SynonymCandidate:
    """Candidate synonym from reviews. `codes`: one, or a pair coded together. `says`: the index's answer today, best
    first. `same_words`: codes under which the catalog has these words."""

    id: str
    query: str
    codes: tuple[str, ...]
    says: tuple[str, ...]
    kind: str
    same_words: tuple[str, ...] = ()
    status: str = "proposed"


def candidates_of(reviews: Iterable[Review], index: SearchIndex) -> list[SynonymCandidate]:
    """One for each text and code; of reviews that name a diagnosis (see `why_none`)."""
    wordings = _wordings(index)
    found: dict[str, SynonymCandidate] = {}
    for own in (_candidate(review, index, wordings) for review in reviews):
        found.setdefault(own.id, own)
    return list(found.values())


def why_none(review: Review, catalog: Catalog) -> str:
    """Return the reason that a review makes no candidate synonym; empty where it makes one."""
    found = [catalog.get(code) for code in review.accepted]
    there = [code for code in found if code and code.terminal]
    if len(there) < len(found):
        return "an accepted code is not terminal"
    if not 1 <= len(there) <= 2 or (len(there) == 2 and sum(code.never_alone for code in there) != 1):
        return f"{len(there)} codes are accepted: neither one code nor a pair"
    if not words(review.query) or len(review.query) > LONGEST or len(cut(review.query)) != 1:
        return f"the text is no name of one diagnosis of at most {LONGEST} characters"
    return ""


def _candidate(review: Review, index: SearchIndex, wordings: dict[tuple[str, ...], set[str]]) -> SynonymCandidate:
    same = tuple(sorted(wordings.get(spelled(review.query), ())))
    kind = "new" if not same else "duplicate" if set(same) & set(review.accepted) else "conflict"
    name = "\0".join([*spelled(review.query), *sorted(review.accepted)])
    number = hashlib.sha256(name.encode()).hexdigest()[:8]
    says = tuple(f"{hit.code} {hit.confidence}" for hit in index.search(review.query, SAYS))
    return SynonymCandidate(number, review.query, review.accepted, says, kind, same)


def _wordings(index: SearchIndex) -> dict[tuple[str, ...], set[str]]:
    """The words of every wording in the index and the codes it stands under."""
    tables, names = index.wordings.tables, list(index.wordings.vocabulary)
    bounds, spelled = tables.word_start.tolist(), tables.word.tolist()
    found: dict[tuple[str, ...], set[str]] = {}
    for number, code in enumerate(tables.code.tolist()):
        own = tuple(names[word] for word in spelled[bounds[number] : bounds[number + 1]])
        found.setdefault(own, set()).add(index.catalog.codes[code].code)
    return found


def decided(
    candidates: Sequence[SynonymCandidate], ids: Iterable[str], status: str, conflicts: bool
) -> list[SynonymCandidate]:
    """The candidates with a new status for some. Raises SourceError for unknown ids and what may not be approved."""
    wanted = set(ids)
    known = {candidate.id: candidate for candidate in candidates}
    if unknown := wanted - known.keys():
        raise SourceError(
            "candidates.json", None, f"no candidate {min(unknown)}", "an id of `feedback show`", "look there"
        )
    for candidate in (known[name] for name in wanted if status == "approved"):
        if candidate.kind == "duplicate":
            raise SourceError(candidate.id, None, "is a duplicate", "a new wording", "there is nothing to add")
        if candidate.kind == "conflict" and not conflicts:
            found = f"stands under {', '.join(candidate.same_words)} in the catalog"
            raise SourceError(
                candidate.id, None, found, "words that mean one code", "to add it all the same: --conflicts"
            )
    return [replace(each, status=status) if each.id in wanted else each for each in candidates]


def synonym_lines(candidates: Iterable[SynonymCandidate], catalog: Catalog) -> list[str]:
    """Approved candidates as a vocabulary (`catalog_build build --synonyms`): a header, then text, code and source."""
    approved = [candidate for candidate in candidates if candidate.status == "approved"]
    rows = [f"{each.query}\t{_marked(each, catalog)}\tfeedback {each.id}" for each in approved]
    return ["text\tcode\tsource", *rows] if rows else []


def _marked(candidate: SynonymCandidate, catalog: Catalog) -> str:
    """With their marks, the code that stands first in a pair first."""
    found = [code for code in map(catalog.get, candidate.codes) if code]
    found.sort(key=lambda code: code.never_alone)
    return " ".join(code.marked for code in found)


# --- what to review next ----------------------------------------------------------------------------------------------


class Waiting(NamedTuple):
    """A text, how often it came, what is shown first, the probability that this is right, and what a higher tier says
    (empty where none was asked, or it says the same)."""

    query: str
    times: int
    code: str
    probability: float
    other: str = ""

    @property
    def worth(self) -> float:
        """Wrong first codes to be expected."""
        return self.times * (1.0 if self.other else 1.0 - self.probability)


def texts_of(path: Path) -> list[str]:
    """One text a line. Raises SourceError where there is none."""
    lines = [" ".join(line.split()) for line in path.read_text(encoding="utf-8-sig", errors="replace").splitlines()]
    texts = [line for line in lines if spelled(line)]
    if not texts:
        raise SourceError(path.name, None, "holds no text", "one text a line", "name another file")
    return texts


Asked = Callable[[str], str]
"""A text to the first code that a higher tier gives it, empty where it gives none."""


def waiting(
    texts: Iterable[str], reviewed: Iterable[str], index: SearchIndex, higher: Asked | None = None
) -> list[Waiting]:
    """The texts without a review, most useful first; spellings of the same words are one."""
    done = {spelled(text) for text in reviewed}
    counts, first = Counter[tuple[str, ...]](), dict[tuple[str, ...], str]()
    for text in texts:
        if (own := spelled(text)) not in done:
            counts[own] += 1
            first.setdefault(own, text)
    rows = []
    for text, hits in zip(first.values(), index.search_many(list(first.values()), 1), strict=True):
        code, probability = (hits[0].code, float(hits[0].probability)) if hits else ("", 0.0)
        other = higher(text) if higher else ""
        rows.append(Waiting(text, counts[spelled(text)], code, probability, other if other != code else ""))
    return sorted(rows, key=lambda row: (-row.worth, row.query))


def served_tier(url: str, tier: int) -> Asked:
    """A tier of a text API that is served at `url`, with the key of BEFUND_API_KEY. Raises SettingError without one."""
    import httpx2

    key = os.environ.get("BEFUND_API_KEY")
    if not key:
        raise SettingError("no key for the served address", "BEFUND_API_KEY in the environment", "set it")
    client = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=120)

    def ask(text: str) -> str:
        try:
            answer = client.post("/api/deep-research", json={"query": text}).raise_for_status()
        except httpx2.HTTPError as error:
            found = f"{url} gave no answer: {type(error).__name__}"
            raise SettingError(found, "a text API that is up", "start it, or mend the address or the key") from None
        for event in Decoder().feed(answer.content):
            if isinstance(event, PartialEvent | ResultEvent) and event.layer == tier:
                return event.codes[0].code if event.codes else ""
        return ""

    return ask


# --- commands ---------------------------------------------------------------------------------------------------------


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
    if is_counts(file):
        return _import_counts(file, index.catalog, out)
    reviews, faults = read_reviews(file, index.catalog)
    before, known = read_kept(out), dict[str, Review]()
    for review in (*before, *reviews):
        known.setdefault(review.id, review)
    rows = list(known.values())
    if not any(row.accepted for row in rows):
        raise SourceError(file.name, None, "no query has an accepted code", "at least one", "review more")
    _write_kept(out, rows)
    disputed = disagreements(rows)
    agreed = [row for row in rows if row.query not in disputed and row.accepted]
    measured = [row for row in agreed if side_of(row.query) == "evaluation"]
    learnt = [row for row in agreed if side_of(row.query) == "training"]
    _write_set(out / SET, measured, index, card=True)
    _write_set(out / TRAINING, learnt, index)
    fresh = _write_candidates(out, learnt, index)
    left = _write_dropped(out, rows, disputed, index)
    for fault in [*faults, *left]:
        print(fault, file=sys.stderr)
    pairs, same = agreement(rows)
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(each.kind for each in fresh).items())
    agree = f"{pairs} pairs of reviewers, same codes {same[0]:.2f} ({same[1]:.2f}-{same[2]:.2f})" if same else "none"
    print(
        f"{len(reviews)} reviews in {file.name}, {len(rows) - len(before)} of them new, {len(faults)} faults; in all "
        f"{len(rows)}: {len(measured)} for evaluation in {out / SET}, {len(learnt)} for training, "
        f"{len(rows) - len(measured) - len(learnt)} in neither; {len(left)} reasons why not, or why no candidate, by "
        f"line in {out / DROPPED}; agreement: {agree}; {len(fresh)} candidates ({kinds or 'none'}): "
        f"python -m catalog_build feedback show {out}"
    )
    return 1 if faults else 0


def _import_counts(file: Path, catalog: Catalog, out: Path) -> int:
    fresh, faults = read_counts(file, catalog)
    rows = add_counts(out, fresh)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(counts_table(rows))
    print(
        f"{file.name} holds no texts, only how often {len(fresh)} codes were accepted and rejected: added to "
        f"{out / COUNTS} ({len(rows)} lines in all). Nothing is measured or learnt from it; for that, the texts "
        "have to come along."
    )
    return 1 if faults else 0


def _write_set(path: Path, rows: Sequence[Review], index: SearchIndex, card: bool = False) -> None:
    """Every query with all codes accepted for it; no file where there is none yet."""
    codes: dict[str, list[str]] = {}
    for row in rows:
        codes.setdefault(row.query, []).extend(row.accepted)
    if not codes:
        return
    lines = [f"{query}\t{','.join(dict.fromkeys(own))}\n" for query, own in codes.items()]
    write_text(path, "query\tcodes\n" + "".join(lines))
    if card:
        files = ", ".join(dict.fromkeys(row.file for row in rows))
        digest = checksum(path)
        said = {
            "name": "reviewed", "version": digest[:12], "source": f"reviews of {files}",
            "licence": "not stated: ask who reviewed",
            "about": f"one in {EVALUATED} of the texts people coded, with ICD-10-GM {index.catalog.version}",
            "rows": len(codes), "sha256": digest,
            "faults": ["only codes that reviewers saw or named: others may be right as well"],
        }  # fmt: skip
        write_json(path.with_suffix(".card.json"), said)


def _write_candidates(out: Path, rows: Sequence[Review], index: SearchIndex) -> list[SynonymCandidate]:
    """Write the candidate synonyms; those decided before stay decided, also where a later review disputes them."""
    fresh = candidates_of([row for row in rows if not why_none(row, index.catalog)], index)
    before = {each.id: each for each in _read_candidates(out)} if (out / CANDIDATES).is_file() else {}
    tree = [asdict(each) | ({"status": before[each.id].status} if each.id in before else {}) for each in fresh]
    known = {each.id for each in fresh}
    tree += [asdict(each) for each in before.values() if each.id not in known and each.status != "proposed"]
    write_json(out / CANDIDATES, tree)
    return fresh


def _write_dropped(out: Path, rows: Sequence[Review], disputed: set[str], index: SearchIndex) -> list[str]:
    """Reviews that became neither a measured query nor a candidate, by line with the reason and without their text."""
    found = list[str]()
    for row in rows:
        why = ""
        if row.query in disputed:
            why = "one review accepts what another rejects: in neither set until they agree"
        elif not row.accepted:
            why = "no code is accepted: there is no right answer yet"
        elif side_of(row.query) == "training" and (why := why_none(row, index.catalog)):
            why = f"no candidate synonym: {why}"
        if why:
            found.append(f"{row.file}, line {row.line}: {why}")
    write_text(out / DROPPED, "place\twhy\n" + "".join(line.replace(": ", "\t", 1) + "\n" for line in found))
    return found


def _read_candidates(folder: Path) -> list[SynonymCandidate]:
    path = folder / CANDIDATES
    remedy = "make it with python -m catalog_build feedback import"
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
@click.option("--status", type=click.Choice(STATUSES))
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def _show(folder: Path, status: str | None, as_json: bool) -> None:
    """List candidate synonyms."""
    rows = [each for each in _read_candidates(folder) if status in (None, each.status)]
    if as_json:
        print(json.dumps([asdict(each) for each in rows], ensure_ascii=False))
        return
    for each in rows:
        under = f" under {', '.join(each.same_words)}" if each.kind == "conflict" else ""
        print(f"{each.id}  {each.status:9} {each.kind}{under}  {each.query}  ->  {' '.join(each.codes)}")
        print(f"{'':10}today: {', '.join(each.says) or 'nothing'}")
    print(
        f"{len(rows)} candidates; decide: python -m catalog_build feedback approve|reject {folder} ID... --catalog DIR"
    )


def _deciding(name: str, status: str) -> None:
    """Add the command `name`, which gives candidates this status."""

    @command.command(name, help=f"{name} candidates")
    @click.argument("folder", type=PATH)
    @click.argument("ids", nargs=-1, required=True, metavar="ID...")
    @click.option("--catalog", type=PATH, required=True, help="the artifact of the import")
    @click.option("--conflicts", is_flag=True, help="also words that stand under another code")
    def _(folder: Path, ids: Sequence[str], catalog: Path, conflicts: bool) -> None:
        rows = decided(_read_candidates(folder), ids, status, conflicts)
        lines = synonym_lines(rows, Catalog.load(catalog / "codes.json"))
        write_json(folder / CANDIDATES, [asdict(each) for each in rows])
        write_text(folder / SYNONYMS, "".join(f"{line}\n" for line in lines))
        print(f"{len(set(ids))} {status}; {max(0, len(lines) - 1)} approved synonyms in {folder / SYNONYMS}")


_deciding("approve", "approved")
_deciding("reject", "rejected")


@command.command("queue")
@click.argument("texts", type=PATH)
@click.option("--catalog", type=PATH, required=True, help="the artifact that answers")
@click.option("--folder", type=PATH, help="of an import: what was reviewed there is left out")
@click.option("--url", help="of a served text API whose higher tier is asked too (its key in BEFUND_API_KEY)")
@click.option("--tier", type=click.IntRange(2, 3), default=2, help="that tier (2)")
@click.option("--limit", type=click.IntRange(1), default=50, help="how many texts")
def _queue(texts: Path, catalog: Path, folder: Path | None, url: str | None, tier: int, limit: int) -> None:
    """The texts to review next, most useful first, as a CSV that `import` reads once accepted is filled in."""
    index = SearchIndex.load(catalog)
    reviewed = [row.query for row in read_kept(folder)] if folder else []
    higher = served_tier(url, tier) if url else None
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["query", "accepted", "rejected", "times", "shown", "probability", f"tier {tier}", "worth"])
    for row in waiting(texts_of(texts), reviewed, index, higher)[:limit]:
        figures = [row.times, row.code, f"{row.probability:.3f}", row.other, f"{row.worth:.2f}"]
        rows.writerow([row.query, "", "", *figures])
