"""Entries of a letter's lists, word by word: where each begins and how far it goes.

A linear model judges each word for each list: whether an entry begins there, and whether one goes on. It sees the words
around, the line with its heading, the statement with its probability for each list, and the entries that the rules
found, so that it learns where these are right. The best sequence of begun and continued entries wins (Viterbi 1967).
Learned from annotated letters (`catalog_build.training.spans`).
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from clinical.letters.labels import key
from clinical.letters.layout import HeadedLines, LetterLayout, marked
from clinical.letters.reader.diseases import names_disease
from clinical.letters.reader.entries import VERB, names_procedure
from clinical.letters.reader.hashed import HashedRegression
from clinical.letters.reader.statements import LISTS, JudgedStatements

Numbers = NDArray[np.uint64]
Item = TypeVar("Item", bound=Hashable)

SPANS: Final = "spans.safetensors"
SPAN_ROWS: Final = 1 << 16
"""Hashed features of words."""
STATES: Final = 2
"""Classes of each list: an entry begins at the word; one goes on."""
TRUST: Final = 2.0
"""Log-odds that an entry of the rules has more than its words alone would: what was learned with some of the features
unseen trusts each of them too little; more costs what is right beside the rules."""
OUTSIDE: Final = -1.0
"""Log-odds of a word outside of every entry (`python -m catalog_build statements --measure`)."""
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_UNIT: Final = re.compile(r"(?:mg|g|µg|μg|ug|mcg|ml|ie|e|gtt|tr|hub|tbl|kps|beutel|btl|amp|stk|mmol)$")
_TELLS: Final = re.compile(rf"{VERB.pattern}|^(?:wir|sie|er|es|ich)$")
_ACT: Final = re.compile(
    r"skopie|spiegelung|ektomi|otomi|ostomi|desis$|dese$|pexie|raphie$|rrhaphie|plastik|zentese|pherese|katheter|"
    r"kanüle|sonde$|schiene|intubat|extrakt|exstirp|exzi[ds]|rese[zk]|explant|implant|transplant|infiltr|injekt|"
    r"instillat|dekompress|dekortikat|stabilisierung|rekonstrukt|rekanalis|verschluss|ersatz$|wechsel$|rückverlegung|"
    r"schnitt$|stripp|bougie|dialyse$|filtration$|lyse$|clip|d[eé]bridement|kürett|stanz|nagel|fixateur|punkti|bypass|"
    r"band(?:ing|naht)|spaltung|schlitz|verödung|laser|operat|operiert|abgetragen|gespritzt|entnahme|einlage$|anlage$|"
    r"fensterung|tamponade|abrasio|konisation|sectio|röhrchen|spirale$|okkluder|defi$|reposi|reponiert|osteosynth"
)
"""Parts of the names of what is done to a patient, also of verbs, for the model to weigh: wider than the rules' own
(`names_procedure`), and not enough by themselves."""
_ABBREVIATED: Final = (
    "ACB ACBP ACVB AE AICD AK AKE ASK AT BET CABG CAPD CHE CRT CVVHDF DES DHS DK EBUS EKT EMR EPT ERC ERCP ESD ESIN "
    "ESWL EUS EVAR FEES FNP Gastro Gips HE HKL HKU HTEP ICD IVOM KTEP Kolo Koro LASIK LEEP LISA LSK LTX MKR MVR NTX "
    "NVK ORIF PCI PDA PDK PE PEG PFN PFNA PICC PMI PTA PTCA PVI Phako Port RPE SM SPDK STH SZT Shaldon Stent TACE "
    "TAVI TE TEA TEE TEP TIPS TK TUR TURB TURP TVT URS VAC ZVK ÖGD"
)
_ACTS_SHORT: Final = frozenset(_ABBREVIATED.split())
"""Abbreviations of procedures as they are written."""
_RUN: Final = re.compile(r"\S+")
_BLANKS: Final = re.compile(r"[ \t]{3,}")
_EMPTY_LINE: Final = re.compile(r"\n\s*\n")
_FIRST_LETTERS: Final = 3
_LONGEST_GAP: Final = 6
"""Characters of what stands between two words that are told apart."""


class EntrySpan(NamedTuple):
    """A place in the sheet's text: `start` inclusive, `end` exclusive, in code points."""

    start: int
    end: int


