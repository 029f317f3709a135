"""A part of a text is searched in several wordings: as it is written, and as the catalog would say the same.

Each rewriting keeps the part it stands for, so that what it finds is found there: with the official synonyms of its
words, with the sign of the past beside it ("Z. n. Myokardinfarkt"), with each unknown word mended (a typo) or said in
the other language ("Eichelentzündung": Balanitis), with stages in the numerals of the catalog ("NYHA 3"), with cut-off
words written out ("chron. obstr. Lungenerkr."), and with the part of the body that stands beside it ("Knie re.:
Erguss").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.claims import Claim, Reading
from clinical.reading.alike import says
from clinical.reading.past import with_sign
from clinical.search import Expansion, Hits, KnownWords, Numerals, Shortened, Typos, Wordings, joined
from clinical.text import Part, Token, folded_words, side_of, translated, words

MENDED: Final = 0.9
"""Factor on hits for a word in the place of an unknown one, which may also be right as it is."""
DOUBT: Final = 0.5
"""Hits for cut-off words written out are multiplied with this power of how much less likely the reading is than the
likeliest one. 0.25 and 0.1 find a little less; adding up the hits of all readings does no better."""
LIKELY: Final = 0.3
"""Probability from which a hit for a part with the site beside it counts."""
Asked = tuple[tuple[str, ...], int]
"""The folded words to search, and the number of the part that they are searched for."""
Rank = Callable[[Sequence[Asked]], Hits]
"""Search function for the codes of such words; each hit names its part."""


class Other(NamedTuple):
    """A part in other words: the number of the part, and what its hits are multiplied with."""

    text: str
    part: int
    weight: float


class Spot(NamedTuple):
    """A part, the text it stands in, what the text claims of it, the part of the body named beside it, if any, and
    whether it is likely enough a mention to be searched in other words than its own."""

    reading: Reading
    part: Part
    claim: Claim
    site: str = ""
    likely: bool = True


class Rewriter:
    """The rewritings of parts by what the catalog knows, and what they find."""

    def __init__(self, wordings: Wordings, expansion: Expansion, typos: Typos, shortened: Shortened) -> None:
        self._wordings, self._expansion = wordings, expansion
        self._typos, self._shortened = typos, shortened
        self._numerals = Numerals(wordings)

    def hits(self, spots: Sequence[Spot], rank: Rank) -> tuple[Hits, bool]:
        """The hits of each spot over all its rewritings, a code perhaps several times (`part` is its place); and True
        if none had any, so that they are as `rank` gave them."""
        parts = [spot.part.text for spot in spots]
        folds: dict[str, str] = {}
        for reading in dict.fromkeys(spot.reading for spot in spots):
            folds |= reading.folds
        said = [tuple(spot.reading.said(spot.part.start, spot.part.end)) for spot in spots]
        dated = [_dated(spot) if spot.likely else spot.part.text for spot in spots]
        settled: dict[str, bool] = {}
        worth = [
            number
            for number, (spot, own, part) in enumerate(zip(spots, said, parts, strict=True))
            if spot.likely and (dated[number] != part or self._may_change(part, own, settled))
        ]
        written = [spots[n].reading.written_in(spots[n].part.start, spots[n].part.end) for n in worth]
        some = [*zip(worth, written, strict=True)]
        more = [(other, n) for n, own in some if (other := self._expansion.expanded(parts[n], own))]
        more += [(other, n) for n, own in some if (other := self._numerals.exchanged(parts[n], own))]
        more += [(dated[n], n) for n in worth if dated[n] != parts[n]]
        known = [words(dated[n], folds) if dated[n] != parts[n] else own for n, own in some]
        others = [one._replace(part=worth[one.part]) for one in self._others([dated[n] for n in worth], known)]
        sited = [Other(f"{spot.part.text} {spot.site}", number, 1.0) for number, spot in enumerate(spots) if spot.site]
        others += sited
        more += [(other.text, number) for number, other in enumerate(others, len(parts))]
        asked = [(own, number) for number, own in enumerate(said)]
        if not more:
            return rank(asked), True
        found = rank([*asked, *_asked(more, folds)])  # together: a call costs as much as a text
        own = found.part < len(parts)
        hits = found if own.all() else found.at(own)
        if others:
            beside = found.at(~own)
            if sited:
                first = len(parts) + len(others) - len(sited)
                beside = beside.at(self._says_site(beside, first, [spots[one.part] for one in sited]))
                told = np.zeros(len(parts), dtype=np.float32)  # where the site says more, the words alone say less
                own = beside.part >= first
                of = np.array([one.part for one in sited], dtype=np.int64)
                np.maximum.at(told, of[beside.part[own] - first], beside.probability[own])
                hits = hits.weighed(1 - told[hits.part])
            hits = joined([hits, _of_others(beside, len(parts), others)])
        return hits, False

    def _may_change(self, part: str, said: Sequence[str], settled: dict[str, bool]) -> bool:
        """False if a part has no other words: no dot, behind which a word may be cut off, and none but words that stay
        as they are. `settled` is filled with whether each word does."""
        if "." in part:
            return True
        for word in said:
            if word not in settled:
                settled[word] = self._is_settled(word)
        return not all(settled[word] for word in said)

    def _is_settled(self, word: str) -> bool:
        """True if some wording has a word, and it is neither a numeral nor short, in whole or cut off, for another."""
        exchanged = word not in self._wordings.vocabulary or word in self._expansion or word in self._numerals
        return not exchanged and not self._shortened.may_be_cut(word)

    def _says_site(self, hits: Hits, first: int, spots: Sequence[Spot]) -> NDArray[np.bool_]:
        """The hits that count: of those for a part with a site (numbered from `first`), the likely ones whose
        wording says the site and every word of the part. Another disease of that site is none of this part."""
        meant = hits.part < first
        for at in np.flatnonzero(~meant & (hits.probability >= LIKELY)).tolist():
            spot, worded = spots[int(hits.part[at]) - first], self._wordings.folded(int(hits.wording[at]))
            site, said = (folded_words(words, spot.reading.folds) for words in (spot.site, spot.part.text))
            named = all(any(word in other for other in worded) for word in site)
            meant[at] = named and all(says(worded, word) for word in said if side_of(word) is None)
        return meant

    def _others(self, parts: Sequence[str], written: Sequence[Sequence[Token]]) -> list[Other]:
        """The parts with their unknown words mended, translated (Latin and German), or completed where they are cut.
        `written`: the words of each."""
        found = [Other(text, number, MENDED) for text, number in self._mended(parts, written)]
        known: KnownWords = {}
        for number, own in enumerate(written):
            for text, chance in self._shortened.expanded(parts[number], own, known=known):
                found.append(Other(text, number, chance**DOUBT))
        return found

    def _mended(self, parts: Sequence[str], written: Sequence[Sequence[Token]]) -> list[tuple[str, int]]:
        """The parts with their unknown words mended or translated (Latin and German). `written`: the words of each."""
        known = self._wordings.vocabulary
        slips: dict[str, str | None] = {}
        meanings: dict[str, list[str]] = {}
        some = ([word for word in own if word.text not in known] for own in written)
        unknown = [(number, parts[number], own) for number, own in enumerate(some) if own]
        mended = [
            (other, number)
            for number, part, own in unknown
            if (other := self._typos.mended(part, known, own, slips)) is not None
        ]
        return mended + [
            (other, number) for number, part, own in unknown for other in translated(part, known, own, meanings)
        ]


def _dated(spot: Spot) -> str:
    """A part with the sign of the past that stands beside it."""
    return with_sign(spot.reading.text, spot.part.start, spot.part.end, spot.claim) or spot.part.text


def _asked(texts: Sequence[tuple[str, int]], folds: dict[str, str]) -> list[Asked]:
    return [(tuple(folded_words(text, folds)), number) for text, number in texts]


def _of_others(hits: Hits, parts: int, others: Sequence[Other]) -> Hits:
    """The hits for parts in other words, as hits of the parts; the numbers of the others begin at `parts`."""
    at = hits.part - parts
    weight = np.array([other.weight for other in others], dtype=np.float32)[at]
    return hits._replace(part=np.array([other.part for other in others], dtype=np.int64)[at]).weighed(weight)
