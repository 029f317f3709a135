"""Segmentation of a text into mentions: candidate spans, and the cover of the text that explains it best.

Candidates are runs of words that the tagger marks, of up to LONGEST content words. Each is ranked whole; the cover with
the largest sum of gains is found by dynamic programming (a segmentation lattice: Bellman 1961; Viterbi decoding of a
semi-Markov model, Sarawagi and Cohen 2004). A text without a hard border (line, comma, semicolon, slash, "und" and the
like) may be one wording; the dot of an abbreviation is none, so that "chron. Pankreatitis" is one mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinical.claims import Reading
from clinical.search import Vectors
from clinical.text import (
    ARROW,
    BOX_SIGNS,
    Part,
    Token,
    content_words,
    day_places,
    has_more_content,
    has_noun,
    is_abbreviation,
    spelling,
    word_set,
    words,
)
from clinical.thresholds import ReadingWeights

LONGEST: Final = 7
"""Content words of the longest candidate; a longer wording is found by its seven most telling words in a row."""
ACROSS: Final = 12
"""Content words up to which words on both sides of a border are also one candidate."""
_BORDER: Final = re.compile(
    r"[;,:/+()\[\]•·|!?\n]|\s[-–—&]\s|(?<=[^\W\d_]{4})\.(?=\s|$)|(?<=[\d)%])\.(?=\s)"
    r"|\b(?:und|sowie|aber|seit|wegen)(?!\w)|(?<=\s)u\.(?=\s)",
    re.I,
)
_WORD_BEFORE: Final = re.compile(r"[^\W\d_]+$")
DAY: Final = -2
"""The mark of a word that is a piece of a date."""
LONGEST_WORD: Final = 40
"""Characters before a full stop that are read for an abbreviation."""
_INSIDE_NUMBER: Final = re.compile(r"(?<=\d)[.,/:](?=\d)")
_POINTED: Final = re.compile(r"\d+(?:[.,]\d+)+")
"""A number in pieces: a date or a measure, that no wording of a disease has."""


_WITHIN: Final = word_set("""
mit bei durch der die das des dem den im in am an auf von vom nach zur zum ohne als für beim ins eine einer eines einem
einen nicht oder
""")
"""Words without a meaning of their own that stand inside a wording."""


_ARTICLES: Final = word_set("der die das des dem den ein eine einer eines einem einen")
_LEADING: Final = _ARTICLES | word_set("""
und oder sowie mit bei durch im in am an auf von vom nach zur zum ohne als für beim ins wegen unter über gegen trotz
""")
"""Words with which no mention ends."""
_BESIDE: Final = word_set("""
nur nun jetzt somit aber also sonst selbst auch wieder noch nebenbei derzeit aktuell gegenwärtig zudem außerdem dazu vs
daneben dann sogar bereits schon ja nein
lässt lassen ließ muss müssen musste soll sollte sollten kann konnte könnte darf dürfte
""")
"""Words beside a mention, before it or behind it, that are none of it."""
_JOINING: Final = word_set("bei nach mit und sowie wegen wg infolge durch unter trotz oder")
"""Words between two mentions, or within one ("Diabetes mit Nephropathie"): both readings are candidates."""
JOINED: Final = 0.5
"""Weight of the parts on both sides of such a word as mentions, against the whole: one code for both is meant more
often than the ranking model alone would say. Measured by `python -m evals reading --inputs`: 0.3, 0.5, 0.7 differ
by chance, 1 tears "Diabetes mellitus Typ 2 mit Polyneuropathie"."""
_NO_END: Final = _LEADING | _BESIDE | {"nicht"}
_NO_BEGINNING: Final = _ARTICLES | _BESIDE | _JOINING
_PARTED: Final = re.compile(rf"[,;:&+·|•{re.escape(BOX_SIGNS)}]|\s[-–—/]\s")
"""Marks of which a run of words may be parts: each of two neighbours may be a mention by itself."""
_ARROW: Final = re.compile(ARROW)
"""Nothing is one mention across ("kein Fieber -> Zystitis")."""
_GRADE: Final = re.compile(
    r"\.?,?[ ](?:(?:links|rechts|beidseits|li|re|bds)\b\.?[ ])?"
    r"(?:(?:Grad|Gr\.|Stadium|Stad\.|Stufe|Typ|Klasse|GOLD|NYHA|KDIGO|CCS|Child|Wagner|Fontaine|Forrest|Weber|Garden)"
    r"[ -]?(?:[IVX]{1,4}|\d|[A-D])(?:[a-e]|/[IVX]{1,4}|[-/]\d)?°?|[IVX]{1,3}[ ]?°|\d[ ]?°)(?!\w)",
    re.I,
)
"""A grade or stage behind a name, a side before it perhaps; a number is none."""
_CERTAINTIES: Final = frozenset(f"({form})" for letter in "AVZ" for form in (letter, f"{letter}$"))
"""Triggers that are a letter behind a diagnosis ("KHK V"), as the table of triggers writes them."""
_LITTLE: Final = re.compile(r"(?<![^\W\d_])(?!(?:[A-ZÄÖÜ]{3,4}|nie|nein|ja)$)[^\W\d_]{1,4}$")
"""A word so short before a full stop is more often cut off than the end of a sentence ("Stad. II", "Dig. II"); an
acronym is not ("KHK. Gallensteine")."""


class CandidateSpan(NamedTuple):
    """A candidate: the part of the text, how many of its words carry meaning, how probably it is a mention, and the
    part of the body that is named beside it, where it names none. Of an official title, where the words end by which
    its claim is judged, for what a title denies is its name, and the number of its code."""

    part: Part
    content: int
    chance: float
    site: str = ""
    judged_to: int | None = None
    titled: int | None = None

    @property
    def judged(self) -> tuple[int, int]:
        """The place of the words by which its claim is judged."""
        return self.part.start, self.part.end if self.judged_to is None else self.judged_to


def borders(text: str, cut_off: Callable[[str], bool] | None = None) -> list[tuple[int, int]]:
    """The hard borders of a text, in order: `start` inclusive, `end` exclusive, in code points. `cut_off`: which
    words are cut off besides those that show it by themselves, where a vocabulary tells."""
    inside = {match.start() for match in _INSIDE_NUMBER.finditer(text)}
    found = (match for match in _BORDER.finditer(text) if match.start() not in inside)
    return [match.span() for match in found if match.group() != "." or not _cuts_off(text, match.start(), cut_off)]


def _cuts_off(text: str, stop: int, cut_off: Callable[[str], bool] | None) -> bool:
    """True if the full stop at a place marks a word that is cut off: "chron. Pankreatitis" is one mention."""
    word = _WORD_BEFORE.search(text, max(0, stop - LONGEST_WORD), stop)
    if word is None:
        return False
    return is_abbreviation(spelling(word.group()), word.group()) or (cut_off is not None and cut_off(word.group()))


def is_plain(text: str, written: Sequence[Token] | None = None, cut_off: Callable[[str], bool] | None = None) -> bool:
    """True if a text is a wording by itself: short, without a border, a date, a measure, or a word of a visit or a
    claim. `written`: its words, where known; `cut_off` as in `borders`."""
    written = words(text) if written is None else written
    if len(written) > LONGEST and has_more_content(text, written, LONGEST):
        return False
    if _POINTED.search(text) or borders(text.strip(), cut_off):
        return False
    others = {*written}.difference(content_words(text, written))
    return {text[word.start : word.end].casefold() for word in others} <= _WITHIN


def mentions(shares: Vectors, least: float, longest: int) -> list[tuple[int, int, float]]:
    """(first word, last word, probability) of every run of words that is a mention at least so probably.

    The number of runs is linear in the words: at most `longest` for each.
    """
    found: list[tuple[int, int, float]] = []
    begins, inside = shares[:, 1].tolist(), [*shares[:, 2].tolist(), 0.0]
    for first, chance in enumerate(begins):
        last = first
        while chance >= least and last < min(len(begins), first + longest):
            whole = chance * (1 - inside[last + 1])
            if whole >= least:
                found.append((first, last, whole))
            last += 1
            chance *= inside[last]
    return found


_SHORTEST: Final = 2
"""Characters of a mention: a letter by itself is a part of a short form (`Z. n.`)."""


def spans_of(
    reading: Reading,
    places: NDArray[np.int64],
    runs: Sequence[tuple[int, int, float]],
    written: WordFacts | None = None,
) -> list[CandidateSpan]:
    """Runs of words (first, last, probability that they are a mention) as candidates, in the order of the text.

    `places` (words, 2): where each word stands; `written`: what is known of each, where the caller has it. None goes
    across the end of a sentence or list item, and none ends with a word that only leads to the next one ("Nesselfieber
    nach"): such a run counts as its parts do.
    """
    text, lower = reading.text, reading.text.islower()
    written = written or WordFacts.of(reading, places)
    best: dict[tuple[int, int], float] = {}
    for first, last, chance in runs:
        for a, b, share in written.within(first, last):
            best[a, b] = max(best.get((a, b), 0.0), chance * share)
    found = []
    for (first, last), chance in sorted(best.items()):
        start, end = int(places[first, 0]), int(places[last, 1])
        if end - start < _SHORTEST:
            continue
        content = sum(word not in _LEADING for word in written.bare[first : last + 1])
        found.append(
            CandidateSpan(Part(text[start:end], start, end, has_noun(text[start:end], lower)), content, chance)
        )
    return found


@dataclass(frozen=True, slots=True)
class WordFacts:
    """Facts on each word of a text (w,): itself in lower case, the number of its clause, whether a mark divides it from
    the word before it, whether it may join two mentions, whether it leads to one ("Verdacht"), the trigger that governs
    it (`Reading.tellings`), which word ends the grade or stage that follows it, and of which number of several pieces
    it is one (-1: none; DAY: a day, that is no part of any mention), whether it is the letter of a certainty."""

    bare: Sequence[str]
    clause: Sequence[int]
    parted: Sequence[bool]
    joins: Sequence[bool]
    leads: Sequence[bool]
    told: Sequence[int | None]
    graded: Sequence[int]
    number: Sequence[int]
    letter: Sequence[bool]

    @classmethod
    def of(cls, reading: Reading, places: NDArray[np.int64]) -> WordFacts:
        text, rows = reading.text, places.tolist()
        whole = (
            clause.end
            for clause in reading.clauses
            if not _LITTLE.search(text, max(0, clause.end - LONGEST_WORD), clause.end)
        )
        ends = sorted([*whole, *(arrow.end() for arrow in _ARROW.finditer(text))])
        bare = [text[start:end].casefold() for start, end in rows]
        parted = [_PARTED.search(text, one[1], other[0]) is not None for one, other in pairwise(rows)]
        leading, letters = _leading(reading), _letters(reading)
        return cls(
            bare,
            np.searchsorted(ends, places[:, 0], side="right").tolist(),
            [False, *parted],
            [word in _JOINING for word in bare],
            [start in leading for start, _ in rows],
            reading.tellings([start for start, _ in rows]),
            _graded(text, rows),
            _numbers(text, places),
            [start in letters for start, _ in rows],
        )

    def within(self, first: int, last: int) -> Iterator[tuple[int, int, float]]:
        """The runs that a run of words may mean, each within one clause, and how likely it is as against the run."""
        at = first
        while at <= last:
            stop = at
            while stop < last and self.clause[stop + 1] == self.clause[at] and self.number[stop + 1] != DAY:
                stop += 1
            for begin, end in self._in_one_breath(at, stop):
                for a, b, share in self._with_pieces(begin, end):
                    for begins in dict.fromkeys((a, _behind(self.leads, a, b))):
                        run = self._trimmed(begins, b)
                        if run is not None:
                            yield (*run, share)
                            if run[1] < (ends := self.graded[run[1]]) <= stop:
                                yield run[0], ends, share
            at = stop + 1

    def _trimmed(self, first: int, last: int) -> tuple[int, int] | None:
        """The run without articles and days before it, and without words behind it that lead to the next one, and days;
        a number is in it as a whole. None: nothing is left."""
        bare, number = self.bare, self.number
        while self._goes_on(last):
            last += 1
        while first <= last and (bare[last] in _NO_END or number[last] == DAY or self.letter[last]):
            last -= 1
        while first <= last and (bare[first] in _NO_BEGINNING or number[first] == DAY or self._goes_on(first - 1)):
            first += 1
        return (first, last) if first <= last else None

    def _goes_on(self, at: int) -> bool:
        """True if a word and the one behind it are pieces of one number: "Kalium 6" of "Kalium 6.1"."""
        return 0 <= at < len(self.number) - 1 and 0 <= self.number[at] == self.number[at + 1]

    def _in_one_breath(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Split a run where another negation or experiencer begins ("Vorerkrankungen außer Heuschnupfen", "Windpocken,
        sie selbst Erkältung"): no mention spans such a border. The trigger words between two parts are in neither;
        alone ("Ø") they are no mention."""
        told = [(at, one) for at in range(first, last + 1) if (one := self.told[at]) is not None]
        begin = first
        for (before, one), (behind, other) in pairwise(told):
            if one != other:
                yield begin, before
                begin = behind
        if told:
            yield begin, last

    def _with_pieces(self, first: int, last: int) -> list[tuple[int, int, float]]:
        """A run, and the runs between the marks and prepositions in it, where there are any."""
        inside = range(first + 1, last + 1)
        found = [(first, last, 1.0)]
        for share, cuts in (
            (1.0, [at for at in inside if self.parted[at]]),
            (JOINED, [at for at in inside if self.parted[at] or self.joins[at]]),
        ):
            if cuts:
                starts = [first, *cuts]
                found += [(a, b - 1, share) for a, b in zip(starts, (*cuts, last + 1), strict=True)]
        return found


def _numbers(text: str, places: NDArray[np.int64]) -> list[int]:
    """For each word the place of the number of several pieces that it is a piece of; -1 where it is of none."""
    found = np.full(len(places), -1)
    numbers = [match.span() for match in _POINTED.finditer(text)]
    for mark, some in ((None, numbers), (DAY, day_places(text) if numbers or "." in text else ())):
        for start, end in some:
            first, last = np.searchsorted(places[:, 0], (start, end))
            found[first:last] = start if mark is None else mark
    return found.tolist()


def _graded(text: str, rows: Sequence[Sequence[int]]) -> list[int]:
    """For each word the last one of the grade or stage behind it ("Dekubitus Ferse li II°"); itself where none is."""
    found = list(range(len(rows)))
    for at, (_, end) in enumerate(rows):
        if (grade := _GRADE.match(text, end)) is not None:
            while found[at] + 1 < len(rows) and rows[found[at] + 1][1] <= grade.end():
                found[at] += 1
    return found


def _leading(reading: Reading) -> set[int]:
    """Tokens of triggers that govern the words behind them ("V. a.", "suspekt auf"): no code is worded with them."""
    before = (
        one for one in reading.triggers if one.row.direction in ("before", "both", "around") and one.row.scope != "word"
    )
    return {reading.start[at] for one in before for at in one.cue_tokens}


def _letters(reading: Reading) -> set[int]:
    """Places of the letters of certainties ("KHK V, Reflux A")."""
    return {reading.start[at] for one in reading.signs if one.row.trigger in _CERTAINTIES for at in one.cue_tokens}


def _behind(leading: Sequence[bool], first: int, last: int) -> int:
    """The first word of a run behind the words that lead to it; the run's own where nothing would be left."""
    at = first
    while at <= last and leading[at]:
        at += 1
    return at if at <= last else first


def gain(probability: float, span: CandidateSpan, weights: ReadingWeights) -> float:
    """Gain of a span in a cover if its best code is right with this probability."""
    both = weights.found * span.chance + (1 - weights.found) * probability
    return (both - weights.floor) * float(span.content**weights.power) - weights.cost


def cover(found: Sequence[CandidateSpan], gains: Sequence[float]) -> list[int]:
    """The places of the spans, without overlap, whose gains add up to the most; in the order of the text."""
    ends = sorted({span.part.end for span in found})
    place = {end: number for number, end in enumerate(ends, 1)}
    by_end: dict[int, list[int]] = {}
    for number, span in enumerate(found):
        by_end.setdefault(place[span.part.end], []).append(number)
    before = _before(found, ends)
    best, taken = [0.0], [-1]
    for at in range(1, len(ends) + 1):
        options = [(best[at - 1], -1), *((best[before[n]] + gains[n], n) for n in by_end[at])]
        value, number = max(options, key=lambda option: option[0])
        best.append(value)
        taken.append(number)
    chosen, at = [], len(ends)
    while at:
        number = taken[at]
        if number >= 0:
            chosen.append(number)
        at = before[number] if number >= 0 else at - 1
    return chosen[::-1]


def _before(found: Sequence[CandidateSpan], ends: Sequence[int]) -> list[int]:
    """For each span how many of the ends lie before its start."""
    starts = sorted({span.part.start for span in found})
    counts, at = {}, 0
    for start in starts:
        while at < len(ends) and ends[at] <= start:
            at += 1
        counts[start] = at
    return [counts[span.part.start] for span in found]
