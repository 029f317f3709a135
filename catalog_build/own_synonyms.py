"""Befund's own synonyms (lay words, shorthand, Swiss and Austrian words), added to a catalog of the official files.

The contract: "ICD-10-GM 2026 with added synonyms, so colloquial terms also match". They are the synonyms of the starter
catalog, those of `everyday`, whose codes are of the whole catalog (acronyms, clipped words, states after procedures,
what patients say, what practices and wards write), and the words under which the authors to learn from coded a
condition. Official wordings win, but where many authors agree on another code (`overruled`): an own text that the
official files give to a terminal code is left out, and so is one whose own code is not terminal in the catalog at hand.
What is held out for measuring is held out of these, too.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from catalog_build.official import Source, Synonym, read_source
from catalog_build.synonyms import NEVER_HELD_OUT, WordSynonym, all_texts, fold_of, word_synonyms
from catalog_build.training.authors import read
from clinical.icd import Catalog
from clinical.reading import SearchIndex
from clinical.search import Wordings
from clinical.text import FUNCTION_WORDS, SIDES, folded_words, sites_of

STARTER: Final = Path(__file__).parent / "starter"
EVERYDAY: Final = Path(__file__).parent / "everyday"
"""Everyday wordings. `wordings.tsv`: text, code (two with a space where they are coded together); `practice.tsv`: the
same, by fifteen hands of practices and wards, of patients and nurses; `words.tsv`: word, meaning."""
BEFUND, PRACTICE, AUTHORS, OWN = "starter", "practice", "authors", "own"
"""`Synonym.source` of Befund's own wordings, of those of `practice.tsv`, of those that authors coded, and of those in
the user's files: none is official."""
NOT_LEARNED: Final = frozenset({PRACTICE, AUTHORS})
"""Sources that encoders do not learn from: of official synonyms that are new to it one that did found as many, within
chance (evals/LOG.md)."""
AUTHORED: Final = "authored.tsv"
"""In an artifact: the wordings that it has from authors alone (text, code, authors with a space), for whoever learns
from these authors' texts and must read them as a stranger's."""
AGREED: Final = 0.6
"""Share of the times words were coded that have the same code: below it they mean what their text says."""
OVERRULING: Final = 3
"""Authors whose code for the same words stands above our own."""
PRACTISED, FIRMLY = 5, 0.75
"""Authors whose code for the same words stands above that of an official synonym, and the share of the times that these
words were coded so: "Erythema migrans" is A69.2 to whoever writes it, not A26.0. Twice as many where it is of another
chapter: "Mastitis" is not always of the lactation. A title stays."""
MOST_WORDS: Final = 6
"""Words of the longest wording taken from an author: longer ones are sentences that nobody writes again."""
TELLS_WHEN: Final = re.compile(r"\bseit\b", re.IGNORECASE)
"""Words with this are a sentence of one patient ("Durchfall seit 4 Tg."), no name of what he has."""
STAGE: Final = re.compile(r"(?:Grad|Stadium|Stufe|Typ|Klasse)?\s*(?:[IVX]{1,4}|\d)[a-d]?", re.IGNORECASE)
"""A stage or type by itself: what it is of, the text says elsewhere; where OVERRULING authors code it, it has a name
("Typ 2")."""
MOVED: Final = frozenset({"history", "family"})
"""Claims whose codes (Z80-Z99) are not those of the words."""


@cache
def _starter() -> Source:
    return read_source(STARTER)


@cache
def everyday_texts() -> tuple[Synonym, ...]:
    """Synonyms of `everyday/wordings.tsv`, whatever the catalog at hand: they also tell that a code is common."""
    return _texts("wordings.tsv", BEFUND)


@cache
def practice_texts() -> tuple[Synonym, ...]:
    """Synonyms of `everyday/practice.tsv`, whatever the catalog at hand: they go into rare codes, too."""
    return _texts("practice.tsv", PRACTICE)


def _texts(name: str, source: str) -> tuple[Synonym, ...]:
    rows = ((text, code.split()) for text, code in _rows(name))
    return tuple(Synonym(text, codes[0], tuple(codes[1:]), source=source) for text, codes in rows)


@cache
def everyday_words() -> tuple[WordSynonym, ...]:
    """Acronyms and clipped words, each with what it stands for: `everyday/words.tsv`."""
    return tuple(WordSynonym(word, (meaning,)) for word, meaning in _rows("words.tsv"))


class AuthoredWording(NamedTuple):
    """Words under which authors to learn from coded a condition, with the code that most of them gave."""

    text: str
    code: str
    authors: frozenset[str]
    share: float = 1.0


@cache
def authored_wordings() -> tuple[AuthoredWording, ...]:
    """The mentions of the authors to learn from that have one code, each spelling once, as it is written most often."""
    codes, texts = (
        defaultdict[tuple[str, ...], Counter[str]](Counter),
        defaultdict[tuple[str, ...], Counter[str]](Counter),
    )
    hands = defaultdict[tuple[tuple[str, ...], str], set[str]](set)
    for author, own in read("train").items():
        for text in own:
            for mention in text.mentions:
                said = text.text[mention.start : mention.end]
                if len(mention.codes) != 1 or mention.claim in MOVED or "\n" in said or TELLS_WHEN.search(said):
                    continue
                words, (code,) = spelled(said), mention.codes
                if 0 < len(words) <= MOST_WORDS:
                    codes[words][code] += 1
                    texts[words][said] += 1
                    hands[words, code].add(author)
    found = []
    for words in sorted(codes):
        code, times = codes[words].most_common(1)[0]
        said, named = texts[words].most_common(1)[0][0], len(hands[words, code]) >= OVERRULING
        sole = said.islower() and len(words) == 1 and len(hands[words, code]) < 2
        if times < AGREED * codes[words].total() or sole or not names_finding(said):
            continue
        if named or not STAGE.fullmatch(said):
            share = times / codes[words].total()
            found.append(AuthoredWording(said, code, frozenset(hands[words, code]), share))
    return tuple(found)