def spans_of(text: str) -> NDArray[np.int64]:
    """(start, end) of the words of a text, runs of letters and of digits: shape (words, 2)."""
    return np.array([one.span() for one in _WORD.finditer(text)], dtype=np.int64).reshape(-1, 2)


class BareText:
    """A text without its blanks, and where each of its characters stands."""

    def __init__(self, text: str) -> None:
        runs = [one.span() for one in _RUN.finditer(text)]
        self.bare = "".join(text[start:end] for start, end in runs)
        self._starts = [start for start, _ in runs]
        self._before = [0, *accumulate(end - start for start, end in runs)]

    def at(self, n: int) -> int:
        """The place in the text of a character that is no blank."""
        run = bisect_right(self._before, n) - 1
        return self._starts[run] + n - self._before[run]

    def placed(self, entries: Iterable[str]) -> list[EntrySpan | None]:
        """Place of each entry in the text, whatever its blanks: behind the one before where it stands there, else the
        first; None where its words stand nowhere."""
        found: list[EntrySpan | None] = []
        behind = 0
        for entry in entries:
            sought = "".join(entry.split())
            at = self.bare.find(sought, behind) if sought else -1
            at = self.bare.find(sought) if at < 0 and sought else at
            if at < 0:
                found.append(None)
                continue
            behind = at + len(sought)
            found.append(EntrySpan(self.at(at), self.at(behind - 1) + 1))
        return found


# --- features: columns of the words, and the combinations of columns that are one feature


_AROUND: Final = ("word", "begin", "end", "form")
_OWN: Final = (*_AROUND, "short", "ending", "kind", "gap", "gap>")
_ALONE: Final = (
    *("headed", "title", "away", "empty", "line", "commas", "field", "beside", "part", "dosed"),
    *("place", "opening", "since", "last", "time", "plan", "shape", "size"),
)
_COMBINED: Final = """
word-1 word; word word+1; gap form; gap word; form-1 form; form form+1; gap end; kind-1 gap kind; gap gap>
place empty; field form; field gap; field gap form; field word; field first; opening word
since gap; shape form; time form; plan since
"""
_OF_LIST: Final = """
likely; likely since; likely form; likely field gap
said; said-1 said said+1; said form; said field gap; said any; said likely
"""
"""For each list: its probability for the statement, and the rules' entries."""

Feature = tuple[tuple[str, int], ...]


def _features(told: str) -> list[Feature]:
    """`a-1 b; c`: the column a of the word before together with b of the word itself; c."""
    parts = [one.split() for one in re.split(r"[;\n]", told) if one.strip()]
    return [tuple(_column(one) for one in part) for part in parts]


def _column(told: str) -> tuple[str, int]:
    ((name, sign, away),) = re.findall(r"^([a-z>]+?)(?:([+-])(\d))?$", told)
    return name, int(f"{sign}{away}") if sign else 0


FEATURES: Final[tuple[Feature, ...]] = (
    *(((name, 0),) for name in (*_OWN, *_ALONE)),
    *(((name, away),) for away in (-2, -1, 1, 2) for name in _AROUND),
    *(((name, away),) for away in (-3, 3) for name in ("word", "kind")),
    *((("gap", -1),), (("gap>", 1),)),
    *_features(_COMBINED),
)
LIST_FEATURES: Final = tuple(_features(_OF_LIST))


def _number(value: object) -> int:
    return zlib.crc32(str(value).encode("utf-8", "replace"))


def _numbers(values: Sequence[Item], of: Callable[[Item], object] = lambda value: value) -> Numbers:
    """The number of each value, or of what `of` makes of it, made once for each distinct value."""
    known = {value: _number(of(value)) for value in dict.fromkeys(values)}
    return np.array([known[value] for value in values], dtype=np.uint64)


