"""A part of a text is searched in several wordings: as it is written, and as the catalog would say the same.

Each rewriting keeps the part it stands for, so that what it finds is found there: with the official synonyms of its
words, with the past it speaks of named as the catalog names it ("Z. n. Myokardinfarkt": alter Myokardinfarkt), with
each unknown word mended (a typo) or said in the other language ("Eichelentzündung": Balanitis), with stages in the
numerals of the catalog ("NYHA 3"), with cut-off words written out ("chron. obstr. Lungenerkr.").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.claims import Reading
from clinical.icd import Catalog
from clinical.reading.past import Past, PastWordings, past_of
from clinical.search import Expansion, Hits, KnownWords, Numerals, Shortened, Typos, Wordings, joined, merged_by_part
from clinical.text import Part, Token, translated, words

MENDED: Final = 0.9
"""Factor on hits for a word in the place of an unknown one, which may also be right as it is."""
SETTLED: Final = 0.9
"""Share of words from which the text itself has found a past disease, its time included ("vor drei Jahren")."""
DOUBT: Final = 0.5
"""Hits for cut-off words written out are multiplied with this power of how much less likely the reading is than the
likeliest one. 0.25 and 0.1 find a little less; adding up the hits of all readings does no better."""
PRESENT: Final = 0.5
"""Factor on codes of active disease where the text states that it is past."""

Asked = tuple[str, int]
"""A text to search, and the number of the part that it is searched for."""
Rank = Callable[[Sequence[Asked]], Hits]
"""Search function for the codes of such texts; each hit names its part."""


class Other(NamedTuple):
    """A part in other words: the number of the part, and what its hits are multiplied with."""

    text: str
    part: int
    weight: float


class Spot(NamedTuple):
    """A part and the text it stands in."""

    reading: Reading
    part: Part


class Rewriter:
    """The rewritings of parts by what the catalog knows, and what they find."""

    def __init__(
        self, catalog: Catalog, wordings: Wordings, expansion: Expansion, typos: Typos, shortened: Shortened
    ) -> None:
        self._wordings, self._expansion = wordings, expansion
        self._typos, self._shortened = typos, shortened
        self._numerals = Numerals(wordings)
        self.past = PastWordings(catalog, wordings)

    def hits(self, spots: Sequence[Spot], rank: Rank) -> Hits:
        """The best hit of each code for each part over all its rewritings; part by part, best first."""
        parts = [spot.part.text for spot in spots]
        asked = [(part, number) for number, part in enumerate(parts)]
        folds: dict[str, str] = {}
        written = [words(part, folds) for part in parts]
        expanded = map(self._expansion.expanded, parts, written)
        asked += [(other, number) for number, other in enumerate(expanded) if other]
        exchanged = map(self._numerals.exchanged, parts, written)
        asked += [(other, number) for number, other in enumerate(exchanged) if other]
        pasts = {n: past for n, (read, part) in enumerate(spots) if (past := past_of(read, part.start, part.end))}
        asked += [(past.written, number) for number, past in pasts.items() if past.written != parts[number]]
        others = self._others(parts, written)
        more = [(other.text, number) for number, other in enumerate(others, len(parts))]
        found = rank([*asked, *more])  # together: a call costs as much as a text
        own = found.part < len(parts)
        hits = found if own.all() else found.at(own)
        if pasts:
            hits = self._in_the_past(pasts, hits, rank)
        if others:
            hits = joined([hits, _of_others(found.at(~own), len(parts), others)])
        return merged_by_part(hits)

    def _others(self, parts: Sequence[str], written: Sequence[Sequence[Token]]) -> list[Other]:
        """The parts with their unknown words mended, translated (Latin and German), or completed where they are cut.
        `written`: the words of each."""
        found = [Other(text, number, MENDED) for text, number in self._mended(parts, written)]
        known: KnownWords = {}
        for number, own in enumerate(written):
            for text, chance in self._shortened.expanded(parts[number], own, known=known):
                found.append(Other(text, number, chance**DOUBT))
        return found

    def _mended(self, parts: Sequence[str], written: Sequence[Sequence[Token]]) -> list[Asked]:
        """The parts with their unknown words mended or translated (Latin and German). `written`: the words of each."""
        known = self._wordings.vocabulary
        unknown = [number for number, own in enumerate(written) if any(word.text not in known for word in own)]
        mended = [(other, number) for number in unknown if (other := self._typos.mended(parts[number], known))]
        return mended + [(other, number) for number in unknown for other in translated(parts[number], known)]

    def _in_the_past(self, pasts: Mapping[int, Past], hits: Hits, rank: Rank) -> Hits:
        """The hits, joined with those of the wordings for something past ("alter Myokardinfarkt").

        `pasts`: what the text says to be over, by the number of the part. Codes of a disease that is there now count
        less for these parts. Where the words of the text have already found a code for what is over, no more is asked.
        """
        settled = set(hits.part[(hits.share >= SETTLED) & self._is_past(hits, pasts)])
        forms = [(form, number) for number, past in pasts.items() if number not in settled for form in past.forms]
        hits = joined([hits, rank(forms)]) if forms else hits
        present = np.isin(hits.part, list(pasts)) & ~self._is_past(hits, pasts)
        return hits.weighed(np.where(present, np.float32(PRESENT), np.float32(1)))

    def _is_past(self, hits: Hits, parts: Collection[int]) -> NDArray[np.bool_]:
        """Mark the hits of these parts that mean something past."""
        asked = np.isin(hits.part, list(parts))
        asked[asked] = self.past.among(hits.wording[asked], hits.code[asked])
        return asked


def _of_others(hits: Hits, parts: int, others: Sequence[Other]) -> Hits:
    """The hits for parts in other words, as hits of the parts; the numbers of the others begin at `parts`."""
    at = hits.part - parts
    weight = np.array([other.weight for other in others], dtype=np.float32)[at]
    return hits._replace(part=np.array([other.part for other in others], dtype=np.int64)[at]).weighed(weight)
