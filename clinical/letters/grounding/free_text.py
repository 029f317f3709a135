"""Free text (diagnoses, medication, procedures, questions): finds the place that states a value.

The contract's rule is a substring or 60 % token overlap. Overlap alone lets an invented dose or side through, so the
value is aligned with one short stretch of the text, in order, and what the rule leaves open is closed:

- every token that carries meaning by itself (number, unit, side, stage, denial, opposite) must be there, and none
  other may stand between the matched ones;
- nothing may be *replaced*: a value's word that the text lacks may not stand where the text has another word, nor at
  an end of the value. A plain word may be left out, or put in between, up to the contract's 40 %;
- the stretch may not be denied or said of a relative unless the value says so too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal

from clinical.claims import Claim, Reading, denying_words
from clinical.letters.grounding.literal import TokenMatch, find_literal
from clinical.letters.grounding.value import Value
from clinical.letters.grounding.words import Wordlist
from clinical.text import (
    BREAK,
    COMMA,
    CONNECTORS,
    FUNCTION_WORDS,
    HEAD,
    LINE,
    SIDES,
    SPACE,
    STOP,
    TITLES,
    SourceText,
    word_set,
)
from clinical.thresholds import GroundingThresholds, grounding_thresholds

STEPS = 10
"""Alignment steps a value may take for each token of text and value together: a few dozen in all are the rule, and a
text made to be slow costs its length, not its square. A value that needs more is not evidenced."""

TRIES = 200
"""Places of its first word at which a value is laid over the text: 20,000 characters of letters have no word more than
39 times. A value that stands at none of the first ones is not evidenced."""

Kind = Literal["diagnosis", "procedure", "statement", "question", "verbatim"]
"""diagnosis: denials, exclusions, relatives matter. procedure: the same, but what was found or excluded by it says
nothing of it. statement: denials matter. question: the same, but it is asked whatever answer stands behind it.
verbatim: every word must be there."""

_SAID: Final = ("statement", "question")
_MEANS = word_set("durch mittels per")
_FOUND_NOTHING = "unauffällig"
"""The trigger that says what a procedure showed, and not that it was not done: `Gastroskopie (unauffällig)`."""
_ANSWERED_NO = "(? nein)"
"""The trigger of an answer to a question, which is asked all the same: `Operation indiziert? Kein Notfall.`"""
_LEADER = re.compile(r"\s*(?:\.{4,}|…|(?:\. ){3,}\.?)\s*")
"""Dots that lead from one column to the next: `Letrozol 2,5 mg ......... 1-0-0`."""


def find_statement(
    source: Reading,
    text: str,
    kind: Kind,
    thresholds: GroundingThresholds | None = None,
    wordlist: Wordlist | None = None,
) -> TokenMatch | None:
    """The first place of the source that evidences the value, or None; the thresholds are the shipped ones unless
    given (to measure others); `wordlist`: the source's, where several values are asked."""
    chosen = thresholds or grounding_thresholds()
    value = Value(text)
    anchor = value.first_required()
    if anchor is None:
        return None
    words = wordlist or Wordlist(source)
    for literal in find_literal(source, value.source):
        if not _refuted(source, literal, value.source, kind):
            return literal
    steps = STEPS * (len(source) + len(value.keys))
    for start in islice(_candidates(source, value, anchor), TRIES):
        alignment = _Alignment(source, value, chosen, words, whole_only=kind == "verbatim")
        found = alignment.run(anchor, start)
        steps -= alignment.steps
        if steps < 0:
            return None
        if found is not None and not _refuted(source, found, value.source, kind):
            return found
    return None


def _refuted(source: Reading, found: TokenMatch, value: Reading, kind: Kind) -> bool:
    """True if the text denies the statement there, or makes it of another person, and the value does not."""
    if kind == "verbatim" or (kind == "procedure" and found.first and source.words[found.first - 1] in _MEANS):
        return False
    start, end = source.start[found.first], source.end[found.last]
    if not source.may_be_refuted(start, end):
        return False
    ends = {end, source.end[found.first]}  # of its first word too: "nicht insulinpflichtiger Diabetes"
    claims = [source.told(start, one) for one in ends]
    denied = any(_denies(claim, start, kind) for claim in claims)
    if denied and not value.speaks_of("negation"):
        return True
    return kind not in _SAID and any(claim.is_of_another for claim in claims) and not value.speaks_of("experiencer")


def _denies(claim: Claim, start: int, kind: Kind) -> bool:
    """True if a claim is a denial for a value of that kind: "Ausschluss Pneumonie" is one for a diagnosis, not for a
    question or a plan."""
    if kind not in _SAID and claim.certainty == "questioned":
        return True
    signs = [sign for sign in claim.signs if sign.axis == "negation"]
    if kind == "question":
        signs = [sign for sign in signs if sign.trigger != _ANSWERED_NO]
    if kind == "procedure":
        signs = [sign for sign in signs if not sign.trigger.startswith(_FOUND_NOTHING)]
    return any(sign.value == "denied" or kind not in _SAID or sign.start >= start for sign in signs)