def names_finding(said: str) -> bool:
    """False for the first part of two ("Leber-" und Lungenmetastasen) and for a part of the body by itself ("Knie li"):
    what is there, their text says beside them."""
    places = [said[start:end].casefold() for start, end in sites_of(said)]
    others = set(re.findall(r"\w+", said.casefold())) - {*places, *SIDES, *FUNCTION_WORDS}
    return not said.endswith("-") and not (places and not others)


def save_authored(texts: Iterable[Synonym], folder: Path) -> None:
    """Write which of these wordings are authors' alone (AUTHORED); nothing where none is."""
    authors = {(one.text, one.code): one.authors for one in authored_wordings()}
    own = [(text.text, text.code) for text in texts if text.source == AUTHORS]
    if own:
        with (folder / AUTHORED).open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
            rows.writerow(("text", "code", "authors"))
            rows.writerows((*one, " ".join(sorted(authors[one]))) for one in own)


def load_authored(folder: Path) -> tuple[AuthoredWording, ...]:
    """Read what `save_authored` wrote; none where an artifact has none."""
    if not (folder / AUTHORED).is_file():
        return ()
    rows = (line.split("\t") for line in (folder / AUTHORED).read_text("utf-8").splitlines()[1:])
    return tuple(AuthoredWording(text, code, frozenset(authors.split())) for text, code, authors in rows)


def index_without(index: SearchIndex, wordings: Iterable[AuthoredWording]) -> SearchIndex:
    """An index like this one that has never heard of these wordings."""
    tables, known = index.wordings.tables, {(one.text, one.code) for one in wordings}
    rows = [(index.wordings.text(n), code) for n, code in enumerate(tables.code.tolist())]
    kept = [n for n, (text, code) in enumerate(rows) if (text, index.catalog.codes[code].code) not in known]
    if len(kept) == len(rows):
        return index
    titles = np.isin(kept, tables.title)
    texts, codes = zip(*(rows[n] for n in kept), strict=True)
    parts = (Wordings.build(texts, codes, titles.tolist(), index.encoder), index.encoder, index.ranker, index.manifest)
    return SearchIndex(
        index.catalog, *parts, index.expansion, None, index.confidence, index.suggester, tagger=index.tagger
    )


def _rows(name: str) -> list[tuple[str, str]]:
    """The two columns of a file of `everyday`, without its header."""
    with (EVERYDAY / name).open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [(first, second) for first, second in rows]


def own_texts(source: Source, official: Sequence[Synonym], holdout: int | None = None) -> tuple[Synonym, ...]:
    """Own synonyms for this catalog. The starter holds its own already: it is only given those of `everyday`."""
    terminal = {code.code for code in source.catalog if code.terminal}
    taken = {spelled(text.text) for text in official if text.code in terminal}  # also those of the held-out fold
    taken -= {spelled(text.text) for text in overruled(official, source.catalog)}
    starter = () if _is_starter(source) else all_texts(_starter())
    begun = [replace(one, source=BEFUND) for one in starter if one.source not in NEVER_HELD_OUT]
    ours = [*begun, *everyday_texts(), *practice_texts()]
    known = {spelled(one.text) for one in ours}
    authored = [
        one
        for one in authored_wordings()
        if one.code in terminal and (len(one.authors) >= OVERRULING or spelled(one.text) not in known)
    ]
    theirs = {spelled(one.text) for one in authored}
    kept = [one for one in ours if one.code in terminal and spelled(one.text) not in theirs]
    kept += (Synonym(one.text, one.code, source=AUTHORS) for one in authored)
    return tuple(one for one in kept if spelled(one.text) not in taken and (holdout is None or fold_of(one) != holdout))


def heard(official: Sequence[Synonym], catalog: Catalog) -> tuple[Synonym, ...]:
    """The official synonyms that are not overruled."""
    gone = set(overruled(official, catalog))
    return tuple(text for text in official if text not in gone)


def overruled(official: Iterable[Synonym], catalog: Catalog) -> list[Synonym]:
    """The official synonyms for whose words authors practise another code, which may stand alone; none of two codes, of
    which both count."""
    practised = {spelled(one.text): one for one in authored_wordings() if one.share >= FIRMLY}
    found = []
    for text in official:
        theirs = practised.get(spelled(text.text))
        if theirs is None or theirs.code == text.code or text.source in NEVER_HELD_OUT or text.secondary:
            continue
        meant, said = catalog.get(theirs.code), catalog.get(text.code)
        if meant and said and meant.terminal and not meant.never_alone:
            least = PRACTISED if meant.chapter == said.chapter else 2 * PRACTISED
            found += [text] if len(theirs.authors) >= least else []
    return found


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
