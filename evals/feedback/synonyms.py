"""Candidate synonyms from reviewed codings: a text and the code people accepted for it, shown to a person first.

A candidate is `new`, a `duplicate` (the catalog has its words under that code) or a `conflict` (under another code).
Its status is proposed, approved or rejected; only a person changes it. Nothing here writes into an artifact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from catalog_build.own_synonyms import spelled
from clinical.catalog import Catalog
from clinical.errors import SourceError
from clinical.language import cut, words
from clinical.search import SearchIndex
from evals.feedback.reviews import Review

LONGEST: Final = 120
"""Code points: a wording that is longer is a text, not a name of a diagnosis."""
SAYS: Final = 3
STATUSES: Final = ("proposed", "approved", "rejected")


@dataclass(frozen=True, slots=True)
class SynonymCandidate:
    """`codes`: one, or a pair coded together. `says`: what the index answers today, best first. `same_words`: codes
    under which the catalog has these words."""

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
    for review in reviews:
        own = _candidate(review, index, wordings)
        found.setdefault(own.id, own)
    return list(found.values())


def why_none(review: Review, catalog: Catalog) -> str:
    """Why a review makes no candidate synonym; empty where it makes one."""
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
    rows = [f"{each.query}\t{_codes(each, catalog)}\tfeedback {each.id}" for each in approved]
    return ["text\tcode\tsource", *rows] if rows else []


def _codes(candidate: SynonymCandidate, catalog: Catalog) -> str:
    """With their marks, the code that stands first in a pair first."""
    found = [code for code in map(catalog.get, candidate.codes) if code]
    found.sort(key=lambda code: code.never_alone)
    return " ".join(code.marked for code in found)