def _beside(column: Numbers, away: int) -> Numbers:
    """The column of the words `away` places behind each; 0 where there is none."""
    if not away:
        return column
    found = np.zeros_like(column)
    if away > 0:
        found[:-away] = column[away:]
    else:
        found[-away:] = column[:away]
    return found


def _row(number: int, feature: Feature, columns: Mapping[str, Numbers]) -> NDArray[np.int64]:
    """The rows of one feature at each word, by the mixing of SplitMix64 (Steele et al. 2014)."""
    mixed = np.full(len(columns["word"]), number, dtype=np.uint64)
    for name, away in feature:
        mixed = (mixed + _beside(columns[name], away) + _GOLDEN) * _FIRST
        mixed = (mixed ^ (mixed >> _SHIFT)) * _SECOND
        mixed ^= mixed >> _SHIFT
    return (mixed & np.uint64(SPAN_ROWS - 1)).astype(np.int64)


_GOLDEN, _FIRST, _SECOND = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFT = np.uint64(29)


def _kind(word: str) -> str:
    if names_disease(word):
        return "disease"
    if (len(word) > _SHORT and names_procedure(word)) or _ACT.search(word.lower()) or word in _ACTS_SHORT:
        return "procedure"
    if _UNIT.match(word.lower()):
        return "unit"
    return "verb" if _TELLS.search(word.lower()) else ""


_SHORT, _LONG = 3, 9


def _form(word: str, kind: str) -> str:
    """Kind, capitals and length of a word."""
    if word[0].isdigit():
        return f"{kind} 0 {min(len(word), 5)}"
    case = "A" if len(word) > 1 and word.isupper() else "Aa" if word[0].isupper() else "a"
    return f"{kind} {case} {(len(word) > _SHORT) + (len(word) >= _LONG)}"


def _plain(word: str) -> str:
    return "0" * min(len(word), 4) if word[0].isdigit() else word.lower()


def _gap(between: str) -> str:
    return _BLANKS.sub("  ", _EMPTY_LINE.sub("¶", between))[:_LONGEST_GAP]


def _at_most(number: int, bounds: Sequence[int]) -> int:
    return sum(number > one for one in bounds)


