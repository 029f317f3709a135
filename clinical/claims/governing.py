"""Governing trigger of each word of a text: negation, certainty, temporality and experiencer, axis by axis.

Every trigger of the table governs a run of words before or behind it. How far it reaches follows from its scope and
from what the text is divided by; it is computed once for a whole text, in time linear in its length, after which the
claim of any span is looked up. The axes are independent: "kein früherer Herzinfarkt" is denied and past.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clinical.claims.blocks import block_below, heads_block
from clinical.claims.occurrences import Occurrence, ends_item, is_answer
from clinical.claims.triggers import AXES, QUIET, Axis
from clinical.text import ARROW, COLON, COMMA, FUNCTION_WORDS, SourceText, word_set

REACH: Final = 60
"""Tokens a trigger reaches at most: longer than enumerations in letters run, so that time stays linear."""
CLAUSE: Final = 40
"""Tokens of a clause that are looked at on either side of its denied predicate."""
AFTER: Final = 3
"""Words behind a denial that may be the predicate which it denies."""

_JOINTS: Final = word_set("und oder sowie bzw beziehungsweise noch u od wie vs versus")
"""Words that continue the same statement."""
_ALTERNATIVES: Final = word_set("oder od bzw sowie beziehungsweise und u vs versus")
"""Words that show that a list with commas is one statement: "kein Fieber, Husten oder Dyspnoe"."""
_NEITHER: Final = word_set("weder")
_NOR: Final = word_set("noch")
"""Behind "weder" another such word; else what is there still: "kein Fieber mehr, noch etwas schlapp"."""
_PLURALS: Final = word_set(
    "werden wurden sind waren konnten koennen bestehen bestanden liegen lagen fanden finden zeigen zeigten liessen"
)
"""Verbs that govern all items of a list before them: "Fieber, Husten, Dyspnoe werden verneint"."""
_WHO: Final = word_set("patient patientin patienten pat pt er sie")
"""Words for the person who denies: "Pat. verneint Fieber, Husten, Schnupfen"."""
_GOVERNS_BEFORE: Final = ("before", "both", "around")
_GOVERNS_BEHIND: Final = ("behind", "both")


@dataclass(frozen=True, slots=True)
class Governed:
    """Governing trigger of each token of a text, by axis: its index in `triggers`, or -1."""

    triggers: tuple[Occurrence, ...]
    by_axis: Mapping[Axis, Sequence[int]]
    cue_tokens: Mapping[int, Sequence[int]]
    """The triggers that a token is a word of."""

    def denies(self, i: int) -> bool:
        """True if a token is a word of a trigger that negates what follows."""
        rows = (self.triggers[number].row for number in self.cue_tokens.get(i, ()))
        return any(row.axes == ("negation",) and row.direction in _GOVERNS_BEFORE for row in rows)


def governed(source: SourceText, triggers: tuple[Occurrence, ...]) -> Governed:
    """Lay the scopes of all triggers over the tokens of a text. Where two of one axis meet, the nearer one holds."""
    reader = _Scopes(source, triggers)
    by_axis = {axis: [-1] * len(source.words) for axis in AXES}
    distance = {axis: [REACH + 1] * len(source.words) for axis in AXES}
    for number, trigger in enumerate(triggers):
        axes = trigger.row.axes
        for i in reader.reach(number) if trigger.row.direction not in QUIET else ():
            away = trigger.first - i if i < trigger.first else i - trigger.last
            for axis in axes:
                if away < distance[axis][i]:
                    by_axis[axis][i], distance[axis][i] = number, away
    return Governed(triggers, by_axis, reader.cue_tokens)


_DIVIDED: Final = re.compile(r"[,;.:\n()]")
"""Marks that divide a sign from the words beside it."""
_DASH: Final = re.compile(rf"\s[-–—·•]\s|{ARROW}")
"""Marks that divide the items of a list in one line: "Z. n. Apoplex - Hypertonie"."""
_SIGN: Final = re.compile(r"\s[+&]\s")
"""Signs that divide the items of a list in one line, or two things of one statement: "kein Fieber + Husten"."""
_SUSPENDED: Final = re.compile(r"-\s?[/,]")
"""A word whose end the next one says: "Blasen-/Mastdarmstörung" is one item."""


class _Scopes:
    """Scopes of the triggers of one text."""

    def __init__(self, source: SourceText, triggers: tuple[Occurrence, ...]) -> None:
        self.source, self.triggers, self.depth = source, triggers, source.depths
        self.cue_tokens: dict[int, list[int]] = {}
        self.begins: dict[int, list[int]] = {}
        for number, one in enumerate(triggers):
            for i in one.cue_tokens:
                self.cue_tokens.setdefault(i, []).append(number)
            if one.cue_tokens:
                self.begins.setdefault(one.first, []).append(number)
        self.divided = [*source.ends_clause]
        """The ends of statements, told before each token: a sentence, an item of a list, or a new labelled value."""
        for i in range(len(source.words) - 1):
            if source.gaps[i + 1] == COLON and source.gaps[i] >= COMMA and i not in self.cue_tokens:
                self.divided[i] = True

    def reach(self, number: int) -> Iterator[int]:
        """The tokens that a trigger governs."""
        one = self.triggers[number]
        direction = one.row.direction
        if direction == "own":
            yield from range(one.first, one.last + 1)
        if direction in ("within", "clause"):
            yield from (i for i in range(one.first, one.last) if i not in one.cue_tokens)
        if direction == "clause":
            yield from self._clause(one)
        if direction in _GOVERNS_BEFORE and not (direction == "both" and self._closes(one)):
            yield from (following := [*self._following(one)])
            if direction == "around" and not any(self._is_noun(i) for i in following):
                yield from self._denied_by_predicate(one)
        if direction in _GOVERNS_BEHIND and not (direction == "both" and self._opens(one)):
            yield from self._backward(one)

    def _is_noun(self, i: int) -> bool:
        """True if token `i` is capitalized like a noun, or is a number."""
        return self.source.view[self.source.start[i]].isupper() or self.source.words[i][0] == "#"

    def _closes(self, one: Occurrence) -> bool:
        """True if no word that a trigger could govern follows it in its item."""
        i = one.last + 1
        if not one.cue_tokens:
            end = self.source.start[i] if i < len(self.source.words) else len(self.source.text)
            return i >= len(self.source.words) or _DIVIDED.search(self.source.text, one.end, end) is not None
        source = self.source
        return i >= len(source.words) or source.ends_clause[i] or ends_item(source, i) or is_answer(source, i)

    def _opens(self, one: Occurrence) -> bool:
        """True if a trigger of both directions begins an item that continues: it then governs what follows."""
        i = one.first
        if not one.cue_tokens:
            start = self.source.end[i - 1] if i else one.start
            return (i == 0 or _DIVIDED.search(self.source.text, start, one.start) is not None) and not self._closes(one)
        begins = i == 0 or self.source.ends_clause[i] or self.source.gaps[i] >= COMMA
        return begins and not self._closes(one)

    # --- the clause around a denied predicate

    def _clause(self, one: Occurrence) -> Iterator[int]:
        """The tokens of its clause that are denied with a predicate of existing, finding or supposing. German puts
        particle and verb on either side of what they deny: those before it up to the comma before a noun, and, where
        nothing is named there, those behind it."""
        source, named = self.source, False
        level = self.depth[one.first] if one.first < len(self.depth) else 0
        for i in range(one.first - 1, max(-1, one.first - 1 - CLAUSE), -1):
            if i + 1 < len(source.words) and (
                source.ends_clause[i + 1] or (named and source.gaps[i + 1] >= COMMA) or self.depth[i] < level
            ):
                break
            if self._bars_clause(one, i):
                break
            yield i
            named = named or self._is_noun(i)
        for i in range(one.last + 1, min(len(source.words), one.last + 1 + CLAUSE) if not named else 0):
            if source.ends_clause[i] or source.gaps[i] >= COMMA or self._bars_clause(one, i):
                break
            yield i

    def _denied_by_predicate(self, one: Occurrence) -> Iterator[int]:
        """The tokens before a denial that has no noun behind it, when at most AFTER words are left of its clause: it
        denies what they say of the names before it ("Aneurysmata: werden keine demonstriert"). What is "noch nicht"
        something is there."""
        source, stop = self.source, one.last + 1
        if one.first and source.words[one.first - 1] == "noch":
            return
        while stop < len(source.words) and not (source.ends_clause[stop] or source.gaps[stop] >= COMMA):
            if self._is_noun(stop) or stop > one.last + AFTER:
                return
            stop += 1
        for i in range(one.first - 1, max(-1, one.first - 1 - CLAUSE), -1):
            if source.ends_clause[i + 1] or source.gaps[i + 1] >= COMMA or self._bars_clause(one, i):
                return
            yield i

    def _bars_clause(self, one: Occurrence, i: int) -> bool:
        """True if another trigger of the same axis stands at token `i`: a clause about another thing ends there."""
        rows = (self.triggers[n].row for n in self.cue_tokens.get(i, ()) if self.triggers[n] is not one)
        return any(set(row.axes) & set(one.row.axes) and row.direction not in QUIET for row in rows)

    # --- what follows a trigger

    def _following(self, one: Occurrence) -> Iterator[int]:
        if one.row.scope == "word":
            return self._next_word(one)
        return block_below(self.source, one, REACH) if heads_block(self.source, one) else self._forward(one)

    def _forward(self, one: Occurrence) -> Iterator[int]:
        source, row = self.source, one.row
        crosses = row.scope == "sentence" or (row.scope == "list" and self._is_list(one))
        near, joined, started = one.last, False, False
        for i in range(one.last + 1, min(len(source.words), one.last + 1 + REACH)):
            opens = i == one.last + 1 and not one.cue_tokens  # a sign is no word: what ends before it ends here too
            if not opens and (self.divided[i] or self.depth[i] < self.depth[max(one.last, 0)]):
                return
            if not opens and self._parts_items(one, i, crosses):
                return
            if i > one.last + 1 and source.gaps[i] >= COMMA and not self._crosses(one, i, joined or crosses):
                return
            others = self.begins.get(i, ())
            if any(self._ends_before(one, other, i, near=near, started=started) for other in others):
                return
            governing = [n for n in others if self.triggers[n].row.direction in (*_GOVERNS_BEFORE, "pseudo")]
            if governing and i == near + 1:
                near = max(self.triggers[governing[0]].last, near)
            elif source.view[source.start[i]].isupper() and i > near:
                started = True
            joined = source.words[i] in _JOINTS
            crosses = crosses and not (row.scope == "list" and self._is_alternative(one, i))
            yield i

    def _parts_items(self, one: Occurrence, i: int, crosses: bool) -> bool:
        """True if the signs before token `i` divide it from a trigger's scope, as they divide items of one line."""
        source, scope = self.source, one.row.scope
        if scope == "sentence":
            return False
        if i == one.last + 1:
            return scope == "item" and source.gaps[i] == COMMA and "," in source.glue(i)
        return _DASH.search(source.glue(i)) is not None or (not crosses and _SIGN.search(source.glue(i)) is not None)

    def _crosses(self, one: Occurrence, i: int, over_commas: bool) -> bool:
        """True if a trigger's scope continues over the mark before token `i`."""
        source = self.source
        if source.gaps[i] == COMMA and (_SUSPENDED.match(source.glue(i)) or self._is_slashed(one, i)):
            return True
        if source.gaps[i] == COLON:
            return one.row.scope == "sentence" or source.words[i - 2 : i - 1] == ["folgende"]
        return over_commas

    def _is_slashed(self, one: Occurrence, i: int) -> bool:
        """True if a slash without blanks joins two names under one negation: "kein Fieber/Husten", "A/B neg."."""
        return one.row.axes == ("negation",) and self.source.glue(i) == "/"

    def _next_word(self, one: Occurrence) -> Iterator[int]:
        """The word a trigger stands before, over function words."""
        for i in range(one.last + 1, min(len(self.source.words), one.last + 4)):
            if (self.divided[i] and i > one.last + 1) or self.source.gaps[i] >= COMMA:
                return
            yield i
            if self.source.words[i] not in FUNCTION_WORDS:
                return

    def _ends_before(self, one: Occurrence, other: int, i: int, *, near: int, started: bool) -> bool:
        """True if the trigger `other`, which begins at token `i`, ends the scope of `one`."""
        row = self.triggers[other].row
        if row.direction in ("stop", "end"):
            return bool(set(row.axes) & set(one.row.axes)) and i > near
        if row.direction not in (*_GOVERNS_BEFORE, "within"):
            return False
        if set(row.axes) & set(one.row.axes):
            return True
        return one.row.axes != ("experiencer",) and started

    def _is_list(self, one: Occurrence) -> bool:
        """True if the commas behind a trigger divide one statement: where the trigger, or the person who denies ("Pat.
        verneint"), opens its sentence, or where the list ends with "oder", "noch", "und". A verb, which may stand on
        either side of what it denies, opens a clause of its own behind a comma or "und" too ("klagt über Husten,
        verneint Fieber, Auswurf, Atemnot"). In a list of other things a trigger denies its own item only."""
        source = self.source
        first = one.first
        while first and source.words[first - 1] in _WHO and not source.ends_clause[first]:
            first -= 1
        if first == 0 or source.ends_clause[first] or source.gaps[first] >= COLON:
            return True
        if one.row.direction == "both" and (source.gaps[first] == COMMA or source.words[first - 1] in _JOINTS):
            return True
        for i in range(one.last + 1, min(len(source.words), one.last + 1 + REACH)):
            if self.divided[i] or any(self.triggers[n].row.direction != "pseudo" for n in self.begins.get(i, ())):
                return False
            if self._is_alternative(one, i):
                return True
        return False

    def _is_alternative(self, one: Occurrence, i: int) -> bool:
        """True if the word at token `i` shows that a list with commas is one statement."""
        words = self.source.words
        return words[i] in _ALTERNATIVES or (words[i] in _NOR and words[max(one.first, 0)] in _NEITHER)

    # --- what stands before a trigger

    def _backward(self, one: Occurrence) -> Iterator[int]:
        source, row = self.source, one.row
        crosses = row.scope == "sentence" and row.direction == "behind"
        for i in range(one.first - 1, max(-1, one.first - 1 - REACH), -1):
            if i < one.first - 1:
                if self.divided[i + 1] or _DASH.search(source.glue(i + 1)):
                    return  # behind a dash a test or a treatment begins: "Anämie - Haemoccult neg."
                if ends_item(source, i + 1) and not (crosses or self._is_slashed(one, i + 1)):
                    return
            if any(self.triggers[n] is not one and self._bars(one, n) for n in self.cue_tokens.get(i, ())):
                return
            joint = row.scope == "list" and self._is_alternative(one, i)
            crosses = crosses or joint or source.words[i] in _PLURALS
            yield i
            if row.scope == "word":
                return

    def _bars(self, one: Occurrence, number: int) -> bool:
        row = self.triggers[number].row
        return bool(set(row.axes) & set(one.row.axes)) and row.direction not in ("pseudo", "end")


def head_of(source: SourceText, known: Governed, first: int, last: int) -> int:
    """The token by which a mention is judged: its first word with a capital that is no trigger's; where there
    is none, the first word that is neither a trigger's nor a function word. What stands behind a denial within it
    ("schwer depressiv ohne Wahn") is not what it says."""
    words, view, start, end = source.words, source.view, source.start, source.end
    for i in range(first, last + 1):  # mostly no trigger's word stands before the noun
        if i in known.cue_tokens:
            break
        if words[i] not in FUNCTION_WORDS and words[i][0] != "#" and not view[start[i] : end[i]].islower():
            return i
    inner = (i for i in range(first + 1, last + 1) if known.denies(i))
    free = [i for i in range(first, next(inner, last + 1)) if i not in known.cue_tokens]
    free = free or [i for i in range(first, last + 1) if i not in known.cue_tokens]
    carrying = [i for i in free if words[i] not in FUNCTION_WORDS and words[i][0] != "#"]
    nouns = (i for i in carrying if not view[start[i] : end[i]].islower())
    return next(nouns, next(iter((*carrying, *free)), first))
