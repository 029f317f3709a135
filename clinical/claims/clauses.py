"""Of which words of its clause a predicate of existing, finding or supposing is denied, whatever their order.

German puts the particle and the verb of a negated statement on either side of what they deny, before or behind it: "ein
Ulkus sehen wir nicht", "nicht anzunehmen ist ein Ulkus", "es ist nicht von einem Ulkus auszugehen". The rows of the
table with the direction `clause` pair a particle with a predicate; this module says what stands in their clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from clinical.claims.occurrences import Occurrence
from clinical.claims.triggers import group
from clinical.text import COLON, COMMA, FUNCTION_WORDS, SourceText, side_of, word_set

MOST: Final = 40
"""Tokens of a clause that are looked at on either side of its predicate, so that time stays linear."""

AFTER: Final = 3
"""Words behind a denial that may be the predicate which it denies."""
_CIRCUMSTANCES: Final = word_set("bei beim nach unter trotz wegen seit infolge aufgrund neben ausser wg")
"""Words before what is there although the clause denies something: "bei Diabetes ist eine Nephropathie nicht ..."."""
_SINCE: Final = word_set("seit")
_CONTRASTS: Final = word_set(
    "aber jedoch sondern allerdings dagegen hingegen dafuer lediglich sonst doch dennoch waehrend obwohl wobei weil da"
)
"""Words that part two statements of a sentence."""
_ALSO: Final = word_set("und sowie u")
_OR: Final = word_set("oder noch bzw od")
_ARTICLES: Final = word_set("ein eine einen")
"""Words that begin a subject or object again behind a circumstance."""
_SINGULAR: Final = word_set(
    "ist war besteht bestand liegt lag findet fand zeigt zeigte hat hatte wird wurde kann konnte laesst liess ergab"
    " kommt kam sieht sah gibt gab sei"
)
_PLURAL: Final = word_set(
    "sind waren bestehen bestanden liegen lagen finden fanden zeigen zeigten haben hatten werden wurden koennen konnten"
    " lassen liessen ergaben kommen kamen fehlen fehlten entfallen scheiden schieden sprechen sprachen traten treten"
)
"""Verbs that govern all items of a list before them."""
_GOES_ON: Final = _SINGULAR | _PLURAL | _ARTICLES
_SEEN_IN: Final = word_set("im am laut per mittels in an vom zum zur durch")
"""Words before a noun that names the method or place of an examination, not the finding looked for."""
_DASH: Final = re.compile(r"\s[-–—·•+]\s")


def clause_of(
    source: SourceText, one: Occurrence, bars: Callable[[Occurrence, int], bool], depth: Sequence[int]
) -> Iterator[int]:
    """The tokens of the clause of a denied predicate that are denied with it: those before it; those between its
    words; those behind it where nothing is named before it. What is said to be there beside ("bei Diabetes") is not
    among them. `bars`: whether at a token another denial has its words; `depth`: open brackets at each token."""
    clause = _Clause(source, one, bars, depth)
    yield from clause.without_circumstances([i for i in range(one.first, one.last) if i not in one.cue_tokens])
    before = clause.before(over_comma=False)
    if not clause.names(before):
        behind = clause.behind()
        if clause.names(behind):
            yield from clause.without_circumstances(behind)
            return
        before = clause.before(over_comma=True)
    yield from clause.without_circumstances(before)


def predicate_of(
    source: SourceText, one: Occurrence, bars: Callable[[Occurrence, int], bool], depth: Sequence[int]
) -> Iterator[int]:
    """The tokens before a denial that has no noun behind it, when at most AFTER words are left of its clause: it denies
    what they say of the names before it ("Aneurysmata: werden keine demonstriert", "Filiae weder hier noch dort");
    but a hernia that is not incarcerated is there, and what is not healed yet."""
    stop, complicated, alone = one.last + 1, group("@complicated"), one.row.scope == "word"
    if one.first and source.words[one.first - 1] == "noch":
        return
    while stop < len(source.words) and not (source.ends_clause[stop] or source.gaps[stop] >= COMMA):
        if is_noun(source, stop) or stop > one.last + AFTER:
            return
        if alone and complicated.fits(source.words[stop]):
            return
        stop += 1
    clause = _Clause(source, one, bars, depth)
    yield from clause.without_circumstances(clause.before(over_comma=False))


def is_noun(source: SourceText, i: int) -> bool:
    """True if token `i` is capitalized like a noun, or is a number."""
    return source.view[source.start[i]].isupper() or source.words[i][0] == "#"


class _Clause:
    """The clause around one denied predicate."""

    def __init__(
        self, source: SourceText, one: Occurrence, bars: Callable[[Occurrence, int], bool], depth: Sequence[int]
    ) -> None:
        self.source, self.one, self.bars = source, one, bars
        self.depth, self.level = depth, depth[one.first] if one.first < len(depth) else 0
        near = source.near(one.first - MOST, one.last + 8)
        own = [source.words[i] for i in one.cue_tokens]
        self.has_verb = any(word in _SINGULAR or word in _PLURAL for word in own)
        self.is_plural = any(word in _PLURAL for word in (*own, *near[-8:]))
        self.lists = self.is_plural and self._has_list()

    def _has_list(self) -> bool:
        """True if names are listed before the predicate: "A, B und C", "A, B, C"; one comma parts two statements."""
        source, commas = self.source, 0
        for i in range(self.one.first, max(0, self.one.first - MOST), -1):
            if i < len(source.words) and source.ends_clause[i]:
                return False
            commas += i < self.one.first and source.gaps[i] == COMMA
            if commas > 1 or source.words[i - 1] in _ALSO or source.words[i - 1] in _OR:
                return True
        return False

    def names(self, tokens: Sequence[int]) -> bool:
        """True if one of the tokens is a noun that names the finding looked for."""
        return any(self._is_name(i) for i in tokens)

    def _is_name(self, i: int) -> bool:
        source = self.source
        if not source.view[source.start[i]].isupper() or source.words[i] in FUNCTION_WORDS:
            return False
        return i == 0 or source.words[i - 1] not in _SEEN_IN

    def before(self, *, over_comma: bool) -> list[int]:
        """The tokens before the predicate that belong to its clause, in their order; `over_comma`: its own item names
        nothing, so what stands before the comma is spoken of ("ein Ulkus, wie vermutet, liegt nicht vor")."""
        source, one = self.source, self.one
        found: list[int] = []
        named, joint, crosses = False, -1, self.lists  # `joint`: how many tokens stand behind the last "und" or comma
        for i in range(one.first - 1, max(-1, one.first - 1 - MOST), -1):
            if self._ends_before(i + 1, named=named, crosses=crosses or (over_comma and not named)):
                break
            if self.depth[i] > self.level:
                continue
            if i + 1 < one.first and source.gaps[i + 1] == COMMA and self.lists:
                joint = len(found)
            word = source.words[i]
            if (word in _CONTRASTS and named) or self.bars(one, i):
                break
            if word in _SINGULAR or word in _PLURAL:
                if self.has_verb and joint >= 0:
                    return found[:joint][::-1]
                self.has_verb = True
            elif word in _ALSO:
                joint = len(found)
            crosses = crosses or word in _OR
            named = named or self._is_name(i)
            found.append(i)
        return found[::-1]

    def _ends_before(self, i: int, *, named: bool, crosses: bool) -> bool:
        """True if the clause begins at token `i`, in a scan from right to left."""
        source = self.source
        if i >= len(source.words) or source.ends_clause[i] or _DASH.search(source.glue(i)):
            return i < len(source.words)
        if self.depth[i] > self.level:
            return False  # a bracket between, which is left out
        if self.depth[i - 1] < self.level:
            return named
        gap = source.gaps[i]
        if gap == COLON:
            return named
        in_list = crosses and side_of(source.words[i - 1]) is None
        return gap == COMMA and source.glue(i) not in ("/", "-/", ") ") and not in_list

    def behind(self) -> list[int]:
        """The tokens behind the predicate that belong to its clause."""
        source, one = self.source, self.one
        found: list[int] = []
        stop = min(len(source.words), one.last + 1 + MOST)
        listed = self.is_plural or not _OR.isdisjoint(source.near(one.last + 1, one.last + 1 + MOST))
        for i in range(one.last + 1, stop):
            ends = source.ends_clause[i] or self.depth[i] < self.level or source.gaps[i] >= COLON
            if ends or (source.gaps[i] == COMMA and source.glue(i) != "/" and not (listed and found)):
                break
            if source.words[i] in _CONTRASTS or self.bars(one, i):
                break
            found.append(i)
        return found

    def without_circumstances(self, tokens: Sequence[int]) -> Iterator[int]:
        """The tokens but those of a circumstance: from its preposition to the next verb or article. Of a time since
        when something is doubted it is the first noun alone ("seit Wochen Gicht nicht auszuschließen")."""
        words, aside, since = self.source.words, False, 0
        for i in tokens:
            if words[i] in _CIRCUMSTANCES:
                aside, since = True, i
            elif self.source.gaps[i] >= COMMA or (
                i > since + 1 and (words[i] in _GOES_ON or self._is_past_since(since, i))
            ):
                aside = False
            if not aside:
                yield i

    def _is_past_since(self, since: int, i: int) -> bool:
        """True if token `i` follows the noun of a point in time since which something is in doubt."""
        doubted = self.one.row.axes == ("certainty",) and self.source.words[since] in _SINCE
        return doubted and is_noun(self.source, i - 1)
