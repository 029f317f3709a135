"""German and Latin/Greek parts of medical words: "Eichelentzündung" is "Balanitis", "Costa" is "Rippe".

For a word that no wording has, words of the same meaning are made from the table `morphemes.tsv`; only those that some
wording does have are of use. Compound splitters know neither the parts nor what they are called in the other language.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final, NamedTuple

from clinical.text.folding import Token, fold, replaced, words

SHORTEST: Final = 4
"""Characters from which an unknown word is taken apart: shorter ones are abbreviations."""
MOST: Final = 2
"""Translations of a word that are tried."""
LINKS: Final = ("", "s", "n", "en", "er", "o", "al")
"""Linking elements between two parts of a compound."""


class MorphemeTable(NamedTuple):
    """Folded part -> the folded parts that mean the same, by kind."""

    beginnings: dict[str, tuple[str, ...]]
    endings: dict[str, tuple[str, ...]]
    words: dict[str, tuple[str, ...]]


@cache
def table() -> MorphemeTable:
    """The table as it is shipped, read once."""
    found: dict[str, dict[str, tuple[str, ...]]] = {"beginning": {}, "ending": {}, "word": {}}
    for line in files("clinical.text").joinpath("morphemes.tsv").read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        kind, _, forms = line.partition("\t")
        group = tuple(dict.fromkeys(fold(form.strip()) for form in forms.split(",")))
        for form in group:
            others = tuple(other for other in group if other != form)
            found[kind][form] = tuple(dict.fromkeys((*found[kind].get(form, ()), *others)))
    return MorphemeTable(found["beginning"], found["ending"], found["word"])


def translated(
    query: str,
    known: Collection[str],
    unknown: Sequence[Token] | None = None,
    meanings: dict[str, list[str]] | None = None,
) -> list[str]:
    """The query with each unknown word in the other language, most literal first, at most MOST of them.

    `known`: the folded words of all wordings. Empty when there is nothing to put in their place. `unknown`: the unknown
    words of the query, where the caller has them. `meanings` is filled with what each may be called: for a caller that
    reads overlapping pieces of one text, and drops it with them.
    """
    meanings = {} if meanings is None else meanings
    unknown = [word for word in words(query) if word.text not in known] if unknown is None else unknown
    for word in unknown:
        if word.text not in meanings:
            meanings[word.text] = _known(word.text, known)
    meant = [(word, others) for word in unknown if (others := meanings[word.text])]
    count = max((len(others) for _, others in meant), default=0)
    return [replaced(query, [(word, others[min(n, len(others) - 1)]) for word, others in meant]) for n in range(count)]


def _known(word: str, known: Collection[str]) -> list[str]:
    return list(islice(dict.fromkeys(other for other in same_meaning(word) if other in known), MOST))


def same_meaning(word: str) -> Iterator[str]:
    """Folded words that would mean the same, most literal first; most of them do not exist."""
    parts = table()
    yield from parts.words.get(word, ())
    if len(word) < SHORTEST:
        return
    cuts = [at for at in range(2, len(word)) if word[:at] in parts.beginnings]
    ends = [at for at in range(1, len(word) - 1) if word[at:] in parts.endings]
    for at in reversed(cuts):
        for link in ends:
            if word[at:link] in LINKS and at <= link:
                yield from _joined(parts.beginnings[word[:at]], parts.endings[word[link:]])
    for at in reversed(cuts):
        if at < len(word) - 2:
            yield from (other + word[at:] for other in parts.beginnings[word[:at]])
    for link in ends:
        if link > 2:
            yield from (word[:link] + other for other in parts.endings[word[link:]])


def _joined(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    for one in first:
        for other in second:
            for link in LINKS:
                yield one + link + other