def _candidates(source: SourceText, value: Value, anchor: int) -> Iterator[int]:
    """Tokens of the text at which the value's first required token may stand, in the order of the text."""
    key = value.keys[anchor]
    places = set(source.places(key))
    if key[0] not in "#§":
        places.update(_abbreviated(source, value, anchor))
        places.update(_written_apart(source, value, anchor))
    return iter(sorted(places))


def _abbreviated(source: SourceText, value: Value, anchor: int) -> Iterator[int]:
    head = value.source.words[anchor][:HEAD]
    for short in source.abbreviations_by_head.get(head, ()) if len(value.keys) > 1 else ():
        if _abbreviates(source.words[short], value.source.words[anchor]):
            yield short
    if len(value.keys) > 1 and _is_dotted(value.source, anchor):
        stem = value.source.words[anchor]
        yield from (
            i for word in source.by_head.get(head, ()) if _abbreviates(stem, word) for i in source.word_places[word]
        )


def _written_apart(source: SourceText, value: Value, anchor: int) -> Iterator[int]:
    word = value.source.words[anchor]
    yield from source.merged_places.get(word, ())
    for cut in range(3, len(word) - 2) if word not in source.word_places else ():
        if (head := source.word_places.get(word[:cut])) and word[cut:] in source.word_places:
            yield from (i for i in head if source.words[i + 1 : i + 2] == [word[cut:]] and source.gap(i + 1) <= LINE)
    joined = "".join(value.source.words[anchor : anchor + 2])
    if len(joined) > len(word):
        yield from source.word_places.get(joined, ())


def _abbreviates(short: str, word: str) -> bool:
    return short not in TITLES and len(short) >= HEAD and len(word) >= len(short) + HEAD and word.startswith(short)


def _is_dotted(source: SourceText, i: int) -> bool:
    return source.text[source.end[i] : source.end[i] + 1] == "."


