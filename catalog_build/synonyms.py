"""Every searchable wording of a source, cleaned and without repetition, the word synonyms of its references, and the
codes that are coded together for a wording."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from catalog_build.official import CrossReference, Source, Synonym
from clinical.icd import PAIR_NOTE, Catalog, Code, Note, category
from clinical.text import folded_words

FOLDS: Final = 20
NEVER_HELD_OUT: Final = frozenset({"title", "inclusion"})

BESIDE_MANY: Final = 12
"""Categories beside whose diseases a word is named that is none itself: "Kopf" 63, "Augenbraue" 10; "Balanitis", which
is one, 9."""

# Targets that point to a rule of the index, not to another word.
_NO_WORD: Final = re.compile(
    r"(?:Art|Tabelle|Einzeleinträge|Lokalisation|Angaben?|Ursache|Krankheit) (?:der|des|nach|unter|bei)\b.*"
)


@dataclass(frozen=True, slots=True)
class WordSynonym:
    """`word` may be written for each of `others` (official: "Bauchspeicheldrüse - s. Pankreas").

    `prefix`: they are beginnings of words (`Card` for `Kard`), written without their hyphens.
    """

    word: str
    others: tuple[str, ...]
    prefix: bool = False


def fold(text: str) -> int:
    """Fold 0..19 of a text: stable across machines and builds."""
    return int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def fold_of(synonym: Synonym) -> int | None:
    """Fold of a synonym, from its text as in the file; None for titles and inclusions, which are never held out."""
    return None if synonym.source in NEVER_HELD_OUT else fold(synonym.raw)


def all_texts(source: Source) -> tuple[Synonym, ...]:
    """Official titles, inclusion notes and synonyms, once per (text, code).

    A title stays a title where a synonym repeats it, so that holding a fold out never takes a title away.
    """
    kept: dict[tuple[str, str], Synonym] = {}
    for synonym in (*_titles(source), *_inclusions(source), *source.synonyms):
        text = " ".join(synonym.text.split())
        if not any(character.isalnum() for character in text):
            continue
        first = kept.setdefault((text, synonym.code), synonym if text == synonym.text else replace(synonym, text=text))
        if first is not synonym and (synonym.secondary or synonym.orpha):
            merged = replace(first, secondary=first.secondary or synonym.secondary, orpha=first.orpha or synonym.orpha)
            kept[text, synonym.code] = merged
    return tuple(kept.values())


def word_synonyms(references: Iterable[CrossReference], holdout: int | None = None) -> tuple[WordSynonym, ...]:
    """The cross references that equate words; those that point to a rule or a table are left out.

    A head with its meaning in brackets (`MEN [Multiple endokrine Neoplasie]`) equates the two as well. References
    that are the tail of a synonym of the fold `holdout` are left out with it.
    """
    found: dict[tuple[str, bool], dict[str, str]] = {}
    for reference in references:
        held_out = holdout is not None and reference.raw is not None and fold(reference.raw) == holdout
        if held_out or reference.head.startswith("-"):  # "-" begins an ending of words
            continue
        short, _, meaning = reference.head.removesuffix("]").partition(" [")
        prefix = short.endswith("-")
        others = found.setdefault((short.rstrip("-"), prefix), {})
        for target in [meaning] * bool(meaning) + list(reference.targets):
            if target.endswith("-") == prefix and not _NO_WORD.match(target):
                others.setdefault(target.casefold(), target.rstrip("-"))
    return tuple(WordSynonym(word, tuple(o.values()), prefix) for (word, prefix), o in found.items() if o)


def _titles(source: Source) -> Iterator[Synonym]:
    """Codes held free for later ("Nicht belegte Schlüsselnummer U99.9!") have no meaning to search for."""
    return (
        Synonym(code.title, code.code, source="title")
        for code in source.catalog
        if not code.title.startswith("Nicht belegte Schlüsselnummer")
    )


def _inclusions(source: Source) -> Iterator[Synonym]:
    """The inclusion notes but those of one word that only tells where, or of what ("Kniegelenk" at a complication of
    its prosthesis): the index has no such entry, and names it beside diseases of many categories."""
    entries, categories, folds = set[str](), defaultdict[str, set[str]](set), dict[str, str]()
    for official in (*source.synonyms, *_titles(source)):
        spelled = folded_words(official.text, folds)
        entries.update(spelled if len(spelled) == 1 and official.source != "title" else ())
        for word in spelled:
            categories[word].add(category(official.code))
    for code in source.catalog:
        for note in code.notes:
            spelled = folded_words(note.text, folds)
            is_place = len(spelled) == 1 and spelled[0] not in entries and len(categories[spelled[0]]) >= BESIDE_MANY
            if note.kind == "inclusion" and not is_place:
                yield Synonym(note.text, code.code, source="inclusion")


def with_pairs(catalog: Catalog, synonyms: Iterable[Synonym]) -> Catalog:
    """The catalog with `pair` notes at the end of the notes of the codes concerned; partners with most wordings first.

    The tables of codes do not say which dagger and asterisk codes are coded together; the synonyms do: a line `B37.3+ |
    N77.1* | Candida-Vaginitis` is coded with both. Each of the two gets a note for each partner: `references` holds the
    partner, `text` the wordings, one per line; tiers 2 and 3 read them (`clinical.coding.rules`). Only pairs with
    exactly one asterisk code count: "!" codes and second primary codes are no such pair.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    for synonym in synonyms:
        for other in synonym.secondary:
            if _is_pair(catalog.get(synonym.code), catalog.get(other)):
                texts.setdefault((synonym.code, other), []).append(synonym.text)
    notes: dict[str, list[Note]] = {}
    for (dagger, asterisk), wordings in sorted(texts.items(), key=lambda item: (-len(item[1]), item[0])):
        text = "\n".join(dict.fromkeys(wordings))
        notes.setdefault(dagger, []).append(Note(PAIR_NOTE, text, (asterisk,)))
        notes.setdefault(asterisk, []).append(Note(PAIR_NOTE, text, (dagger,)))
    finished = (
        replace(code, notes=(*code.notes, *notes[code.code])) if code.code in notes else code for code in catalog
    )
    return Catalog(catalog.version, finished, catalog.chapters, catalog.blocks, catalog.moves)


def _is_pair(one: Code | None, other: Code | None) -> bool:
    return one is not None and other is not None and one.kind != "asterisk" and other.kind == "asterisk"
