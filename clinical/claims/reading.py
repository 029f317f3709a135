"""A text read once: its tokens, lines, items, labelled values, sections and triggers, and the claim of any span.

Everything that asks what a German clinical text says asks a `Reading`. It is made in one pass, in time linear in the
length of the text, and everything derived from the text hangs on it, so that nothing of a request outlives its value.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from clinical.claims.governing import Governed, governed, head_of
from clinical.claims.occurrences import Occurrence, ends_item, has_refutation, occurrences, signs_of
from clinical.claims.tagger import LABELS, TaggedText, Tagger, besides, tagger
from clinical.claims.triggers import DEFAULTS, QUIET, Axis
from clinical.contract import Assertion
from clinical.text import (
    BOTH,
    COMMA,
    FUNCTION_WORDS,
    LEFT,
    LINE,
    RIGHT,
    STOP,
    CodedDiagnosis,
    Kind,
    Section,
    Seen,
    SourceText,
    Token,
    coded_at,
    coded_diagnoses,
    may_tell,
    sections_of,
    see,
    side_of,
    words,
)

Negation = Literal["affirmed", "denied", "excluded"]
Certainty = Literal["certain", "suspected", "questioned"]
Temporality = Literal["present", "past", "hypothetical"]
Experiencer = Literal["patient", "family", "other"]
Side = Literal["R", "L", "B"]

_SIDE_OF: Final[dict[str, Side]] = {RIGHT: "R", LEFT: "L", BOTH: "B"}
SIDE_BEHIND: Final = 3
"""Tokens behind a mention in which its side is looked for ("Gonarthrose Grad III rechts")."""


@dataclass(frozen=True, slots=True)
class Place:
    """A run of characters: `start` inclusive, `end` exclusive, in code points of the text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A trigger that governs a span: its place, its axis and its value there."""

    start: int
    end: int
    axis: Axis
    value: str
    trigger: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of the text about a span, axis by axis, with its triggers, and the section it stands in.

    negation: `affirmed`, `denied` ("kein Fieber"), `excluded` (looked for and not found: "ausgeschlossen", the German
    outpatient marker A). certainty: `certain`, `suspected` (V), `questioned` ("zum Ausschluss einer ..."). temporality:
    `present`, `past` (Z), `hypothetical` (planned, feared, conditional). experiencer: `patient`, `family`, `other`.
    doubt: the tagger's probability that the claim is another one, where present and suspected are one; 0 where it was
    not asked.
    """

    negation: Negation = "affirmed"
    certainty: Certainty = "certain"
    temporality: Temporality = "present"
    experiencer: Experiencer = "patient"
    signs: tuple[Sign, ...] = ()
    section: Kind | None = None
    doubt: float = field(default=0.0, compare=False)

    @property
    def is_denied(self) -> bool:
        """True if the text denies or excludes it."""
        return self.negation != "affirmed"

    @property
    def is_of_another(self) -> bool:
        """True if the experiencer is a relative or somebody else than the patient."""
        return self.experiencer != "patient"

    @property
    def is_past(self) -> bool:
        """True if the text states that it is past."""
        return self.temporality == "past"

    @property
    def label(self) -> str:
        """The claim as one of `LABELS`: whose, then whether, then when, then how surely."""
        if self.experiencer != "patient":
            return self.experiencer
        if self.temporality == "hypothetical":
            return "hypothetical"
        if self.is_denied:
            return "excluded"
        if self.is_past:
            return "history"
        return "present" if self.certainty == "certain" else "suspected"

    @property
    def assertion(self) -> Assertion:
        """The one word of the contract (section 3.2) that says most: whose, then whether, then when, then how surely.

        What is planned, feared or conditional is not there: `excluded`; so is what relatives do not have.
        """
        if self.is_of_another and not self.is_denied:
            return "family"
        if self.is_denied or self.temporality == "hypothetical":
            return "excluded"
        if self.is_past:
            return "history"
        return "present" if self.certainty == "certain" else "suspected"