class _Alignment:
    """One try to lay the value over the text from one place, left to right, taking the nearest match."""

    def __init__(
        self, source: SourceText, value: Value, thresholds: GroundingThresholds, words: Wordlist, *, whole_only: bool
    ) -> None:
        self.source, self.value, self.thresholds, self.whole_only = source, value, thresholds, whole_only
        self.words = words
        self.plain = self.matched = self.skipped = self.inserted = self.steps = self.apart = 0
        self.pending: str | None = None

    def run(self, anchor: int, start: int) -> TokenMatch | None:
        keys, roles = self.value.keys, self.value.roles
        step = self._match(anchor, start)
        if step is None:
            return None
        first = self._back_over_function_words(anchor, start)
        if first is None:
            return None
        i, k = self._take(anchor, start, step)
        last = i - 1
        limit = start + self.thresholds.window * len(keys) + self.thresholds.skip
        while k < len(keys):
            self.steps += 1
            place = self._next(k, i, limit)
            if place is None:
                if not self._leave_out(k, roles[k]):
                    return None
                k += 1
                continue
            step = self._match(k, place)
            assert step is not None  # noqa: S101 - `_next` returns only places that match
            i, k = self._take(k, place, step)
            last, self.pending, self.apart = i - 1, None, 0
        return self._judge(first, last)

    def _take(self, k: int, i: int, step: tuple[int, int]) -> tuple[int, int]:
        said = sum(map(self._says, range(k, k + step[1])))
        self.plain += said
        self.matched += said
        return i + step[0], k + step[1]

    def _says(self, k: int) -> bool:
        """True if token `k` of the value counts for its overlap with the text: a title alone evidences nothing."""
        return self.value.roles[k] == "plain" and self.value.source.words[k] not in TITLES

    def _leave_out(self, k: int, role: str) -> bool:
        """A token of the value that the text lacks: never one with meaning, nor any where all must be there."""
        if role == "meaning" or (self.whole_only and role != "function"):
            return False
        if role == "plain" and not self.words.stands(self.value.source.words[k]):
            return False  # it stands nowhere in the letter: an invention, whatever the overlap
        self.inserted += 1
        self.pending = role
        if role == "plain":
            self.plain += self._says(k)
            self.apart += 1
        return self.apart <= self.thresholds.skip

    def _judge(self, first: int, last: int) -> TokenMatch | None:
        if self.pending is not None or self._next_side_contradicts(first, last):
            return None
        if self.plain and self.matched < self.thresholds.overlap * self.plain:
            return None
        if self.inserted and self.matched < 2:
            return None  # one word alone has to stand there with all that goes with it
        return TokenMatch(first, last, whole=not (self.skipped or self.inserted))

    def _match(self, k: int, i: int) -> tuple[int, int] | None:
        """Numbers of tokens of text and value that match from text token `i` and value token `k` on; None if none."""
        source, value = self.source, self.value
        if value.keys[k] == source.key(i):
            return 1, 1
        word, here = value.source.words[k], source.words[i]
        if word[0] == "#" or here[0] == "#":
            return None
        for joined, behind in source.merged.get(i, ()):
            if joined == word:
                return behind - i, 1
        for joined, behind in value.source.merged.get(k, ()):
            if joined == here:
                return 1, behind - k
        if len(word) > 7 and source.words[i + 1 : i + 2] == [word[len(here) :]] and here + word[len(here) :] == word:
            return (2, 1) if source.gap(i + 1) <= LINE else None
        if k + 1 < len(value.keys) and word + value.source.words[k + 1] == here and len(here) > 7:
            return 1, 2
        if len(value.keys) > 1 and (
            (_is_dotted(source, i) and _abbreviates(here, word))
            or (_is_dotted(value.source, k) and _abbreviates(word, here))
        ):
            return 1, 1
        return None

    def _next(self, k: int, i: int, limit: int) -> int | None:
        """The nearest text token from `i` on at which value token `k` stands, if what lies between may be left out."""
        source = self.source
        bracket = False
        farthest = i + self.thresholds.skip + self._bracket_length(i)
        for place in range(i, min(len(source), limit, farthest + 1)):
            if not self._may_cross(k, place, skipped=place > i):
                return None
            if self._match(k, place) is not None:
                gone = range(i, place)
                if any(not bracket and self._is_content(j) for j in gone) and self.pending is not None:
                    return None  # replaced, not left out
                self.skipped += sum(self._is_content(j) for j in gone)
                return place
            bracket = self._opens_bracket(place) or (bracket and ")" not in source.glue(place))
            if not bracket and (source.key(place)[0] in "#§" or self._carries_meaning(place) or self.whole_only):
                return None
            if not bracket and source.words[place] in CONNECTORS:
                return None
        return None

    def _is_content(self, j: int) -> bool:
        return self.source.words[j] not in FUNCTION_WORDS

    def _carries_meaning(self, j: int) -> bool:
        word = self.source.words[j]
        return word in denying_words() or word in SIDES

    def _opens_bracket(self, place: int) -> bool:
        return "(" in self.source.glue(place) and ")" not in self.source.glue(place)

    def _bracket_length(self, i: int) -> int:
        """Tokens of the bracket that opens before token `i`: a trade name or remark may be left out whole."""
        source = self.source
        if i >= len(source) or not self._opens_bracket(i):
            return 0
        close = source.text.find(")", source.start[i], source.start[i] + 40)
        if close < 0:
            return 0
        return sum(1 for j in range(i, min(i + 6, len(source))) if source.start[j] < close)

    def _may_cross(self, k: int, place: int, *, skipped: bool) -> bool:
        """True if one statement may continue over the divider between `place` from the token before it."""
        gap = self.source.gap(place)
        if gap <= SPACE or (gap == LINE and not skipped):
            return True
        if gap == LINE:
            return not self.source.ends_before(place)
        glue = self.source.glue(place)
        if _LEADER.fullmatch(glue):
            return True
        if "(" in glue or ")" in glue:
            return gap == COMMA
        divided = 0 < k < len(self.value.keys) and self.value.source.gap(k) >= COMMA
        if divided and not skipped:
            return True
        if gap >= STOP or skipped:
            return False
        return gap < BREAK and not self._is_tied(k)

    def _is_tied(self, k: int) -> bool:
        """True if the value's tokens `k - 1` and `k` belong together: a side and its place, a drug and its dose."""
        keys = self.value.keys
        return keys[k][0] in "#§" or (k > 0 and keys[k - 1][0] in "#§")

    def _back_over_function_words(self, anchor: int, start: int) -> int | None:
        """First text token of the value's leading function words; None if they do not stand there."""
        first = start
        for k in range(anchor - 1, -1, -1):
            if first == 0 or self.source.gap(first) > LINE or self.value.keys[k] != self.source.key(first - 1):
                return None
            first -= 1
        return first

    def _next_side_contradicts(self, first: int, last: int) -> bool:
        """`Gonarthrose rechts | Coxarthrose links` does not say `rechtsseitige Coxarthrose`."""
        sides = {key for key in self.value.keys if key in ("§r", "§l", "§b")}
        if not sides:
            return False
        around = [i for i in (first - 1, last + 1) if 0 <= i < len(self.source)]
        near = {self.source.key(i) for i in around if self.source.gap(max(i, first) if i < first else i) <= SPACE}
        return bool((near & {"§r", "§l", "§b"}) - sides)
