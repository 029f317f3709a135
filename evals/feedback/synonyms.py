"""Candidate synonyms from reviewed codings: a text and the code people accepted for it, shown to a person first.

A candidate is `new`, a `duplicate` (the catalog has its words under that code) or a `conflict` (under another code).
Its status is proposed, approved or rejected; only a person changes it. Nothing here writes into an artifact.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from catalog_build.own_synonyms import STARTER
from clinical.catalog import Catalog
from clinical.errors import SourceError
from clinical.language import cut, words
from clinical.search import SearchIndex
from evals.feedback.reviews import Review

LONGEST: Final = 120
"""Code points: a wording that is longer is a text, not a name of a diagnosis."""
SAYS: Final = 3
STATUSES: Final = ("proposed", "approved", "rejected")
_ID: Final = re.compile(r"^\d\|B(\d+)\|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """`codes`: one, or a pair coded together. `says`: what the index answers today, best first. `same_words`: codes
    under which the catalog has these words."""

    id: str
    query: str
    codes: tuple[str, ...]
    says: tuple[str, ...]
    kind: str
    same_words: tuple[str, ...] = ()
    status: str = "proposed"


def candidates_of(reviews: Sequence[Review], index: SearchIndex) -> tuple[list[Candidate], int]:
    """(candidates, how many texts make none: too long, no code or several, a code that is not terminal)."""
    wordings = _wordings(index)
    found: dict[str, Candidate] = {}
    for review in reviews:
        if _names_a_diagnosis(review, index.catalog):
            own = _candidate(review, index, wordings)
            found.setdefault(own.id, own)
    return list(found.values()), len(reviews) - sum(_names_a_diagnosis(each, index.catalog) for each in reviews)


def _names_a_diagnosis(review: Review, catalog: Catalog) -> bool:
    kinds = [code.kind for code in map(catalog.get, review.accepted) if code and code.terminal]
    complete = len(kinds) == len(review.accepted) and 1 <= len(kinds) <= 2
    pair = len(kinds) < 2 or sum(kind in ("star", "exclamation") for kind in kinds) == 1
    single = len(cut(review.query)) == 1 and len(review.query) <= LONGEST and "|" not in review.query
    return complete and pair and single and bool(words(review.query))


def _candidate(review: Review, index: SearchIndex, wordings: dict[tuple[str, ...], set[str]]) -> Candidate:
    same = tuple(sorted(wordings.get(_spelled(review.query), ())))
    kind = "new" if not same else "duplicate" if set(same) & set(review.accepted) else "conflict"
    name = "\0".join([*_spelled(review.query), *sorted(review.accepted)])
    number = hashlib.sha256(name.encode()).hexdigest()[:8]
    says = tuple(f"{hit.code} {hit.confidence}" for hit in index.search(review.query, SAYS))
    return Candidate(number, review.query, review.accepted, says, kind, same)


def _wordings(index: SearchIndex) -> dict[tuple[str, ...], set[str]]:
    """The words of every wording in the index and the codes it stands under."""
    tables, names = index.wordings.tables, list(index.wordings.vocabulary)
    bounds, spelled = tables.word_start.tolist(), tables.word.tolist()
    found: dict[tuple[str, ...], set[str]] = {}
    for number, code in enumerate(tables.code.tolist()):
        own = tuple(names[word] for word in spelled[bounds[number] : bounds[number + 1]])
        found.setdefault(own, set()).add(index.catalog.codes[code].code)
    return found


def _spelled(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in words(text))


def decided(candidates: Sequence[Candidate], ids: Iterable[str], status: str, conflicts: bool) -> list[Candidate]:
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


def synonym_lines(candidates: Iterable[Candidate], catalog: Catalog, first: int) -> list[str]:
    """Approved candidates as lines in the Alpha-ID-SE text format (8 fields), numbered from `first`."""
    approved = [candidate for candidate in candidates if candidate.status == "approved"]
    return [_line(number, candidate, catalog) for number, candidate in enumerate(approved, start=first)]


def _line(number: int, candidate: Candidate, catalog: Catalog) -> str:
    kinds = {code: found.kind for code in candidate.codes if (found := catalog.get(code))}
    star = next((code for code, kind in kinds.items() if kind == "star"), "")
    mark = next((code for code, kind in kinds.items() if kind == "exclamation"), "")
    primary = next((code for code in candidate.codes if code not in (star, mark)), "")
    fields = [f"{primary}+" if primary and star else primary, star and f"{star}*", mark and f"{mark}!", "", ""]
    return "|".join(["1", f"B{number:06}", *fields, candidate.query])


def next_number(folder: Path = STARTER) -> int:
    """The next free number of our own synonyms."""
    texts = (path.read_text(encoding="utf-8") for path in folder.glob("*alphaidse*.txt"))
    return max((int(number) for text in texts for number in _ID.findall(text)), default=0) + 1