class WordFeatures:
    """The columns of the words of one letter. `said`: the entries that the rules found, by list."""

    def __init__(self, statements: JudgedStatements, said: Mapping[str, Sequence[str]]) -> None:
        self.sheet, self.statements = statements.sheet, statements
        self.words = spans_of(self.sheet.text)
        text = BareText(self.sheet.text)
        self.said = {name: [one for one in text.placed(said.get(name, ())) if one] for name in LISTS}

    def rows(self) -> NDArray[np.int64]:
        """The rows of the hashed features of each word: shape (words, features)."""
        if not len(self.words):
            return np.zeros((0, 1), dtype=np.int64)
        columns = self._of_words() | self._of_lines() | self._of_statements()
        found = [_row(n, one, columns) for n, one in enumerate(FEATURES)]
        for at, name in enumerate(LISTS):
            columns |= self._of_list(at, name)
            first = len(FEATURES) + at * len(LIST_FEATURES)
            found += [_row(first + n, one, columns) for n, one in enumerate(LIST_FEATURES)]
        return np.stack(found, axis=1)

    def inside(self, spans: Iterable[EntrySpan]) -> NDArray[np.int64]:
        """Of each word 0 outside of the spans, 1 where one begins, 2 where one goes on."""
        found = np.zeros(len(self.words), dtype=np.int64)
        for span in spans:
            first, behind = np.searchsorted(self.words[:, 0], span)
            if first < behind and not found[first]:
                found[first], found[first + 1 : behind] = 1, 2
        return found

    def _of_words(self) -> dict[str, Numbers]:
        text, bounds = self.sheet.text, [0, *self.words.ravel().tolist(), len(self.sheet.text)]
        words = [text[start:end] for start, end in zip(bounds[1:-1:2], bounds[2::2], strict=True)]
        gaps = _numbers([text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)], _gap)
        kinds = {word: _kind(word) for word in dict.fromkeys(words)}
        return {
            "word": _numbers(words, _plain),
            "begin": _numbers(words, lambda word: _plain(word)[:5]),
            "short": _numbers(words, lambda word: _plain(word)[:_FIRST_LETTERS]),
            "end": _numbers(words, lambda word: _plain(word)[-4:]),
            "ending": _numbers(words, lambda word: _plain(word)[-6:]),
            "form": _numbers(words, lambda word: _form(word, kinds[word])),
            "kind": _numbers(words, kinds.__getitem__),
            "gap": gaps[:-1],
            "gap>": gaps[1:],
        }

    def _of_lines(self) -> dict[str, Numbers]:
        lines = np.searchsorted(np.array(self.sheet.starts), self.words[:, 0], side="right") - 1
        told = list(self._lines())
        each = [_numbers(column)[lines] for column in zip(*told, strict=True)]
        place = _since(lines)
        word = _numbers([self.sheet.text[start:end] for start, end in self.words.tolist()], _plain)
        names = ("headed", "title", "away", "empty", "line", "commas", "field", "beside", "part")
        return dict(zip(names, each, strict=True)) | {
            "place": _numbers(np.minimum(place, 3).tolist()),
            "first": _numbers((place == 0).tolist()),
            "opening": word[np.arange(len(place)) - place],
        }

    def _lines(self) -> Iterable[tuple[str, ...]]:
        """Tell of each line its heading, how far it is, its marks, its place in the letter."""
        sheet = self.sheet
        count, heads = len(sheet.lines), {one.at: one for one in sheet.sections}
        blank = [not line.strip() for line in sheet.lines]
        gaps = [0, *accumulate(blank)]
        closing, greeted = max(1, min(sheet.closing, count)), sheet.greeting < count
        section: HeadedLines | None = None
        for n in sheet.budget.each(range(count)):
            section, line = heads.get(n, section), sheet.lines[n]
            item = marked(line)
            headed = ("none",) * 4
            if section is not None:
                away = _at_most(n - section.at, (0, 1, 2, 4, 8, 16))
                empty = min(gaps[n] - gaps[section.at], 3)
                headed = (f"{section.field} {section.known}", key(section.title), f"{section.field} {away}", f"{empty}")
            field = section.field if section is not None else "none"
            yield (
                *headed[:-1],
                f"{field} {headed[3]} {item}",
                f"{item} {_at_most(len(line), (15, 30, 50, 75, 110, 200))}",
                f"{min(line.count(','), 4)} {line[-1:]}",
                field,
                f"{n > 0 and blank[n - 1]} {n + 1 < count and blank[n + 1]}",
                f"{n > sheet.greeting if greeted else None} {n >= sheet.closing} {10 * n // closing}",
            )

    def _of_statements(self) -> dict[str, Numbers]:
        every = self.statements.all
        starts = np.array([one.start for one in every], dtype=np.int64)
        ends = np.array([one.start + len(one.text) for one in every], dtype=np.int64)
        own = np.searchsorted(starts, self.words[:, 0], side="right") - 1
        if len(every):
            own[self.words[:, 0] >= ends[own]] = -1
        self.own = own
        since = _since(own)
        told = []
        for one, marks in zip(every, self.statements.features.marks, strict=True):
            field = one.section.field if one.section is not None else "none"
            time = next((mark for mark in marks if mark in ("f ahead", "f before", "f dated")), "")
            plan = f"{'f recommends' in marks} {'f announces' in marks}"
            shape = f"{VERB.search(one.text) is not None} {one.text[-1:]} {one.item} {one.opens}"
            told.append(
                (
                    time,
                    plan,
                    shape,
                    next(mark for mark in marks if mark.startswith("size")),
                    f"{'f dosed' in marks} {field}",
                )
            )
        told.append(("none",) * 5)
        names = ("time", "plan", "shape", "size", "dosed")
        each = [_numbers(column)[own] for column in zip(*told, strict=True)]
        last = np.ones(len(own), dtype=bool)
        last[:-1] = own[1:] != own[:-1]
        return dict(zip(names, each, strict=True)) | {
            "since": _numbers(np.minimum(since, np.where(since < 6, 3, 4)).tolist()),
            "last": _numbers(last.tolist()),
        }

    def _of_list(self, at: int, name: str) -> dict[str, Numbers]:
        said = self.inside(self.said[name])
        likely = np.clip(np.append(self.statements.likely[:, at], 0.5), 1e-6, 1 - 1e-6)
        odds = np.round(np.clip(np.log(likely / (1 - likely)), -6, 6)).astype(int)
        odds[-1] = 10
        return {
            "likely": _numbers(odds[self.own].tolist()),
            "said": _numbers(said.tolist()),
            "any": _numbers([bool(said.any())] * len(said)),
        }