UNSURE: Final = 0.4
"""Probability of the tagger's claim below which that of the table is served (`python -m evals claims --split tune`)."""
_LEANING: Final = tuple({"present": 1.8, "suspected": 1.8, "history": 1.35}.get(label, 1.0) for label in LABELS)
"""Factors of the tagger's probabilities when the claim is chosen: of what is there no more than 0.02 is to be read as
not there, which costs as many mistakes the other way (`python -m evals claims`: 0.025 to 0.020, and 0.049 to 0.059).
How sure a claim is (`doubt`) they do not change."""
_THERE: Final = ("present", "suspected")
_LEARNED: Final[Mapping[str, tuple[Axis, str]]] = {
    "suspected": ("certainty", "suspected"),
    "excluded": ("negation", "denied"),
    "history": ("temporality", "past"),
    "family": ("experiencer", "family"),
    "other": ("experiencer", "other"),
    "hypothetical": ("temporality", "hypothetical"),
}
"""Axis and value of what the tagger says of a mention; nothing for `present`."""
_BY_LETTER: Final[Mapping[str, Mapping[Axis, str]]] = {
    "G": {},
    "V": {"certainty": "suspected"},
    "Z": {"temporality": "past"},
    "A": {"negation": "excluded"},
}
"""Axis and value of the letters behind the codes of German outpatient diagnoses."""
_EMPTY_LINE: Final = re.compile(r"\.?[^\S\n]*\n\s*\n\s*")


