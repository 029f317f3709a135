"""Single values of a letter, word by word: a network beside the rules that has learned whose house, name and number.

The rules know forms that were seen. The words of head and foot are read again, each with its shape, its piece of the
line, the line, the block, the label, and what the rules found there: a convolutional network with growing dilation (Yu
and Koltun 2016) judges for each word whether the value of a field begins there or goes on. Its likeliest place is the
value where it is likelier than that of the rules; a house or address of theirs that it sees nowhere is none
(`settled`). Learned from annotated letters (`catalog_build.training.values`), each feature with a row of its own.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from clinical.contract import DocumentType
from clinical.letters.labels import heading_field, label_of
from clinical.letters.layout import LetterLayout
from clinical.letters.reader.kinds import SPECIALTY, kind_of
from clinical.letters.reader.letter_dates import OTHER_ROLE
from clinical.letters.reader.names import TITLE, doctor_in, given, is_name_word, without_salutation
from clinical.letters.reader.parties.head import ADDRESSED, REACHED
from clinical.letters.reader.parties.houses import (
    BARE_PHONE,
    CLINIC,
    DEPARTMENT,
    HOUSE,
    LEADER,
    MAIL,
    PLACE,
    STREET_NAMED,
)
from clinical.letters.reader.parties.sender import OF_ANOTHER
from clinical.text import DateMention, dates_of

Numbers = NDArray[np.float32]

VALUES: Final = "values.safetensors"
_CONTACT: Final = ("institution", "abteilung", "name", "strasse", "plz", "ort", "telefon", "email")
_OF_PATIENT: Final = (
    *("nachname", "vorname", "geburtsdatum", "strasse", "plz", "ort", "versichertennummer", "fallnummer"),
)
LEARNED: Final = (
    "dokument.typ",
    "dokument.datum",
    *(f"patient.{one}" for one in _OF_PATIENT),
    "versicherung.name",
    *(f"absender.{one}" for one in _CONTACT),
    *(f"empfaenger.{one}" for one in _CONTACT),
)
"""The fields; the state of a word is 0 outside of every value, 1 + 2 n where that of field n begins, 2 + 2 n within."""
VALUE_STATES: Final = 1 + 2 * len(LEARNED)
DILATIONS: Final = (1, 2, 4, 8, 16, 32)
"""Distances of the words that a layer sees beside each."""
_NAMES: Final = ("patient.nachname", "patient.vorname")
_PEOPLE: Final = frozenset((*_NAMES, "absender.name", "empfaenger.name"))
"""Fields whose value stands on one line, in one of its columns."""
_PARTIES: Final = ("absender", "empfaenger")
_OWNERS: Final = frozenset(f"owner {one}" for one in _PARTIES)
_HOUSES: Final = frozenset(f"{party}.{one}" for party in _PARTIES for one in ("institution", "abteilung"))
"""Fields whose value ends with its piece of the line, or where another value begins."""
ANOTHER: Final = 0.5
"""Probability from which a word begins another value."""
FILL, INSTEAD, KEPT = 0.7, 0.5, 0.05
"""Probability from which the likeliest place is the value where the rules have none, from which it is so in place of
theirs, and from which theirs counts where no other place is likelier. Of authors left out, what would fill between 0.5
and 0.7 is right in three of five: it costs more trust than it gives (`python -m catalog_build statements --measure`).
"""
_ADDRESS: Final = ("strasse", "plz", "ort")
_GUESSED: Final = frozenset(
    (
        *("dokument.typ", "versicherung.name", "empfaenger.name", "empfaenger.telefon"),
        *(one for one in LEARNED if one.endswith(("institution", "abteilung", *_ADDRESS))),
    )
)
"""Fields of which a value of the rules may be none, told by place and form; the others have labels, and what the
network has not seen in such a letter is right more often than not."""
GOES_ON: Final = 0.2
"""Probability from which a value goes on where it is likelier than a word outside of every value."""
_SIGNS: Final = "absender.name"
"""The signer: a name that the rules found in the signature stays, for the letterhead names others as well."""
_BY_FORM: Final = frozenset(("absender.email", "empfaenger.email"))
"""Fields that the rules alone decide: no other word has their form."""
HEAD_LINES, BELOW_HEAD, BELOW_GREETING, LEAST_LINES = 70, 10, 6, 30
"""Lines that are read from the top: at most, behind the head, behind the salutation, at least."""
ABOVE_CLOSING, FOOT_LINES = 3, 18
"""Lines that are read above the closing formula, or at the end where there is none."""
LINE_MAX, WORDS_MAX = 300, 700
"""Characters of a line, and words of a letter, that are read."""
FORMAT: Final = "befund-values-3"

_DAYS: Final = frozenset(("dokument.datum", "patient.geburtsdatum"))
_TOKEN: Final = re.compile(r"[^\W_]+(?:[.'’\-@/&+:]+[^\W_]+)*\.?|[+(]\d[\d)]*|[§*&]")
_PARTED: Final = re.compile(
    r"\t+|\s{2,}|\s*[|·•]\s*|\s*,\s+|\s*;\s+|\s*:\s+|:$|\s[-–—]{1,3}\s|[()\[\]]|\s/\s|(?<=[a-zäöüß]{3})\.\s+"
)
_PLAIN: Final = re.compile(r"[^\W\d_]+|\d+")
_HOUSE, _CLINIC, _DEPARTMENT, _LEADER = (re.compile(one.pattern.lower()) for one in (HOUSE, CLINIC, DEPARTMENT, LEADER))
"""Small characters alone are compared in half the time."""
_INSURER: Final = re.compile(
    r"[\w.]+[ -](?:kranken|unfall|sozial|renten)?versicherung(?:en|sanstalt)?\b|[a-z]kasse\b|"
    r"\b(?:aok|tk|dak|barmer|[bil]?kk|kkh|ikk|bkk|hkk|hek|svlfg|ögk|bvaeb|svs|pva|auva|suva|css|helsana|swica|drv|bg)\b"
)
"""Words of the names of those who pay."""
_FIRST_CELL: Final = re.compile(r":|\t|\s{2,}")
_WITHIN: Final = re.compile(r"[a-zäöüß]\s(?:am|vom|bis|von|seit)\s*$")
"""Words before a day within a sentence."""
_ROLE: Final = 60
"""Characters before a day that say what happened on it."""
_PROSE: Final = 160
"""Characters of a line from which on it is prose."""
_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "plz": re.compile(r"\d{4,5}"),
    "email": MAIL,
    "telefon": re.compile(r"[+(]?[\d ()/.–-]{4,24}\d"),
    "nachname": re.compile(r"[^\W\d_][^\d]{1,39}"),
    "vorname": re.compile(r"[^\W\d_][^\d]{1,39}"),
    "versichertennummer": re.compile(r"[A-Z]?[\d][\d ./-]{4,24}[A-Z]?[\d ]*"),
    "fallnummer": re.compile(r"(?=.*\d\d)[\w./ -]{4,24}"),
    "ort": re.compile(r"[^\W\d_a-zäöü].{1,48}"),
}
"""Form of a value, by the ending of its field."""
_NOTHING: Final = 0
"""Feature of a word in no value of the rules: none that is known."""
BEGINNINGS: Final = 3
"""Likeliest words at which a value may begin that are followed to their end."""


class _Word(NamedTuple):
    """A word of the sheet's text: its place, its line, its piece of the line, its number there, and the gap before."""

    start: int
    end: int
    line: int
    piece: int
    at: int
    gap: str


