"""Befund's own synonyms (lay words, shorthand, Swiss and Austrian words), added to a catalog of the official files.

The contract: "ICD-10-GM 2026 with added synonyms, so colloquial terms also match". They are the synonyms of the
starter catalog. Official wordings win: an own text that the official files give to any code is left out, and so is
one whose code is not terminal in the catalog at hand. What is held out for measuring is held out of these, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from catalog_build.official import Source, Synonym, read_source
from catalog_build.synonyms import WordSynonym, all_texts, fold_of, word_synonyms
from clinical.language import folded_words

STARTER: Final = Path(__file__).parent / "starter"
BEFUND, OWN = "starter", "own"
"""`Synonym.source` of Befund's own wordings and of those in the user's files: neither is official."""


@cache
def _starter() -> Source:
    return read_source(STARTER)


def own_texts(source: Source, official: Sequence[Synonym], holdout: int | None = None) -> tuple[Synonym, ...]:
    """Own synonyms for this catalog; none for the starter itself, which holds them already."""
    if _starter().files == source.files:
        return ()
    taken = {spelled(text.text) for text in official}  # also those of the held-out fold
    kept = []
    for synonym in all_texts(_starter()):
        code = source.catalog.get(synonym.code)
        if synonym.source in ("title", "inclusion") or code is None or not code.terminal:
            continue
        if spelled(synonym.text) not in taken and (holdout is None or fold_of(synonym) != holdout):
            kept.append(replace(synonym, source=BEFUND))
    return tuple(kept)


def references(source: Source, holdout: int | None = None) -> tuple[WordSynonym, ...]:
    """The official word synonyms, then our own."""
    official = word_synonyms(source.cross_references, holdout)
    return official if _starter().files == source.files else official + word_synonyms(_starter().cross_references)


def replacements(synonyms: Iterable[WordSynonym]) -> list[tuple[str, str]]:
    """(word, the first wording it stands for); beginnings of words are left out: folding has most of them."""
    return [(each.word, each.others[0].replace(",", " ")) for each in synonyms if not each.prefix]


def spelled(text: str) -> tuple[str, ...]:
    """The words of a text as the search reads them: equal for two spellings of one wording."""
    return tuple(folded_words(text))
