"""Befund's own synonyms (lay words, shorthand, Swiss and Austrian words), added to a catalog of the official files.

The contract: "ICD-10-GM 2026 with added synonyms, so colloquial terms also match". They are the synonyms of the
starter catalog and those of `everyday`, whose codes are of the whole catalog: acronyms, clipped words, states after
procedures, what patients say. Official wordings win: an own text that the official files give to any code is left
out, and so is one whose code is not terminal in the catalog at hand. What is held out for measuring is held out of
these, too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from catalog_build.official import Source, Synonym, read_source
from catalog_build.synonyms import NEVER_HELD_OUT, WordSynonym, all_texts, fold_of, word_synonyms
from clinical.icd import Catalog
from clinical.text import folded_words

STARTER: Final = Path(__file__).parent / "starter"
EVERYDAY: Final = Path(__file__).parent / "everyday"
"""Everyday wordings. `wordings.tsv`: text, code (two with a space where they are coded together);
`words.tsv`: word, meaning."""
BEFUND, OWN = "starter", "own"
"""`Synonym.source` of Befund's own wordings and of those in the user's files: neither is official."""


@cache
def _starter() -> Source:
    return read_source(STARTER)


@cache
def everyday_texts() -> tuple[Synonym, ...]:
    """Synonyms of `everyday/wordings.tsv`, whatever the catalog at hand."""
    rows = ((text, code.split()) for text, code in _rows("wordings.tsv"))
    return tuple(Synonym(text, codes[0], tuple(codes[1:]), source=BEFUND) for text, codes in rows)


@cache
def everyday_words() -> tuple[WordSynonym, ...]:
    """Acronyms and clipped words, each with what it stands for: `everyday/words.tsv`."""
    return tuple(WordSynonym(word, (meaning,)) for word, meaning in _rows("words.tsv"))


def _rows(name: str) -> list[tuple[str, str]]:
    """The two columns of a file of `everyday`, without its header."""
    with (EVERYDAY / name).open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [(first, second) for first, second in rows]


def own_texts(source: Source, official: Sequence[Synonym], holdout: int | None = None) -> tuple[Synonym, ...]:
    """Own synonyms for this catalog. The starter holds its own already: it is only given those of `everyday`."""
    taken = {spelled(text.text) for text in official}  # also those of the held-out fold
    kept = []
    for synonym in (*(() if _is_starter(source) else all_texts(_starter())), *everyday_texts()):
        code = source.catalog.get(synonym.code)
        if synonym.source in NEVER_HELD_OUT or code is None or not code.terminal:
            continue
        if spelled(synonym.text) not in taken and (holdout is None or fold_of(synonym) != holdout):
            kept.append(replace(synonym, source=BEFUND))
    return tuple(kept)


def with_everyday(source: Source) -> Source:
    """The source with the codes marked that own wordings name, also where an official one says the same."""
    named = {code for text in (*_starter().synonyms, *everyday_texts()) for code in (text.code, *text.secondary)}
    known = source.catalog
    codes = (replace(code, everyday=code.code in named) for code in known)
    return replace(source, catalog=Catalog(known.version, codes, known.chapters, known.blocks, known.moves))


def references(source: Source, holdout: int | None = None) -> tuple[WordSynonym, ...]:
    """The official word synonyms, then our own."""
    official = word_synonyms(source.cross_references, holdout)
    starter = () if _is_starter(source) else word_synonyms(_starter().cross_references)
    return (*official, *starter, *everyday_words())


def _is_starter(source: Source) -> bool:
    return _starter().files == source.files


def replacements(synonyms: Iterable[WordSynonym]) -> list[tuple[str, str]]:
    """(word, the first wording it stands for); beginnings of words are left out: folding has most of them."""
    return [(each.word, each.others[0].replace(",", " ")) for each in synonyms if not each.prefix]


def spelled(text: str) -> tuple[str, ...]:
    """The words of a text as the search reads them: equal for two spellings of one wording."""
    return tuple(folded_words(text))