class ValueLevels(NamedTuple):
    """Features, as the CRC-32 of their names: of the letter, of the fields that the rules found in it, of each line,
    piece and word, and of the values of the rules that a word is in, by the word's number."""

    letter: list[int]
    found: list[int]
    lines: dict[int, list[int]]
    pieces: list[list[int]]
    words: list[list[int]]
    rules: dict[int, list[int]]


class FeatureGroups(NamedTuple):
    """The features of a letter's lines, pieces, words and so on, one group's behind the other's, where each group's
    begin, and the groups of each word, shape (words, 5)."""

    features: NDArray[np.uint32]
    starts: NDArray[np.int64]
    of_words: NDArray[np.int64]


class PlacedValue(NamedTuple):
    """The likeliest place of a field's value: the first and last of its words, and how probable it is."""

    likely: float
    first: int
    last: int


def _hashed(names: Iterable[str]) -> list[int]:
    return [zlib.crc32(name.encode("utf-8", "replace")) for name in names]


def _bucket(number: float, bounds: Sequence[float]) -> int:
    return sum(number > one for one in bounds)


def _shape(word: str) -> str:
    if word[0].isdigit():
        return "0" * min(len(word), 6)
    if len(word) > 1 and word.isupper():
        return "AA"
    return ("Aa" if word[0].isupper() else "a") + ("+" if len(word) > 3 else "")