class Reading(SourceText):
    """A German clinical text, read once: a `SourceText` (tokens with keys, and what divides them) with its layout and
    its claims. Nothing of it changes once it is read; what is not asked for is not computed. Made by `Reading.of`."""

    names: Sequence[tuple[int, int]] = ()
    """Places of official titles, in their order, set before a claim is asked for: what their words deny is a name
    ("Ohne Angabe einer hypertensiven Krise"), and nothing behind it."""

    def __init__(self, text: str, by: Tagger | None = None) -> None:
        super().__init__(text)
        self._by = by
        self.folds: dict[str, str] = {}
        """The folded form of each word of the text that was read so far: its parts are not folded again."""

    @classmethod
    def of(cls, text: str, by: Tagger | None = None) -> Reading:
        """Read a text. Linear in its length. `by`: a tagger of claims in place of the shipped one."""
        return cls(text, by)

    # --- layout

    @cached_property
    def lines(self) -> tuple[Place, ...]:
        """The lines without their line ends; empty ones are left out."""
        runs = re.finditer(r"[^\n\r]+", self.text)
        return tuple(Place(m.start(), m.end()) for m in runs if not m.group().isspace())

    @cached_property
    def clauses(self) -> tuple[Place, ...]:
        """Sentences, list items and finished lines, in their order: what no statement goes across. The dot of an
        abbreviation and the end of a wrapped line divide nothing."""
        return self._runs([i for i in range(len(self.words)) if i == 0 or self.ends_clause[i]])

    @cached_property
    def items(self) -> tuple[Place, ...]:
        """The clauses cut at commas, brackets, slashes and colons too: one or more mentions each, never a part of one
        of a plain list."""
        return self._runs([i for i in range(len(self.words)) if i == 0 or self.gaps[i] >= COMMA or self.ends_clause[i]])

    def _runs(self, first: list[int]) -> tuple[Place, ...]:
        """The places of the runs of tokens that begin at these."""
        last = [i - 1 for i in (*first[1:], len(self.words))]
        start, end = self.start, self.end
        return tuple(Place(start[a], end[b]) for a, b in zip(first, last, strict=False))

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Sections of the text, one for each heading."""
        return sections_of(self.text)

    # --- claims

    @cached_property
    def triggers(self) -> tuple[Occurrence, ...]:
        """Every trigger of the table that stands in the text, in the order of their places; none that stands within a
        name, behind its beginning."""
        found = occurrences(self, signs=self.signs)
        return tuple(one for one in found if not self._is_of_name(one)) if self.names else found

    def _is_of_name(self, one: Occurrence) -> bool:
        at = bisect_left(self.names, (one.start,)) - 1
        return at >= 0 and one.end <= self.names[at][1]

    @cached_property
    def _governed(self) -> Governed:
        return governed(self, self.triggers)

    @cached_property
    def _section_starts(self) -> list[int]:
        return [section.start for section in self.sections]

    def section(self, start: int) -> Kind | None:
        """The kind of the section in which a place stands; None outside of all known ones."""
        at = bisect_right(self._section_starts, start) - 1
        return self.sections[at].kind if at >= 0 and start < self.sections[at].end else None

    def tokens_in(self, start: int, end: int) -> range:
        """The numbers of the tokens that lie in a span, wholly or in part."""
        return range(bisect_right(self.end, start), bisect_left(self.start, end))

    def claim(self, start: int, end: int) -> Claim:
        """Return the claim of the mention from `start` to `end`: that of the tagger, which reads the whole text once,
        with the triggers of the table that say the same.

        The table alone is asked where the tagger is unsure, and of a wording with nothing around it.
        """
        return self.claims([(start, end)])[0]

    def claims(self, spans: Sequence[tuple[int, int]]) -> list[Claim]:
        """The claims of many mentions (`claim`), which the tagger judges together."""
        found = [self.ruled(start, end) for start, end in spans]
        places = {number: self.words_in(*span) for number, span in enumerate(spans) if not self._is_whole(*span)}
        asked = [number for number, (first, last) in places.items() if first <= last]
        if asked:
            labels = [found[number].label for number in asked]
            first, last = zip(*(places[number] for number in asked), strict=True)
            for number, own in zip(asked, self._tagged.all_shares(first, last, labels).tolist(), strict=True):
                found[number] = judged(found[number], own)
        return [self.by_letter(claim, *span) for claim, span in zip(found, spans, strict=True)] if self.coded else found

    @cached_property
    def coded(self) -> list[CodedDiagnosis]:
        """The diagnoses that the text writes with their codes."""
        return coded_diagnoses(self.text)

    def by_letter(self, claim: Claim, start: int, end: int) -> Claim:
        """The claim of a span that belongs to a diagnosis with a code, by the letter of its certainty where it has one;
        whose it is the text says all the same."""
        one = coded_at(self.coded, start, end)
        if one is None or not one.certainty:
            return claim
        told = dict[Axis, str](_BY_LETTER[one.certainty])
        signs = tuple(Sign(one.behind, one.end, axis, value, one.certainty) for axis, value in told.items())
        plain = {axis: value for axis, value in DEFAULTS.items() if axis != "experiencer"}
        return replace(claim, **(plain | told), signs=signs, doubt=0.0)  # type: ignore[arg-type]

    def _is_whole(self, start: int, end: int) -> bool:
        """True if nothing stands around a span."""
        return not self.text[:start].strip() and not self.text[end:].strip()

    def ruled(self, start: int, end: int) -> Claim:
        """Return the claim of a span as the table of triggers alone has it: that of its first word that is no trigger's
        and carries meaning. A trigger may stand within the span. Two look-ups; the text is read once."""
        tokens = self.tokens_in(start, end)
        section = self.section(start)
        if not tokens or (section is None and not self.triggers):  # as in most searches
            return Claim(section=section)
        known = self._governed
        head = head_of(self, known, tokens[0], tokens[-1])
        governing = [(axis, n) for axis, by_token in known.by_axis.items() if (n := by_token[head]) >= 0]
        if not governing and section not in _OF_WHOM:  # as for most mentions
            return Claim(section=section)
        values: dict[Axis, str] = dict(DEFAULTS)
        signs = []
        for axis, number in governing:
            trigger = known.triggers[number]
            if tokens[0] <= trigger.first < head and _is_part_of_name(trigger, last=head == tokens[-1]):
                continue
            values[axis] = trigger.row.value
            signs.append(Sign(trigger.start, trigger.end, axis, trigger.row.value, trigger.row.trigger))
        if section == "family" and not self._says_self(head):
            values["experiencer"] = "family"
        if section == "past" and values["temporality"] == "present":
            values["temporality"] = "past"
        return Claim(**values, signs=tuple(signs), section=section)  # type: ignore[arg-type]

    def told(self, start: int, end: int) -> Claim:
        """Return the claim of a span as `ruled`, but for the section: of the text only the paragraph is read."""
        tokens = self.tokens_in(start, end)
        if not tokens:
            return Claim()
        first, stop = self._paragraph(tokens[0])
        if tokens[-1] >= stop:
            return self.ruled(start, end)
        return self._read_alone(first, stop).ruled(start, end)

    def may_be_refuted(self, start: int, end: int) -> bool:
        """False if nothing in the paragraph of a span can deny it, ask for it or make it of somebody else, so that its
        claim need not be read."""
        tokens = self.tokens_in(start, end)
        if not tokens:
            return False
        first, stop = self._paragraph(tokens[0])
        return tokens[-1] >= stop or self._read_alone(first, stop).refutes

    def _paragraph(self, i: int) -> tuple[int, int]:
        """The first token of the paragraph of token `i`, and the first behind it."""
        starts = self._paragraph_starts
        number = bisect_right(starts, i)
        return starts[number - 1], starts[number] if number < len(starts) else len(self.words)

    def lines_of(self, first: int, stop: int) -> tuple[int, int]:
        """Begin and end of the lines of the tokens `first` up to `stop`, in code points."""
        begin, end = self.text.rfind("\n", 0, self.start[first]) + 1, self.text.find("\n", self.end[stop - 1]) + 1
        return begin, end or len(self.text)

    def _read_alone(self, first: int, stop: int) -> _Paragraph:
        """The paragraph of these tokens."""
        if first not in self._paragraphs:
            self._paragraphs[first] = _Paragraph(self, first, stop)
        return self._paragraphs[first]

    @cached_property
    def _paragraphs(self) -> dict[int, _Paragraph]:
        """The paragraphs asked for so far, by their first token."""
        return {}

    @cached_property
    def _paragraph_starts(self) -> list[int]:
        """The tokens behind empty lines over which no trigger governs and none is read: it would have to end with a
        colon or a word behind which something has to follow."""
        glues, words = self.glues, self.words
        empty = {glue for glue in {*glues} if _EMPTY_LINE.fullmatch(glue)}
        return [0, *(i for i in self.marked if glues[i] in empty and words[i - 1] not in FUNCTION_WORDS)]

    @cached_property
    def signs(self) -> tuple[Occurrence, ...]:
        """The triggers that are signs."""
        return tuple(signs_of(self))

    @cached_property
    def written(self) -> Sequence[Token]:
        """The folded words of the text."""
        return words(self.text, self.folds)

    @cached_property
    def seen(self) -> Seen:
        """The words of the text as networks see them."""
        return see(self.text, self.written)

    @cached_property
    def columns(self) -> NDArray[np.float32]:
        """Columns of each word beside `seen`: triggers that govern it, its section, beginning a line."""
        return besides(self.text, self.start, self.seen, self._governed, self.sections)

    @cached_property
    def _tagged(self) -> TaggedText:
        return (self._by or tagger()).read(self.seen, self.columns)

    @property
    def marks(self) -> NDArray[np.float32]:
        """Of each word of `seen`, the tagger's probability that it stands outside, begins or continues a mention."""
        return self._tagged.marks

    def said(self, start: int, end: int) -> list[str]:
        """The folded words that a span touches."""
        first, last = self.words_in(start, end)
        return [word.text for word in self.written[first : last + 1]]

    def written_in(self, start: int, end: int) -> list[Token]:
        """The folded words that a span touches, with their places from its start on."""
        first, last = self.words_in(start, end)
        return [Token(text, a - start, b - start) for text, a, b in self.written[first : last + 1]]

    def words_in(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last word that a span touches; the last before the first where it touches none."""
        return bisect_right(self._word_ends, start), bisect_left(self._word_starts, end) - 1

    @cached_property
    def _word_starts(self) -> list[int]:
        return [word.start for word in self.written]

    @cached_property
    def _word_ends(self) -> list[int]:
        return [word.end for word in self.written]

    def tellings(self, starts: Sequence[int]) -> list[int | None]:
        """Return the trigger that denies the word at each place or attributes it to somebody else: -1 without any, None
        for a word of a trigger. Neighbours with different values belong to different statements. A single
        "ohne" or "nicht", and what stands with the next word only, may be part of a name ("Leistenhernie ohne
        Einklemmung") and does not count."""
        known = self._governed
        tells = [self._tells(number) for number in range(len(known.triggers))]
        if not any(tells):
            return [-1] * len(starts)
        by_axis = [known.by_axis[axis] for axis in _PARTING]
        told: list[int | None] = []
        for start in starts:
            token = bisect_right(self.start, start) - 1
            numbers = [by_token[token] for by_token in by_axis]
            if (cues := known.cue_tokens.get(token)) is not None:
                own = [number for number in cues if known.triggers[number].row.direction == "own"]
                if not own and any(tells[number] for number in cues):
                    told.append(None)
                    continue
                numbers = own + numbers
            told.append(next((n for n in numbers if n >= 0 and tells[n]), -1))
        return told

    def _tells(self, number: int) -> bool:
        """True if no mention spans words inside and outside of a trigger's scope."""
        trigger = self._governed.triggers[number]
        return _parts(trigger) and (trigger.row.trigger not in _WITHIN_NAMES or number in self._listing)

    @cached_property
    def _listing(self) -> frozenset[int]:
        """The triggers that deny a list: "ohne Barrett, Striktur oder Dysplasie" is no part of a name, nor is "ohne
        Fieber ohne Husten"."""
        denied = self._governed.by_axis["negation"]
        over = {n for i, n in enumerate(denied) if n >= 0 and self.gaps[i] == COMMA and self.glue(i) != "/"}
        for n, one in enumerate(self.triggers):
            again = one.cue_tokens and one.first and self._governed.denies(one.first) and self.gaps[one.first] < COMMA
            if again and denied[one.first - 1] >= 0:
                over |= {n, denied[one.first - 1]}
        return frozenset(over)

    @property
    def lists_denials(self) -> bool:
        """True if the text has a negation of several things, or several in a row: it is then no name."""
        return bool(self.triggers) and bool(self._listing)

    def speaks_of(self, axis: Axis) -> bool:
        """True if a trigger of the axis stands anywhere in the text: "kein" in "keine Pneumonie"."""
        return any(axis in one.row.axes and one.row.direction not in QUIET for one in self.triggers)

    def _says_self(self, token: int) -> bool:
        """True if the line returns to the patient as experiencer before the token."""
        for i in range(token - 1, -1, -1):
            if self.gaps[i + 1] >= LINE and "\n" in self.glue(i + 1):
                return False
            for number in self._governed.cue_tokens.get(i, ()):
                row = self.triggers[number].row
                if row.axes == ("experiencer",):
                    return row.direction == "stop"
        return False

    # --- sides

    def side(self, start: int, end: int) -> Side | None:
        """The side of a mention: in it; right before it where that opens the item ("re. Gonarthrose"); behind it
        in the same item; or else right before it. Both is B. None: not said."""
        tokens = self.tokens_in(start, end)
        if not tokens:
            return None
        first, last = tokens[0], tokens[-1]
        opens = first > 0 and (first == 1 or self.gaps[first - 1] >= COMMA or self.ends_clause[first - 1])
        before = self._side_before(first)
        return self._side_of(tokens) or (before if opens else None) or self._side_behind(last) or before

    def _side_of(self, tokens: range) -> Side | None:
        words = self.words
        found = {_SIDE_OF[key] for i in tokens if (key := side_of(words[i])) is not None}
        if len(found) > 1:
            return "B"
        return found.pop() if found else None

    def _side_behind(self, last: int) -> Side | None:
        stop = last + 1
        while stop < len(self.words) and stop <= last + SIDE_BEHIND + 1:
            if self.ends_clause[stop] or ends_item(self, stop) or self.gaps[stop] >= STOP:
                break
            joins = self.words[stop] == "und" and self._side_of(range(stop - 1, stop)) is not None
            if not joins and (stop in self._governed.cue_tokens or self.words[stop] in ("und", "mit", "bei", "sowie")):
                break
            stop += 1
        return self._side_of(range(last + 1, stop))

    def _side_before(self, first: int) -> Side | None:
        if first == 0 or self.ends_clause[first] or self.gaps[first] > LINE:
            return None
        return self._side_of(range(first - 1, first))


class _Paragraph(Reading):
    """The tokens `first` up to `stop` of a text, with their places in it: what is said outside of them governs none of
    them, so that they are read alone."""

    def __init__(self, whole: Reading, first: int, stop: int) -> None:
        self.text, self.view = whole.text, whole.view
        self.start, self.end, self.words = whole.start[first:stop], whole.end[first:stop], whole.words[first:stop]
        self.depths, self.glues = whole.depths[first:stop], ["", *whole.glues[first + 1 : stop]]
        self._width, self._small_lines, self._signs = whole._width, whole._small_lines, whole._signs
        self.followed = stop < len(whole.words)
        self.signs = tuple(_moved(one, first) for one in whole.signs if first <= one.first < stop + (not self.followed))

    @cached_property
    def refutes(self) -> bool:
        """False if nothing in it can deny a mention, ask for it or make it of somebody else."""
        lines = self.lines_of(0, len(self.words))
        return has_refutation(self, self.signs) or may_tell(self.text, *lines)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Sections that begin here, if one of them is of the family or of the past: those end with an empty line."""
        begin, end = self.lines_of(0, len(self.words))
        found = sections_of(self.text[begin:end]) if may_tell(self.text, begin, end) else ()
        return tuple(Section(one.kind, begin + one.start, begin + one.end, begin + one.heading) for one in found)


def _moved(one: Occurrence, first: int) -> Occurrence:
    """A trigger of a text as one of its tokens from `first` on."""
    cue_tokens = tuple(i - first for i in one.cue_tokens)
    return one._replace(first=one.first - first, last=one.last - first, cue_tokens=cue_tokens)


def judged(told: Claim, shares: Sequence[float]) -> Claim:
    """The claim of a mention of which the table says `told`, with the tagger's `shares` of LABELS."""
    said, most = told.label, max(shares)
    weighed = [factor * share for factor, share in zip(_LEANING, shares, strict=True)]
    label = LABELS[weighed.index(max(weighed))]
    served = said if most < UNSURE else label
    alike = _THERE if served in _THERE else (served,)
    doubt = 1 - sum(shares[LABELS.index(one)] for one in alike)
    return replace(told, doubt=doubt) if served == said else _learned(told, label, doubt)


def _learned(told: Claim, label: str, doubt: float) -> Claim:
    """The claim of a label: its axis has its value, all others what holds where nothing is said; signs of the table
    stay that say the same."""
    values: dict[Axis, str] = dict(DEFAULTS)
    if label in _LEARNED:
        axis, value = _LEARNED[label]
        values[axis] = value
    signs = tuple(sign for sign in told.signs if values[sign.axis] == sign.value)
    return Claim(**values, signs=signs, section=told.section, doubt=doubt)  # type: ignore[arg-type]


_OF_WHOM: Final = ("family", "past")
"""Sections that say of whom, or when, something is that stands in them."""
_PARTING: Final[tuple[Axis, ...]] = ("negation", "experiencer")
_WITHIN_NAMES: Final = ("ohne", "@nicht")


def _parts(trigger: Occurrence) -> bool:
    """True if a trigger states presence or experiencer for more than the next word."""
    row = trigger.row
    silent = row.direction in QUIET or row.scope == "word"
    return not silent and row.axes[0] in _PARTING


def _is_part_of_name(trigger: Occurrence, *, last: bool) -> bool:
    """`familiäre Polyposis`, `nicht insulinpflichtiger Diabetes`: a trigger of the next word that stands within the
    mention names it; but "nicht schwanger" denies."""
    next_word = trigger.row.scope == "word" and trigger.row.direction in ("before", "around")
    return next_word and not (last and trigger.row.axes == ("negation",))


def tag_together(some: Sequence[Reading], by: Tagger) -> None:
    """Have a tagger read several texts at once, which it is then not asked to do for each."""
    for reading, tagged in zip(some, by.read_all([(each.seen, each.columns) for each in some]), strict=True):
        reading._tagged = tagged


ClaimReader = Callable[[Reading, Sequence[tuple[int, int]]], list[Claim]]
"""Reads the claim of each span (start, end) of a text, in their order."""


def claims_by_triggers(reading: Reading, spans: Sequence[tuple[int, int]]) -> list[Claim]:
    """The claims of spans by the table of triggers: a `ClaimReader`."""
    return [reading.ruled(start, end) for start, end in spans]


def claims_by_tagger(reading: Reading, spans: Sequence[tuple[int, int]]) -> list[Claim]:
    """The claims of spans as they are served, by tagger and table: a `ClaimReader`."""
    return reading.claims(spans)