def _since(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words since the group of each began."""
    numbers = np.arange(len(groups))
    begins = np.ones(len(groups), dtype=bool)
    begins[1:] = groups[1:] != groups[:-1]
    return numbers - np.maximum.accumulate(np.where(begins, numbers, 0))


# --- the entries


def entries_in(sheet: LetterLayout, features: WordFeatures, model: HashedRegression) -> dict[str, list[EntrySpan]]:
    """The entries of each list in the order of the letter. Linear in its length."""
    rows = features.rows()
    odds = model.sums(rows) if len(features.words) else np.zeros((0, STATES * len(LISTS)), dtype=np.float32)
    found = {}
    for at, name in enumerate(LISTS):
        said = features.inside(features.said[name])
        said[1:][(said[1:] == 0) & (said[:-1] > 0)] = _BEHIND
        begin, go_on = (odds[:, STATES * at + n] + _TRUSTED[n, said] for n in range(STATES))
        runs = best_runs(begin.tolist(), go_on.tolist())
        places = ((features.words[first, 0], features.words[last, 1]) for first, last in runs)
        found[name] = [_whole(sheet.text, int(start), int(end), name) for start, end in places]
    return found


_BEHIND: Final = 3
_TRUSTED: Final = TRUST * np.array([[0, 1, -1, 0], [0, -1, 1, -1]], dtype=np.float32)
"""For beginning and going on: what is added where the rules say nothing, begin, go on, ended at the word before."""


def best_runs(begin: Sequence[float], go_on: Sequence[float], outside: float = OUTSIDE) -> list[tuple[int, int]]:
    """(first, last) word of each entry of the best sequence; what goes on goes on from the word before."""
    best, inside = 0.0, -np.inf
    begun: list[bool] = []  # an entry that is open at the word began there
    ended: list[bool] = []  # the best sequence up to the word has an entry there
    for first, further in zip(begin, go_on, strict=True):
        fresh, longer = best + first, inside + further
        begun.append(fresh >= longer)
        inside = max(fresh, longer)
        ended.append(inside > best + outside)
        best = max(inside, best + outside)
    found: list[tuple[int, int]] = []
    n = len(begun) - 1
    while n >= 0:
        if ended[n]:
            last = n
            while not begun[n]:
                n -= 1
            found.append((n, last))
        n -= 1
    return found[::-1]


_TAIL = re.compile(r"\s?%")
_NEXT_NUMBER = re.compile(r"\s*\n\s*\d{1,2}$")
_STOPS = ".!?"


def _whole(text: str, start: int, end: int, name: str) -> EntrySpan:
    """With the marks that belong to it: a bracket whose other one is inside, a per cent, the stop of a sentence;
    without the number of the next item."""
    if text[end : end + 1] in (".", ")") and (number := _NEXT_NUMBER.search(text, start, end)):
        end = number.start()
    inside = text[start:end]
    opened, closed = inside.count("("), inside.count(")")
    if opened > closed and text[end : end + 1] == ")":
        end += 1
    if closed > opened and text[start - 1 : start] == "(":
        start -= 1
    if tail := _TAIL.match(text, end):
        end = tail.end()
    if name == "procedere" and text[end : end + 1] in _STOPS:
        end += len(text[end : end + 1])
    return EntrySpan(start, end)