def value_in(form: Mapping[str, Any], field: str) -> str | None:
    """The value of a field in the shape of the contract's `data`."""
    outer, _, inner = field.partition(".")
    return (form.get(outer) or {}).get(inner)


class ValueFeatures:
    """The words of a letter's head and foot, and their features. `form`: what the rules found."""

    def __init__(
        self, sheet: LetterLayout, dates: Sequence[DateMention], form: Mapping[str, Any], kind: DocumentType
    ) -> None:
        self.sheet, self.dates, self.kind = sheet, dates, kind
        self.words: list[_Word] = []
        self.pieces: list[str] = []
        self._opens: list[bool] = []
        for n in self._lines():
            self._add(n)
        del self.words[WORDS_MAX:]
        self._plain = [
            [one.casefold() for one in _PLAIN.findall(sheet.text[word.start : word.end])] for word in self.words
        ]
        self._said = {field: self.occurring(field, value_in(form, field)) for field in LEARNED}

    def _lines(self) -> list[int]:
        """The numbers of the lines of head and foot."""
        sheet, count = self.sheet, len(self.sheet.lines)
        greeted = sheet.greeting + BELOW_GREETING if sheet.greeting < count else 0
        head = min(max(sheet.head_end + BELOW_HEAD, greeted, LEAST_LINES), HEAD_LINES, count)
        foot = max(min(sheet.closing, count) - ABOVE_CLOSING, count - FOOT_LINES, head)
        return [n for n in range(count) if n < head or n >= foot]

    def _add(self, n: int) -> None:
        line, base = self.sheet.lines[n][:LINE_MAX], self.sheet.starts[n]
        cuts = [(0, 0), *(found.span() for found in _PARTED.finditer(line)), (len(line), len(line))]
        behind: int | None = None
        for (_, first), (last, _) in pairwise(cuts):
            found = list(_TOKEN.finditer(line, first, last)) if first < last else []
            if not found:
                continue
            self._opens.append(behind is None)
            for at, one in enumerate(found):
                if behind is None:
                    gap = "\n" if n == 0 or self.sheet.lines[n - 1].strip() else "\n\n"
                else:
                    gap = re.sub(r"\s{2,}|\t", "  ", line[behind : one.start()])[:5]
                self.words.append(_Word(base + one.start(), base + one.end(), n, len(self.pieces), at, gap))
                behind = one.end()
            self.pieces.append(line[found[0].start() : found[-1].end()])

    def over(self, start: int, end: int) -> list[int]:
        """The numbers of the words that share characters with a place of the sheet's text."""
        return [n for n, word in enumerate(self.words) if word.start < end and word.end > start]

    def occurring(self, field: str, value: str | None) -> list[int]:
        """Of each word 0 outside of the places that say a value, 1 where one begins, 2 where it goes on."""
        found = [0] * len(self.words)
        if not value:
            return found
        if field in _DAYS:
            days = (one for one in self.dates if value in (one.iso(), one.iso(birth=True)))
            for words in (self.over(one.start, one.end) for one in days):
                for n in words:
                    found[n] = 1 + (n > words[0])
            return found
        sought = [one.casefold() for one in _PLAIN.findall(value)]
        every = [(one, n) for n, words in enumerate(self._plain) for one in words]
        for at in range(len(every) - len(sought) + 1) if sought else ():
            if every[at][0] == sought[0] and [one for one, _ in every[at : at + len(sought)]] == sought:
                places = sorted({n for _, n in every[at : at + len(sought)]})
                for n in places:
                    found[n] = found[n] if found[n] == 1 else 1 + (n > places[0])
        return found

    def naming(self, name: str) -> list[int]:
        """The numbers of the words of pieces that name a person by the same surname."""
        surname = next(iter(_PLAIN.findall(name.casefold())[-1:]), "")
        pieces = {word.piece for word, plain in zip(self.words, self._plain, strict=True) if surname in plain}
        named = ((n, word) for n, word in enumerate(self.words) if word.piece in pieces)
        return [n for n, word in named if self.sheet.text[word.start].isupper()]

    @cached_property
    def levels(self) -> ValueLevels:
        """The features by what they are of."""
        where = {n: self._where(n) for n in {word.line for word in self.words}}
        known = [self._kinds(one, first) for one, first in zip(self.pieces, self._opens, strict=True)]
        held: dict[int, dict[int, None]] = {}
        for word in self.words:
            held.setdefault(word.line, {})[word.piece] = None
        lines = {n: _hashed(self._of_line(n, (one for at in own for one in known[at]))) for n, own in held.items()}
        sizes, at = [0] * len(self.pieces), [0] * len(self.pieces)
        for word in self.words:
            sizes[word.piece] += 1
            at[word.piece] = word.line
        pieces = []
        for n, kinds in enumerate(known):
            before, joined = known[n - 1] if n else [], " ".join(kinds)
            own = [*(f"k {one}" for one in kinds), f"ks {joined}", f"ks- {' '.join(before)}"]
            size, placed = _bucket(sizes[n], (1, 2, 3, 4, 6, 10)), where[at[n]]
            alone = len(held[at[n]]) == 1
            pieces.append(_hashed([*own, f"m {size}", f"ks {joined} {placed}", f"m {size} {alone} {placed}"]))
        words = [_hashed(self._of_word(n, " ".join(known[word.piece]), sizes)) for n, word in enumerate(self.words)]
        rules: dict[int, list[str]] = {}
        for field, said in self._said.items():
            for n, one in enumerate(said) if any(said) else ():
                if one:
                    rules.setdefault(n, []).append(f"r {field} {one}")
        there = [f"g {field}" for field, said in self._said.items() if any(said)]
        by_rules = {n: _hashed(names) for n, names in rules.items()}
        return ValueLevels(_hashed([f"doc {self.kind}"]), _hashed(there), lines, pieces, words, by_rules)

    @cached_property
    def groups(self) -> FeatureGroups:
        """The features of all levels, each group once; the second is of words in no value of the rules."""
        levels = self.levels
        groups = [[*levels.letter, *levels.found], [_NOTHING], *levels.pieces, *levels.words]
        placed: list[dict[int, int]] = []
        for each in (levels.lines, levels.rules):
            placed.append({n: at for at, n in enumerate(each, len(groups))})
            groups += each.values()
        (lines, rules), words = placed, 2 + len(levels.pieces)
        own = [(words + n, lines[word.line], 2 + word.piece, 0, rules.get(n, 1)) for n, word in enumerate(self.words)]
        sizes = np.array([len(group) for group in groups])
        features = np.array([one for group in groups for one in group], dtype=np.uint32)
        return FeatureGroups(features, np.cumsum(sizes) - sizes, np.array(own, dtype=np.int64))

    def _kinds(self, piece: str, opens: bool) -> list[str]:
        """Kinds of thing that a piece of a line may be. `opens`: the first of its line."""
        numbered, small = any(map(str.isdigit, piece)), piece.lower()
        named = {
            "house": _HOUSE.search(small),
            "clinic": _CLINIC.search(small),
            "part": _DEPARTMENT.search(small),
            "specialty": SPECIALTY.match(piece),
            "place": numbered and PLACE.search(f" {piece}"),
            "phone": numbered and BARE_PHONE.match(piece),
            "date": numbered and dates_of(piece),
            "doctor": doctor_in(piece),
            "leader": _LEADER.search(small),
            "title": piece[0].isupper() and kind_of(piece),
            "street": numbered and STREET_NAMED.search(piece),
            "insurer": _INSURER.search(small),
        }
        label, heading = label_of(piece), heading_field(piece) if opens else None
        found = [name for name, there in named.items() if there]
        return [
            *found,
            *([f"label {label}"] if label else []),
            *([f"heading {heading}"] if heading is not None else []),
        ]

    @cached_property
    def _blocks(self) -> dict[int, tuple[int, int, int]]:
        """Of each line the number of its block, its own number there, and the block's size."""
        blocks = self.sheet.blocks(0, len(self.sheet.lines))
        return {n: (number, n - one.start, len(one)) for number, one in enumerate(blocks) for n in one}

    @cached_property
    def _labelled(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for one in self.sheet.labelled:
            found.setdefault(one.at, []).extend((f"label {one.field}", f"owner {one.owner}"))
        return found

    def _of_line(self, n: int, held: Iterable[str]) -> list[str]:
        """Names of a line's features. `held`: the kinds of its pieces."""
        sheet, count = self.sheet, len(self.sheet.lines)
        told = sheet.lines[n].strip()
        named = {
            "addressed": ADDRESSED.match(told),
            "reached": REACHED.search(told[:LINE_MAX]),
            "prose": len(told) > _PROSE,
        }
        kinds = [*(name for name, there in named.items() if there), *dict.fromkeys(held)]
        block, row, size = self._blocks.get(n, (99, 0, 0))
        where = self._where(n)
        away = abs(n - (sheet.greeting if where == "head" else sheet.closing))
        indent = len(sheet.lines[n]) - len(sheet.lines[n].lstrip())
        return [
            *(f"lk {one}" for one in kinds),
            f"lks {' '.join(kinds)}",
            f"block {min(block, 9)}",
            f"row {min(row, 6)}",
            f"block {min(block, 9)} {min(row, 5)}",
            f"size {_bucket(size, (1, 2, 3, 5, 8, 12))}",
            f"n {_bucket(n, (0, 1, 2, 3, 5, 8, 12, 18, 25, 35, 50))}",
            f"left {_bucket(count - n, (1, 2, 3, 5, 8, 12, 20, 40))}",
            f"indent {_bucket(indent, (0, 3, 10, 25, 40, 60))}",
            f"where {where}",
            f"where {where} {_bucket(away, (0, 1, 2, 3, 5, 8, 13))}",
            f"greets {sheet.greeting < count}",
            f"head {n < sheet.head_end}",
            f"doc {self.kind} {min(block, 6)}",
            *(f"line {one}" for one in self._labelled.get(n, ())[:6]),
            f"cell {_FIRST_CELL.split(told, maxsplit=1)[0][:40].casefold()}",
        ]

    def _where(self, n: int) -> str:
        """Part of the letter that a line stands in."""
        if n <= self.sheet.greeting:
            return "head" if n < self.sheet.greeting else "greeting"
        return "close" if n >= self.sheet.closing else "body"

    @cached_property
    def _greeted(self) -> frozenset[str]:
        line = self.sheet.lines[self.sheet.greeting] if self.sheet.greeting < len(self.sheet.lines) else ""
        return frozenset(one.casefold() for one in _PLAIN.findall(line[:LINE_MAX]) if len(one) > 3)

    @cached_property
    def _signed(self) -> frozenset[str]:
        last = self.sheet.lines[max(0, min(self.sheet.closing, len(self.sheet.lines) - 8)) :]
        return frozenset(one.casefold() for line in last for one in _PLAIN.findall(line[:LINE_MAX]) if len(one) > 3)

    @cached_property
    def _patient(self) -> frozenset[str]:
        return frozenset(
            one for name in _NAMES for n, at in enumerate(self._said[name]) if at for one in self._plain[n]
        )

    def _of_word(self, n: int, kinds: str, sizes: Sequence[int]) -> list[str]:
        word = self.words[n]
        text, plain = self.sheet.text[word.start : word.end], self._plain[n]
        behind = self.words[n + 1].gap if n + 1 < len(self.words) else "end"
        low, shape = text.casefold().rstrip("."), _shape(text)
        low = re.sub(r"\d", "0", low) if text[0].isdigit() else low
        named = is_name_word(text)
        found = [
            f"w {low}",
            f"s {low[-4:]}",
            f"s {low[-7:]}",
            f"p {low[:4]}",
            f"shape {shape}",
            f"stop {text[-1] == '.'}",
            f"gap {word.gap}",
            f"shape {shape} {word.gap}",
            f"gap> {behind}",
            f"gaps {word.gap} {behind}",
            f"at {min(word.at, 4)}",
            f"from end {min(sizes[word.piece] - word.at, 4)}",
            f"given {_bucket(given(text), (0, 0.5, 1, 2))} {named}",
            f"named {named} {shape}",
            f"ks {min(word.at, 4)} {kinds}",
            f"column {_bucket(word.start - self.sheet.starts[word.line], (0, 3, 10, 25, 40, 60))}",
        ]
        if text[0].isdigit():
            found.append(f"number {len(text)} {low[:14]}")
        if "@" in text:
            found.append("mail")
        told = {"greeted": self._greeted, "signed": self._signed, "patient": self._patient}
        return found + [name for name, words in told.items() if any(one in words for one in plain)]

    def said(self, n: int, field: str) -> int:
        """Verdict of `occurring` on a word and the rules' value of a field."""
        return self._said[field][n]

    def places(self, field: str) -> Iterator[tuple[int, int]]:
        """The first and last words of each place that says the rules' value of a field."""
        said = self._said[field]
        for first, one in enumerate(said) if any(said) else ():
            if one == 1:
                last = first
                while last + 1 < len(said) and said[last + 1] == 2:
                    last += 1
                yield first, last

    def is_anothers(self, field: str, place: PlacedValue) -> bool:
        """True for the day of something else than the letter, words of the patient's other name, a party's value on a
        line with another's label (`Kopie:`), and its address on the line that names the patient."""
        word, party = self.words[place.first], field.partition(".")[0]
        if field == "dokument.datum":
            before = self.sheet.text[: word.start].rpartition("\n")[2]
            return OTHER_ROLE.search(before[-_ROLE:]) is not None or _WITHIN.search(before) is not None
        if field in _NAMES:
            other = _NAMES[field == _NAMES[0]]
            return any(self._said[other][place.first : place.last + 1])
        if party not in _PARTIES:
            return False
        owners = [one for one in self._labelled.get(word.line, ()) if one in _OWNERS]
        if owners and f"owner {party}" not in owners:
            return True
        if party == "absender" and OF_ANOTHER.match(self.sheet.lines[word.line].strip()[:LINE_MAX]):
            return True
        named = (other.line for other, said in zip(self.words, self._said[_NAMES[0]], strict=True) if said)
        return field.endswith(_ADDRESS) and word.line in named

    def text(self, field: str, place: PlacedValue) -> str | None:
        """The value at a place as it is written, or as a day; None where it has not the form of the field."""
        start, end = self.words[place.first].start, self.words[place.last].end
        value = " ".join(self.sheet.text[start:end].split()).strip(" ,;:")
        if field in _DAYS:
            found = next(iter(dates_of(value)), None)
            return found.iso(birth=field == "patient.geburtsdatum") if found else None
        if value.count("(") > value.count(")"):
            closed = self.sheet.text[end : end + 1] == ")"
            value = f"{value})" if closed else value[: value.rfind("(")].rstrip()
        if value.endswith(".") and len(value.split()[-1]) > 4:
            value = value[:-1]
        if field in _PEOPLE:
            value = without_salutation(value)
            if all(TITLE.fullmatch(one) or len(one) < 2 for one in value.replace(".", " ").split()):
                return None
        form = _FORMS.get(field.partition(".")[2])
        return value if value and (form is None or form.fullmatch(value)) else None


@dataclass(frozen=True)
class ValueNet:
    """One network: the vectors of the known features and of all others, bytes times the scale of their column, the
    layers (weights by three places, bias), and the states."""

    table: NDArray[np.int8]
    scale: Numbers
    layers: tuple[tuple[Numbers, Numbers], ...]
    out: Numbers
    bias: Numbers

    def judge(self, rows: NDArray[np.int64], groups: FeatureGroups) -> Numbers:
        """The probability of each word for each state, shape (words, VALUE_STATES), from the rows of its features."""
        sums = np.add.reduceat(self.table[rows].astype(np.float32), groups.starts, axis=0) * self.scale
        state = first = np.tanh(sums[groups.of_words].sum(axis=1))
        for dilation, (weights, bias) in zip(DILATIONS, self.layers, strict=True):
            before, own, behind = np.split(weights, 3)
            added = state @ own + bias
            if dilation < len(state):
                added[dilation:] += state[:-dilation] @ before
                added[:-dilation] += state[dilation:] @ behind
            state = state + np.maximum(added, 0, out=added)
        logits = np.concatenate([state, first], axis=1) @ self.out + self.bias
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Numbers = likely / likely.sum(axis=1, keepdims=True)
        return result


@dataclass(frozen=True)
class ValueTagger:
    """Networks that judge together. `known`: the features that they have learned, in order; each is a row of its own
    in their tables, so that none is taken for another, and the last row, of zeros, stands for all others."""

    known: NDArray[np.uint32]
    nets: tuple[ValueNet, ...]

    def judge(self, features: ValueFeatures) -> Numbers:
        """The mean probability of each word for each state."""
        if not features.words:
            return np.zeros((0, VALUE_STATES), dtype=np.float32)
        rows = known_rows(self.known, features.groups.features)
        found: Numbers = np.mean([net.judge(rows, features.groups) for net in self.nets], axis=0)
        return found

    def save(self, path: Path) -> None:
        """Write one safetensors file, the tables one byte a weight."""
        tensors: dict[str, NDArray[Any]] = {"known": self.known}
        for n, net in enumerate(self.nets):
            tensors |= {f"{n} table": net.table, f"{n} scale": net.scale, f"{n} out": net.out, f"{n} bias": net.bias}
            for at, (weights, bias) in enumerate(net.layers):
                tensors |= {f"{n} weights {at}": weights, f"{n} bias {at}": bias}
        save_file(
            {
                name: np.ascontiguousarray(one.astype(np.float16) if one.dtype == np.float32 else one)
                for name, one in tensors.items()
            },
            path,
            {"format": FORMAT},
        )

    @classmethod
    def load(cls, path: Path) -> ValueTagger:
        """Read what `save` wrote. Raises ValueError for weights of another shape."""
        with safe_open(path, framework="numpy") as file:
            written = (file.metadata() or {}).get("format")
            kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 # no dict
        found = {name: one.astype(np.float32) if one.dtype == np.float16 else one for name, one in kept.items()}
        count = sum(name.endswith("table") for name in found)
        shaped = all(
            found[f"{n} table"].shape[0] == len(found["known"]) + 1 and found[f"{n} bias"].shape == (VALUE_STATES,)
            for n in range(count)
        )
        if written != FORMAT or not count or not shaped:
            remedy = "train it again: python -m catalog_build statements"
            raise ValueError(f"{path.name} was trained for another reading; {remedy}")
        return cls(found["known"], tuple(_net(found, n) for n in range(count)))


def known_rows(known: NDArray[np.uint32], features: NDArray[np.integer]) -> NDArray[np.int64]:
    """The place of each feature among the known ones, which are in order; their number for one that is not known."""
    at = np.searchsorted(known, features)
    return np.where(known.take(at, mode="clip") == features, at, len(known))


def _net(found: Mapping[str, NDArray[Any]], n: int) -> ValueNet:
    layers = tuple((found[f"{n} weights {at}"], found[f"{n} bias {at}"]) for at in range(len(DILATIONS)))
    return ValueNet(found[f"{n} table"], found[f"{n} scale"], layers, found[f"{n} out"], found[f"{n} bias"])


@cache
def value_tagger() -> ValueTagger:
    """The networks of the package."""
    with as_file(files("clinical.letters.reader") / VALUES) as path:
        return ValueTagger.load(path)


def _best(features: ValueFeatures, likely: Numbers, field: int) -> PlacedValue:
    """The likeliest place of a field: as probable as the least probable of its words, and of its end."""
    begins, within, outside = likely[:, 1 + 2 * field], likely[:, 2 + 2 * field], likely[:, 0]
    found = PlacedValue(0.0, 0, 0)
    for first in np.argsort(-begins)[:BEGINNINGS].tolist():
        last = first
        while last + 1 < len(likely) and within[last + 1] > max(GOES_ON, float(outside[last + 1])):
            gap = features.words[last + 1].gap
            if LEARNED[field] in _PEOPLE and ("\n" in gap or gap[:2] == "  "):
                break
            last += 1
        states = (float(begins[first]), *within[first + 1 : last + 1].tolist(), _ends(likely, last))
        found = max(found, PlacedValue(min(states), first, last))
    if LEARNED[field] not in _HOUSES or not len(likely):
        return found
    last, another = found.last, likely[:, 1::2].max(axis=1) >= ANOTHER
    while last + 1 < len(likely) and features.words[last + 1].piece == features.words[last].piece:
        if another[last + 1]:
            break
        last += 1
    return found._replace(last=last)


def _of_rules(features: ValueFeatures, likely: Numbers, field: int) -> PlacedValue | None:
    """The likeliest place of the rules' value, as probable as its least probable word or its end; None where it stands
    in none that was read."""
    found: PlacedValue | None = None
    for first, last in features.places(LEARNED[field]):
        states = [likely[first, 1 + 2 * field], *likely[first + 1 : last + 1, 2 + 2 * field]]
        one = PlacedValue(min(float(min(states)), _ends(likely, last)), first, last)
        found = max(found, one) if found else one
    return found


def _ends(likely: Numbers, last: int) -> float:
    """Probability that no value goes on behind a word."""
    return 1 - float(likely[last + 1, 2::2].sum()) if last + 1 < len(likely) else 1.0


def settled(
    features: ValueFeatures, form: Mapping[str, Any], tagger: ValueTagger | None = None
) -> dict[str, str | None]:
    """The values by field that are others than the rules' in `form` and no part of them, None where there is none.
    `tagger`: in place of the shipped networks."""
    likely = (tagger or value_tagger()).judge(features)
    found: dict[str, str | None] = {}
    for n, field in enumerate(LEARNED) if len(likely) else ():
        if field in _BY_FORM or (field == _SIGNS and value_in(form, field) is not None):
            continue
        place, own, rule = _best(features, likely, n), _of_rules(features, likely, n), value_in(form, field)
        bound, said = FILL if rule is None else INSTEAD, features.text(field, place)
        known = 0.0 if rule is None else own.likely if own else bound  # in no word that was read: not judged
        if rule is not None and said == rule:
            known = place.likely
        is_open = rule is None or (field in _GUESSED and known < KEPT)
        is_part = not is_open and all(features.said(at, field) for at in range(place.first, place.last + 1))
        is_better = place.likely >= bound and place.likely > known and not is_part
        value = said if is_better and not features.is_anothers(field, place) else None
        if value is not None or (rule is not None and is_open):
            found[field] = value
    return found
